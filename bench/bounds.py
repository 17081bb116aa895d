"""What the project promises beside its peers, as ratios of one run."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Literal

from bench.reading import Reading

Figure = Literal["cpu", "rate"]
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

    @property
    def median(self) -> float:
        """The figure that is judged."""
        return median(self.values)

    @property
    def broken(self) -> bool:
        """True when the median misses its bound."""
        above = self.at_most is not None and self.median > self.at_most
        return above or (self.at_least is not None and self.median < self.at_least)

    def wanted(self) -> str:
        """The bound in words; empty for a figure shown beside."""
        if self.at_most is not None:
            return f"at most {self.at_most:g}"
        return f"at least {self.at_least:g}" if self.at_least is not None else ""


@dataclass(frozen=True)
class Bound:
    """A promise: our figure over the best of some peers'."""

    figure: Figure
    ours: str
    peers: tuple[str, ...]
    at_most: float | None = None
    at_least: float | None = None

    def ratio(self, rounds: list[Round]) -> Ratio | None:
        """The ratios of every round; None when none of the peers could be had."""
        present = [name for name in self.peers if name in rounds[0]]
        if not present:
            return None
        values = tuple(self._one(rnd, present) for rnd in rounds)
        names = " | ".join(present)
        label = f"best of {names}" if len(self.peers) > 1 else names
        title = "CPU per call" if self.figure == "cpu" else "requests/s"
        beside = "" if self.ours == "ours" else f", {self.ours.removeprefix('ours, ')}"
        return Ratio(title + beside, label, values, self.at_most, self.at_least)

    def _one(self, rnd: Round, present: list[str]) -> float:
        if self.figure == "cpu":
            best = min(rnd[name].client_us_per_call for name in present)
            return rnd[self.ours].client_us_per_call / best
        return rnd[self.ours].rate_per_s / max(rnd[name].rate_per_s for name in present)
