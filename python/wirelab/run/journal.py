"""The journal of a run: one JSON line per finished trial, appended and synced.

If the run is killed while it writes a line, that line is moved to ``trials.jsonl.torn`` and its
trial is repeated; complete lines are never changed. A failed trial that was repeated has two
lines: the later one counts.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import RunDirectoryError, StorageError
from wirelab.format.sanitize import damage
from wirelab.trial.record import Trial

NAME = "trials.jsonl"
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
"""Error codes of the kernel when no more data can be written."""


def storage_error(error: OSError, path: Path) -> StorageError:
    """The error for a failed write."""
    return StorageError(
        f"{path} cannot be written: {os.strerror(error.errno or errno.EIO)}",
        "finished trials are kept; free disk space and repeat the command to continue",
    )


@dataclass(frozen=True)
class Content:
    """Contents of a journal."""

    records: tuple[Trial, ...]
    """All complete lines, in the order in which the trials ended."""
    torn: bool = False
    """True: the run was killed while it wrote the last line, which is not a record."""

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The finished trials; of a repeated trial the last result."""
        return tuple(_latest(self.records))

    @property
    def repeated(self) -> tuple[Trial, ...]:
        """Records that were replaced by a later one."""
        latest = {id(trial) for trial in self.trials}
        return tuple(trial for trial in self.records if id(trial) not in latest)


def read(path: Path) -> Content:
    """Reads the journal without changing it. Raises :class:`RunDirectoryError` if it is damaged
    before its last line."""
    whole, torn = _split(path)
    records = (_trial(path, number, line) for number, line in enumerate(whole, 1))
    return Content(tuple(records), bool(torn))


def _latest(records: Iterable[Trial]) -> list[Trial]:
    """Removes records that a later one of the same trial replaces."""
    found: dict[str, Trial] = {}
    for trial in records:
        found.pop(trial.id, None)
        found[trial.id] = trial
    return list(found.values())


class Follower:
    """Reads a journal that grows: each time only the lines that were added since."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begin(None)

    def _begin(self, file: tuple[int, int] | None) -> None:
        self._file = file
        self._offset = 0
        self._records: list[Trial] = []

    def read(self) -> Content:
        """Everything so far. A journal that was replaced or cut is read from its beginning. Raises
        :class:`RunDirectoryError` like :func:`read`, and :class:`OSError`."""
        try:
            with self._path.open("rb") as file:
                state = os.fstat(file.fileno())
                found = state.st_dev, state.st_ino
                if found != self._file or state.st_size < self._offset:
                    self._begin(found)
                file.seek(self._offset)
                content = file.read()
        except FileNotFoundError:
            self._begin(None)
            content = b""
        lines, torn = _complete(content)
        first = len(self._records) + 1
        added = [_trial(self._path, number, line) for number, line in enumerate(lines, first)]
        self._records += added
        self._offset += len(content) - len(torn)
        return Content(tuple(self._records), bool(torn))


class Journal:
    """The journal, open for appending."""

    def __init__(self, path: Path) -> None:
        """Opens or creates it, and moves an incomplete last line to a separate file."""
        self.path = path
        path.touch()
        found = read(path)
        self.records = list(found.records)
        self.torn = found.torn
        if found.torn:
            self._set_aside(_split(path)[1])

    @property
    def trials(self) -> list[Trial]:
        """The finished trials; of a repeated trial the last result."""
        return _latest(self.records)

    def append(self, trial: Trial) -> None:
        """Adds a trial and waits until it is on the disk. Raises :class:`StorageError` if the disk
        is full; the journal is then unchanged."""
        line = json.dumps(trial.to_json(), separators=(",", ":"), allow_nan=False).encode() + b"\n"
        length = self.path.stat().st_size
        try:
            _write(self.path, line)
        except OSError as error:
            os.truncate(self.path, length)
            raise storage_error(error, self.path) from error
        self.records.append(trial)

    def _set_aside(self, torn: bytes) -> None:
        try:
            _write(self.path.with_name(f"{NAME}.torn"), torn + b"\n")
        except OSError as error:
            raise storage_error(error, self.path) from error
        os.truncate(self.path, self.path.stat().st_size - len(torn))


def _write(path: Path, content: bytes) -> None:
    """Appends and syncs. Raises :class:`OSError`; a part may have been written."""
    with path.open("ab", buffering=0) as file:
        view = memoryview(content)
        while view:
            view = view[file.write(view) :]
        os.fsync(file.fileno())


def _split(path: Path) -> tuple[list[bytes], bytes]:
    """The complete lines, and an incomplete rest left by a killed run."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return [], b""
    return _complete(content)


def _complete(content: bytes) -> tuple[list[bytes], bytes]:
    """The complete lines, and the rest."""
    end = content.rfind(b"\n") + 1
    lines, torn = content[:end].splitlines(keepends=True), content[end:]
    if not torn and lines and not _is_json(lines[-1]):
        return [line.rstrip(b"\n") for line in lines[:-1]], lines[-1]
    return [line.rstrip(b"\n") for line in lines], torn


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    except RecursionError:
        return True  # Its reader reports the depth.
    return True


def _trial(path: Path, number: int, line: bytes) -> Trial:
    try:
        found = json.loads(line)
        if not isinstance(found, dict):
            raise ValueError("it is not a mapping")
        return Trial.from_json(found)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise RunDirectoryError(
            f"{path}:{number} is not a trial record of this version of wirelab: {damage(error)}",
            "restore the file from a copy, or run again with another --out",
        ) from error
