"""The services' runtimes: heap, garbage collection, threads, database connections."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from wirelab.format.numbers import NONE, stack_limits
from wirelab.records.trial import Trial
from wirelab.report.charts.over_time import Quantity, Strip, draw_over_time
from wirelab.report.section import Picture, Section, Table
from wirelab.report.source import Source
from wirelab.statistics.cell import Cell
from wirelab.statistics.figure import RUNTIME, Figure
from wirelab.trial import labels as label
from wirelab.trial import series
from wirelab.trial.series import Points, UnreadableSeries

CHARTS_MAX = 12
"""Cells that are drawn over time; a run may have hundreds."""
_ABOUT = (
    "Each figure is the mean or the maximum over the window, above its 95 % interval over the "
    "trials. Runtimes define their heaps differently: compare heaps between settings of one "
    "service, and resident memory between languages."
)
_ABOUT_CHARTS = (
    "One line per trial; the window is shaded, after the warm-up. The rate is counted every 100 "
    "ms. p50 and p99 are response times of the calls that ended in a part of the window; each part "
    "is the shortest with ten calls above the percentile. Time in service is the mean time that a "
    "call spent in the service's own code."
)
_HEADS = {
    "heap_committed": "heap committed",
    "heap_used": "heap used",
    "heap_used_max": "heap used, max",
    "heap_idle": "heap idle",
    "rss": "resident",
    "gc_pause_share": "GC pauses, %",
    "threads_max": "threads, max",
    "store_connections": "pool in use",
}
"""Short heads of the figures."""
_PERCENT = {"gc_pause_share"}
_METRICS = {
    "heap_committed": "heap_committed_bytes",
    "heap_used": "heap_used_bytes",
    "heap_used_max": "heap_used_bytes",
    "heap_idle": "heap_idle_bytes",
    "rss": "rss_bytes",
    "gc_pause_share": "gc_pause_seconds_total",
    "threads_max": "threads",
    "store_connections": "store_connections_in_use",
}
"""What each figure is made of: a trial that has it, and not the figure, measured zero."""
_MB = 1e-6
_Curve = Callable[[Mapping[str, Points]], Points]


def section(source: Source) -> Section:
    """A row and a chart per cell; empty for runs of older labs."""
    tables = _tables(source)
    pictures, lost = _pictures(source)
    paragraphs = [_ABOUT] if tables else []
    paragraphs += [_ABOUT_CHARTS] if pictures else []
    if len(source.cells) > CHARTS_MAX and pictures:
        paragraphs.append(
            f"The charts show the first {CHARTS_MAX} of {len(source.cells):,} cells; "
            "series.parquet in the folder of each trial has the others."
        )
    if lost:
        more = f", and {len(lost) - 1:,} more" if lost[1:] else ""
        paragraphs.append(f"Not drawn, because it cannot be read: {lost[0]}{more}.")
    return Section("Runtime of the services", paragraphs, tables, pictures)


def _tables(source: Source) -> list[Table]:
    cells = [
        cell
        for cell in source.cells
        if any(_has(trial, figure) for trial in cell.measured for figure in RUNTIME)
    ]
    trials = [trial for cell in cells for trial in cell.measured]
    shown = [figure for figure in RUNTIME if any(_has(trial, figure) for trial in trials)]
    groups: dict[str, list[list[str]]] = {}
    for cell in cells:
        groups.setdefault(label.message(cell.point), []).append(
            [
                source.names.stacks[cell.point.stack],
                source.names.load(cell.point),
                *(_figure(cell, figure) for figure in shown),
            ]
        )
    columns = ["stack", "load", *(_HEADS[figure.name] for figure in shown)]
    return Table.of_groups(columns, groups, range(2, len(columns)))


def _has(trial: Trial, figure: Figure) -> bool:
    return _METRICS[figure.name] in trial.service.runtime_metrics


def _figure(cell: Cell, figure: Figure) -> str:
    """The figure over the trials in which it is above zero, and the number of the others: a
    geometric mean has no zero."""
    interval = cell.interval(figure)
    there = sum(_has(trial, figure) for trial in cell.measured)
    zeros = there - len(cell.values(figure))
    if interval is None:
        return "0" if zeros else NONE
    if figure.name in _PERCENT:
        interval = interval.scale(100.0)
    shown = stack_limits(interval, figure.unit)
    return f"{shown}\n0 in {zeros} of {there}" if zeros else shown


def _pictures(source: Source) -> tuple[list[Picture], list[str]]:
    """A chart per cell, and what cannot be read."""
    pictures: list[Picture] = []
    lost: list[str] = []
    for cell in source.cells[:CHARTS_MAX]:
        found = []
        for trial in cell.measured:
            read = source.series[trial.id]
            if isinstance(read, UnreadableSeries):
                lost.append(str(read))
            elif read:
                found.append(read)
        if not found:
            continue
        window_s = max(trial.result.window_s for trial in cell.measured)
        picture = draw_over_time(_strips(found), _title(source, cell), window_s)
        if picture is not None:
            pictures.append(picture)
    return pictures, lost


def _title(source: Source, cell: Cell) -> str:
    parts = (label.message(cell.point), source.names.load(cell.point))
    return f"{source.names.stacks[cell.point.stack]}: {', '.join(parts)}"


def _strips(found: list[dict[str, Points]]) -> list[Strip]:
    def quantity(name: str, curve: _Curve) -> Quantity:
        return Quantity(name, [points for one in found if (points := curve(one))])

    return [
        Strip("calls/s", [quantity("rate", _of("rate_per_s"))]),
        Strip(
            "ms",
            [
                quantity("p99", _percentile("response_p99_seconds")),
                quantity("p50", _percentile("response_p50_seconds")),
            ],
            by_factors=True,
        ),
        Strip("ms", [quantity("in service", lambda one: _scale(series.call_mean(one), 1e3))]),
        Strip(
            "MB",
            [
                quantity("committed", _of("heap_committed_bytes", _MB)),
                quantity("used", _of("heap_used_bytes", _MB)),
                quantity("resident", _of("rss_bytes", _MB)),
            ],
        ),
        Strip("in use", [quantity("pool", _of("store_connections_in_use"))]),
    ]


def _of(name: str, factor: float = 1.0) -> _Curve:
    return lambda one: _scale(one.get(name, []), factor)


def _percentile(name: str) -> _Curve:
    """In milliseconds, level over the part of the window that each value is of: so a single one
    can be seen, and how little it stands for."""
    return lambda one: _scale(series.levels(one.get(name, [])), 1e3)


def _scale(points: Points, factor: float) -> Points:
    return [(time_s, factor * value) for time_s, value in points]
