"""The marks of a cell's figures: what its trials' checks found, where it matters.

A check that found something marks a figure only if that exceeds both what chance does to the
figure, half the width of its 95 % interval, and the threshold below which a difference has no
practical significance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from wirelab.checks.effects import effects
from wirelab.checks.load import find_marks
from wirelab.format.numbers import digits, percent
from wirelab.statistics.cell import Cell
from wirelab.statistics.figure import Figure
from wirelab.statistics.interval import Interval
from wirelab.statistics.verdict import THRESHOLD


@dataclass(frozen=True)
class Mark:
    """One check that a figure of a cell is marked by."""

    check: str
    trials: int
    """Of the cell, in which the check touched the figure."""
    bias: float | None
    """Share of the figure that may be due to it, the mean over the cell's trials; None: unknown."""

    @property
    def text(self) -> str:
        """``engine backlog, up to 12 %``; without a figure where the amount is not known."""
        if self.bias is None:
            return self.check
        return f"{self.check}, up to {percent_text(self.bias)}"


FACTOR_FROM = 2.0
"""From this ratio on, a factor is named in place of per cent."""


def percent_text(share: float) -> str:
    """``2.5 %``, ``12 %``; ``a factor of 2.5`` for 150 %."""
    if share >= FACTOR_FROM - 1.0:
        return f"a factor of {digits(1.0 + share, 2)}"
    return percent(share) if share >= 0.1 else f"{digits(100.0 * share, 2)} %"


def figure_marks(cell: Cell, threshold: float = THRESHOLD) -> Mapping[str, tuple[Mark, ...]]:
    """The marks of each figure of a cell by its name; figures without any are left out.

    ``threshold``: the declared one, a share."""
    found: dict[str, dict[str, list[float | None]]] = {}
    for trial in cell.measured:
        for check in find_marks(trial):
            for touched, share in effects(trial, check).items():
                found.setdefault(touched, {}).setdefault(check.name, []).append(share)
    shown = {}
    for figure in cell.figures:
        if figure.name not in found or not (interval := cell.interval_to_show(figure)):
            continue
        allowed = max(half_width(interval) or 0.0, threshold)
        every = (_mark(name, shares, interval.n) for name, shares in found[figure.name].items())
        marks = tuple(mark for mark in every if mark.bias is None or mark.bias > allowed)
        if marks:
            shown[figure.name] = marks
    return shown


def marks_of(cell: Cell, figure: Figure, threshold: float = THRESHOLD) -> tuple[Mark, ...]:
    """The marks of one figure."""
    return figure_marks(cell, threshold).get(figure.name, ())


def marks_text(marks: Sequence[Mark]) -> str:
    """All of them, separated by semicolons; empty without any."""
    return "; ".join(mark.text for mark in marks)


def half_width(interval: Interval) -> float | None:
    """Of an interval on logarithms, as a share of the estimate; None without an interval."""
    if interval.bounds is None:
        return None
    low, high = interval.bounds
    return sqrt(high / low) - 1.0 if low > 0.0 else float("inf")


def _mark(name: str, shares: Sequence[float | None], trials: int) -> Mark:
    """A trial without the effect has none of it; what moved up and down over the trials is not a
    bias."""
    known = [share for share in shares if share is not None]
    bias = abs(sum(known)) / max(trials, len(shares)) if len(known) == len(shares) else None
    return Mark(name, len(shares), bias)
