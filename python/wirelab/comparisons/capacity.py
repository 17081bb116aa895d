"""Finds the rate up to which a service meets an objective, from yes/no results at chosen rates.

A service near its limit meets an objective in one trial and misses it in the next, and a trial
that other work on the machine spoilt misses it at any rate. The result is therefore a psychometric
function of the rate with a lapse rate,
``P(met) = g + (1 - g - lapse) / (1 + exp(ln(rate / limit) / width))``. Limit, width and lapse are
unknown: the posterior over a grid of all three gives the limit, and the next rate is the one after
which the entropy of the limit is least, with the other two as nuisance parameters (Kontsevich and
Tyler 1999, Vision Research 39; Prins 2013, Journal of Vision 13(7)).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import log1p

import numpy as np

from wirelab.statistics.interval import Interval, OutOfRange
from wirelab.statistics.sample import Floats

WIDTHS = np.array([0.004, 0.01, 0.025, 0.05, 0.1])
"""Possible widths, in natural logarithms of the rate."""
LAPSES = np.array([0.005, 0.03, 0.07, 0.12, 0.18, 0.25, 0.33, 0.43, 0.55])
"""Possible probabilities of a miss that does not depend on the rate."""
LAPSE_PRIOR = np.exp(-4.0 * LAPSES)
"""Weakly informative: small lapse rates are more frequent, none is excluded."""
GUESS = 0.01
"""Probability of a result "met" far above the limit (g)."""
PLACES = 700
MARGIN = 1.3
"""Factor by which the grid exceeds the range of rates on both sides: limits outside of it."""
OUTSIDE = 0.975
"""Probability of a limit outside of the range from which on the search ends."""
COVERAGE = 0.98
"""Share of the posterior in the interval. Stopping at a narrow interval, and what the prior says of
spoilt trials, cost some of it: so intervals contain the limit in 95 % of simulated searches."""
SPAN = 1.06
"""The search ends when the interval is no wider than this factor."""
LEAST, MOST = 8, 40
"""Minimum and maximum number of probes of a search."""
CHECKED = (0.5, 0.8)
"""Shares of the limit that must meet the objective in the end."""
SHIFT = 0.05
"""Share by which the limit of windows of twice the length may differ from that of the window
before. It is mostly lower; a range to both sides does not suggest a direction."""
CANDIDATES = np.linspace(0.02, 0.98, 15)
"""Quantiles of the limit's posterior among which the next rate is chosen."""
FAR = (0.6, 0.8, 1.25)
"""Further candidates, as factors of the median: they show the lapse rate."""


def _none() -> Floats:
    return np.empty(0)


@dataclass(frozen=True)
class Probe:
    """One trial at a rate in calls per second, and whether the objective was met."""

    rate: float
    met: bool


