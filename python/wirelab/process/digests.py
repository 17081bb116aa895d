"""SHA-256 of programs: a result is of one binary and no other."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path


def binary_digest(path: Path) -> str:
    """SHA-256 of a file; within one command it is read once, for as long as it stays the same
    file of the same size and time of change. Raises :class:`OSError`."""
    status = path.stat()
    return _digest(path, status.st_ino, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=16)
def _digest(path: Path, inode: int, size: int, changed_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
