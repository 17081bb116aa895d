"""The beginning of a window compared with its end: whether it contains a part of the warm-up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

from wirelab.statistics.distributions import student_t_tail

LEVEL = 0.001
"""Of the test, as of the other checks."""
SLOTS_MIN = 3
"""In each third."""


@dataclass(frozen=True)
class Movement:
    """From the first third of a window to its last."""

    growth: float
    """Difference of the logarithms of both rates: positive if the rate grew."""
    p_value: float
    """Of a rate that did not grow: one-sided."""

    @property
    def is_warming(self) -> bool:
        """Whether the rate grew by more than chance."""
        return self.p_value < LEVEL


def movement(slots: Sequence[float]) -> Movement | None:
    """Of the calls in equal slots of time; None of fewer than nine, or without calls in a third.

    Student's t of both means (1908), with the variance of the slots within the thirds, and at
    least that of Poisson counts.
    """
    size = len(slots) // 3
    if size < SLOTS_MIN:
        return None
    first, last = slots[:size], slots[-size:]
    means = sum(first) / size, sum(last) / size
    if min(means) <= 0.0:
        return None
    squares = sum(
        (x - mean) ** 2 for part, mean in zip((first, last), means, strict=True) for x in part
    )
    variance = max(squares / (2 * size - 2), sum(means) / 2.0)
    t = (means[1] - means[0]) / sqrt(2.0 * variance / size)
    tail = student_t_tail(abs(t), 2 * size - 2)
    return Movement(log(means[1] / means[0]), tail if t > 0.0 else 1.0 - tail)
