"""The journal of a run: one JSON line per finished trial, appended and synced.

If the run is killed while it writes a line, that line is moved to ``trials.jsonl.torn`` and its
trial is repeated; complete lines are never changed. A failed trial that was repeated has two
lines: the later one counts.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import BinaryIO

import msgspec

from wirelab.errors import LabError, RunDirectoryError, StorageError
from wirelab.format.sanitize import damage
from wirelab.format.untrusted import (
    TooLarge,
    field_of,
    open_regular,
    parse_json,
    read_bounded_lines,
)
from wirelab.records.line import from_line, to_line
from wirelab.records.trial import Trial
from wirelab.run import archive

NAME = "trials.jsonl"
LINE_BYTES_MAX = 4_000_000
"""About 500 times a line of one load; a series of 16 hours."""
BYTES_MAX = 128_000_000
"""Maximum size of a journal, about 20 times that of a study of 910 trials."""
GROUP_LINES = 64
GROUP_S = 1.0
"""Lines of trials on other hosts are synced together, after this number or time in seconds."""
SIGNED = frozenset(
    {
        *("options", "set", "metrics", "runtime_metrics", "start_s", "steal_s", "clock_step_s"),
        *("window_start_ns", "clock_offset_ms"),
        *("hops", "reconciliation", "gaps_us"),
    }
)
"""Fields with numbers that may be negative: settings, differences of two times, and what services
report."""
COUNT_END = 2**63
"""Counts are below it, as in the columns of an export."""
_LARGE = SIGNED | {"seed"}
_NAME_BYTES_MAX = 255
_REMEDY = "restore the file from a copy, or run again with another --out"
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
"""Error codes of the kernel when no more data can be written."""


def storage_error(error: OSError, path: Path) -> StorageError:
    """The error for a failed write."""
    return StorageError(
        f"{path} cannot be written: {os.strerror(error.errno or errno.EIO)}",
        "finished trials are kept; free disk space and repeat the command to continue",
    )


Line = tuple[Trial, ...]
"""The cells of one trial."""


@dataclass(frozen=True)
class Content:
    """Contents of a journal."""

    lines: tuple[Line, ...]
    """All complete lines, in the order in which the trials ended."""
    torn: bool = False
    """True: the run was killed while it wrote the last line, which is not a record."""

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All cells of the finished trials; of a repeated trial the last result."""
        return _cells(_latest(self.lines))

    @property
    def repeated(self) -> tuple[Trial, ...]:
        """All cells of trials that a later line replaced."""
        latest = set(map(id, _latest(self.lines)))
        return _cells(line for line in self.lines if id(line) not in latest)


def file_in(folder: Path) -> Path:
    """The journal of a run, or its archive where only that is there."""
    plain, archived = folder / NAME, folder / archive.NAME
    return archived if archived.is_file() and not plain.exists() else plain


def read(path: Path) -> Content:
    """Reads the journal or its archive without changing it. Raises :class:`RunDirectoryError` if it
    is damaged before its last line, or exceeds its limits."""
    if path.name == archive.NAME:
        lines = archive.read(path, LINE_BYTES_MAX, BYTES_MAX)
        return Content(tuple(_trial(path, number, line) for number, line in enumerate(lines, 1)))
    return _read(path)[0]


def _read(path: Path) -> tuple[Content, bytes]:
    """Also the incomplete rest that a killed run left."""
    try:
        with _open(path) as file:
            records, torn = _records(path, file)
    except FileNotFoundError:
        return Content(()), b""
    return Content(tuple(records), bool(torn)), torn


def _latest(lines: Iterable[Line]) -> list[Line]:
    """Removes lines that a later one of the same trial replaces."""
    found: dict[str, Line] = {}
    for line in lines:
        found.pop(line[0].id, None)
        found[line[0].id] = line
    return list(found.values())


def _cells(lines: Iterable[Line]) -> tuple[Trial, ...]:
    return tuple(trial for line in lines for trial in line)


