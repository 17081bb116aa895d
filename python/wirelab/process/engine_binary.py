"""Finds the engine binary."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from functools import lru_cache
from pathlib import Path

from wirelab import checkout
from wirelab.errors import EngineMissing

NAME = "wirelab-engine"


def find() -> Path:
    """``WIRELAB_ENGINE``, otherwise next to this Python, in PATH, or in the checkout's
    target/release. Raises :class:`EngineMissing`."""
    named = os.environ.get("WIRELAB_ENGINE")
    if named:
        if not is_executable(Path(named)):
            raise EngineMissing(
                f"WIRELAB_ENGINE={named} is not an executable file", "correct or unset the variable"
            )
        return Path(named).resolve()
    for place in _places():
        if is_executable(place):
            return place.resolve()
    raise EngineMissing(
        f"{NAME} was not found next to {sys.executable}, in PATH or in target/release",
        "run `make setup` in the checkout, or set WIRELAB_ENGINE to its path",
    )


def _places() -> list[Path]:
    places = [Path(sys.executable).parent / NAME]
    in_path = shutil.which(NAME)
    if in_path:
        places.append(Path(in_path))
    folder = checkout.find()
    if folder is not None:
        places.append(folder / "target" / "release" / NAME)
    return places


def is_executable(path: Path) -> bool:
    """Whether it is a file that may be executed."""
    return path.is_file() and os.access(path, os.X_OK)


def binary_digest(path: Path) -> str:
    """SHA-256 of a file. Within one command it is computed once, as long as size and modification
    time of the file do not change. Raises :class:`OSError`."""
    status = path.stat()
    return _digest(path, status.st_ino, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=16)
def _digest(path: Path, inode: int, size: int, changed_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
