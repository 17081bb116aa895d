"""Where the program finds its files and where it keeps what it makes.

In a checkout these are the checkout's own. Without one they are the package's ``resources``, which
a wheel has, and the user's cache.
"""

from __future__ import annotations

import os
from pathlib import Path

from wirelab import checkout
from wirelab.errors import LabError, UsageError

RESOURCES = Path(__file__).parent / "resources"
"""Exists in a wheel only: the file trees named by :data:`FOLDERS`, copied by ``make wheel``."""
FOLDERS = ("contracts", "experiments", "services", "studies")
"""Folders that a checkout and a wheel have."""


def folder(name: str) -> Path:
    """One of :data:`FOLDERS`. Raises :class:`LabError` if this installation does not have it."""
    root = checkout.find() or RESOURCES
    found = root / name
    if not found.is_dir():
        raise LabError(
            f"wirelab is installed without its {name}, and no checkout of it was found",
            "install a wheel, run it inside a checkout, or set WIRELAB_ROOT to the folder of one",
        )
    return found


def cache() -> Path:
    """Folder for builds, tools and proofs; it may not exist yet. ``.cache`` of the checkout,
    otherwise ``wirelab`` in ``XDG_CACHE_HOME`` (default ``~/.cache``)."""
    root = checkout.find()
    if root is not None:
        return root / ".cache"
    return _base("XDG_CACHE_HOME", Path(".cache")) / "wirelab"


def state() -> Path:
    """Folder for what all runs of a user share, in a checkout too; it may not exist yet.
    ``wirelab`` in ``XDG_STATE_HOME`` (default ``~/.local/state``)."""
    return _base("XDG_STATE_HOME", Path(".local") / "state") / "wirelab"


def _base(variable: str, default: Path) -> Path:
    """XDG Base Directory Specification 0.8: the variable is ignored unless absolute."""
    named = Path(os.environ.get(variable, ""))
    return named if named.is_absolute() else Path.home() / default


def extra(name: str) -> str:
    """The command that installs what an optional part of wirelab needs: an extra of its wheel, or
    the development group of a checkout, which has all of them."""
    if checkout.find() is not None:
        return "run `make develop` in the checkout"
    return f"pip install 'wirelab[{name}]'"


def experiment(file: Path) -> Path:
    """The file itself if it exists. Otherwise the experiment of that name that comes with wirelab,
    for ``links``, ``links.yaml`` or ``experiments/links.yaml``; the file itself if there is none.
    Raises :class:`UsageError` for a bare name that neither is."""
    if file.exists() or file.parent not in (Path(), Path("experiments")):
        return file
    shipped = folder("experiments") / f"{file.name.removesuffix('.yaml')}.yaml"
    if shipped.is_file():
        return shipped
    if not file.suffix:
        names = ", ".join(sorted(path.stem for path in shipped.parent.glob("*.yaml")))
        raise UsageError(
            f"{file}: there is no such file, and no experiment of that name comes with wirelab",
            f"those that do: {names}",
        )
    return file
