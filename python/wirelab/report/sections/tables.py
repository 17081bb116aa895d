"""The tables of a page: every cell, every comparison, every check, placement, machine."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from wirelab.checks.load import client_bound, marked
from wirelab.format.counting import of_all
from wirelab.format.numbers import NONE, digits, over_limits, span
from wirelab.report.findings.ranking import NO_VALUE, Pair, Ranking, all_rankings
from wirelab.report.section import Table
from wirelab.report.source import Source
from wirelab.statistics.cell import Cell, point_key
from wirelab.statistics.distributions import binomial_interval
from wirelab.statistics.figure import (
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
from wirelab.trial.record import Check, Point, Trial

COMPARISONS_MAX = 500
"""Pairs up to which the table of comparisons has all; their number grows with the square of the
stacks."""
_HEADS = {
    RATE: "calls/s",
    RESPONSE_P50: "p50",
    RESPONSE_P99: "p99",
    CLIENT_CPU: "client CPU",
    SERVICE_CPU: "service CPU",
}
"""Short heads of the figures of every cell."""
_GOOD = {RESPONSE_P50: GOOD_P50, RESPONSE_P99: GOOD_P99}
"""The figures of good calls that are shown below those of all calls where some failed."""
_MARKS = {
    "bound": "client-bound",
    "calls counted": "counts",
    "engine backlog": "backlog",
    "engine build": "build",
    "schedule lag": "lag",
    "steal time": "steal",
}
"""Short words for checks; the others are short by themselves."""


def cell_tables(source: Source) -> list[Table]:
    """One table per message: estimates with their 95 % intervals below."""
    groups: dict[str, list[Cell]] = {}
    for cell in source.cells:
        groups.setdefault(label.message(cell.point), []).append(cell)
    columns = ["stack", "load", *_HEADS.values(), "errors", "trials", "marks"]
    return [
        Table(columns, [_cell(source, cell) for cell in group], message, range(2, 9))
        for message, group in groups.items()
    ]


def _cell(source: Source, cell: Cell) -> list[str]:
    return [
        source.names.stacks[cell.point.stack],
        source.names.load(cell.point),
        *(_shown(cell, figure) for figure in _HEADS),
        _errors(cell),
        _trials(cell),
        _marks(cell),
    ]


def _shown(cell: Cell, figure: Figure) -> str:
    """The figure; of response times where calls failed that of all calls, then of good ones."""
    if figure not in _GOOD or not cell.errors:
        return _figure(cell, figure)
    return f"all {_figure(cell, figure)}\ngood {_figure(cell, _GOOD[figure])}"


def _figure(cell: Cell, figure: Figure) -> str:
    bound = "≥ " if figure is RATE and any(map(client_bound, cell.measured)) else ""
    lacks = doubt(cell, figure)
    shown = f"{bound}{over_limits(cell.interval(figure), figure.unit)}"
    return f"{shown}\n{lacks.words}" if lacks else shown


def _errors(cell: Cell) -> str:
    calls = sum(trial.result.calls for trial in cell.measured)
    if not calls or not cell.errors:
        return str(cell.errors)
    share = binomial_interval(min(cell.errors, calls), calls)
    return f"{cell.errors:,}\n{100 * (share.low or 0.0):.2g}–{100 * (share.high or 0.0):.2g} %"


def _trials(cell: Cell) -> str:
    failed = f"\n{len(cell.failed)} failed" if cell.failed else ""
    return f"{len(cell.measured)}{failed}"


def _marks(cell: Cell) -> str:
    """``backlog 4, warm-up 1``: trials by the check that marked them."""
    counted = Counter(mark.name for trial in cell.measured for mark in marked(trial))
    shown = (f"{_MARKS.get(name, name)} {count}" for name, count in counted.most_common())
    return ", ".join(shown) or NONE


def comparison_table(source: Source) -> tuple[Table, int]:
    """Every pair of stacks in every setting and figure; beyond :data:`COMPARISONS_MAX`, those
    of the best stack of each with the others. Also returns the number of all pairs."""
    found = list(all_rankings(source.trials, source.threshold))
    count = sum(len(ranking.pairs) for ranking in found)
    rows = [
        _pair(source, ranking, pair)
        for ranking in found
        for pair in (ranking.pairs if count <= COMPARISONS_MAX else ranking.pairs_of_best)
    ]
    columns = ["figure", "setting", "ratio of", "ratio", "95 % interval", "verdict", "reason"]
    return Table(columns, rows, "", (3, 4)), count


def _pair(source: Source, ranking: Ranking, pair: Pair) -> list[str]:
    found = pair.comparison
    first, second = (source.names.stacks[c.point.stack] for c in (pair.first, pair.second))
    of = ""
    if ranking.figure in _GOOD and any(cell.errors for cell in ranking.cells):
        of = " of all calls"
    return [
        f"{ranking.figure.title}{of}",
        source.names.setting(ranking.point),
        f"{first} / {second}",
        NONE if found is None else digits(found.ratio.estimate),
        NONE if found is None else span(found.ratio),
        "undecided" if found is None else found.verdict,
        NO_VALUE if found is None else found.explanation,
    ]


def check_summary(source: Source) -> Table:
    """Every check with the number of its outcomes."""
    counts: dict[str, Counter[str]] = {}
    for trial in source.trials:
        for check in trial.checks:
            counts.setdefault(check.name, Counter())[check.outcome] += 1
    outcomes = ("ok", "marked", "not-measurable")
    rows = [[name, *(str(count[o]) for o in outcomes)] for name, count in counts.items()]
    return Table(["check", *outcomes], rows, "Trials by outcome", (1, 2, 3))


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


def failed_table(source: Source) -> Table:
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
