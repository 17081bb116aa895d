"""What the interactive charts draw: estimates, percentiles and values over time of every cell.

The page's script reads it as JSON: the keys below, and units as in
:mod:`wirelab.statistics.figure`. Its size is bounded: a run of a thousand trials has fewer points
per line than one of ten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wirelab.format.numbers import sanitize
from wirelab.format.units import Unit
from wirelab.report.charts import load_panels
from wirelab.report.charts.stack_style import COLOURS
from wirelab.report.curves import PERCENTILES, Curve
from wirelab.report.source import Source
from wirelab.statistics.cell import Cell
from wirelab.statistics.figure import FIGURES, GOOD_CALLS, Figure
from wirelab.trial import series
from wirelab.trial.series import Points, UnreadableSeries

POINTS_MAX = 40_000
"""Points over time of the whole page; about ten bytes each."""
LINE_MIN, LINE_MAX = 5, 120
"""Points of one line; beyond the largest number neighbours are one point."""
DIGITS = 4
"""Significant digits: a screen shows no more."""
_NS = 1e9
Json = dict[str, object]


@dataclass(frozen=True)
class _Quantity:
    """Something that trials have over time."""

    name: str
    title: str
    unit: Unit
    of: Callable[[Mapping[str, Points]], Points]
    peaks: bool = False
    """True: of neighbours the largest value is kept, because a mean would hide a stall."""


def _plain(name: str, factor: float = 1.0) -> Callable[[Mapping[str, Points]], Points]:
    return lambda found: [(at, factor * value) for at, value in found.get(name, ())]


def _mean_in_service(found: Mapping[str, Points]) -> Points:
    return [(at, _NS * value) for at, value in series.call_mean(found)]


OVER_TIME = (
    _Quantity("p99", "response p99", "ns", _plain("response_p99_seconds", _NS), peaks=True),
    _Quantity("p50", "response p50", "ns", _plain("response_p50_seconds", _NS), peaks=True),
    _Quantity("rate", "successful calls", "1/s", _plain("rate_per_s")),
    _Quantity("errors", "failed calls", "1/s", _plain("errors_per_s"), peaks=True),
    _Quantity("in_service", "mean time in the service's code", "ns", _mean_in_service),
    _Quantity("rss", "resident memory", "B", _plain("rss_bytes")),
    _Quantity("heap", "heap used", "B", _plain("heap_used_bytes")),
    _Quantity("pool", "database connections in use", "", _plain("store_connections_in_use")),
)


def data(source: Source, first: Figure) -> Json:
    """For :attr:`wirelab.report.html_page.HtmlPage.data`; empty where nothing was measured.
    ``first`` is the figure that is shown first."""
    groups = [kept for group in load_panels.groups(source) if (kept := _select_measured(group))]
    if not groups:
        return {}
    stacks = list(source.legend)
    figures = [f for f in FIGURES if any(c.interval(f) for group in groups for c in group)]
    failed = any(cell.errors for group in groups for cell in group)
    figures = [figure for figure in figures if failed or figure not in GOOD_CALLS]
    lines = _lines(source)
    return {
        "stacks": [
            {
                "name": sanitize(entry.name),
                "letter": entry.look.letter,
                "colour": COLOURS.index(entry.look.colour),
                "marker": entry.look.marker,
                "dash": "" if isinstance(entry.look.dash, str) else _dash(entry.look.dash[1]),
            }
            for entry in source.legend.values()
        ],
        "figures": [
            {"name": f.name, "title": f.title, "unit": f.unit, "better": f.better} for f in figures
        ],
        "first": first.name,
        "groups": [
            {
                "title": load_panels.panel_title(source, group),
                "axis": load_panels.load_axis(group[0]),
            }
            for group in groups
        ],
        "percentiles": list(PERCENTILES),
        "quantities": [{"name": q.name, "title": q.title, "unit": q.unit} for q in OVER_TIME],
        "cells": [
            _cell(source, cell, at, stacks, figures, lines)
            for at, group in enumerate(groups)
            for cell in group
        ],
    }


def _select_measured(group: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in group if cell.measured]


def _dash(lengths: Sequence[float]) -> str:
    return " ".join(f"{2 * length:g}" for length in lengths)


def _cell(
    source: Source,
    cell: Cell,
    group: int,
    stacks: Sequence[str],
    figures: Sequence[Figure],
    lines: Mapping[str, Json],
) -> Json:
    found, _ = source.curves.of(cell.measured)
    return {
        "stack": stacks.index(cell.point.stack),
        "group": group,
        "x": load_panels.level(cell),
        "setting": source.names.setting(cell.point),
        "trials": len(cell.measured),
        "bound": load_panels.is_lower_bound(cell),
        "window": max(trial.result.window_s for trial in cell.measured),
        "figures": [_estimate(cell, figure) for figure in figures],
        "curves": [_curve(curve) for curve in found.values()],
        "lines": [lines[trial.id] for trial in cell.measured if trial.id in lines],
    }


def _estimate(cell: Cell, figure: Figure) -> list[float] | None:
    """The estimate, or with both limits."""
    interval = cell.interval(figure)
    if interval is None:
        return None
    return [_round(value) for value in (interval.estimate, *(interval.bounds or ()))]


def _curve(curve: Curve) -> list[float | None]:
    """Values at :data:`PERCENTILES`, in ns, as far as there are samples."""
    values = dict(curve)
    last = max(values)
    return [_round(values[p]) if p in values else None for p in PERCENTILES if p <= last]


def _lines(source: Source) -> dict[str, Json]:
    """By trial each quantity over time, with as many points as the page has room for."""
    found = {
        trial.id: [(at, points) for at, q in enumerate(OVER_TIME) if (points := q.of(read))]
        for trial in source.measured
        if not isinstance(read := source.series[trial.id], UnreadableSeries)
    }
    count = sum(map(len, found.values()))
    most = min(LINE_MAX, max(LINE_MIN, POINTS_MAX // max(1, count)))
    return {
        one: _trial(
            [(at, thin_out(points, most, peaks=OVER_TIME[at].peaks)) for at, points in lines]
        )
        for one, lines in found.items()
        if lines
    }


def _trial(lines: Sequence[tuple[int, Points]]) -> Json:
    """The times once for all quantities that share them."""
    times: list[list[float]] = []
    values = []
    for quantity, points in lines:
        own = [round(at, 2) for at, _ in points]
        if own not in times:
            times.append(own)
        values.append([quantity, times.index(own), *(_round(value) for _, value in points)])
    return {"t": times, "v": values}


def thin_out(points: Points, most: int, *, peaks: bool) -> Points:
    """At most that number of points: neighbours become their middle, with their largest value or
    their mean."""
    together = -(-len(points) // most)
    if together < 2:
        return points
    parts = [points[start : start + together] for start in range(0, len(points), together)]
    return [
        (
            (part[0][0] + part[-1][0]) / 2,
            max(v for _, v in part) if peaks else sum(v for _, v in part) / len(part),
        )
        for part in parts
    ]


def _round(value: float) -> float:
    """Whole where it can be, for that is shorter."""
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() else short
