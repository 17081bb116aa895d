"""A laboratory for wire protocols. ``wirelab`` is a command; ``__version__`` is its version.

Nothing is imported here: every command pays for what its package imports.
"""

from __future__ import annotations

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """PEP 562: the version of the installed package, read when it is first asked for."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _version()


def _version() -> str:
    """From the name of the folder that the installer made, ``wirelab-0.1.0.dist-info`` (Recording
    installed projects, packaging.python.org): ``importlib.metadata`` finds it the same way, but
    loads a parser of e-mail first, which takes longer than all the rest of ``--version``."""
    import os
    import sys

    start, end = f"{__name__}-", ".dist-info"
    for folder in filter(os.path.isdir, sys.path):
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
        for name in names:
            if name.startswith(start) and name.endswith(end):
                return name[len(start) : -len(end)]
    from importlib.metadata import version

    return version(__name__)
