"""Where the services' sources are: the checkout that the lab runs from."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from wirelab.errors import LabError

MARK = Path("contracts") / "transfer.proto"
"""The file by which a checkout is known."""


def find() -> Path | None:
    """The checkout: ``WIRELAB_ROOT``, else the first folder that is one, going up from
    this package, the environment of the interpreter and the current folder."""
    named = os.environ.get("WIRELAB_ROOT")
    if named:
        return _require_checkout(Path(named))
    return next((folder for folder in _candidates() if (folder / MARK).is_file()), None)


def root() -> Path:
    """The checkout. Raises :class:`LabError` outside of one."""
    found = find()
    if found is None:
        raise LabError(
            "this needs the sources of the services, and no checkout of wirelab was found",
            "run it inside the checkout, or set WIRELAB_ROOT to its folder",
        )
    return found


def _require_checkout(folder: Path) -> Path:
    if not (folder / MARK).is_file():
        raise LabError(
            f"WIRELAB_ROOT={folder} is not a checkout of wirelab: {MARK} is missing there",
            "set WIRELAB_ROOT to the checkout, or unset it",
        )
    return folder.resolve()


def _candidates() -> Iterator[Path]:
    for start in (Path(__file__).resolve(), Path(sys.prefix).resolve(), Path.cwd()):
        yield from start.parents if start.is_file() else (start, *start.parents)
