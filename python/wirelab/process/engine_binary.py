"""Where the engine is."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from wirelab import checkout
from wirelab.errors import EngineMissing

NAME = "wirelab-engine"


def find() -> Path:
    """``WIRELAB_ENGINE``, else beside this Python, in PATH, or in the checkout's
    target/release. Raises :class:`EngineMissing`."""
    named = os.environ.get("WIRELAB_ENGINE")
    if named:
        if not _runs(Path(named)):
            raise EngineMissing(
                f"WIRELAB_ENGINE={named} is not a program", "correct it, or unset it"
            )
        return Path(named).resolve()
    for place in _places():
        if _runs(place):
            return place.resolve()
    raise EngineMissing(
        f"{NAME} was not found beside {sys.executable}, in PATH or in target/release",
        "run `make setup` in the checkout, or set WIRELAB_ENGINE to the program",
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


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