@dataclass(frozen=True)
class Search:
    """Result of a search after some probes, between ``least`` and ``most`` calls per second."""

    least: float
    most: float
    probes: tuple[Probe, ...] = ()
    probes_max: int = MOST
    _grid: Floats = field(default_factory=_none, repr=False, compare=False)
    """Natural logarithms of possible limits."""
    _logs: Floats = field(default_factory=_none, repr=False, compare=False)
    """Log posterior, over widths, lapses and limits; not normalised."""

    def __post_init__(self) -> None:
        if not 0.0 < self.least < self.most:
            raise OutOfRange(f"rates from {self.least:g} to {self.most:g} are not a range")
        if not self._grid.size:
            ends = np.log(self.least / MARGIN), np.log(self.most * MARGIN)
            object.__setattr__(self, "_grid", np.linspace(*ends, PLACES))
            flat = np.zeros((WIDTHS.size, 1, PLACES))
            object.__setattr__(self, "_logs", flat + np.log(LAPSE_PRIOR)[None, :, None])

    def add_probes(self, *probes: Probe) -> Search:
        """The search with further probes."""
        logs = self._logs
        for probe in probes:
            logs = logs + _log_chance(self._grid, probe)
        return replace(self, probes=(*self.probes, *probes), _logs=logs)

    def raise_least(self, rate: float) -> Search:
        """The search in the rates from this one on, with the same probes."""
        return replace(self, least=rate)

    def with_longer_windows(self, probes_max: int) -> Search:
        """A search that begins with what this one found, for windows of more seconds: their limit
        may differ by :data:`SHIFT`."""
        step = float(self._grid[1] - self._grid[0])
        reach = round(log1p(SHIFT) / step)
        spread = sum(_shift(self._weights, place) for place in range(-reach, reach + 1))
        logs = np.log(np.maximum(spread / np.sum(spread), 1e-12))
        return replace(self, probes=(), probes_max=probes_max, _logs=logs)

    @property
    def done(self) -> bool:
        """Whether the search can stop."""
        if len(self.probes) >= self.probes_max:
            return True
        if len(self.probes) < LEAST:
            return False
        below, above = self._sum_outside()
        low, high = self.interval.bounds or (self.least, self.most)
        return max(below, above) > OUTSIDE or high / low <= SPAN

    @property
    def interval(self) -> Interval:
        """The limit in calls per second: median and central part of the posterior."""
        tail = 0.5 * (1.0 - COVERAGE)
        low, middle, high = (self._quantile(share) for share in (tail, 0.5, 1.0 - tail))
        return Interval(middle, low, high, len(self.probes), "posterior of a logistic limit")

    @property
    def held_up(self) -> float:
        """Estimated share of trials that missed the objective for other reasons than their rate."""
        return float(self._weights.sum(axis=(0, 2)) @ LAPSES)

    @property
    def next_rate(self) -> float:
        """The rate whose result is expected to say most about the limit."""
        grid, weights = self._grid, self._weights
        quantiles = [self._quantile(share) for share in CANDIDATES]
        quantiles += [factor * self._quantile(0.5) for factor in FAR]
        rates = np.clip(quantiles, self.least, self.most)
        places = np.unique(np.rint((np.log(rates) - grid[0]) / (grid[1] - grid[0])).astype(int))
        places = np.clip(places, 0, grid.size - 1)
        # P(met) is linear in the lapse, so two sums over it are all that is needed of it.
        whole = weights.sum(axis=1)
        lapsed = np.einsum("wlp,l->wp", weights, LAPSES)
        table = _logistic(float(grid[1] - grid[0]))
        entropies = []
        for place in places:
            rows = table[:, PLACES - 1 - place : 2 * PLACES - 1 - place]
            met = (GUESS * whole + rows * ((1.0 - GUESS) * whole - lapsed)).sum(axis=0)
            entropies.append(_entropy(met) + _entropy(whole.sum(axis=0) - met))
        best = float(np.exp(grid[places[int(np.argmin(entropies))]]))
        return min(max(best, self.least), self.most)

    @property
    def at_edge(self) -> str:
        """``below`` or ``above`` if the limit lies outside the range, otherwise empty."""
        below, above = self._sum_outside()
        return "below" if below > 0.5 else "above" if above > 0.5 else ""

    @cached_property
    def _weights(self) -> Floats:
        """The posterior, over widths, lapses and limits; its sum is 1."""
        weights = np.exp(self._logs - self._logs.max())
        return np.asarray(weights / weights.sum())

    @cached_property
    def _limits(self) -> Floats:
        """The posterior of the limit alone."""
        return np.asarray(self._weights.sum(axis=(0, 1)))

    @cached_property
    def _below(self) -> Floats:
        """Probability that the limit is not above each place of the grid."""
        return np.asarray(np.cumsum(self._limits))

    def _quantile(self, share: float) -> float:
        return float(np.exp(np.interp(share, self._below, self._grid)))

    def _sum_outside(self) -> tuple[float, float]:
        """Probabilities of a limit below and above the range."""
        grid, limits = self._grid, self._limits
        below, above = grid < np.log(self.least), grid > np.log(self.most)
        return float(limits[below].sum()), float(limits[above].sum())


def _shift(weights: Floats, places: int) -> Floats:
    """The weights at limits that are higher by this number of places."""
    moved = np.roll(weights, places, axis=2)
    moved[:, :, slice(0, places) if places > 0 else slice(PLACES + places, PLACES)] = 0.0
    return moved if places else weights


def _log_chance(grid: Floats, probe: Probe) -> Floats:
    """Log probability of this result, over widths, lapses and limits."""
    steps = (np.log(probe.rate) - grid[None, :]) / WIDTHS[:, None]
    holds = 1.0 / (1.0 + np.exp(np.clip(steps, -50.0, 50.0)))
    met = GUESS + (1.0 - GUESS - LAPSES[None, :, None]) * holds[:, None, :]
    return np.asarray(np.log(met if probe.met else 1.0 - met))


@lru_cache(maxsize=8)
def _logistic(step: float) -> Floats:
    """By width: the logistic part for limits from ``PLACES - 1`` places below the rate to as many
    above it."""
    distance = (np.arange(2 * PLACES - 1) - (PLACES - 1)) * step
    return np.asarray(1.0 / (1.0 + np.exp(np.clip(-distance / WIDTHS[:, None], -50.0, 50.0))))


def _entropy(joint: Floats) -> float:
    """Entropy of the limit after a result, times the probability of the result."""
    total = float(joint.sum())
    if total <= 0.0:
        return 0.0
    safe = np.maximum(joint, 1e-300)
    return float(-(joint * np.log(safe / total)).sum())


def range_around(rate: float) -> tuple[float, float]:
    """Range of rates to search, around the rate of a closed load. Open loads miss an objective at
    lower rates, and a few users may not saturate the service."""
    if rate <= 0.0:
        raise OutOfRange("no call was answered, so there is no rate to start from")
    return rate / 50.0, rate * 3.0
