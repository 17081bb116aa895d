"""Tests findings in packets by intervention.

The diagnosis states the cost of a cause and the setting that it blames. The test runs the same cell
again, unchanged and with that one setting flipped, interleaved on fresh processes, and compares the
prediction with the result. It is an ordinary experiment in an ordinary run directory, derived from
the run's own file. The predictions are stored in it before its first trial.

Without such a test a finding is not called a cause: see :attr:`Tested.proven`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wirelab.run.adaptive.recorded import FOLDER, read
    from wirelab.run.adaptive.testing import REPEATS, Intervention, intervene

__all__ = ["FOLDER", "REPEATS", "Intervention", "intervene", "read"]

_HOME = {
    **dict.fromkeys(("FOLDER", "read"), "recorded"),
    **dict.fromkeys(("REPEATS", "Intervention", "intervene"), "testing"),
}


def __getattr__(name: str) -> Any:
    """PEP 562: loads the module that defines a public name. Every run is checked for a test, but
    only a test itself needs the models of an experiment."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
