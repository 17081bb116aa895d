"""How many more trials would decide what is undecided."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import erf, inf, sqrt
from statistics import NormalDist

from wirelab.format.counting import format_count
from wirelab.statistics.distributions import student_t_quantile

REPEATS_MAX = 100
"""Further repeats up to which a number is named; beyond, the estimate lies too near."""
SHARE_DECIDED = 0.5
"""Of worlds that are like today's estimate: those that the number of repeats decides."""


@dataclass(frozen=True)
class Spread:
    """Of what the error of a weighted sum of cells' means consists, cell by cell."""

    parts: tuple[tuple[float, float], ...]
    """Variance between the trials of a cell times its squared weight, and the number of its
    trials, at least 2; no whole number where cells share a part of their variance
    (:mod:`wirelab.statistics.blocks`)."""

    def error(self, further: int = 0) -> tuple[float, float]:
        """Standard error of the sum, and its degrees of freedom by Welch 1947 (Biometrika 34,
        equation 28) and Satterthwaite 1946 (Biometrics Bulletin 2(6), equation 17). With
        ``further`` trials of every cell they are what is to be expected of them, the variances
        being those of the trials that there are."""
        shares = [(variance / (n + further), n + further - 1) for variance, n in self.parts]
        total = sum(share for share, _ in shares)
        if total <= 0.0:
            return 0.0, inf
        # Shares of the total, so that tiny variances do not underflow when squared.
        return sqrt(total), 1.0 / sum((share / total) ** 2 / df for share, df in shares)

    def reach(self, confidence: float, further: int = 0) -> float:
        """Half width of the interval."""
        error, freedom = self.error(further)
        return student_t_quantile(0.5 + confidence / 2.0, freedom) * error if error else 0.0


@dataclass(frozen=True)
class Room:
    """How far the estimate lies from the borders of the verdict that it suggests; infinite
    where there is none on that side."""

    below: float
    above: float = inf


def further_repeats(spread: Spread, room: Room, confidence: float) -> int | None:
    """Further trials of every cell after which the interval to be expected lies within the
    borders in half of all worlds whose true value is today's estimate; None beyond
    :data:`REPEATS_MAX`.

    With one border that is the number after which the half width to be expected is no more
    than the distance to it, for the estimate varies about its true value to both sides alike.
    """
    if min(room.below, room.above) <= 0.0:
        return None
    numbers = range(1, REPEATS_MAX + 1)
    # The normal quantile is below Student's, so its number of repeats is a lower bound, and
    # few more evaluations of the expensive quantile find the number itself.
    normal = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    least = bisect_left(
        numbers, SHARE_DECIDED, key=lambda further: _share_decided(spread, room, further, normal)
    )
    for further in numbers[least:]:
        quantile = student_t_quantile(0.5 + confidence / 2.0, spread.error(further)[1])
        if _share_decided(spread, room, further, quantile) >= SHARE_DECIDED:
            return further
    return None


def _share_decided(spread: Spread, room: Room, further: int, quantile: float) -> float:
    """Of worlds: those whose interval lies between the borders."""
    error, _ = spread.error(further)
    if error <= 0.0:
        return 1.0
    reach = quantile * error
    above, below = (room.above - reach) / error, (room.below - reach) / error
    return max(0.0, 0.5 * (erf(above / sqrt(2.0)) + erf(below / sqrt(2.0))))


def suggest_repeats(further: int | None, border: str = "threshold") -> str:
    """``about 12 more repeats may decide``, or that no sensible number does."""
    if further is None:
        return (
            f"more than {REPEATS_MAX} more repeats would be needed: the distance to the {border} "
            "is small compared with the spread between trials"
        )
    return f"about {format_count(further, 'more repeat')} may decide"
