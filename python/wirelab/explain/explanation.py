"""Why one cell is slower than another: a ladder climbed on measured trials.

:func:`explain` is a pure function of trials and a ladder. Fed worlds in which
different things are the cause, it must name different causes, and none where
nothing is; :mod:`wirelab.selftest.scenarios` and the tests hold it to that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wirelab.explain import figures
from wirelab.explain.cell_selector import CellSelector
from wirelab.explain.findings_text import Conclusion, UnfoundedConclusion, conclude
from wirelab.explain.ladders import Ladder
from wirelab.explain.rung_effects import Balance, Climbed, balance, climb, compare
from wirelab.records.trial import Trial
from wirelab.statistics.cell import Cell
from wirelab.statistics.comparison import Comparison
from wirelab.statistics.interval import Interval

__all__ = [
    "Balance",
    "Climbed",
    "Conclusion",
    "Explanation",
    "UnfoundedConclusion",
    "explain",
]


@dataclass(frozen=True)
class Explanation:
    """What may be said about a ladder."""

    ladder: Ladder
    whole: Comparison | None
    """goal / start; None without a goal, or where one of them was not measured."""
    climbed: tuple[Climbed, ...]
    balance: Balance | None
    """The rungs' sum against the whole; None unless all of the path was measured."""
    cells: Mapping[CellSelector, Cell]
    conclusions: tuple[Conclusion, ...]

    @property
    def causes(self) -> tuple[str, ...]:
        """Ids of the rungs that are causes, in the order of the ladder."""
        return tuple(step.rung.id for step in self.climbed if step.outcome == "cause")

    @property
    def sentences(self) -> tuple[str, ...]:
        """The conclusions in words."""
        return tuple(conclusion.text for conclusion in self.conclusions)

    def to_json(self) -> dict[str, object]:
        """For ``--json`` and for the file next to the report."""
        return {
            "ladder": self.ladder.id,
            "question": self.ladder.question,
            "figure": self.ladder.figure,
            "whole": _comparison(self.whole),
            "rungs": [_step(step) for step in self.climbed],
            "balance": _balance(self.balance),
            "conclusions": [
                {"kind": c.kind, "rung": c.rung, "text": c.text} for c in self.conclusions
            ],
            "causes": list(self.causes),
        }


def explain(trials: Iterable[Trial], ladder: Ladder) -> Explanation:
    """Climbs the ladder on trials that were measured before.

    Raises :class:`UsageError` where the ladder names a cell that is several in these trials.
    """
    listed = list(trials)
    found = {selector: selector.find(listed) for selector in ladder.cells}
    cells = {selector: cell for selector, cell in found.items() if cell is not None}
    figure = figures.require_figure(ladder.figure)
    whole = compare(cells, ladder.start, ladder.goal, figure, ladder.threshold)
    climbed = climb(cells, ladder, figure, whole)
    sums = balance(cells, ladder, figure)
    conclusions = conclude(ladder, cells, whole, climbed, sums)
    return Explanation(ladder, whole, climbed, sums, cells, conclusions)


def _step(step: Climbed) -> dict[str, object]:
    return {
        "id": step.rung.id,
        "hypothesis": step.rung.hypothesis,
        "changes": {name: list(ends) for name, ends in step.rung.changes.items()},
        "before": str(step.rung.before),
        "after": str(step.rung.after),
        "outcome": step.outcome,
        "reason": step.reason,
        "effect": _comparison(step.effect),
        "share": _interval(step.share),
        "also": {name: _comparison(value) for name, value in step.also.items()},
    }


def _balance(sums: Balance | None) -> dict[str, object] | None:
    if sums is None:
        return None
    return {
        "rungs": _interval(sums.rungs),
        "interaction": _interval(sums.interaction),
        "unexplained": _interval(sums.unexplained),
    }


def _comparison(comparison: Comparison | None) -> dict[str, object] | None:
    if comparison is None:
        return None
    return {
        **(_interval(comparison.ratio) or {}),
        "verdict": comparison.verdict,
        "reason": comparison.explanation,
        "further_repeats": comparison.further_repeats,
    }


def _interval(interval: Interval | None) -> dict[str, object] | None:
    if interval is None:
        return None
    return {
        "estimate": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "trials": interval.n,
    }
