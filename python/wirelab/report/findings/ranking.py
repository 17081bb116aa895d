"""Who is ahead where: the stacks of one setting compared with each other, figure by figure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations

from wirelab.comparisons.guards import confidence_of_figure
from wirelab.explain import figures
from wirelab.records.trial import Point, Trial
from wirelab.run.manifest import Comparison as Asked
from wirelab.statistics import shared_trials
from wirelab.statistics.blocks import Blocks, blocks
from wirelab.statistics.cell import Cell, cells, setting_key
from wirelab.statistics.comparison import (
    Comparison,
    family,
    of_blocks,
    of_pairs,
    ratio,
)
from wirelab.statistics.figure import (
    BYTES,
    CLIENT_CPU,
    GOOD_P50,
    GOOD_P99,
    MEMORY,
    RATE,
    RESPONSE_P50,
    RESPONSE_P99,
    SERVICE_CPU,
    Figure,
)
from wirelab.statistics.interval import NoValues

NOT_RANKED = "not ranked: the client was the limit, so its figures are bounds"
NO_VALUE = "a side has no value; a longer window, or trials that measure it, may decide"
CLIENT = "a client with more cores, or fewer users, may decide"
COMPARED = (RATE, RESPONSE_P50, RESPONSE_P99, CLIENT_CPU, SERVICE_CPU)
"""Figures in which stacks are compared."""
COMPARED_IF_KNOWN = (BYTES, MEMORY)
"""Further ones, where a trial has them."""
COMPARED_GOOD = (GOOD_P50, GOOD_P99)
"""Those in settings in which calls failed."""


@dataclass(frozen=True)
class Pair:
    """Two stacks under one setting."""

    first: Cell
    second: Cell
    comparison: Comparison | None
    """first / second, judged among all of the figure in the run; None when a side has no
    value at all."""

    @property
    def leader(self) -> Cell | None:
        """The cell with the higher value, where a difference was found."""
        if self.comparison is None or not self.comparison.found:
            return None
        return self.first if self.comparison.verdict == "higher" else self.second


@dataclass(frozen=True)
class Ranking:
    """All stacks under one setting, compared in one figure."""

    point: Point
    """One point of the setting; its stack does not matter."""
    figure: Figure
    cells: tuple[Cell, ...]
    pairs: tuple[Pair, ...]

    @cached_property
    def barred(self) -> tuple[Cell, ...]:
        """Cells whose figure is a mere bound, the client being the limit: never ranked."""
        return tuple(cell for cell in self.cells if figures.only_a_bound(self.figure, cell))

    @cached_property
    def empty(self) -> tuple[Cell, ...]:
        """Cells without a single value."""
        return tuple(cell for cell in self.cells if not cell.values(self.figure))

    @cached_property
    def winner(self) -> Cell | None:
        """The one cell that was found ahead of each other one; None if barred or none such."""
        if self.barred or self.empty:
            return None
        ahead = [cell for cell in self.cells if self._beats_all(cell)]
        return ahead[0] if ahead else None

    @cached_property
    def _by_cells(self) -> dict[frozenset[int], Pair]:
        """By the identity of their cells."""
        return {frozenset((id(pair.first), id(pair.second))): pair for pair in self.pairs}

    def find_pair(self, cell: Cell, other: Cell) -> Pair:
        """The pair of two of the cells."""
        return self._by_cells[frozenset((id(cell), id(other)))]

    def _beats_all(self, cell: Cell) -> bool:
        others = [other for other in self.cells if other is not cell]
        return bool(others) and all(
            self.ahead(self.find_pair(cell, other)) is cell for other in others
        )

    @cached_property
    def best_first(self) -> list[Cell]:
        """The cells that have the figure, by their estimate."""
        known = [(one.estimate, cell) for cell in self.cells if (one := cell.interval(self.figure))]
        ordered = sorted(known, key=lambda entry: entry[0], reverse=self.figure.better == "higher")
        return [cell for _, cell in ordered]

    @property
    def pairs_of_best(self) -> list[Pair]:
        """The best cell, by its estimate, with each other one; all where none has a value."""
        ranked = self.best_first
        if not ranked:
            return list(self.pairs)
        return [self.find_pair(ranked[0], cell) for cell in self.cells if cell is not ranked[0]]

    def ahead(self, pair: Pair) -> Cell | None:
        """The better of a pair by the figure's direction; None where none was found."""
        leader = pair.leader
        if leader is None or self.figure.better == "higher":
            return leader
        return pair.second if leader is pair.first else pair.first


def rankings(
    trials: Iterable[Trial], figure: Figure, threshold: float, asked: Asked | None = None
) -> list[Ranking]:
    """One ranking per setting that at least two stacks share, in reading order. The pairs that
    ``wirelab compare`` measured for a question, ``asked``, are compared as the question is.

    All comparisons of the figure are one family; those of a barred ranking are not in it.
    """
    return _judge_family(_rankings(trials, figure, threshold, asked))


def _rankings(
    trials: Iterable[Trial], figure: Figure, threshold: float, asked: Asked | None
) -> list[Ranking]:
    settings: dict[str, list[Cell]] = {}
    for cell in cells(trials):
        settings.setdefault(setting_key(cell.point), []).append(cell)
    shared = [tuple(_order_cells(group, asked)) for group in settings.values() if len(group) > 1]
    every = [cell for group in shared for cell in group]
    comparer = _Comparer.of(every, figure, threshold, asked)
    return [_rank(group, comparer) for group in shared]


