"""What one contest came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wirelab.report.contest import Contest, Pair
from wirelab.statistics.cell import Cell
from wirelab.statistics.comparison import Comparison

Kind = Literal["won", "equivalent", "tied", "undecided", "open", "empty", "barred"]


@dataclass(frozen=True)
class Outcome:
    """A contest, and what it came to.

    ``won``: one stack is ahead of each other one. ``equivalent``: every pair is. ``tied``: the
    best of more than two is equivalent to some and ahead of all the others. ``undecided``: two
    stacks of which none is ahead, and which are not equivalent. ``open``: more than two, the
    best undecided against another. ``empty``: at most one has a value. ``barred``: client-bound.
    """

    kind: Kind
    contest: Contest
    who: tuple[str, ...] = ()
    """References of the stacks it is about: winner and loser, the winner alone where there
    are more than two, those that are equivalent or tied, or the undecided pair."""
    comparison: Comparison | None = None
    """First over second; winner over the next best."""
    next: Cell | None = None
    """The best of the others, by its estimate."""

    @property
    def further_repeats(self) -> int | None:
        """After how many the best may be decided against each other one; None where no
        sensible number does."""
        numbers = [comparison.further_repeats for comparison in self.rivals]
        known = [number for number in numbers if number is not None]
        return max(known) if known and len(known) == len(numbers) else None

    @property
    def rivals(self) -> list[Comparison]:
        """The undecided comparisons of the best, by its estimate, with the others."""
        ranked = self.contest.best_first
        found = [self.contest.between(ranked[0], cell).comparison for cell in ranked[1:]]
        return [one for one in found if one is not None and one.verdict == "undecided"]


def outcome(contest: Contest) -> Outcome:
    """Classifies a contest."""
    if contest.barred:
        return Outcome("barred", contest)
    if contest.winner is not None:
        return _won(contest, contest.winner)
    who = tuple(cell.point.stack for cell in contest.cells)
    found = [pair.comparison for pair in contest.pairs]
    if all(comparison and comparison.verdict == "equivalent" for comparison in found):
        return Outcome("equivalent", contest, who, found[0])
    if not any(found):
        return Outcome("empty", contest, who)
    return (
        _of_many(contest)
        if len(contest.cells) > 2
        else Outcome("undecided", contest, who, found[0])
    )


def _of_many(contest: Contest) -> Outcome:
    """Of more than two stacks, none ahead of all others and not all equivalent."""
    ranked = contest.best_first
    if len(ranked) < len(contest.cells):
        return Outcome("open", contest)
    pairs = {id(cell): contest.between(ranked[0], cell).comparison for cell in ranked[1:]}
    if any(one is None or one.verdict == "undecided" for one in pairs.values()):
        return Outcome("open", contest)
    level = [c for c in ranked[1:] if (one := pairs[id(c)]) and one.verdict == "equivalent"]
    who = sorted(cell.point.stack for cell in (ranked[0], *level))
    return Outcome("tied", contest, tuple(who))


def _won(contest: Contest, winner: Cell) -> Outcome:
    others = [cell for cell in contest.cells if cell is not winner]
    best = next(cell for cell in contest.best_first if cell is not winner)
    who = (winner, *(others if len(others) == 1 else ()))
    ahead = _over(contest.between(winner, best), winner)
    return Outcome("won", contest, tuple(cell.point.stack for cell in who), ahead, best)


def _over(pair: Pair, first: Cell) -> Comparison | None:
    if pair.comparison is None or pair.first is first:
        return pair.comparison
    return pair.comparison.inverted()
