"""Simulated searches of `wirelab limit` with known truth: `make limit-coverage`.

A trial meets the objective by a logistic function of the rate, and a share of the trials is spoilt:
they miss it at any rate, independently of each other or in a row. Writes its part of
docs/reference/compare.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import copysign, exp, log
from pathlib import Path

import numpy as np

from tools.marked_part import replace_part
from wirelab.comparisons.steady_limit import SteadyLimit, Windows, find_limit

PAGE = Path("docs/reference/compare.md")
LIMIT = 1_000.0
CLOSED = (0.5, 3.0)
"""Range of the rate of the closed load, as factors of the limit."""
WINDOWS = Windows(3.0, 24.0)
SHARES = (0.0, 0.1, 0.2, 0.3)
"""Shares of spoilt trials."""
WIDTHS = (0.0, 0.03, 0.08)
"""Of the logistic function, in natural logarithms of the rate."""
SEARCHES = 120
"""Per share and width."""


@dataclass(frozen=True)
class World:
    """How trials come out."""

    width: float
    spoilt: float
    in_a_row: float = 1.0
    """Mean number of consecutive spoilt trials."""

    def make_questions(self, rng: np.random.Generator) -> Callable[[float, float], bool]:
        """A function that makes trials."""
        is_spoilt = False

        def ask(rate: float, _: float) -> bool:
            nonlocal is_spoilt
            if self.in_a_row == 1.0:
                is_spoilt = bool(rng.random() < self.spoilt)
            else:
                begins = self.spoilt / (1.0 - self.spoilt) / self.in_a_row
                ends = 1.0 / self.in_a_row
                is_spoilt = bool(rng.random() < ((1.0 - ends) if is_spoilt else begins))
            steps = log(rate / LIMIT) / self.width if self.width else copysign(50.0, rate - LIMIT)
            met = rng.random() < 1.0 / (1.0 + exp(min(50.0, max(-50.0, steps))))
            return bool(met) and not is_spoilt

        return ask


@dataclass(frozen=True)
class Figures:
    """What many searches of one world came to."""

    searches: int
    covered: int
    """Answered, and the interval contains the limit."""
    answered: int
    half_width: float
    """Median of the answered ones, relative."""
    trials: float
    trials_max: int

    @classmethod
    def of(cls, found: Sequence[SteadyLimit]) -> Figures:
        """Summarizes searches."""
        answered = [one for one in found if one.is_measurable and not one.search.at_edge]
        bounds = [(one.limit.bounds or (0.0, 0.0), one.limit.estimate) for one in answered]
        return cls(
            len(found),
            sum(low <= LIMIT <= high for (low, high), _ in bounds),
            len(answered),
            float(np.median([(high - low) / 2.0 / middle for (low, high), middle in bounds])),
            float(np.mean([one.trials for one in found])),
            max(one.trials for one in found),
        )


def search_limit(world: World, count: int, windows: Windows = WINDOWS) -> Figures:
    """Searches with the seeds 0 to ``count`` - 1."""
    found = []
    for seed in range(count):
        rng = np.random.default_rng(
            [seed, round(1e3 * world.spoilt), round(1e3 * world.width), round(world.in_a_row)]
        )
        closed = LIMIT * exp(rng.uniform(log(CLOSED[0]), log(CLOSED[1])))
        found.append(find_limit(world.make_questions(rng), closed, windows))
    return Figures.of(found)


def main() -> int:
    """Simulates all worlds and writes the page's part."""
    rows = []
    for in_a_row in (1.0, 5.0):
        for spoilt in SHARES if in_a_row == 1.0 else SHARES[1:]:
            for width in WIDTHS:
                made = search_limit(World(width, spoilt, in_a_row), SEARCHES)
                rows.append(
                    f"| {100 * spoilt:.0f} %{'' if in_a_row == 1.0 else ', five in a row'} | "
                    f"{100 * width:.0f} % | {made.covered / made.answered:.3f} | "
                    f"{100 * made.half_width:.1f} % | "
                    f"{1.0 - made.answered / made.searches:.3f} | "
                    f"{made.trials:.0f} ({made.trials_max}) |"
                )
                print(rows[-1], flush=True)
    head = [
        (
            "| spoilt trials | width of the transition | coverage of the 95 % interval | half "
            "width, median | not measurable | trials, mean (most) |"
        ),
        "|---|---|---|---|---|---|",
    ]
    note = f"{SEARCHES} searches per row."
    replace_part(PAGE, "limit coverage", [note, "", *head, *rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
