"""The tables of cells and of checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from wirelab.checks.load import client_bound
from wirelab.checks.marks import Mark, figure_marks
from wirelab.format.counting import of_all
from wirelab.format.numbers import NONE, stack_limits
from wirelab.records.trial import Check, Point, Trial
from wirelab.report.section import Table
from wirelab.report.source import Source
from wirelab.statistics.cell import Cell, point_key
from wirelab.statistics.distributions import binomial_interval
from wirelab.statistics.figure import (
    BYTES,
    CLIENT_CPU,
    GOOD_P50,
    GOOD_P99,
    RATE,
    RESPONSE_P50,
    RESPONSE_P99,
    SERVICE_CPU,
    Figure,
)
from wirelab.trial import labels as label

_HEADS = {
    RATE: "calls/s",
    RESPONSE_P50: "p50",
    RESPONSE_P99: "p99",
    CLIENT_CPU: "client CPU",
    SERVICE_CPU: "service CPU",
}
"""Short heads of the figures of every cell."""
Marks = Mapping[str, tuple[Mark, ...]]
"""By the name of a figure."""
_GOOD = {RESPONSE_P50: GOOD_P50, RESPONSE_P99: GOOD_P99}
"""The figures of good calls that are shown below those of all calls where some failed."""
MARKS = {
    "achieved rate": "rate differs from the plan",
    "background": "other load failed",
    "bound": "client was the limit",
    "calls counted": "call counts differ",
    "caller": "called by another tool",
    "capture": "packets not captured",
    "concurrency": "too few calls at once",
    "connections": "unplanned connections",
    "engine backlog": "client read replies late",
    "engine build": "client is not a release build",
    "engine pauses": "client was stopped",
    "errors": "calls failed",
    "identity": "service not verified",
    "interrupted": "interrupted",
    "kept up": "calls piled up",
    "link drops": "link lost packets",
    "other runs": "shared its cores",
    "packets": "packets differ from calls",
    "schedule lag": "calls sent late",
    "stages and bursts": "load differs from the plan",
    "stationarity": "rate drifted",
    "steal time": "another machine took CPU",
    "system clock": "the clock was set",
    "waiting for a core": "other programs took CPU",
    "warm-up": "still warming up",
    "window": "window closed early",
    "wirelab pauses": "wirelab was stopped",
}
"""What a mark means, by its check, for those who do not know the checks; the names of the others
are plain by themselves."""


def cell_tables(source: Source) -> list[Table]:
    """Estimates with their 95 % intervals below, one row per cell."""
    groups: dict[str, list[list[str]]] = {}
    for cell in source.cells:
        groups.setdefault(label.message(cell.point), []).append(_cell(source, cell))
    columns = ["stack", "load", *_heads(source).values(), "failed calls", "trials"]
    return Table.of_groups(columns, groups, range(2, 9))


def _heads(source: Source) -> dict[Figure, str]:
    """An open load orders its rate, which is then not a result; bytes per call take its place."""
    if not source.cells or any(cell.point.load.is_closed for cell in source.cells):
        return dict(_HEADS)
    return {figure: head for figure, head in _HEADS.items() if figure is not RATE} | {
        BYTES: "bytes per call"
    }


def _cell(source: Source, cell: Cell) -> list[str]:
    marks = figure_marks(cell, source.threshold)
    return [
        source.names.stacks[cell.point.stack],
        source.names.load(cell.point),
        *(_format_figures(cell, figure, marks) for figure in _heads(source)),
        _errors(cell),
        _trials(cell),
    ]


def _format_figures(cell: Cell, figure: Figure, marks: Marks) -> str:
    """The figure; of response times where calls failed that of all calls, then of good ones."""
    if figure not in _GOOD or not cell.errors:
        return _figure(cell, figure, marks)
    good = _figure(cell, _GOOD[figure], marks)
    return f"all {_figure(cell, figure, marks)}\ngood {good}"


def _figure(cell: Cell, figure: Figure, marks: Marks) -> str:
    """With its limits, what it lacks, and what marked it."""
    bound = "≥ " if figure is RATE and any(map(client_bound, cell.measured)) else ""
    lacks = doubt(cell, figure)
    shown = f"{bound}{stack_limits(cell.interval_to_show(figure), figure.unit)}"
    found = [mark_text(mark) for mark in marks.get(figure.name, ())]
    is_wide = cell.interval_to_show(figure) is None and cell.interval(figure) is not None
    why = [WIDE] if is_wide and not lacks else []
    return "\n".join([shown, *why, *([lacks.words] if lacks else []), *found])


def mark_text(mark: Mark) -> str:
    """``client read replies late, up to 12 %``."""
    return replace(mark, check=MARKS.get(mark.check, mark.check)).text


def _errors(cell: Cell) -> str:
    calls = sum(trial.result.calls for trial in cell.measured)
    if not calls or not cell.errors:
        return str(cell.errors)
    share = binomial_interval(min(cell.errors, calls), calls)
    return f"{cell.errors:,}\n{100 * (share.low or 0.0):.2g}–{100 * (share.high or 0.0):.2g} %"


def _trials(cell: Cell) -> str:
    failed = f"\n{len(cell.failed)} failed" if cell.failed else ""
    busy = f"\nmachine too busy: {len(cell.repeated)} repeated" if cell.is_often_repeated else ""
    return f"{len(cell.measured)}{failed}{busy}"


def check_summary(source: Source) -> Table:
    """Every check with the number of its outcomes."""
    counts: dict[str, Counter[str]] = {}
    for trial in source.trials:
        for check in trial.checks:
            counts.setdefault(check.name, Counter())[check.outcome] += 1
    outcomes = ("ok", "noted", "marked", "not-measurable")
    rows = [
        [name, MARKS.get(name, NONE), *(f"{count[one]:,}" for one in outcomes)]
        for name, count in counts.items()
    ]
    columns = ["check", "what a mark means", *outcomes]
    return Table(columns, rows, "Trials by outcome", (2, 3, 4, 5))


def check_details(source: Source) -> Table:
    """Every check that is not ok, with its reason and the trials of which it says the same."""
    groups: dict[tuple[str, ...], list[tuple[Trial, Check]]] = {}
    for trial in source.trials:
        for check in trial.checks:
            if check.outcome != "ok":
                same = (trial.point.stack, check.outcome, check.reason)
                groups.setdefault(same, []).append((trial, check))
    rows = [_same(source, group) for group in groups.values()]
    columns = ["trial", "stack", "setting", "repeat", "check", "outcome", "reason"]
    return Table(columns, rows, "Marked, and not measurable")


def _same(source: Source, group: list[tuple[Trial, Check]]) -> list[str]:
    """One row for checks of one stack with one reason, which counts their trials."""
    trials = {trial.id: trial for trial, _ in group}
    first, check = group[0]
    points = {point_key(trial.point): trial.point for trial in trials.values()}
    return [
        first.id if len(trials) == 1 else f"{first.id} and {len(trials) - 1} more",
        source.names.stacks[first.point.stack],
        _settings(source, list(points.values())),
        ", ".join(dict.fromkeys(str(trial.repeat) for trial in trials.values())),
        ", ".join(dict.fromkeys(check.name for _, check in group)),
        check.outcome,
        check.reason,
    ]


def _settings(source: Source, points: list[Point]) -> str:
    return source.names.setting(points[0]) if len(points) == 1 else source.names.settings(points)


def tabulate_failed(source: Source) -> Table:
    """Trials that measured nothing."""
    rows = [
        [
            trial.id,
            source.names.stacks[trial.point.stack],
            source.names.setting(trial.point),
            str(trial.repeat),
            trial.reason,
        ]
        for trial in source.trials
        if trial.status == "failed"
    ]
    return Table(["trial", "stack", "setting", "repeat", "reason"], rows, "Failed trials")


P50_OF = {RESPONSE_P99: RESPONSE_P50, GOOD_P99: GOOD_P50}
"""The median next to each p99."""
CALLS_MIN = 1_000
"""Calls of a trial from which on ten lie above its p99."""
BELOW = "the interval of the p99 reaches below the p50"
WIDE = "known to a factor of 2 or worse"
TRIALS = "too few trials"
CALLS = "too few calls"


@dataclass(frozen=True)
class Doubt:
    """What a cell lacks for its p99."""

    words: str
    """:data:`TRIALS` or :data:`CALLS`."""
    reason: str


def doubt(cell: Cell, figure: Figure) -> Doubt | None:
    """None where there is none, and for other figures."""
    if figure not in P50_OF:
        return None
    p99s, medians = cell.values(figure), cell.values(P50_OF[figure])
    if len(p99s) < len(medians):
        have = f"known in {of_all(len(p99s), len(medians), 'trial')}"
        return Doubt(CALLS, f"a p99 needs {CALLS_MIN:,} calls per trial; {have}")
    p99, median = cell.interval(figure), cell.interval(P50_OF[figure])
    if p99 is None or median is None or p99.low is None or p99.low >= median.estimate:
        return None
    return Doubt(TRIALS, BELOW)
