"""Every pair of stacks: a row per setting, a column per figure, and why some are undecided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirelab.format.numbers import NONE, digits, ratio_limits, span
from wirelab.records.trial import Point
from wirelab.report.findings.ranking import NO_VALUE, Pair, Ranking, all_rankings
from wirelab.report.section import Table
from wirelab.report.source import Source
from wirelab.statistics.cell import setting_key
from wirelab.statistics.comparison import Comparison
from wirelab.statistics.figure import GOOD_P50, GOOD_P99, RESPONSE_P50, RESPONSE_P99

COMPARISONS_MAX = 500
"""Pairs up to which the table has all; their number grows with the square of the stacks."""
_GOOD = {RESPONSE_P50: GOOD_P50, RESPONSE_P99: GOOD_P99}
UNDECIDED = "undecided"
REASONS_MAX = 100
"""Comparisons up to which the reasons name each pair."""


@dataclass(frozen=True)
class _Compared:
    """One comparison as the tables show it."""

    figure: str
    point: Point
    stacks: str
    """``first / second``."""
    pair: Pair

    @property
    def row(self) -> tuple[str, str]:
        """What it shares with those of other figures."""
        return setting_key(self.point), self.stacks

    @property
    def shown(self) -> str:
        """Ratio, interval and verdict, one below the other."""
        found = self.pair.comparison
        if found is None:
            return f"{NONE}\n{UNDECIDED}"
        lines = (digits(found.ratio.estimate), _limits(found), found.verdict)
        return "\n".join(filter(None, lines))

    @property
    def reason(self) -> str:
        """Why it is undecided, and what may decide it; empty for others."""
        found = self.pair.comparison
        if found is None:
            return NO_VALUE
        return found.explanation if found.verdict == UNDECIDED else ""


def _limits(found: Comparison) -> str:
    """On the side of the threshold that the verdict states; empty where they are the estimate."""
    shown = span(found.ratio)
    if not shown or found.ratio.bounds is None:
        return shown
    return ratio_limits(*found.ratio.bounds, found.threshold)


@dataclass(frozen=True)
class Comparisons:
    """The tables, and how many of all comparisons they show."""

    tables: Sequence[Table]
    shown: int
    count: int


def comparisons(source: Source) -> Comparisons:
    """All pairs; beyond :data:`COMPARISONS_MAX` those of the best stack of each setting and figure
    with the others."""
    found = list(all_rankings(source.trials, source.threshold, source.asked))
    count = sum(len(ranking.pairs) for ranking in found)
    every = [
        _describe_pair(source, ranking, pair)
        for ranking in found
        for pair in (ranking.pairs if count <= COMPARISONS_MAX else ranking.pairs_of_best)
    ]
    if not every:
        return Comparisons((), 0, count)
    return Comparisons(
        (_ratios(source, every), _tabulate_undecided(source, every)), len(every), count
    )


def _describe_pair(source: Source, ranking: Ranking, pair: Pair) -> _Compared:
    first, second = (source.names.stacks[c.point.stack] for c in (pair.first, pair.second))
    failing = ranking.figure in _GOOD and any(cell.errors for cell in ranking.cells)
    title = f"{ranking.figure.title}{' of all calls' if failing else ''}"
    return _Compared(title, ranking.point, f"{first} / {second}", pair)


def _ratios(source: Source, every: Sequence[_Compared]) -> Table:
    figures = list(dict.fromkeys(one.figure for one in every))
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for one in every:
        values = rows.setdefault(one.row, {"": source.names.setting(one.point)})
        values[one.figure] = one.shown
    shown = [
        [values[""], stacks, *(values.get(figure, "") for figure in figures)]
        for (_, stacks), values in rows.items()
    ]
    return _remove_only_pair(["setting", "ratio of", *figures], shown, "", len(figures))


def _tabulate_undecided(source: Source, every: Sequence[_Compared]) -> Table:
    """Settings with one reason share a row, and of many comparisons also the pairs."""
    caption, many = "Why comparisons are undecided", len(every) > REASONS_MAX
    groups: dict[tuple[str, str, str], list[_Compared]] = {}
    for one in every:
        if reason := one.reason:
            stacks = "" if many else one.stacks
            groups.setdefault((one.figure, stacks, reason), []).append(one)
    rows = [
        [
            figure,
            f"{len(group):,}" if many else stacks,
            _settings(source, [one.point for one in group]),
            reason,
        ]
        for (figure, stacks, reason), group in groups.items()
    ]
    if many:
        return Table(["figure", "comparisons", "settings", "reason"], rows, caption, (1,))
    return _remove_only_pair(["figure", "ratio of", "settings", "reason"], rows, caption, 0)


def _settings(source: Source, every: Sequence[Point]) -> str:
    points = list({setting_key(point): point for point in every}.values())
    return source.names.setting(points[0]) if len(points) == 1 else source.names.settings(points)


def _remove_only_pair(
    columns: list[str], rows: list[list[str]], caption: str, numbers: int
) -> Table:
    """The pair is in the caption where every row has the same."""
    pairs = {row[1] for row in rows}
    if len(pairs) == 1:
        columns = [columns[0], *columns[2:]]
        rows = [[row[0], *row[2:]] for row in rows]
        caption = f"{caption}, {pairs.pop()}" if caption else f"Ratio of {pairs.pop()}"
    first = len(columns) - numbers
    return Table(columns, rows, caption, range(first, len(columns)))
