"""Finds the rate up to which a service meets an objective, from yes/no results at chosen rates.

A service near its limit meets an objective in one trial and misses it in the next. The result
is therefore a psychometric function of the rate: ``P(met) = 1 / (1 + exp(ln(rate/limit) / s))``,
with unknown limit and width s. The posterior over both, on a grid and with a flat prior, selects
the next rate and decides when to stop (Watson and Pelli 1983, QUEST, Perception & Psychophysics 33;
with unknown slope: King-Smith and Rose 1997, Vision Research 37).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wirelab.statistics.interval import Interval, OutOfRange
from wirelab.statistics.sample import Floats

WIDTHS = np.array([0.003, 0.006, 0.0125, 0.025, 0.05, 0.1])
"""Possible widths s, in natural logarithms of the rate."""
LAPSE = 0.01
"""Probability of a result that does not depend on the rate (lapse rate)."""
PLACES = 1_500
SPAN = 1.06
"""The search ends when the 95 % interval is no wider than this factor."""
LEAST, MOST = 6, 40
"""Minimum and maximum number of probes."""
QUANTILES = (0.5, 0.3, 0.7)
"""Quantiles of the posterior to probe in turn: the median alone carries little information on
the width."""
BEGUN = 5
"""Probes at the median before these quantiles."""


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

    def __post_init__(self) -> None:
        if not 0.0 < self.least < self.most:
            raise OutOfRange(f"rates from {self.least:g} to {self.most:g} are not a range")

    def after(self, probe: Probe) -> Search:
        """The search with one more probe."""
        return Search(self.least, self.most, (*self.probes, probe), self.probes_max)

    @property
    def done(self) -> bool:
        """Whether the search can stop."""
        if len(self.probes) >= self.probes_max:
            return True
        low, high = self.interval.bounds or (self.least, self.most)
        return len(self.probes) >= LEAST and high / low <= SPAN

    @property
    def interval(self) -> Interval:
        """The limit in calls per second: median and central 95 % of the posterior."""
        grid, below = self._posterior()
        low, middle, high = (_at(grid, below, share) for share in (0.025, 0.5, 0.975))
        return Interval(middle, low, high, len(self.probes), "posterior of a logistic limit")

    @property
    def next_rate(self) -> float:
        """The next rate to probe."""
        place = len(self.probes)
        share = QUANTILES[place % len(QUANTILES)] if place >= BEGUN else QUANTILES[0]
        return _at(*self._posterior(), share)

    @property
    def at_edge(self) -> str:
        """``below`` or ``above`` if the limit lies outside the range, otherwise empty."""
        met = {probe.met for probe in self.probes}
        if len(self.probes) < LEAST or len(met) > 1:
            return ""
        return "above" if met == {True} else "below"

    def _posterior(self) -> tuple[Floats, Floats]:
        """Logarithms of the rates, and the probability that the limit is not above each."""
        grid = np.linspace(np.log(self.least), np.log(self.most), PLACES)
        logs = np.zeros((WIDTHS.size, PLACES))
        for probe in self.probes:
            steps = (np.log(probe.rate) - grid[None, :]) / WIDTHS[:, None]
            met = LAPSE + (1.0 - 2.0 * LAPSE) / (1.0 + np.exp(np.clip(steps, -50.0, 50.0)))
            logs += np.log(met if probe.met else 1.0 - met)
        weights = np.exp(logs - logs.max()).sum(axis=0)
        return grid, np.cumsum(weights) / weights.sum()


def _at(grid: Floats, below: Floats, share: float) -> float:
    place = min(int(np.searchsorted(below, share)), grid.size - 1)
    return float(np.exp(grid[place]))


def range_around(rate: float) -> tuple[float, float]:
    """Range of rates to search, around the rate of a closed load. Open loads miss an objective at
    lower rates, and a few users may not saturate the service."""
    if rate <= 0.0:
        raise OutOfRange("no call was answered, so there is no rate to start from")
    return rate / 50.0, rate * 3.0
