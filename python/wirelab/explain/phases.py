"""In which part of a call two services differ, by captured trials of both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wirelab.records.trial import Trial
from wirelab.statistics import linear_contrasts
from wirelab.statistics.interval import Interval
from wirelab.trial.reconciliation import split


@dataclass(frozen=True)
class PhaseGap:
    """A part of the mean response time in both, ns."""

    phase: str
    """``server``, ``reply-on-wire``, … (:mod:`wirelab.trial.reconciliation`)."""
    a: float
    b: float
    gap: Interval
    """B - A."""

    @property
    def shown(self) -> bool:
        """Whether its interval leaves zero out."""
        low, high = self.gap.bounds or (0.0, 0.0)
        return low > 0.0 or high < 0.0


def phase_gaps(a: Iterable[Trial], b: Iterable[Trial]) -> tuple[PhaseGap, ...]:
    """The parts that both have, in the order of a call; empty where calls of one of them were not
    laid next to their packets."""
    of_a, of_b = _phases(a), _phases(b)
    return tuple(
        PhaseGap(
            name,
            _mean(of_a[name]),
            _mean(of_b[name]),
            linear_contrasts.total([(1.0, of_b[name]), (-1.0, of_a[name])]),
        )
        for name in of_a
        if name in of_b
    )


def _phases(trials: Iterable[Trial]) -> dict[str, list[float]]:
    """Phase -> its mean in each trial, ns."""
    found: dict[str, list[float]] = {}
    for trial in trials:
        record = trial.wire.reconciliation if trial.wire else None
        whole = split(record) if record else None
        for part in whole.phases if whole else ():
            found.setdefault(part.phase, []).append(1e3 * part.mean_us)
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
