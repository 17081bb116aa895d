"""Whether requests wait for replies, by the times at which they began and ended.

In a closed load with N users a new request begins only while one of them is not waiting: its
hazard is proportional to N - k, where k requests are in flight, or, if one program acts for all
users in turn, constant below N and 0 at N. In an open load it does not depend on k (Schroeder,
Wierman and Harchol-Balter, NSDI 2006). All hazards may also depend on the time since the last
request, which makes steady and uneven schedules comparable: a Cox model with piecewise constant
baseline (Breslow 1974), of which N is the only other parameter. No request is assigned to a user,
so a pool that lends connections to many users makes no difference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

AGES = 12
"""Strata of the time since the last request."""
USERS_FACTOR_MAX = 64
"""Numbers of users that are tried: up to this multiple of the most requests in flight."""
USERS_TRIED = 50


@dataclass(frozen=True)
class Coupling:
    """Logarithms of likelihood ratios."""

    in_flight_max: int
    users: int
    """The most likely number of users of a closed load."""
    closed: float
    """Of the closed load with that number compared with an open load; 0 or more, except for
    rounding."""
    open: float
    """Of an open load compared with a closed one of half as many users again as were seen in
    flight at a time."""


def measure_coupling(began_s: Floats, took_s: Floats) -> Coupling:
    """``began_s`` rises; a ``took_s`` that is not known is NaN."""
    exposure, starts = _tabulate(began_s, took_s)
    most = max(1, exposure.shape[1] - 1)
    tried = np.unique(np.round(most * np.geomspace(1, USERS_FACTOR_MAX, USERS_TRIED)))
    likelihoods = [_log_likelihood(exposure, starts, _idle_users(exposure, n)) for n in tried]
    best = int(np.argmax(likelihoods))
    is_open = _log_likelihood(exposure, starts, np.ones(exposure.shape[1]))
    few = _log_likelihood(exposure, starts, _idle_users(exposure, np.ceil(1.5 * most)))
    capped = _log_likelihood(exposure, starts, (np.arange(exposure.shape[1]) < most).astype(float))
    closed, users = max((likelihoods[best], int(tried[best])), (capped, most))
    return Coupling(most, users, closed - is_open, is_open - few)


def _idle_users(exposure: Floats, users: float) -> Floats:
    """Number of users who are not waiting, by the number of requests in flight."""
    return np.asarray(np.maximum(users - np.arange(exposure.shape[1]), 0.0))


def _log_likelihood(exposure: Floats, starts: Floats, hazard: Floats) -> float:
    """Partial likelihood: of each stratum of age, the baseline is that of its own starts. Terms
    that do not depend on ``hazard`` are left out."""
    if starts[:, hazard == 0.0].any():
        return -np.inf
    count = starts.sum(axis=1)
    occupied = count > 0
    weighted = (exposure @ hazard)[occupied]
    logs = np.log(np.where(hazard > 0.0, hazard, 1.0))
    baseline = (count[occupied] * np.log(weighted / count[occupied])).sum()
    return float((starts @ logs).sum() - baseline)


def _tabulate(began_s: Floats, took_s: Floats) -> tuple[Floats, Floats]:
    """Time, and requests begun, by stratum of age (rows) and number in flight (columns)."""
    known = np.isfinite(took_s)
    ends = (began_s + took_s)[known]
    ends = ends[ends < began_s[-1]]
    times = np.concatenate([began_s, ends])
    is_start = np.concatenate([np.ones(len(began_s), int), np.zeros(len(ends), int)])
    step = np.concatenate([known.astype(int), -np.ones(len(ends), int)])
    # A reply that ends when the next request begins is what the request waited for.
    order = np.lexsort((is_start, times))
    times, is_start, step = times[order], is_start[order], step[order]
    level = np.cumsum(step)
    since = times - np.maximum.accumulate(np.where(is_start == 1, times, -np.inf))[: len(times)]
    gaps = np.diff(began_s)
    # Ages below the shortest gap are a stratum of their own, which has a single start.
    edges = np.unique(np.quantile(gaps, np.linspace(0.0, 1.0, AGES + 1)[:-1]))
    lows, highs = np.concatenate([[0.0], edges]), np.concatenate([edges, [np.inf]])
    begin, length = since[:-1], np.diff(times)
    levels = int(level.max()) + 1
    exposure = np.array(
        [
            np.bincount(
                level[:-1],
                np.clip(np.minimum(begin + length, high) - np.maximum(begin, low), 0.0, None),
                levels,
            )
            for low, high in zip(lows, highs, strict=True)
        ]
    )
    starts = np.zeros((len(lows), levels))
    before = (level - step)[is_start == 1][1:]
    np.add.at(starts, (np.searchsorted(edges, gaps, side="left"), before), 1.0)
    return exposure, starts


@dataclass(frozen=True)
class Slope:
    """Of the gap to the next request over the latency: 1 in a closed load of one user, 0 in an open
    one."""

    value: float
    error: float
    """Standard error; infinite if latencies do not vary."""


def measure_slope(began_s: Floats, took_s: Floats) -> Slope:
    """By least squares; the error allows for a different variance at each latency (White 1980)."""
    gaps, latencies = np.diff(began_s), took_s[:-1]
    used = np.isfinite(latencies)
    x, y = latencies[used], gaps[used]
    if len(x) < 3 or np.ptp(x) == 0.0:
        return Slope(0.0, np.inf)
    x, y = x - x.mean(), y - y.mean()
    squares = float(x @ x)
    value = float(x @ y) / squares
    # HC3: a point that decides the line by itself has a large error.
    rest = (y - value * x) / np.maximum(1.0 - 1.0 / len(x) - x**2 / squares, 1e-9)
    return Slope(value, float(np.sqrt((x**2) @ rest**2)) / squares)


@dataclass(frozen=True)
class Steadiness:
    """How regular gaps are. No figure is moved by a few outliers."""

    spread: float
    """From the 10th to the 90th percentile of the gaps, divided by their median."""
    drift: float
    """Spread of the sum of many gaps, divided by what independent gaps would have."""
    hurst: float
    """Exponent by which the spread of a sum grows with the number of gaps (Hurst 1951): 0.5 where
    deviations accumulate, 0 where a clock corrects them."""
    lag: float
    """Spread of the time from the last end of a reply to the next request, divided by that of the
    gaps: near 0 where an end triggers the request."""


def measure_steadiness(began_s: Floats, took_s: Floats) -> Steadiness:
    """``began_s`` rises; a ``took_s`` that is not known is NaN."""
    gaps = np.diff(began_s)
    few = max(1, len(gaps) // 80)
    many = max(few + 1, min(16 * few, len(gaps) // 4))
    one, median = _spread(gaps), float(np.median(gaps))
    of_few, of_some, of_many = (_spread(began_s[n:] - began_s[:-n]) for n in (few, 2 * few, many))
    if one == 0.0 or of_few == 0.0 or median == 0.0:
        return Steadiness(0.0 if median else np.inf, 0.0, 0.0, np.inf)
    return Steadiness(
        spread=one / median,
        drift=of_some / (one * float(np.sqrt(2 * few))),
        hurst=float(np.log(of_many / of_few) / np.log(many / few)),
        lag=_spread(_lags(began_s, took_s)) / one,
    )


def _lags(began_s: Floats, took_s: Floats) -> Floats:
    """Of each request that follows an end: the time since the last one."""
    ends = np.sort((began_s + took_s)[np.isfinite(took_s)])
    place = np.searchsorted(ends, began_s, side="right")
    follows = place > 0
    if not follows.any():
        return np.array([-np.inf, np.inf])
    return np.asarray(began_s[follows] - ends[place[follows] - 1])


def _spread(values: Floats) -> float:
    low, high = np.quantile(values, [0.1, 0.9])
    return float(high - low)
