"""Does a series stay where it is? Trend, step and stall.

A window that drifts measures the drift. Three ways to leave the place are looked
for, each with a size below which it does not matter and a test that tells it from noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from wirelab.statistics.errors import OutOfRange
from wirelab.statistics.sample import Floats, finite

BATCHES_MAX = 30
"""The series is averaged into at most so many batches: neighbours depend on each other less."""
SLOTS_MIN = 8
"""Below, no order of the slots is unlikely enough for the trend test to speak."""
LEVEL = 0.001
"""Level of each test; a sound window is marked about once in 500."""
DRIFT_MAX = 0.10
"""Change over the whole window, relative to its median, below which a trend or step is let pass."""
STALL_SHARE = 0.5
"""A batch below this share of the median is a stall ..."""
STALL_COUNT = 100.0
"""... when a batch has at least so many calls: Poisson noise is then below 10 %."""


@dataclass(frozen=True)
class Stationarity:
    """The outcome: ``stationary`` is None where the series is too short to tell."""

    stationary: bool | None
    drift: float
    """Change over the window by the Theil-Sen slope, relative to the median."""
    reason: str


def stationary(series: Sequence[float] | Floats | NDArray[np.int64]) -> Stationarity:
    """Judge a series of counts in equal slots of time.

    Trend: Kendall's tau against time (Mann 1945, Econometrica 13(3)) with Theil-Sen's
    slope (Sen 1968, JASA 63). Step: :func:`pettitt`. Stall: a batch at less than half of
    the median. Trend and step need a p below 0.001 and a size above 10 %.
    Raises :class:`OutOfRange` for negative counts, :class:`NotFinite`.
    """
    if len(series) < SLOTS_MIN:
        return Stationarity(
            None, 0.0, f"{len(series)} slots of the window; at least {SLOTS_MIN} are needed"
        )
    counts = finite(np.asarray(series, dtype=np.float64), "series")
    if np.any(counts < 0.0):
        raise OutOfRange("series: a count cannot be negative")
    width = -(-counts.size // BATCHES_MAX)
    # A remainder at the end is left out rather than averaged over fewer slots.
    batches = counts[: counts.size // width * width].reshape(-1, width).mean(axis=1)
    median = float(np.median(batches))
    if median == 0.0:
        return Stationarity(None, 0.0, "most slots of the window have no call that ended well")
    return _judge(batches, median, width)


def pettitt(values: Floats) -> tuple[float, int]:
    """p-value and place of the likeliest step (Pettitt 1979, Applied Statistics 28(2)).

    ``U_t = 2 sum(rank of the first t) - t (n + 1)``, ``K = max |U_t|``,
    ``p = 2 exp(-6 K^2 / (n^3 + n^2))``, an upper bound at small p. The step comes after
    the value number ``place``.
    """
    n = values.size
    ranks = stats.rankdata(values)
    steps = np.arange(1, n)
    u = 2.0 * np.cumsum(ranks)[:-1] - steps * (n + 1.0)
    place = int(np.argmax(np.abs(u)))
    k = float(abs(u[place]))
    return min(1.0, 2.0 * exp(-6.0 * k * k / (n**3 + n**2))), place + 1


def _judge(batches: Floats, median: float, width: int) -> Stationarity:
    time = np.arange(batches.size, dtype=np.float64)
    slope = float(stats.theilslopes(batches, time).slope)
    drift = slope * (batches.size - 1) / median
    trend_p = float(stats.kendalltau(time, batches).pvalue) if np.ptp(batches) > 0.0 else 1.0
    if trend_p < LEVEL and abs(drift) > DRIFT_MAX:
        size = f"{100 * drift:+.0f} % of its median"
        reason = f"the rate moves by {size} over the window (p = {trend_p:.1g})"
        return Stationarity(False, drift, reason)
    step_p, place = pettitt(batches)
    step = float(np.median(batches[place:]) - np.median(batches[:place])) / median
    if step_p < LEVEL and abs(step) > DRIFT_MAX:
        where = 100.0 * place / batches.size
        size = f"{100 * step:+.0f} % of its median"
        reason = f"the rate steps by {size} at {where:.0f} % of the window"
        return Stationarity(False, drift, reason)
    low = float(batches.min())
    if median * width >= STALL_COUNT and low < STALL_SHARE * median:
        where = 100.0 * float(np.argmin(batches)) / batches.size
        reason = f"at {where:.0f} % of the window the rate falls to {100 * low / median:.0f} %"
        return Stationarity(False, drift, f"{reason} of its median")
    return Stationarity(
        True, drift, f"no trend, step or stall in {batches.size} parts (drift {100 * drift:+.1f} %)"
    )
