"""Does a series stay where it is? Trend, step and stall.

A window that drifts measures the drift. Three ways to leave the place are looked
for, each with a size below which it does not matter and a test that separates it from noise.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from math import erfc, exp, factorial, isfinite, sqrt
from typing import SupportsFloat

from wirelab.statistics.interval import NotFinite, OutOfRange

BATCHES_MAX = 30
"""At most this number of batches: their means depend on each other less than neighbours do."""
SLOTS_MIN = 8
"""Below, no order of the slots is unlikely enough for the trend test to speak."""
LEVEL = 0.001
"""Level of each test; a sound window is marked about once in 500."""
DRIFT_MAX = 0.10
"""Change over the whole window, relative to its median, below which a trend or step is let pass."""
STALL_SHARE = 0.5
"""A batch below this share of the median is a stall ..."""
STALL_COUNT = 100.0
"""... when a batch has at least this number of calls: Poisson noise is then below 10 %."""


@dataclass(frozen=True)
class Stationarity:
    """The outcome: ``stationary`` is None where the series is too short to tell."""

    stationary: bool | None
    drift: float
    """Change over the window by the Theil-Sen slope, relative to the median."""
    reason: str


def stationary(series: Sequence[SupportsFloat]) -> Stationarity:
    """Judge a series of counts in equal slots of time.

    Trend: Kendall's tau against time (Mann 1945, Econometrica 13(3)) with Theil-Sen's
    slope (Sen 1968, JASA 63). Step: :func:`pettitt`. Stall: a batch at less than half of
    the median. Trend and step need a p below 0.001 and a size above 10 %. Few enough batches for
    plain Python: every trial and every `wirelab drive` is judged, and loading scipy would take
    longer than a short window.
    Raises :class:`OutOfRange` for negative counts, :class:`NotFinite`.
    """
    if len(series) < SLOTS_MIN:
        return Stationarity(
            None, 0.0, f"{len(series)} slots of the window; at least {SLOTS_MIN} are needed"
        )
    counts = [float(count) for count in series]
    if not all(map(isfinite, counts)):
        raise NotFinite("series: at least one is NaN or infinite")
    if min(counts) < 0.0:
        raise OutOfRange("series: a count cannot be negative")
    width = -(-len(counts) // BATCHES_MAX)
    # A remainder at the end is left out rather than averaged over fewer slots.
    starts = range(0, len(counts) // width * width, width)
    batches = [sum(counts[start : start + width]) / width for start in starts]
    middle = _median(batches)
    if middle == 0.0:
        return Stationarity(None, 0.0, "no call succeeded in most slots of the window")
    return _judge(batches, middle, width)


def pettitt(values: Sequence[float]) -> tuple[float, int]:
    """p-value and place of the likeliest step (Pettitt 1979, Applied Statistics 28(2)).

    ``U_t = 2 sum(rank of the first t) - t (n + 1)``, ``K = max |U_t|``,
    ``p = 2 exp(-6 K^2 / (n^3 + n^2))``, an upper bound at small p. The step comes after
    the value number ``place``.
    """
    n = len(values)
    ordered = sorted(values)
    # The mean of the places that equal values share.
    ranks = [
        (bisect_left(ordered, value) + bisect_right(ordered, value) + 1) / 2 for value in values
    ]
    sums = list(accumulate(ranks))[:-1]
    steps = [abs(2.0 * total - t * (n + 1.0)) for t, total in enumerate(sums, 1)]
    k = max(steps)
    return min(1.0, 2.0 * exp(-6.0 * k * k / (n**3 + n**2))), steps.index(k) + 1


def theil_sen(values: Sequence[float]) -> float:
    """Median of the slopes between all pairs of values, per step (Sen 1968, JASA 63)."""
    pairs = combinations(enumerate(values), 2)
    return _median((later - earlier) / (j - i) for (i, earlier), (j, later) in pairs)


def kendall_p(values: Sequence[float]) -> float:
    """Two-sided p of Kendall's tau between the values and their order.

    Without ties exact, by the number of orders with that number of inversions (Kendall 1970, Rank
    Correlation Methods, section 5.2); with ties normal, the variance corrected for them
    (section 4.5). Exact counts are of whole numbers: for some dozens of values.
    """
    n = len(values)
    pairs = n * (n - 1) // 2
    ties = [count for count in Counter(values).values() if count > 1]
    falling = sum(later < earlier for earlier, later in combinations(values, 2))
    if not ties:
        return _exact_p(n, min(falling, pairs - falling))
    tied = sum(count * (count - 1) // 2 for count in ties)
    difference = pairs - tied - 2 * falling
    spread = sum(count * (count - 1) * (2 * count + 5) for count in ties)
    variance = (n * (n - 1) * (2 * n + 5) - spread) / 18.0
    return erfc(abs(difference) / sqrt(2.0 * variance)) if variance > 0.0 else 1.0


def _exact_p(n: int, inversions: int) -> float:
    """Share of all orders of ``n`` values with at most that number of inversions, of both tails."""
    orders = [1] + [0] * inversions
    for size in range(2, n + 1):
        sums = list(accumulate(orders))
        orders = [sums[k] - (sums[k - size] if k >= size else 0) for k in range(inversions + 1)]
    return min(1.0, 2 * sum(orders) / factorial(n))


def _median(values: Iterable[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2.0


def _judge(batches: Sequence[float], median: float, width: int) -> Stationarity:
    slope = theil_sen(batches)
    drift = slope * (len(batches) - 1) / median
    trend_p = kendall_p(batches)
    if trend_p < LEVEL and abs(drift) > DRIFT_MAX:
        size = f"{100 * drift:+.0f} % of its median"
        reason = f"the rate moves by {size} over the window (p = {trend_p:.1g})"
        return Stationarity(False, drift, reason)
    step_p, place = pettitt(batches)
    step = (_median(batches[place:]) - _median(batches[:place])) / median
    if step_p < LEVEL and abs(step) > DRIFT_MAX:
        where = 100.0 * place / len(batches)
        size = f"{100 * step:+.0f} % of its median"
        reason = f"the rate steps by {size} at {where:.0f} % of the window"
        return Stationarity(False, drift, reason)
    low = min(batches)
    if median * width >= STALL_COUNT and low < STALL_SHARE * median:
        where = 100.0 * batches.index(low) / len(batches)
        reason = f"at {where:.0f} % of the window the rate falls to {100 * low / median:.0f} %"
        return Stationarity(False, drift, f"{reason} of its median")
    parts = len(batches)
    return Stationarity(
        True, drift, f"no trend, step or stall in {parts} parts (drift {100 * drift:+.1f} %)"
    )
