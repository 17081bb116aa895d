"""The log of a child process, which the child writes by itself: bounded, however much it prints.

The child has the file itself, not a pipe, so that wirelab never slows it down. What lies between
the start and the end of a long log is released while the child is running, and is replaced by a
line with its size afterwards.
"""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

KEPT_BYTES = 4 << 20
"""Bytes that are kept of each end of a log."""
RELEASE_BYTES = 8 << 20
"""Excess of a log at which space is released."""
TAIL_BYTES = 4000
"""Bytes of the end of a log that are read for messages."""
_BLOCK = 1 << 16
_KEEP_SIZE, _PUNCH_HOLE = 1, 2  # FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE (fallocate(2))
_fallocate = ctypes.CDLL(None, use_errno=True).fallocate
_fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)


class BoundedLog:
    """One log, to which processes append."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._released = KEPT_BYTES
        """Position up to which the middle was released."""
        self._lost = 0
        """Bytes that were cut off on a file system that cannot release space."""

    def size(self) -> int:
        """Bytes printed so far; 0 without a file."""
        try:
            return self.path.stat().st_size + self._lost
        except OSError:
            return 0

    def trim(self) -> None:
        """Releases the middle of a log that has become long. To be called often."""
        size = self.size() - self._lost
        if size - KEPT_BYTES - self._released < RELEASE_BYTES:
            return
        descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        try:
            end = size - KEPT_BYTES
            if _release(descriptor, self._released, end):
                self._released = end
            else:
                # The processes append, so that they continue at the new end.
                os.ftruncate(descriptor, KEPT_BYTES)
                self._lost += size - KEPT_BYTES
        finally:
            os.close(descriptor)

    def finish(self) -> None:
        """Replaces the middle of a long log by a line with its size, once no process writes any
        more. Raises :class:`OSError`."""
        size = self.size() - self._lost
        if size <= 2 * KEPT_BYTES + _BLOCK and not self._lost:
            return
        with self.path.open("r+b") as file:
            head = _first_lines(file.read(KEPT_BYTES))
            end = max(len(head), size - KEPT_BYTES)
            file.seek(end)
            tail = _last_lines(file.read(KEPT_BYTES))
            left_out = size - len(head) - len(tail) + self._lost
            file.seek(len(head))
            file.write(f"… {left_out / 1e6:,.1f} MB left out …\n".encode() + tail)
            file.truncate()
        self._lost, self._released = 0, KEPT_BYTES

    def tail(self, lines: int) -> str:
        """The last lines, for messages; only the end of the file is read."""
        with self.path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
            text = file.read(TAIL_BYTES).decode("utf-8", "replace")
        return " | ".join(line.strip() for line in text.splitlines()[-lines:] if line.strip())


def _release(descriptor: int, start: int, end: int) -> bool:
    """Releases the space of a part of a file; False where the file system cannot. Raises
    :class:`OSError`."""
    if _fallocate(descriptor, _KEEP_SIZE | _PUNCH_HOLE, start, end - start) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EOPNOTSUPP, errno.ENOSYS):
        return False
    raise OSError(number, os.strerror(number))


def _first_lines(block: bytes) -> bytes:
    """Whole lines, unless a line is longer than a block of 64 KiB."""
    end = block.rfind(b"\n", max(0, len(block) - _BLOCK)) + 1
    return block[:end] if end else block


def _last_lines(block: bytes) -> bytes:
    begin = block.find(b"\n", 0, _BLOCK) + 1
    return block[begin:]
