"""Classifies the load in the packets: closed, constant, Poisson or bursts.

A constant rate is tested first: a clock corrects what it missed, and a user who waits does not.
Then requests are tested for waiting for replies, whatever connection they use. What the packets do
not decide is not named. :mod:`wirelab.statistics.coupling` has the methods.
"""

from __future__ import annotations

import numpy as np

from wirelab.documents.dissection import Sample
from wirelab.format.numbers import digits
from wirelab.statistics import coupling
from wirelab.statistics.coupling import Coupling, Floats, Slope, Steadiness
from wirelab.wrap.kind import Kind

CLOCK_SPREAD_MAX = 1.2
"""Spread of gaps up to which a clock is behind them, if it corrects their deviations."""
CLOCK_HURST_MAX = 0.25
"""Halfway between a clock (0) and deviations that accumulate (0.5)."""
TRIGGERED_LAG = 0.2
"""Spread of the lag up to which replies trigger the requests."""
SPREAD_MAX = 0.5
"""Spread of independent gaps up to which they are constant."""
CLOSED_MIN = 5.0
"""Logarithm of the likelihood ratio from which a load is closed: e^5 is about 150 to 1."""
OPEN_MIN = 2.5
"""The same for an open load, which has no parameter that could fit by chance: about 12 to 1."""
ERRORS = 4.0
"""Standard errors that a slope must be away from what it excludes."""
POISSON = (0.8, 1.3)
"""Coefficients of variation of a Poisson process; its own is 1."""
INDEPENDENT = (0.7, 1.5)
"""Drift of independent gaps."""


def classify_sample(sample: Sample) -> Kind:
    """By the times that a dissection lists."""
    times = _times(sample)
    if times is None:
        return Kind("undecided", "its requests began at one time")
    return classify(*times)


def _times(sample: Sample) -> tuple[Floats, Floats] | None:
    """Begin and duration of each request, seconds."""
    took = [np.nan if ns is None else ns for ns in sample.took_ns]
    began = np.array(sample.began_ns, dtype=float) / 1e9
    if len(began) < 2 or began[-1] <= began[0]:
        return None
    return began, np.array(took, dtype=float) / 1e9


def classify(began_s: Floats, took_s: Floats) -> Kind:
    """By the times of all requests, in the order in which they began; a duration that is not known
    is NaN."""
    steady = coupling.measure_steadiness(began_s, took_s)
    if _has_clock(steady):
        gap = float(np.median(np.diff(began_s)))
        return Kind("constant", f"gaps keep to a clock of {digits(1.0 / gap)}/s")
    found = coupling.measure_coupling(began_s, took_s)
    if found.in_flight_max == 1:
        decided = _classify_by_slope(coupling.measure_slope(began_s, took_s), began_s, steady)
        if decided is not None:
            return decided
    if found.closed > CLOSED_MIN:
        return Kind("closed", _describe_waiting(found))
    if found.open > OPEN_MIN:
        reason = f"requests begin independently of those in flight, at most {found.in_flight_max}"
        return _open(began_s, steady, reason)
    return Kind("undecided", "the packets fit an open load and a closed one")


def _has_clock(steady: Steadiness) -> bool:
    is_corrected = steady.spread <= CLOCK_SPREAD_MAX and steady.hurst <= CLOCK_HURST_MAX
    return is_corrected and steady.lag > TRIGGERED_LAG


def _describe_waiting(found: Coupling) -> str:
    if found.users == found.in_flight_max:
        return f"no request begins while {found.users} are in flight"
    return (
        f"the more are in flight (at most {found.in_flight_max}), the fewer begin, like with "
        f"{found.users} users"
    )


def _classify_by_slope(slope: Slope, began_s: Floats, steady: Steadiness) -> Kind | None:
    """Of requests one after the other; None if latencies vary too little to decide."""
    value, error = slope.value, slope.error
    if value > ERRORS * error and abs(value - 1.0) < max(0.3, 3.0 * error):
        return Kind("closed", f"one at a time; each begins later by {value:.2f} of a later reply")
    if 1.0 - value > ERRORS * error and abs(value) < max(0.2, 3.0 * error):
        return _open(began_s, steady, "one at a time, and a late reply delays no request")
    return None


def _open(began_s: Floats, steady: Steadiness, reason: str) -> Kind:
    """An open load by the variation of its gaps, where they are independent."""
    gaps = np.diff(began_s)
    variation = float(gaps.std(ddof=1) / gaps.mean())
    reason = f"{reason}; gaps vary by {variation:.2f} of their mean"
    if steady.spread <= SPREAD_MAX:
        return Kind("constant", reason)
    if not INDEPENDENT[0] <= steady.drift <= INDEPENDENT[1] or variation < POISSON[0]:
        return Kind("undecided", "gaps are neither constant nor independent")
    if variation <= POISSON[1]:
        return Kind("poisson", reason)
    # Users who think equally long stay together: a closed load that looks like an open one.
    return Kind("bursts", f"gaps vary by {variation:.2f} of their mean")
