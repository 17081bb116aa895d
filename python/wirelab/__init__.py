"""A laboratory for wire protocols: the command ``wirelab``, and what programs can do with runs.

>>> run = wirelab.load("runs/mine")                          # doctest: +SKIP
>>> table = run.trials()                                     # doctest: +SKIP
>>> wirelab.compare(*run.cells()[:2]).verdict                # doctest: +SKIP

Nothing is imported here before it is used: every command pays for what its package imports.
"""

from __future__ import annotations

TYPE_CHECKING = False  # what type checkers take for true, without importing typing
if TYPE_CHECKING:
    from typing import Any

    from wirelab.api import Cell, Comparison, Results, Trial, compare, load

__all__ = ["Cell", "Comparison", "Results", "Trial", "__version__", "compare", "load"]


def __getattr__(name: str) -> Any:
    """PEP 562: the version of the installed package, or a name of :mod:`wirelab.api`."""
    if name == "__version__":
        return _version()
    if name in __all__:
        from importlib import import_module

        return getattr(import_module("wirelab.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _version() -> str:
    """From the name of the folder that the installer made, ``wirelab-0.2.0.dist-info`` (Recording
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
