"""The journal of a run: one JSON line per finished trial, appended and synced.

A line that was being written when the run was killed is set aside to
``trials.jsonl.torn`` and its trial is repeated; whole lines are never touched.
A failed trial that was repeated has two lines: the later one counts.
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
"""What the kernel says when nothing more can be written."""


def storage_error(error: OSError, path: Path) -> StorageError:
    """The error for a write that the kernel refused."""
    return StorageError(
        f"{path} cannot be written: {os.strerror(error.errno or errno.EIO)}",
        "finished trials are kept; make room and give the same command again to go on",
    )


@dataclass(frozen=True)
class Content:
    """What a journal holds."""

    records: tuple[Trial, ...]
    """Every line, in the order in which the trials ended."""
    torn: bool = False
    """True: a last line was being written when the run was killed. It is no record."""

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The finished trials, of a repeated one the last."""
        return tuple(_latest(self.records))

    @property
    def repeated(self) -> tuple[Trial, ...]:
        """Records in whose place a later one counts."""
        latest = {id(trial) for trial in self.trials}
        return tuple(trial for trial in self.records if id(trial) not in latest)


def read(path: Path) -> Content:
    """The journal of a run, untouched. Raises :class:`RunDirectoryError` when it is damaged
    before its last line."""
    whole, torn = _split(path)
    records = (_trial(path, number, line) for number, line in enumerate(whole, 1))
    return Content(tuple(records), bool(torn))


def _latest(records: Iterable[Trial]) -> list[Trial]:
    """Without the records that a later one of the same trial replaces."""
    found: dict[str, Trial] = {}
    for trial in records:
        found.pop(trial.id, None)
        found[trial.id] = trial
    return list(found.values())


class Journal:
    """The journal, open for appending."""

    def __init__(self, path: Path) -> None:
        """Opens or creates it, and sets a torn last line aside."""
        self.path = path
        path.touch()
        found = read(path)
        self.records = list(found.records)
        self.torn = found.torn
        if found.torn:
            self._set_aside(_split(path)[1])

    @property
    def trials(self) -> list[Trial]:
        """The finished trials, of a repeated one the last."""
        return _latest(self.records)

    def append(self, trial: Trial) -> None:
        """Adds a trial and waits until it is on the disk. Raises :class:`StorageError`,
        and leaves the journal as it was, when there is no room."""
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
    """Appends and syncs. Raises :class:`OSError`, part of it perhaps written."""
    with path.open("ab", buffering=0) as file:
        view = memoryview(content)
        while view:
            view = view[file.write(view) :]
        os.fsync(file.fileno())


def _split(path: Path) -> tuple[list[bytes], bytes]:
    """The whole lines, and what a killed run left at the end."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return [], b""
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
    return True


def _trial(path: Path, number: int, line: bytes) -> Trial:
    try:
        found = json.loads(line)
        if not isinstance(found, dict):
            raise ValueError("it is no mapping")
        return Trial.from_json(found)
    except (ValueError, TypeError, KeyError) as error:
        raise RunDirectoryError(
            f"{path}:{number} is no finished trial of this version of wirelab: {damage(error)}",
            "restore the file from a copy, or measure anew with another --out",
        ) from error
