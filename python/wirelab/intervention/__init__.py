"""Findings in packets, tested by intervention.

The diagnosis names what a cause costs and which switch it blames. Here the same cell is run
again as it was and with that one switch flipped, side by side on fresh processes, and what was
predicted is compared with what was found. The test is an ordinary
experiment in an ordinary run directory, made from the run's own file; the predictions are in
it before its first trial.

Without such a test a finding is no cause: see :attr:`Tested.proven`.
"""

from __future__ import annotations

from wirelab.intervention.testing import FOLDER, REPEATS, Intervention, intervene, read

__all__ = ["FOLDER", "REPEATS", "Intervention", "intervene", "read"]
