"""The rate up to which a service meets an objective, from yes and no at chosen rates.

A service near its limit meets an objective in one trial and misses it in the next, so the answer
is a psychometric function of the rate: ``P(met) = 1 / (1 + exp(ln(rate/limit) / s))``, with the
limit and the width s unknown. The posterior over both, on a grid and with a flat prior, says where
to ask next and when to stop (Watson and Pelli 1983, QUEST, Perception & Psychophysics 33; with
the unknown slope: King-Smith and Rose 1997, Vision Research 37).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wirelab.statistics.interval import Interval, OutOfRange
from wirelab.statistics.sample import Floats

WIDTHS = np.array([0.003, 0.006, 0.0125, 0.025, 0.05, 0.1])
"""Widths s that are possible, in natural logarithms of the rate."""
LAPSE = 0.01
"""Chance of an answer that has nothing to do with the rate."""
PLACES = 1_500
SPAN = 1.06
"""The search ends where the 95 % interval is no wider than this factor."""
LEAST, MOST = 6, 40
"""Probes at least, and at most."""
QUANTILES = (0.5, 0.3, 0.7)
"""Of the posterior, where is asked in turns: the median alone says little about the width."""
BEGUN = 5
"""Probes at the median before these turns."""


@dataclass(frozen=True)
class Probe:
    """One trial at a rate, calls per second, and whether the objective was met."""

    rate: float
    met: bool


@dataclass(frozen=True)
class Search:
    """What is known after some probes, within ``least`` and ``most`` calls per second."""

    least: float
    most: float
    probes: tuple[Probe, ...] = ()
    probes_max: int = MOST

    def __post_init__(self) -> None:
        if not 0.0 < self.least < self.most:
            raise OutOfRange(f"rates from {self.least:g} to {self.most:g} are no range")

    def after(self, probe: Probe) -> Search:
        """With one more."""
        return Search(self.least, self.most, (*self.probes, probe), self.probes_max)

    @property
    def done(self) -> bool:
        """Whether to stop asking."""
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
        """Where to ask next."""
        place = len(self.probes)
        share = QUANTILES[place % len(QUANTILES)] if place >= BEGUN else QUANTILES[0]
        return _at(*self._posterior(), share)

    @property
    def at_edge(self) -> str:
        """``below`` or ``above`` where the limit lies outside of the range, else empty."""
        met = {probe.met for probe in self.probes}
        if len(self.probes) < LEAST or len(met) > 1:
            return ""
        return "above" if met == {True} else "below"

    def _posterior(self) -> tuple[Floats, Floats]:
        """Logarithms of the rates, and the chance that the limit is not above each."""
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
    """Where to look, around what a closed load reached: open loads miss an objective earlier,
    and a few users may not have used the service up."""
    if rate <= 0.0:
        raise OutOfRange("no call was answered, so there is no rate to begin with")
    return rate / 50.0, rate * 3.0
