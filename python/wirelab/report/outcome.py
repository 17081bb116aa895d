"""What one contest came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wirelab.report.contest import Contest, Pair
from wirelab.statistics import Cell, Comparison, Figure

Kind = Literal["won", "level", "withdrawn", "open", "untold", "empty", "barred"]


@dataclass(frozen=True)
class Outcome:
    """A contest, and what may be said of it.

    ``won``: one stack is ahead of each other one. ``level``: no difference found between
    two. ``withdrawn``: one between two that does not hold beside the run's other comparisons
    (:attr:`wirelab.report.contest.Pair.upheld`). ``open``: more than two, none ahead of all
    others. ``untold``: two that the trials cannot tell apart. ``empty``: at most one of two
    has a value. ``barred``: client-bound.
    """

    kind: Kind
    contest: Contest
    who: tuple[str, ...] = ()
    """References of the stacks it is about: winner and loser, the winner alone where there
    are more than two, or the pair."""
    comparison: Comparison | None = None
    """First over second; winner over the next best."""
    next: Cell | None = None
    """The best of the others, by its estimate."""


def outcome(contest: Contest) -> Outcome:
    """Classifies a contest."""
    if contest.barred:
        return Outcome("barred", contest)
    if contest.winner is not None:
        return _won(contest, contest.winner)
    if len(contest.cells) > 2:
        return Outcome("open", contest)
    pair = contest.pairs[0]
    comparison = pair.comparison
    if comparison is None:
        return Outcome("empty", contest)
    kind: Kind = "untold" if comparison.verdict == "cannot be told" else "level"
    kind = "withdrawn" if pair.withdrawn else kind
    who = tuple(cell.point.stack for cell in contest.cells)
    return Outcome(kind, contest, who, comparison)


def _won(contest: Contest, winner: Cell) -> Outcome:
    others = [cell for cell in contest.cells if cell is not winner]
    best = best_first(others, contest.figure)[0]
    who = (winner, *(others if len(others) == 1 else ()))
    told = _over(contest.between(winner, best), winner)
    return Outcome("won", contest, tuple(cell.point.stack for cell in who), told, best)


def _over(pair: Pair, first: Cell) -> Comparison | None:
    if pair.comparison is None or pair.first is first:
        return pair.comparison
    return pair.comparison.inverted()


def best_first(every: list[Cell], figure: Figure) -> list[Cell]:
    """The cells that have the figure, by their estimate."""
    known = [(interval.estimate, cell) for cell in every if (interval := cell.interval(figure))]
    ordered = sorted(known, key=lambda entry: entry[0], reverse=figure.better == "higher")
    return [cell for _, cell in ordered]
