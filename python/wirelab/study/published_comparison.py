"""Published figures next to measured ones, cell by cell.

Absolute figures of another machine are shown, never judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wirelab.explain import figures
from wirelab.explain.cell_selector import CellSelector, Level
from wirelab.records.trial import Trial
from wirelab.statistics import shared_trials
from wirelab.statistics.figure import Figure
from wirelab.statistics.interval import Interval, StatisticsError
from wirelab.study.model import Arm, PublishedMap, ShownFigure
from wirelab.study.published import Figure as Printed

CONTENDERS_MAX = 2
"""This number of stacks is shown side by side, with ratios; more are shown below each other."""


@dataclass(frozen=True)
class Pair:
    """One published cell and its measured counterpart, in the published unit."""

    arm: str
    published: float | None
    least: float | None
    most: float | None
    doubtful: bool
    """True where a printed figure cannot be right."""
    measured: Interval | None
    bound: bool
    """True where the client was the limit, so that the measured figure is a bound."""


@dataclass(frozen=True)
class Line:
    """All stacks in one cell of the study's tables."""

    metric: str
    unit: str
    operation: str
    """The study's test: its operation, or its experiment where the map names some and the
    operation has no figure of its own."""
    level: Level
    pairs: tuple[Pair, ...]
    published_ratio: float | None
    """First over second stack."""
    measured_ratio: Interval | None


def lines(
    printed: Sequence[Printed],
    trials: Iterable[Trial],
    names: PublishedMap,
    arms: dict[str, Arm],
) -> tuple[Line, ...]:
    """Every published cell that the map names, in the order of the file."""
    listed = list(trials)
    return tuple(
        _line(rows, listed, names, arms, shown)
        for metric, shown in names.figures.items()
        for rows in _group_by_cell(
            row for row in printed if row.metric == metric and names.takes(row)
        )
    )


def _group_by_cell(rows: Iterable[Printed]) -> list[list[Printed]]:
    """The rows of each operation, load and link, whatever the stack and the statistic."""
    cells: dict[tuple[str, tuple[tuple[str, str], ...], str], list[Printed]] = {}
    for row in rows:
        cells.setdefault((row.operation, tuple(row.load.items()), row.link), []).append(row)
    return list(cells.values())


def _line(
    rows: Sequence[Printed],
    trials: Sequence[Trial],
    names: PublishedMap,
    arms: dict[str, Arm],
    shown: ShownFigure,
) -> Line:
    first = rows[0]
    level: dict[str, object] = {
        ours: int(first.load[theirs]) for theirs, ours in names.load.items()
    }
    level |= {name: words[first.load[name]] for name, words in names.load_names.items()}
    if names.links:
        level["link"] = names.links[first.link]
    changes = {**names.operations[first.operation], **level}
    own = changes.pop("figure", None)
    figure = figures.require_figure(str(own or shown.figure))
    cells = {
        stack: CellSelector.of({"stack": arms[arm].stack}).change(changes)
        for stack, arm in names.stacks.items()
    }
    pairs = [
        _pair(
            arms[names.stacks[stack]].label,
            [r for r in rows if r.stack == stack],
            selector,
            trials,
            figure,
            shown,
        )
        for stack, selector in cells.items()
        if len(cells) <= CONTENDERS_MAX or any(row.stack == stack for row in rows)
    ]
    return Line(
        first.metric,
        first.unit,
        first.experiment if names.experiments and not own else first.operation,
        level,
        tuple(pairs),
        _divide_published(pairs),
        _divide_measured(list(cells.values()), trials, figure),
    )


def _pair(
    label: str,
    rows: Sequence[Printed],
    selector: CellSelector,
    trials: Sequence[Trial],
    figure: Figure,
    shown: ShownFigure,
) -> Pair:
    by_statistic = {row.statistic: row for row in rows}
    wished = (shown.statistic,) if isinstance(shown.statistic, str) else shown.statistic
    mean = next((by_statistic[name] for name in wished if name in by_statistic), None)
    least, most = by_statistic.get("min"), by_statistic.get("max")
    cell = selector.find(trials)
    interval = cell.interval(figure) if cell else None
    return Pair(
        label,
        mean.value if mean else None,
        least.value if least else None,
        most.value if most else None,
        any(row.doubtful for row in rows),
        interval.scale(1.0 / shown.per_unit) if interval else None,
        cell is not None and figures.only_a_bound(figure, cell),
    )


def _divide_published(pairs: Sequence[Pair]) -> float | None:
    if len(pairs) != 2 or pairs[0].published is None or not pairs[1].published:
        return None
    return pairs[0].published / pairs[1].published


def _divide_measured(
    cells: Sequence[CellSelector], trials: Sequence[Trial], figure: Figure
) -> Interval | None:
    if len(cells) != 2:
        return None
    first, second = (selector.find(trials) for selector in cells)
    if first is None or second is None:
        return None
    try:
        return shared_trials.product([(1.0, first), (-1.0, second)], figure)
    except StatisticsError:
        return None
