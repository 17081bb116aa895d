"""What a claim allows a figure to be, and when an interval agrees with it.

A claim allows a region. It holds when the whole interval lies inside, does not hold
when the whole interval lies outside, and is undecided otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log
from typing import Literal

from wirelab.format.numbers import quantity
from wirelab.statistics.figure import Unit
from wirelab.statistics.interval import Interval
from wirelab.statistics.repeats import Room

Outcome = Literal["holds", "does not hold", "undecided"]


@dataclass(frozen=True)
class Expectation:
    """Exactly one of the three is given."""

    above: float | None = None
    below: float | None = None
    within: tuple[float, float] | None = None
    margin: float = 0.0
    """A difference of no interest, as ratio minus 1: ``above 1`` begins at ``1 + margin``."""

    def region(self) -> tuple[float, float]:
        """The allowed region."""
        if self.above is not None:
            return self.above * (1.0 + self.margin), inf
        if self.below is not None:
            return 0.0, self.below / (1.0 + self.margin)
        if self.within is not None:
            return self.within
        raise ValueError("an expectation has one of above, below, within")

    def judge(self, interval: Interval) -> Outcome:
        """Where the interval lies."""
        if interval.bounds is None:
            return "undecided"
        (low, high), (least, most) = interval.bounds, self.region()
        if low >= least and high <= most:
            return "holds"
        return "does not hold" if high < least or low > most else "undecided"

    def room(self, estimate: float) -> Room:
        """How far, on the scale of logarithms, a positive estimate lies from the borders of
        the region, inside or outside of which it is."""
        least, most = self.region()
        below = log(estimate / least) if least > 0.0 else inf
        above = log(most / estimate) if most < inf else inf
        if below >= 0.0 and above >= 0.0:
            return Room(below, above)
        return Room(-min(below, above))

    def words(self, unit: Unit = "") -> str:
        """``above 1 by more than 5 %``; of a figure, its limits in its unit: ``within 35.0 ms
        to 50.0 ms``."""
        by = f" by more than {100 * self.margin:g} %" if self.margin else ""
        if self.above is not None:
            return f"above {_limit(self.above, unit)}{by}"
        if self.below is not None:
            return f"below {_limit(self.below, unit)}{by}"
        least, most = self.region()
        return f"within {_limit(least, unit)} to {_limit(most, unit)}"


def _limit(value: float, unit: Unit) -> str:
    return quantity(value, unit) if unit else f"{value:g}"
