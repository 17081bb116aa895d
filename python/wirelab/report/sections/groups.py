"""Operations of mixes and steps, groups that ran next to the probe, stages and bursts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import msgspec

from wirelab.checks.periods import end_s, levels
from wirelab.experiment.loads import PROBE
from wirelab.format.counting import of_all
from wirelab.format.numbers import NONE, digits, sanitize, stack_limits
from wirelab.format.units import Unit, format_seconds
from wirelab.records.group import GroupResult, OperationResult, PeriodResult, Times
from wirelab.records.load import LoadRecord
from wirelab.records.trial import Json
from wirelab.report.section import Section, Table
from wirelab.report.source import Source
from wirelab.statistics.cell import Cell
from wirelab.statistics.interval import StatisticsError
from wirelab.statistics.mean import mean_interval
from wirelab.trial import labels as label

_ABOUT = {
    "operations": (
        "Each operation of a mix, or of steps, by itself. In a mix, the calls are those of all "
        "parts with that operation."
    ),
    "background": (
        "The groups ran at the same time as the probe and called the same service over separate "
        "connections. Figures of the cells are those of the probe. CPU and bytes per call cover "
        "the calls of all groups."
    ),
    "stages": (
        "Planned: users or calls per second, averaged over a stage. Reached: users in a call or a "
        "pause, or calls sent during the stage. Response times are those of calls that arrived "
        "during the stage."
    ),
    "bursts": (
        "Sent within is the time from the start of a burst until its last call was sent: the "
        "median of all bursts, and the longest."
    ),
}
ROWS_MAX = 300
"""Rows of a table; the record of each trial has all."""
_BACKGROUND = (
    *("stack", "message and load of the probe", "group", "calls/s", "p50", "p99"),
    *("failed", "trials"),
)
_OPERATIONS = ("stack", "message and load", "operation", "calls/s", "p50", "p99", "failed")
_STAGES = (
    *("stack", "load", "group", "stage", "planned", "reached", "ended, calls/s", "p50", "p99"),
    "failed",
)
_BURSTS = (
    *("stack", "load", "group", "bursts", "calls planned", "calls sent", "sent within"),
    *("longest", "failed"),
)


@dataclass(frozen=True)
class Group:
    """One group of calls in all measured trials of a cell."""

    cell: Cell
    name: str
    load: LoadRecord
    results: tuple[GroupResult, ...]

    def periods(self) -> list[list[PeriodResult]]:
        """Of each stage or burst, those of the trials that reached it."""
        most = max((len(result.periods) for result in self.results), default=0)
        places = range(most)
        return [[r.periods[at] for r in self.results if at < len(r.periods)] for at in places]


def groups(cell: Cell) -> Iterator[Group]:
    """The probe, and what ran next to it."""
    yield Group(cell, PROBE, cell.point.load, tuple(trial.result for trial in cell.measured))
    for number, planned in enumerate(cell.point.load.background):
        there = (trial.background for trial in cell.measured)
        results = tuple(each[number] for each in there if number < len(each))
        yield Group(cell, planned.name, planned.load, results)


def section(source: Source) -> Section:
    """A table each of operations, groups, stages and bursts; empty where there are none."""
    every = [group for cell in source.cells for group in groups(cell) if group.results]
    shown = {
        "operations": [row for g in every if g.name == PROBE for row in _operations(source, g)],
        "background": [_background(source, g) for g in every if g.name != PROBE],
        "stages": [row for group in every for row in _stages(source, group)],
        "bursts": [_bursts(source, g) for g in every if _has_bursts(g)],
    }
    columns = {
        "operations": _OPERATIONS,
        "background": _BACKGROUND,
        "stages": _STAGES,
        "bursts": _BURSTS,
    }
    numeric = {
        "operations": range(3, 7),
        "background": range(3, 8),
        "stages": range(4, 10),
        "bursts": range(3, 9),
    }
    paragraphs, tables = [], []
    for name, rows in shown.items():
        if not rows:
            continue
        paragraphs.append(_ABOUT[name])
        if len(rows) > ROWS_MAX:
            paragraphs.append(
                f"The table has the first {ROWS_MAX} of {len(rows):,} {name}; trials.jsonl has all."
            )
        tables.append(Table(columns[name], rows[:ROWS_MAX], name.capitalize(), numeric[name]))
    return Section("Operations, groups, stages and bursts", paragraphs, tables)


def _has_bursts(group: Group) -> bool:
    return group.load.kind == "bursts" and any(one.periods for one in group.results)


def _operations(source: Source, group: Group) -> Iterator[list[str]]:
    """Those of a message that is made of several."""
    point = group.cell.point
    if not point.options.get("message", {}).keys() & {"mix", "steps"}:
        return
    found: dict[str, list[tuple[OperationResult, float]]] = {}
    for result in group.results:
        for operation in result.operations:
            found.setdefault(operation.operation, []).append((operation, result.window_s or 0.0))
    for name, measured in found.items():
        yield [
            source.names.stacks[point.stack],
            source.names.setting(point),
            sanitize(name),
            _format_mean([one.ok / window_s for one, window_s in measured if window_s], "1/s"),
            *(
                time_over_trials([one.times.get("response") for one, _ in measured], p)
                for p in ("p50", "p99")
            ),
            f"{sum(one.errors for one, _ in measured):,}",
        ]


def _background(source: Source, group: Group) -> list[str]:
    point = group.cell.point
    planned = next(one for one in point.load.background if one.name == group.name)
    results = group.results
    return [
        source.names.stacks[point.stack],
        source.names.setting(point),
        label.background(planned),
        _format_mean([result.rate_per_s for result in results], "1/s"),
        *(
            time_over_trials([result.times.get("response") for result in results], p)
            for p in ("p50", "p99")
        ),
        f"{sum(result.errors for result in results):,}",
        f"{len(results):,}",
    ]


def _stages(source: Source, group: Group) -> Iterator[list[str]]:
    if not group.load.stages:
        return
    unit = " users" if group.load.is_closed else "/s"
    for stages in group.periods():
        first = stages[0]
        planned, _ = levels(first)
        yield [
            *_describe_place(source, group),
            f"{format_seconds(first.start_s)} to {format_seconds(end_s(first))}",
            f"{digits(planned)}{unit}",
            _format_mean([levels(stage)[1] for stage in stages], ""),
            _format_mean([stage.ended / (stage.duration_s or 1.0) for stage in stages], ""),
            *(time_over_trials([stage.response for stage in stages], p) for p in ("p50", "p99")),
            f"{sum(stage.errors for stage in stages):,}",
        ]


def _bursts(source: Source, group: Group) -> list[str]:
    bursts = [burst for result in group.results for burst in result.periods]
    took = [burst.sent_after_s for burst in bursts if burst.sent_after_s is not None]
    return [
        *_describe_place(source, group),
        f"{len(bursts):,}",
        f"{sum(burst.calls_planned or 0.0 for burst in bursts):,.0f}",
        f"{sum(burst.sent for burst in bursts):,}",
        format_seconds(median(took)) if took else NONE,
        format_seconds(max(took)) if took else NONE,
        f"{sum(burst.errors for burst in bursts):,}",
    ]


def _describe_place(source: Source, group: Group) -> list[str]:
    point = group.cell.point
    load = source.names.setting(point) if group.name == PROBE else label.load(group.load)
    return [source.names.stacks[point.stack], load, sanitize(group.name)]


def time_over_trials(every: Sequence[Times | None], percentile: str) -> str:
    """Over the trials in which enough calls ended for it."""
    found = [one.percentiles_ns.get(percentile) for one in every if one is not None]
    return _format_mean([float(ns) for ns in found if ns], "ns") if all(found) else NONE


def _format_mean(values: Sequence[float], unit: Unit) -> str:
    """The estimate over the trials above its interval; a geometric mean has no zero."""
    try:
        return stack_limits(mean_interval(values), unit)
    except StatisticsError:
        return "0" if values and not any(values) else NONE


def background_lines(cell: Cell, stack: str) -> list[str]:
    """What each group next to the probe did, in a line: for the terminal."""
    return [
        f"{stack}, {sanitize(group.name)}: {_rate(group)}, p50 {_p50(group)}, "
        f"{_count_failed(group)}"
        for group in groups(cell)
        if group.name != PROBE and group.results
    ]


def _rate(group: Group) -> str:
    return _format_mean([result.rate_per_s for result in group.results], "1/s").partition("\n")[0]


def _p50(group: Group) -> str:
    times = [result.times.get("response") for result in group.results]
    return time_over_trials(times, "p50").partition("\n")[0]


def _count_failed(group: Group) -> str:
    errors = sum(result.errors for result in group.results)
    calls = sum(result.calls for result in group.results)
    return f"{of_all(errors, calls, 'call')} failed"


def to_json(cell: Cell) -> list[Json]:
    """The groups of a cell for other programs: of every trial what each group did, and each of
    its operations, stages or bursts."""
    found = [group for group in groups(cell) if group.results]
    if len(found) == 1 and not any(one.periods or one.operations for one in found[0].results):
        return []
    return [
        {
            "name": group.name,
            "load": msgspec.to_builtins(group.load),
            "trials": [_trial(one) for one in group.results],
        }
        for group in found
    ]


def _trial(result: GroupResult) -> Json:
    times = result.times.get("response")
    percentiles = times.percentiles_ns if times else {}
    return {
        "calls": result.calls,
        "errors": result.errors,
        "rate_per_s": result.rate_per_s,
        "response_p50_ns": percentiles.get("p50"),
        "response_p99_ns": percentiles.get("p99"),
        "operations": result.to_json().get("operations", []),
        "periods": result.to_json().get("periods", []),
    }