class Follower:
    """Reads a journal that grows: each time only the lines that were added since."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begin(None)

    def _begin(self, file: tuple[int, int] | None) -> None:
        self._file = file
        self._offset = 0
        self._lines: list[Line] = []

    def read(self) -> Content:
        """Everything so far. A journal that was replaced or cut is read from its beginning. Raises
        :class:`RunDirectoryError` like :func:`read`, and :class:`OSError`."""
        try:
            with _open(self._path) as file:
                state = os.fstat(file.fileno())
                found = state.st_dev, state.st_ino
                if found != self._file or state.st_size < self._offset:
                    self._begin(found)
                file.seek(self._offset)
                added, torn = _records(self._path, file, len(self._lines) + 1)
                self._lines += added
                self._offset = file.tell() - len(torn)
        except FileNotFoundError:
            self._begin(None)
            torn = b""
        return Content(tuple(self._lines), bool(torn))


class Journal:
    """The journal, open for appending."""

    def __init__(self, path: Path) -> None:
        """Opens or creates it, and moves an incomplete last line to a separate file. Raises
        :class:`RunDirectoryError` for a run whose journal was archived."""
        self.path = path
        if file_in(path.parent) != path:
            raise RunDirectoryError(
                f"{path.parent} cannot be continued: its journal was archived as {archive.NAME}",
                "give another directory with --out",
            )
        path.touch()
        found, torn = _read(path)
        self.lines = list(found.lines)
        self.torn = found.torn
        self._file: FileIO | None = None
        self._unsynced, self._oldest_s = 0, 0.0
        if torn:
            self._set_aside(torn)

    @property
    def latest(self) -> list[Line]:
        """The finished trials; of a repeated trial the last result."""
        return _latest(self.lines)

    @property
    def trials(self) -> list[Trial]:
        """All cells of these trials."""
        return list(_cells(self.latest))

    def lines_of(self, trial_id: str) -> list[Line]:
        """Every line with a cell of that id."""
        return [line for line in self.lines if any(cell.id == trial_id for cell in line)]

    def append(self, *cells: Trial) -> None:
        """Adds the cells of one trial and waits until they are on the disk. Raises
        :class:`StorageError` if the disk is full, or the journal could not be read any more; it is
        then unchanged."""
        line = json.dumps(to_line(cells), separators=(",", ":"), allow_nan=False).encode() + b"\n"
        length = self.path.stat().st_size
        _refuse_beyond(self.path, len(line), length + len(line))
        try:
            _write(self.path, line)
        except OSError as error:
            os.truncate(self.path, length)
            raise storage_error(error, self.path) from error
        self.lines.append(cells)

    def append_encoded(self, line: bytes) -> Line:
        """Adds the line of a trial that another process measured, without its end, and keeps
        nothing of it in memory. It is on the disk after :meth:`sync`, which also follows after
        :data:`GROUP_LINES` or :data:`GROUP_S`: a crash of the machine loses at most that group, and
        the end of this process loses nothing. Returns its cells. Raises :class:`StorageError`, and
        :class:`LabError` for a line that is not a trial of this version."""
        try:
            cells = from_line(msgspec.json.decode(line, type=dict[str, object]))
        except (ValueError, TypeError, KeyError) as error:
            raise LabError(f"a host returned no trial: {damage(error)}", "report this") from error
        self._file = self._file or self.path.open("ab", buffering=0)
        length = self._file.tell()
        _refuse_beyond(self.path, len(line) + 1, length + len(line) + 1)
        try:
            _write_all(self._file, line + b"\n")
        except OSError as error:
            os.truncate(self.path, length)
            raise storage_error(error, self.path) from error
        self._unsynced += 1
        self._oldest_s = self._oldest_s or time.monotonic()
        if self._unsynced >= GROUP_LINES or time.monotonic() - self._oldest_s > GROUP_S:
            self.sync()
        return cells

    def sync(self) -> None:
        """Waits until all lines are on the disk. Raises :class:`StorageError`."""
        if self._file is None or not self._unsynced:
            return
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise storage_error(error, self.path) from error
        self._unsynced, self._oldest_s = 0, 0.0

    def close(self) -> None:
        """Also waits for the disk."""
        self.sync()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _set_aside(self, torn: bytes) -> None:
        try:
            _write(self.path.with_name(f"{NAME}.torn"), torn + b"\n")
        except OSError as error:
            raise storage_error(error, self.path) from error
        os.truncate(self.path, self.path.stat().st_size - len(torn))


def _write(path: Path, content: bytes) -> None:
    """Appends and syncs. Raises :class:`OSError`."""
    with path.open("ab", buffering=0) as file:
        _write_all(file, content)
        os.fsync(file.fileno())


def _write_all(file: FileIO, content: bytes) -> None:
    """Raises :class:`OSError`; a part may have been written."""
    view = memoryview(content)
    while view:
        view = view[file.write(view) :]


def _refuse_beyond(path: Path, line_bytes: int, bytes_total: int) -> None:
    """Raises :class:`StorageError` for a line that :func:`read` would refuse."""
    for size, limit, what in (
        (line_bytes, LINE_BYTES_MAX, "a line of"),
        (bytes_total, BYTES_MAX, "all lines of"),
    ):
        if size > limit:
            raise StorageError(
                f"{path} cannot take another trial: {what} the journal would have {size:,} bytes, "
                f"and the limit is {limit:,}",
                "finished trials are kept; give the other trials another --out",
            )


def _open(path: Path) -> BinaryIO:
    """Raises :class:`FileNotFoundError`, and :class:`RunDirectoryError` for a pipe or a folder."""
    try:
        return open_regular(path)
    except ValueError as error:
        raise RunDirectoryError(f"{path} cannot be read: {error}", _REMEDY) from error


def _records(path: Path, file: BinaryIO, first: int = 1) -> tuple[list[Line], bytes]:
    """The trials of the complete lines from the position of the file on, and the incomplete rest.
    The first line has the number ``first``. Only the line that is read is in memory."""
    records: list[Line] = []
    last = b""
    number = first
    try:
        for number, line in enumerate(_lines(path, file), first):
            if last:
                records.append(_trial(path, number - 1, last))
            last = line
    except TooLarge as error:
        at = first + len(records) + bool(last)
        raise RunDirectoryError(f"{path}:{at} cannot be read: {error}", _REMEDY) from error
    if not last.endswith(b"\n") or not _is_json(last):
        return records, last
    return [*records, _trial(path, number, last)], b""


def _lines(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """Lines, none of which is used if the journal as a whole is too large. Raises
    :class:`TooLarge` for a line, and :class:`RunDirectoryError` for the journal."""
    size = os.fstat(file.fileno()).st_size
    left = BYTES_MAX - file.tell()
    for line in read_bounded_lines(file, LINE_BYTES_MAX):
        left -= len(line)
        if left < 0:
            raise RunDirectoryError(
                f"{path} has {max(size, BYTES_MAX + 1):,} bytes, more than the limit of "
                f"{BYTES_MAX:,}",
                _REMEDY,
            )
        yield line


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    except RecursionError:
        return True  # Its reader reports the depth.
    return True


def _trial(path: Path, number: int, line: bytes) -> Line:
    try:
        found = parse_json(line)
        if not isinstance(found, dict):
            raise ValueError("it is not a mapping")
        cells = from_line(found)
        _refuse_values(found, cells[0])
        return cells
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise RunDirectoryError(
            f"{path}:{number} is not a trial record of this version of wirelab: {damage(error)}",
            _REMEDY,
        ) from error


def _refuse_values(line: dict[str, object], trial: Trial) -> None:
    """Raises :class:`ValueError` for values of the right type that no trial has."""
    if not is_folder_name(trial.id):
        raise ValueError("id is not the name of a folder")
    if (field := field_of(line, lambda number: number < 0, SIGNED)) is not None:
        raise ValueError(f"{field} is negative")
    if (field := field_of(line, lambda number: number >= COUNT_END, _LARGE)) is not None:
        raise ValueError(f"{field} does not fit in 63 bits")


def is_folder_name(text: str) -> bool:
    """False for an id that would lead out of the folder of trials."""
    if not text or text in (".", "..") or "/" in text or not text.isprintable():
        return False
    return len(text.encode()) <= _NAME_BYTES_MAX
