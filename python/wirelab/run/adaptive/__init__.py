"""Findings in packets, tested by intervention.

The diagnosis names what a cause costs and which switch it blames. Here the same cell is run
again as it was and with that one switch flipped, side by side on fresh processes, and what was
predicted is compared with what was found. The test is an ordinary
experiment in an ordinary run directory, made from the run's own file; the predictions are in
it before its first trial.

Without such a test a finding is no cause: see :attr:`Tested.proven`.
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
    """PEP 562: loads the module that holds a public name. Whether a run was tested is asked of
    every run, and the test itself needs all of an experiment."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
