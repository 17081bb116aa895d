"""Who is ahead where: the stacks of one setting compared with each other, figure by figure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from wirelab.statistics import (
    Cell,
    Comparison,
    Figure,
    NoValues,
    cells,
    ratio,
    setting_key,
    upheld,
)
from wirelab.trial import Point, Trial
from wirelab.verdicts import client_bound


@dataclass(frozen=True)
class Pair:
    """Two stacks under one setting."""

    first: Cell
    second: Cell
    comparison: Comparison | None
    """first / second; None when a side has no value at all."""
    upheld: bool
    """True for a difference that Holm's method upholds among all of the figure in the run."""

    @property
    def withdrawn(self) -> bool:
        """True for a difference that was found on its own and is not upheld among all."""
        return self.comparison is not None and self.comparison.found and not self.upheld

    @property
    def leader(self) -> Cell | None:
        """The cell with the higher value, when a difference was found and is upheld."""
        if self.comparison is None or not self.upheld:
            return None
        return self.first if self.comparison.verdict == "higher" else self.second


@dataclass(frozen=True)
class Contest:
    """All stacks under one setting, compared in one figure."""

    point: Point
    """One point of the setting; its stack does not matter."""
    figure: Figure
    cells: tuple[Cell, ...]
    pairs: tuple[Pair, ...]

    @property
    def barred(self) -> tuple[Cell, ...]:
        """Cells with a client-bound trial: a lower bound of the service, never ranked."""
        return tuple(cell for cell in self.cells if any(map(client_bound, cell.measured)))

    @property
    def empty(self) -> tuple[Cell, ...]:
        """Cells without a single value."""
        return tuple(cell for cell in self.cells if not cell.values(self.figure))

    @property
    def winner(self) -> Cell | None:
        """The one cell that was found ahead of each other one; None if barred or none such."""
        if self.barred or self.empty:
            return None
        ahead = [cell for cell in self.cells if self._beats_all(cell)]
        return ahead[0] if ahead else None

    def between(self, cell: Cell, other: Cell) -> Pair:
        """The pair of two of the cells."""
        return next(p for p in self.pairs if {id(p.first), id(p.second)} == {id(cell), id(other)})

    def _beats_all(self, cell: Cell) -> bool:
        own = [pair for pair in self.pairs if cell in (pair.first, pair.second)]
        return bool(own) and all(self.ahead(pair) is cell for pair in own)

    def ahead(self, pair: Pair) -> Cell | None:
        """The better of a pair by the figure's direction; None where none was found."""
        leader = pair.leader
        if leader is None or self.figure.better == "higher":
            return leader
        return pair.second if leader is pair.first else pair.first


def contests(trials: Iterable[Trial], figure: Figure, threshold: float) -> list[Contest]:
    """One contest per setting that at least two stacks share, in reading order.

    All comparisons of the figure are one family (:attr:`Pair.upheld`).
    """
    settings: dict[str, list[Cell]] = {}
    for cell in cells(trials):
        settings.setdefault(setting_key(cell.point), []).append(cell)
    shared = [tuple(group) for group in settings.values() if len(group) > 1]
    pairs = [pair for group in shared for pair in combinations(group, 2)]
    raw = [_compare(first, second, figure, threshold) for first, second in pairs]
    kept = iter(upheld([comparison for comparison in raw if comparison is not None]))
    found = iter(
        Pair(first, second, comparison, comparison is not None and next(kept))
        for (first, second), comparison in zip(pairs, raw, strict=True)
    )
    return [
        Contest(
            group[0].point,
            figure,
            group,
            tuple(next(found) for _ in combinations(group, 2)),
        )
        for group in shared
    ]


def _compare(first: Cell, second: Cell, figure: Figure, threshold: float) -> Comparison | None:
    try:
        return ratio(first.values(figure), second.values(figure), threshold)
    except NoValues:
        return None
