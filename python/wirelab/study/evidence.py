"""The measured trials on which claims are judged, and what they say about products of figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from wirelab.explain.cell_selector import CellSelector
from wirelab.records.trial import Trial
from wirelab.statistics import linear_contrasts, shared_trials
from wirelab.statistics.blocks import Blocks, blocks
from wirelab.statistics.cell import Cell, cells, point_key
from wirelab.statistics.figure import Figure
from wirelab.statistics.interval import Interval
from wirelab.statistics.repeats import Spread
from wirelab.statistics.shared_trials import Weighted


@dataclass(frozen=True)
class Blocked:
    """The cells of a run that share no trials, after their blocks."""

    blocks: Blocks
    places: Mapping[str, int]
    """Of a point -> its place among the blocks' cells."""

    def contrast(self, weighted: Sequence[Weighted]) -> tuple[float, Spread] | None:
        """The weighted sum of logarithms with its spread; None where a cell is not among them, and
        where the weights do not add up to 0: the blocks' part does not cancel then."""
        weights: dict[int, float] = {}
        for weight, cell in weighted:
            place = self.places.get(point_key(cell.point))
            if place is None:
                return None
            weights[place] = weights.get(place, 0.0) + weight
        return None if abs(sum(weights.values())) > 1e-9 else self.blocks.contrast(weights)


@dataclass(frozen=True)
class Evidence:
    """Trials of one run or of several."""

    trials: tuple[Trial, ...]
    _blocked: dict[str, Blocked | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """By figure."""

    @classmethod
    def of(cls, trials: Iterable[Trial]) -> Evidence:
        return cls(tuple(trials))

    def find(self, selector: CellSelector) -> Cell | None:
        """As :meth:`CellSelector.find`."""
        return selector.find(self.trials)

    def product(self, weighted: Sequence[Weighted], figure: Figure, confidence: float) -> Interval:
        """Product of the cells' geometric means, each to the power of its weight: after the blocks
        of one run, or as :func:`wirelab.statistics.shared_trials.product`, which raises
        :class:`StatisticsError`."""
        found = self._contrast(weighted, figure)
        if found is None:
            return shared_trials.product(weighted, figure, confidence)
        value, spread = found
        reach = spread.reach(confidence)
        trials = sum(len(cell.values(figure)) for _, cell in weighted)
        method = "blocks, moderated t on logarithms"
        return linear_contrasts.exponential(
            Interval(value, value - reach, value + reach, trials, method)
        )

    def log_spread(self, weighted: Sequence[Weighted], figure: Figure) -> Spread | None:
        """Of the logarithm of a :meth:`product`; None where that has no interval."""
        found = self._contrast(weighted, figure)
        if found is not None:
            return found[1]
        return linear_contrasts.log_spread(shared_trials.log_terms(weighted, figure))

    def _contrast(
        self, weighted: Sequence[Weighted], figure: Figure
    ) -> tuple[float, Spread] | None:
        if figure.name not in self._blocked:
            self._blocked[figure.name] = self._find_blocks(figure)
        blocked = self._blocked[figure.name]
        return blocked.contrast(weighted) if blocked else None

    def _find_blocks(self, figure: Figure) -> Blocked | None:
        if not _is_one_run(self.trials):
            return None
        rows = {
            point_key(cell.point): tuple(sorted(cell.values_by_block(figure).items()))
            for cell in cells(self.trials)
            if cell.shared_trials is None
        }
        varying = {key: row for key, row in rows.items() if len({value for _, value in row}) > 1}
        found = _blocks(tuple(varying.values()))
        if found is None:
            return None
        return Blocked(found, {key: place for place, key in enumerate(varying)})


def _is_one_run(trials: Sequence[Trial]) -> bool:
    """Only within one run is a repeat a block. The runs of two parts have the same places in their
    orders, with trials that began at different times."""
    began: dict[int, set[str]] = {}
    for trial in trials:
        began.setdefault(trial.order, set()).add(trial.started)
    return all(len(times) == 1 for times in began.values())


Rows = tuple[tuple[tuple[tuple[int, str], float], ...], ...]
"""Cells with their blocks (repeat and host) and figures."""


@lru_cache(maxsize=64)
def _blocks(rows: Rows) -> Blocks | None:
    """Kept, because the claims of a study ask for the same figure of the same cells."""
    return blocks([dict(row) for row in rows])
