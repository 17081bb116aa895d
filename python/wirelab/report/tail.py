"""Whether a p99 rests on enough trials and calls."""

from __future__ import annotations

from dataclasses import dataclass

from wirelab.format.counting import of_all
from wirelab.statistics.cell import Cell
from wirelab.statistics.figure import GOOD_P50, GOOD_P99, RESPONSE_P50, RESPONSE_P99, Figure

P50_OF = {RESPONSE_P99: RESPONSE_P50, GOOD_P99: GOOD_P50}
"""The median next to each p99."""
CALLS_MIN = 1_000
"""Calls of a trial from which on ten lie above its p99."""
BELOW = "the interval of the p99 reaches below the p50"
TRIALS = "too few trials"
CALLS = "too few calls"


@dataclass(frozen=True)
class Doubt:
    """What a cell lacks for its p99."""

    words: str
    """:data:`TRIALS` or :data:`CALLS`."""
    reason: str


def doubt(cell: Cell, figure: Figure) -> Doubt | None:
    """None where there is none, and for other figures."""
    if figure not in P50_OF:
        return None
    p99s, medians = cell.values(figure), cell.values(P50_OF[figure])
    if len(p99s) < len(medians):
        have = f"known of {of_all(len(p99s), len(medians), 'trial')}"
        return Doubt(CALLS, f"a p99 needs {CALLS_MIN:,} calls of a trial; {have}")
    p99, median = cell.interval(figure), cell.interval(P50_OF[figure])
    if p99 is None or median is None or p99.low is None or p99.low >= median.estimate:
        return None
    return Doubt(TRIALS, BELOW)
