"""The promised bounds on ratios to peers, all measured in one run."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from statistics import median
from typing import Literal

from bench.process import Reading

Figure = Literal["cpu", "rate"]
MISSED = "missed"
"""An aim that is shown not to be reached."""
UNDECIDED = "undecided"
"""The bound lies within the interval: more rounds may decide."""
Round = dict[str, Reading]
"""One reading per contender, taken one after the other."""


@dataclass(frozen=True)
class Ratio:
    """Ours divided by the peer's, pair by pair."""

    figure: str
    peer: str
    values: tuple[float, ...]
    at_most: float | None = None
    at_least: float | None = None
    aim: bool = False
    """An aim: missing it is reported, and breaks no promise."""

    @property
    def median(self) -> float:
        """The figure that is judged."""
        return median(self.values)

    @property
    def interval(self) -> tuple[float, float]:
        """Between these two lies the median, at 95 %, whatever the distribution: order
        statistics by the sign test. Fewer than six do not reach 95 %: it is their extremes."""
        ordered, n = sorted(self.values), len(self.values)
        beyond, cut = 0.0, 0
        while cut < n // 2 and 2 * (beyond := beyond + comb(n, cut) / 2**n) <= 0.05:
            cut += 1
        cut = max(cut, 1)
        return ordered[cut - 1], ordered[n - cut]

    @property
    def missed(self) -> bool:
        """True when the median is on the wrong side of its bound."""
        return self._exceeds_bound(self.median, self.median)

    @property
    def broken(self) -> bool:
        """True when the whole interval is on the wrong side: the bound is shown not to hold."""
        return self._exceeds_bound(*self.interval)

    @property
    def holds(self) -> bool:
        """True when the whole interval is on the right side."""
        low, high = self.interval
        below = self.at_most is None or high <= self.at_most
        return below and (self.at_least is None or low >= self.at_least)

    def _exceeds_bound(self, low: float, high: float) -> bool:
        above = self.at_most is not None and low > self.at_most
        return above or (self.at_least is not None and high < self.at_least)

    @property
    def verdict(self) -> str:
        """The verdict on the bound; empty for a figure without one."""
        if not self.format_bound():
            return ""
        if self.broken:
            return MISSED if self.aim else "BROKEN"
        return "holds" if self.holds else UNDECIDED

    def format_bound(self) -> str:
        """The bound in words; empty for a figure without one."""
        if self.at_most is not None and self.at_least is not None:
            return f"{self.at_least:,g} to {self.at_most:,g}"
        if self.at_most is not None:
            return f"at most {self.at_most:,g}"
        return f"at least {self.at_least:,g}" if self.at_least is not None else ""


@dataclass(frozen=True)
class Bound:
    """A promise: our figure over the best of some peers'."""

    figure: Figure
    ours: str
    peers: tuple[str, ...]
    at_most: float | None = None
    at_least: float | None = None
    aim: bool = False
    """An aim: missing it is reported, and breaks no promise."""

    def ratio(self, rounds: list[Round]) -> Ratio | None:
        """The ratios of every round; None when none of the peers could be had."""
        present = [name for name in self.peers if name in rounds[0]]
        if not present:
            return None
        best = self._best(rounds, present)
        values = tuple(self._figure(rnd[self.ours]) / self._figure(rnd[best]) for rnd in rounds)
        label = f"{best}, best of {len(present)}" if len(self.peers) > 1 else best
        title = "CPU per call" if self.figure == "cpu" else "requests/s"
        suffix = "" if self.ours == "ours" else f", {self.ours.removeprefix('ours, ')}"
        return Ratio(title + suffix, label, values, self.at_most, self.at_least, self.aim)

    def _best(self, rounds: list[Round], present: list[str]) -> str:
        """The peer that is best by its median. The best of each single round would be a
        maximum of noise, which no contender could reach."""
        medians = {name: median(self._figure(rnd[name]) for rnd in rounds) for name in present}
        best = min if self.figure == "cpu" else max
        return best(medians, key=medians.__getitem__)

    def _figure(self, reading: Reading) -> float:
        return reading.client_us_per_call if self.figure == "cpu" else reading.rate_per_s