def _order_cells(group: Sequence[Cell], asked: Asked | None) -> Sequence[Cell]:
    """The second of a question first: its ratio is that of b over a."""
    if asked is None:
        return group
    return sorted(group, key=lambda cell: cell.point.stack != asked.stacks[1])


def all_rankings(
    trials: Sequence[Trial], threshold: float, asked: Asked | None = None
) -> Iterator[Ranking]:
    """Every ranking of every figure that is compared. Of a question, the figures that it did not
    ask for are one family."""
    also = (one for one in COMPARED_IF_KNOWN if any(one.of(trial) for trial in trials))
    others: list[Ranking] = []
    for figure in (*COMPARED, *also):
        found = _rankings(trials, figure, threshold, asked)
        if asked is None or figure.name == asked.figure:
            yield from _judge_family(found)
        else:
            others += found
    yield from _judge_family(others)
    failing = {setting_key(trial.point) for trial in trials if trial.result.errors}
    struck = [trial for trial in trials if setting_key(trial.point) in failing]
    for figure in COMPARED_GOOD:
        yield from rankings(struck, figure, threshold, asked)


def _rank(group: tuple[Cell, ...], comparer: _Comparer) -> Ranking:
    pairs = tuple(
        Pair(first, second, comparer.compare(first, second))
        for first, second in combinations(group, 2)
    )
    return Ranking(group[0].point, comparer.figure, group, pairs)


def _judge_family(every: list[Ranking]) -> list[Ranking]:
    """The rankings with the verdicts of their family."""
    members = [
        pair.comparison
        for ranking in every
        if not ranking.barred
        for pair in ranking.pairs
        if pair.comparison is not None
    ]
    verdicts = iter(family(members))

    def judge_next(comparison: Comparison | None, *, barred: bool) -> Comparison | None:
        if comparison is None:
            return None
        if barred:
            return comparison.not_ranked(NOT_RANKED)
        return next(verdicts)

    return [
        replace(
            ranking,
            pairs=tuple(
                replace(pair, comparison=judge_next(pair.comparison, barred=bool(ranking.barred)))
                for pair in ranking.pairs
            ),
        )
        for ranking in every
    ]


@dataclass(frozen=True)
class _Comparer:
    """Compares cells of a run in one figure: after their blocks where there are enough of them
    (:mod:`wirelab.statistics.blocks`), else by Welch's t."""

    figure: Figure
    threshold: float
    blocks: Blocks | None
    places: Mapping[int, int]
    """The identity of a cell -> its place among the blocks' cells; cells without a spread, or
    with fewer than two values, have none."""
    asked: Asked | None = None

    @classmethod
    def of(
        cls, every: Sequence[Cell], figure: Figure, threshold: float, asked: Asked | None
    ) -> _Comparer:
        rows = {id(cell): tuple(sorted(cell.values_by_block(figure).items())) for cell in every}
        varying = {key: row for key, row in rows.items() if len({value for _, value in row}) > 1}
        places = {key: place for place, key in enumerate(varying)}
        blocked = None if asked else _blocks(tuple(varying.values()))
        return cls(figure, threshold, blocked, places, asked)

    def compare(self, first: Cell, second: Cell) -> Comparison | None:
        """first / second; None where one of them has no value."""
        if self.asked is not None:
            return self._compare_pairs(first, second, self.asked)
        if first.shares_trials_with(second):
            return shared_trials.compare(first, second, self.figure, self.threshold)
        values = [tuple(cell.values(self.figure)) for cell in (first, second)]
        ends = [self.places.get(id(cell)) for cell in (first, second)]
        if self.blocks is not None and ends[0] is not None and ends[1] is not None:
            trials = sum(map(len, values))
            return of_blocks(self.blocks, ends[0], ends[1], trials, self.threshold)
        try:
            return _ratio(values[0], values[1], self.threshold)
        except NoValues:
            return None

    def _compare_pairs(self, first: Cell, second: Cell, asked: Asked) -> Comparison | None:
        """Of the repeats that both have."""
        a, b = first.values_by_repeat(self.figure), second.values_by_repeat(self.figure)
        both = sorted(a.keys() & b.keys())
        is_question = self.figure.name == asked.figure
        guards = [name for name in asked.guards if name != asked.figure]
        confidence = confidence_of_figure(guards) if is_question else 0.95
        if not both:
            return None
        values = [a[at] for at in both], [b[at] for at in both]
        return of_pairs(*values, self.threshold, confidence)


Rows = tuple[tuple[tuple[tuple[int, str], float], ...], ...]
"""Cells with their blocks (repeat and host) and figures."""


@lru_cache(maxsize=256)
def _blocks(rows: Rows) -> Blocks | None:
    """Kept, because sentences and tables of one page ask for the same figure of the same cells."""
    return blocks([dict(row) for row in rows])


@lru_cache(maxsize=1 << 16)
def _ratio(first: tuple[float, ...], second: tuple[float, ...], threshold: float) -> Comparison:
    """Kept for the same reason."""
    return ratio(first, second, threshold)
