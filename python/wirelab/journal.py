"""The journal of a run: one JSON line per finished trial, appended and synced.

A line that was being written when the run was killed is set aside to
``trials.jsonl.torn`` and its trial is repeated; whole lines are never touched.
"""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

from wirelab.errors import RunDirectoryError, StorageError
from wirelab.trial import Trial

NAME = "trials.jsonl"
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
"""What the kernel says when nothing more can be written."""


def storage_error(error: OSError, path: Path) -> StorageError:
    """The error for a write that the kernel refused."""
    return StorageError(
        f"{path} cannot be written: {os.strerror(error.errno or errno.EIO)}",
        "finished trials are kept; make room and give the same command again to go on",
    )


def read(path: Path) -> tuple[Trial, ...]:
    """The finished trials of a run, in the order they ended; a torn last line is passed
    over. Raises :class:`RunDirectoryError` when the journal is damaged elsewhere."""
    whole, _ = _split(path)
    return tuple(_trial(path, number, line) for number, line in enumerate(whole, 1))


class Journal:
    """The journal, open for appending."""

    def __init__(self, path: Path) -> None:
        """Opens or creates it, and sets a torn last line aside."""
        self.path = path
        path.touch()
        whole, torn = _split(path)
        self.trials = [_trial(path, number, line) for number, line in enumerate(whole, 1)]
        self.torn = bool(torn)
        if torn:
            self._set_aside(torn)

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
        self.trials.append(trial)

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
        return Trial.from_json(json.loads(line))
    except (ValueError, TypeError, KeyError) as error:
        raise RunDirectoryError(
            f"{path}:{number} is no finished trial of this version of wirelab: {error}",
            "the run cannot go on in this directory; give another --out",
        ) from error
