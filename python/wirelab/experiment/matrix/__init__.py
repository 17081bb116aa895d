"""The matrix of an experiment: its cells, and the trials that measure them in random order.

Every combination of the file's lists is a cell, unless it is impossible
(:mod:`~wirelab.experiment.matrix.acceptance`). Services of one setting may share trials
(:mod:`~wirelab.experiment.matrix.sharing`). The trials have a random, interleaved order
(:mod:`~wirelab.experiment.matrix.scheduling`).
"""

from wirelab.experiment.matrix.acceptance import Impossible
from wirelab.experiment.matrix.cells import Cell, PlannedTrial, Schedule
from wirelab.experiment.matrix.scheduling import (
    OVERHEAD_S,
    REMEDY,
    calls_max,
    impossible,
    schedule,
    seconds,
)

__all__ = [
    "OVERHEAD_S",
    "REMEDY",
    "Cell",
    "Impossible",
    "PlannedTrial",
    "Schedule",
    "calls_max",
    "impossible",
    "schedule",
    "seconds",
]
