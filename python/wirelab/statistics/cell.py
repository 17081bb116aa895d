"""A cell: the repeats of one point, and the figures over them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from wirelab.records.trial import Point, Trial
from wirelab.statistics.figure import (
    FIGURES,
    FIRST_CALLS,
    GOOD_CALLS,
    GOOD_P99,
    RESPONSE_P99,
    SERVICE_P99,
    Figure,
)
from wirelab.statistics.interval import Interval, NoValues
from wirelab.statistics.mean import mean_interval

REPEATED_SHARE_MAX = 0.2
"""Of a cell's trials: with more of them repeated, the machine was too busy for the cell."""


P99 = (RESPONSE_P99, GOOD_P99, SERVICE_P99)
WIDE_FACTOR = 2.0
"""Between the limits of an interval and its middle."""


@dataclass(frozen=True)
class Cell:
    """All trials of one point of the matrix, in the order of their repeats."""

    point: Point
    trials: tuple[Trial, ...]
    _intervals: dict[str, Interval | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """By figure; many parts of a report show the same one."""

    @property
    def measured(self) -> tuple[Trial, ...]:
        """Trials that measured something."""
        return tuple(trial for trial in self.trials if trial.status == "measured")

    @property
    def failed(self) -> tuple[Trial, ...]:
        """Trials that failed, each with its reason."""
        return tuple(trial for trial in self.trials if trial.status == "failed")

    @property
    def repeated(self) -> tuple[Trial, ...]:
        """Trials that repeat one that the machine's other work spoilt."""
        return tuple(trial for trial in self.trials if trial.repeats)

    @property
    def is_often_repeated(self) -> bool:
        """Whether more of its trials are repeated than :data:`REPEATED_SHARE_MAX`."""
        return len(self.repeated) > REPEATED_SHARE_MAX * len(self.trials)

    @property
    def errors(self) -> int:
        """Failed calls of all its trials."""
        return sum(trial.result.errors for trial in self.measured)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every figure; those of good calls only where calls failed, being the same else, and
        those of first calls only where these were kept."""
        shown = (figure for figure in FIGURES if self.errors or figure not in GOOD_CALLS)
        has_first = any(trial.result.first_calls_ns for trial in self.measured)
        return (*shown, *(FIRST_CALLS if has_first else ()))

    def values(self, figure: Figure) -> list[float]:
        """The figure of every measured trial that has it, in its unit."""
        return [value for trial in self.measured if (value := figure.of(trial)) is not None]

    def interval_to_show(self, figure: Figure) -> Interval | None:
        """The interval of a figure to be shown; None also for a p99 whose half width is a factor of
        :data:`WIDE_FACTOR` or more, which is not a figure."""
        interval = self.interval(figure)
        if interval is None or interval.bounds is None or figure not in P99:
            return interval
        low, high = interval.bounds
        return interval if high < WIDE_FACTOR**2 * low else None

    def values_by_repeat(self, figure: Figure) -> dict[int, float]:
        """The same by the trial's repeat."""
        found = ((trial.repeat, figure.of(trial)) for trial in self.measured)
        return {repeat: value for repeat, value in found if value is not None}

    def values_by_block(self, figure: Figure) -> dict[tuple[int, str], float]:
        """The same by repeat and host: what a farm measured on two hosts is two blocks."""
        found = (((trial.repeat, trial.node), figure.of(trial)) for trial in self.measured)
        return {block: value for block, value in found if value is not None}

    @property
    def shared_trials(self) -> frozenset[tuple[str, int]] | None:
        """Start and place in the order of its trials, by which they are known again in the cells
        that share them; None unless services took turns in slices in all of them."""
        if not self.measured or not all(trial.slices for trial in self.measured):
            return None
        return frozenset((trial.started, trial.order) for trial in self.measured)

    def shares_trials_with(self, other: Cell) -> bool:
        """Whether all trials of both were shared by their services, which took turns in slices."""
        return self.shared_trials is not None and self.shared_trials == other.shared_trials

    def interval(self, figure: Figure) -> Interval | None:
        """The figure over the trials; None where no trial has it."""
        if figure.name not in self._intervals:
            try:
                self._intervals[figure.name] = mean_interval(self.values(figure))
            except NoValues:
                self._intervals[figure.name] = None
        return self._intervals[figure.name]

    def marks(self, name: str) -> tuple[Trial, ...]:
        """Trials that the check of this name marked."""
        return tuple(
            trial
            for trial in self.trials
            if any(check.name == name and check.outcome == "marked" for check in trial.checks)
        )


def point_key(point: Point) -> str:
    """One string per distinct point, the same in every process."""
    return json.dumps(
        [
            point.contract,
            point.operation,
            point.bytes,
            point.link,
            msgspec.to_builtins(point.load),
            point.options,
            point.stack,
        ],
        sort_keys=True,
    )


def setting_key(point: Point) -> str:
    """One string per distinct message, load, link, options and semantic class: what two
    stacks must share to be compared."""
    return json.dumps(
        [
            point.contract,
            point.operation,
            point.bytes,
            point.link,
            msgspec.to_builtins(point.load),
            point.options,
            point.semantic_class,
        ],
        sort_keys=True,
    )


def cells(trials: Iterable[Trial]) -> list[Cell]:
    """The trials by point, ordered as a reader expects: operation, size, link, load, semantic
    class, stack.

    The order of ``trials`` does not matter: rows and colours must not depend on the
    random order of a run.
    """
    grouped: dict[str, list[Trial]] = {}
    for trial in trials:
        grouped.setdefault(point_key(trial.point), []).append(trial)
    found = [
        Cell(group[0].point, tuple(sorted(group, key=lambda t: (t.repeat, t.order))))
        for group in grouped.values()
    ]
    return sorted(found, key=lambda cell: _sort_key(cell.point))


def _sort_key(point: Point) -> tuple[str, int, str, str, float, str, bool, str]:
    load = point.load
    level = load.users or load.rate or load.calls or 0
    return (
        point.operation,
        point.bytes,
        point.link,
        load.kind,
        float(level),
        json.dumps(point.options, sort_keys=True),
        point.semantic_class != "two-way",
        point.stack,
    )
