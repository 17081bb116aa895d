"""The parts of a cell for exports: groups next to the probe, operations, stages and bursts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from wirelab.experiment.loads import PROBE
from wirelab.format.units import Unit
from wirelab.records.group import GroupResult, OperationResult, PeriodResult, Times
from wirelab.report.sections.groups import Group, groups
from wirelab.statistics.cell import Cell
from wirelab.statistics.interval import Interval, StatisticsError
from wirelab.statistics.mean import mean_interval

Values = list[float | None]
"""Of every trial that has the part; None where that trial does not have the figure."""


@dataclass(frozen=True)
class PartFigure:
    """One figure of a part over the trials."""

    name: str
    unit: Unit
    values: Values

    def interval(self) -> Interval | None:
        """The figure over the trials; None where a trial does not have it, or where some are
        zero and some are not, which have no geometric mean."""
        known = [value for value in self.values if value is not None]
        if not known or len(known) < len(self.values):
            return None
        if not any(known):
            return Interval(0.0, None, None, len(known), "none", "every trial has zero")
        try:
            return mean_interval(known)
        except StatisticsError:
            return None


@dataclass(frozen=True)
class Part:
    """A group, or an operation, a stage or a burst of one."""

    group: str
    kind: str
    """``group``, ``operation``, ``stage`` or ``burst``."""
    name: str
    """Of an operation; the number of a stage or burst, counted from 1."""
    trials: int
    errors: int
    figures: tuple[PartFigure, ...] = field(default=())
    start_s: float | None = None
    """Of a stage or burst, from the begin of the window, in the first trial."""
    duration_s: float | None = None


def parts(cell: Cell) -> Iterator[Part]:
    """Every part of a cell that was measured, the probe's first; the probe itself is the cell."""
    for group in groups(cell):
        if not group.results:
            continue
        if group.name != PROBE:
            yield _whole(group)
        yield from _operations(group)
        kind = "burst" if group.load.kind == "bursts" else "stage"
        for number, periods in enumerate(group.periods(), 1):
            figures = _burst(periods) if kind == "burst" else _stage(periods)
            errors = sum(period.errors for period in periods)
            first = periods[0]
            extent = (first.start_s, first.duration_s)
            yield Part(group.name, kind, str(number), len(periods), errors, figures, *extent)


def _whole(group: Group) -> Part:
    results = group.results
    figures = (
        PartFigure("rate", "1/s", [result.rate_per_s for result in results]),
        *_times([result.times.get("response") for result in results]),
    )
    errors = sum(result.errors for result in results)
    return Part(group.name, "group", "", len(results), errors, figures)


def _operations(group: Group) -> Iterator[Part]:
    """Those of a message that is made of several."""
    found: dict[str, list[tuple[OperationResult, GroupResult]]] = {}
    for result in group.results:
        for operation in result.operations:
            found.setdefault(operation.operation, []).append((operation, result))
    for name, measured in found.items():
        figures = (
            PartFigure("rate", "1/s", [one.ok / (of.window_s or 1.0) for one, of in measured]),
            *_times([one.times.get("response") for one, _ in measured]),
        )
        errors = sum(one.errors for one, _ in measured)
        yield Part(group.name, "operation", name, len(measured), errors, figures)


def _stage(stages: Sequence[PeriodResult]) -> tuple[PartFigure, ...]:
    def list_rates(count: Callable[[PeriodResult], float | None]) -> Values:
        return [(count(one) or 0.0) / (one.duration_s or 1.0) for one in stages]

    if stages[0].users_planned is not None:
        planned = PartFigure("users_planned", "", [one.users_planned for one in stages])
        reached = PartFigure("users", "", [one.users for one in stages])
    else:
        planned = PartFigure("rate_planned", "1/s", list_rates(lambda one: one.calls_planned))
        reached = PartFigure("rate_sent", "1/s", list_rates(lambda one: one.sent))
    ended = PartFigure("rate_ended", "1/s", list_rates(lambda one: one.ended))
    return (planned, reached, ended, *_times([one.response for one in stages]))


def _burst(bursts: Sequence[PeriodResult]) -> tuple[PartFigure, ...]:
    return (
        PartFigure("calls_planned", "", [one.calls_planned for one in bursts]),
        PartFigure("calls_sent", "", [float(one.sent) for one in bursts]),
        PartFigure("sent_after", "s", [one.sent_after_s for one in bursts]),
    )


def _times(every: Sequence[Times | None]) -> Iterator[PartFigure]:
    for percentile in ("p50", "p99"):
        found = [one.percentiles_ns.get(percentile) if one else None for one in every]
        values: Values = [None if ns is None else float(ns) for ns in found]
        yield PartFigure(f"response_{percentile}", "ns", values)
