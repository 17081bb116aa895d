"""Runs next to each other: the comparison of ``wirelab diff``, each run with the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from wirelab.browse import contents
from wirelab.browse.contents import Unreadable
from wirelab.browse.live import cell_name, figure_text
from wirelab.browse.summary import start_time
from wirelab.browse.tree import Entry
from wirelab.comparisons.finished_runs import SHOWN, CellDifference, RunDifference, difference
from wirelab.format.numbers import digits, span
from wirelab.run import finished
from wirelab.run.finished import Run
from wirelab.run.manifest import Manifest
from wirelab.statistics.cell import Cell, cells, point_key
from wirelab.trial.labels import Names

RUNS_MAX = 8
"""Maximum number of runs that are compared at once."""
CELLS_MAX = 1_000
"""Maximum number of cells that are compared."""
ROWS_MAX = 600
"""Maximum number of rows that are shown of one comparison."""


@dataclass(frozen=True)
class Row:
    """One figure of a cell in two runs."""

    cell: str
    figure: str
    first: str
    second: str
    ratio: str
    interval: str
    verdict: str
    reason: str
    """Why it is undecided."""


@dataclass(frozen=True)
class Versus:
    """One run over the first."""

    entry: Entry
    cells: tuple[tuple[str, tuple[Row, ...]], ...]
    """Names of the cells and the figures of each."""
    hidden: int
    """Number of rows that are left out."""
    counts: tuple[tuple[str, int], ...]
    """Number of figures by verdict."""
    conditions: tuple[str, ...]
    """Other differences of the two runs."""
    alone: tuple[str, ...]
    """Sentences on cells that are not compared."""
    incomplete: tuple[str, ...]
    """Sentences on missing trials."""


@dataclass(frozen=True)
class _Read:
    entry: Entry
    run: Run
    manifest: Manifest
    started: str


def compare(entries: Sequence[Entry], base: str = "") -> tuple[Entry, float, list[Versus]]:
    """The run that the others are compared with (the one with the id ``base``, by default the
    oldest), the threshold that it declared, and the comparisons. Raises :class:`Unreadable`."""
    read = sorted(map(_read, entries), key=lambda one: one.started)
    first = next((one for one in read if one.entry.id == base), read[0])
    limit = first.manifest.threshold_in_use
    others = [one for one in read if one is not first]
    return first.entry, limit, [_versus(first, one, limit) for one in others]


def _read(entry: Entry) -> _Read:
    def work() -> _Read:
        if entry.problem:
            raise Unreadable(entry.problem)
        manifest = contents.read_manifest(entry.folder)
        contents.accept_journal(entry.folder)
        run = finished.read(entry.folder)
        contents.accept_trials(run.trials)
        if len({point_key(trial.point) for trial in run.trials}) > CELLS_MAX:
            raise Unreadable(f"it has more than {CELLS_MAX:,} cells; use `wirelab diff`")
        return _Read(entry, run, manifest, start_time(manifest, entry))

    try:
        return contents.attempt(work)
    except Unreadable as error:
        raise Unreadable(f"{entry.name}: {error}") from error


def _versus(first: _Read, second: _Read, limit: float) -> Versus:
    def work() -> Versus:
        manifests = first.manifest, second.manifest
        found = difference(first.run, second.run, manifests, SHOWN, limit)
        return _compare_runs(first, second, found, limit)

    return contents.attempt(work)


def _compare_runs(first: _Read, second: _Read, found: RunDifference, limit: float) -> Versus:
    points = [one.point for one in found.cells]
    names = Names.of(points)
    before, after = (
        {point_key(cell.point): cell for cell in cells(one.run.trials)} for one in (first, second)
    )
    rows = []
    for one in found.cells[:ROWS_MAX]:
        key = point_key(one.point)
        rows.append(_row(one, names, (before[key], after[key]), limit))
    verdicts = [one.comparison.verdict for one in found.cells]
    return Versus(
        second.entry,
        tuple((name, tuple(group)) for name, group in groupby(rows, key=lambda row: row.cell)),
        len(found.cells) - len(rows),
        tuple(
            (verdict, verdicts.count(verdict))
            for verdict in ("higher", "lower", "equivalent", "undecided")
            if verdict in verdicts
        ),
        found.conditions,
        tuple(_alone(found)),
        (*first.run.incomplete, *second.run.incomplete),
    )


def _row(one: CellDifference, names: Names, both: tuple[Cell, Cell], limit: float) -> Row:
    ratio = one.comparison.ratio
    first, second = (figure_text(cell, one.figure, limit) for cell in both)
    return Row(
        cell_name(names, one.point),
        one.figure.title,
        first,
        second,
        digits(ratio.estimate),
        span(ratio),
        one.comparison.verdict,
        one.comparison.reason if one.comparison.verdict == "undecided" else "",
    )


def _alone(found: RunDifference) -> list[str]:
    groups = (
        ("only in the first run", found.only_first),
        ("only in the second run", found.only_second),
        ("without a measured trial in one of them", found.without_figures),
    )
    return [f"Cells {where}: {len(points):,}." for where, points in groups if points]
