"""Two services that shared trials and took turns in slices: a model of two levels.

The ratio of a trial is ``ln(a / b) = d + process + slice``. Processes are drawn again for each
trial, so that their part is the same in all slices of a trial and no number of slices makes it
smaller. The interval of d is therefore Student's t of the trials' ratios, with one degree of
freedom less than trials (nested designs: Montgomery, *Design and Analysis of Experiments*, chapter
14; repetitions at the highest level that varies: Kalibera and Jones, ISMM 2013). Slices show which
part of the variance lies within trials, and so whether more trials or longer ones would decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from wirelab.statistics.distributions import student_t_quantile
from wirelab.statistics.interval import UnequalLengths

LONGER_MAX = 100.0
"""Times as long as they were: beyond, the processes decide what is known."""


@dataclass(frozen=True)
class Levels:
    """The variance of the logarithm of a trial's ratio, by its sources."""

    trials: int
    between: float
    """Of the processes: the same in all slices of a trial."""
    within: float
    """Of the slices, as it is left in the mean of a trial."""

    trial_s: float
    """Measured seconds of each service in a trial."""

    def further_s(self, distance: float, confidence: float = 0.95) -> float | None:
        """Further seconds of each service in the same number of trials that give a half width of
        ``distance``, a difference of logarithms; None if the processes differ too much for it, and
        beyond :data:`LONGER_MAX` times as many."""
        if self.trials < 2 or distance <= 0.0:
            return None
        quantile = student_t_quantile(0.5 + confidence / 2.0, self.trials - 1)
        room = self.trials * (distance / quantile) ** 2 - self.between
        if room <= 0.0 or self.within > LONGER_MAX * room:
            return None
        return max(0.0, self.within / room - 1.0) * self.trial_s


def levels(
    a_values: Sequence[float],
    b_values: Sequence[float],
    slices: Sequence[tuple[Sequence[float], Sequence[float]]],
    trial_s: float,
) -> Levels | None:
    """Of the figures of both services in each trial of ``trial_s`` seconds, and of the slices of
    both in each trial.

    ``within`` is the variance between neighbouring slices (von Neumann 1941, Annals of Mathematical
    Statistics 12(4)): what changes slowly is met by both services. None of fewer than two trials,
    or where a trial has fewer than three slices. Raises :class:`UnequalLengths`.
    """
    if not len(a_values) == len(b_values) == len(slices):
        raise UnequalLengths("give both figures and the slices of every trial")
    parts = [_variance_within(first, second) for first, second in slices]
    if len(parts) < 2 or None in parts:
        return None
    ratios = [log(a / b) for a, b in zip(a_values, b_values, strict=True)]
    total = float(np.var(ratios, ddof=1))
    within = float(np.mean([part for part in parts if part is not None]))
    return Levels(len(ratios), max(0.0, total - within), within, trial_s)


def _variance_within(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Variance of the mean of the logarithm of both slices' ratio."""
    pairs = [(a, b) for a, b in zip(first, second, strict=False) if a > 0.0 and b > 0.0]
    if len(pairs) < 3:
        return None
    logs = np.array([log(a / b) for a, b in pairs])
    return float(np.mean(np.diff(logs) ** 2) / 2.0 / logs.size)
