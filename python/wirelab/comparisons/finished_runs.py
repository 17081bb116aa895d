"""Compares two finished runs cell by cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wirelab.records.trial import Point
from wirelab.run.finished import Run
from wirelab.run.manifest import Manifest
from wirelab.statistics.cell import Cell, cells, point_key
from wirelab.statistics.comparison import Comparison, family, ratio
from wirelab.statistics.figure import RATE, RESPONSE_P50, RESPONSE_P99, SERVICE_CPU, Figure
from wirelab.statistics.interval import StatisticsError

SHOWN = (RATE, RESPONSE_P50, RESPONSE_P99, SERVICE_CPU)
"""Figures that are compared unless others are requested."""
NOT_INTERLEAVED = (
    "The runs were not interleaved. Differences may also come from changes of the machine between "
    "the runs, which no interval includes."
)
MACHINE = ("cpu", "cores", "memory_bytes", "kernel", "governor")
"""Properties of a machine that must be equal for two runs to count as from one machine."""


@dataclass(frozen=True)
class CellDifference:
    """One figure of a cell that both runs have."""

    point: Point
    figure: Figure
    comparison: Comparison
    """Ratio of the second run to the first."""


@dataclass(frozen=True)
class RunDifference:
    """Common cells of two runs and their differences."""

    cells: tuple[CellDifference, ...]
    """Judged as a family: a difference that Holm's procedure does not confirm is undecided."""
    only_first: tuple[Point, ...]
    only_second: tuple[Point, ...]
    without_figures: tuple[Point, ...]
    """Cells of both runs in which one run has no trial with any of the figures."""
    conditions: tuple[str, ...]
    """Other differences: machine, revision, engine, libraries."""

    @property
    def found(self) -> tuple[CellDifference, ...]:
        """Comparisons that found a difference."""
        return tuple(one for one in self.cells if one.comparison.found)


def difference(
    first: Run,
    second: Run,
    manifests: tuple[Manifest, Manifest],
    figures: Sequence[Figure],
    threshold: float,
) -> RunDifference:
    """Welch's comparison of every figure of every shared cell, second over first.

    The runs were not interleaved, so a difference may come from a change of the machine between
    them. No interval includes that.
    """
    before = {point_key(cell.point): cell for cell in cells(first.trials)}
    after = {point_key(cell.point): cell for cell in cells(second.trials)}
    shared = [(cell, after[key]) for key, cell in before.items() if key in after]
    compared = [one for pair in shared for one in _compare_cells(*pair, figures, threshold)]
    verdicts = family([one.comparison for one in compared])
    seen = {point_key(one.point) for one in compared}
    return RunDifference(
        tuple(replace(one, comparison=v) for one, v in zip(compared, verdicts, strict=True)),
        tuple(cell.point for key, cell in before.items() if key not in after),
        tuple(cell.point for key, cell in after.items() if key not in before),
        tuple(cell.point for cell, _ in shared if point_key(cell.point) not in seen),
        tuple(_conditions(*manifests)),
    )


def _compare_cells(
    before: Cell, after: Cell, figures: Sequence[Figure], threshold: float
) -> Iterator[CellDifference]:
    for figure in figures:
        try:
            found = ratio(after.values(figure), before.values(figure), threshold)
        except StatisticsError:
            continue
        yield CellDifference(before.point, figure, found)


def _conditions(first: Manifest, second: Manifest) -> Iterator[str]:
    for name in MACHINE:
        pair = first.machine.get(name), second.machine.get(name)
        if pair[0] != pair[1]:
            yield f"{name}: {_format_value(pair[0])}, then {_format_value(pair[1])}"
    if first.git_revision != second.git_revision:
        yield f"revision: {_short(first.git_revision)}, then {_short(second.git_revision)}"
    if first.engine.sha256 != second.engine.sha256:
        yield "engine: different binaries"
    for name in sorted({*first.versions, *second.versions}):
        old, new = first.versions.get(name), second.versions.get(name)
        if old != new:
            yield f"{name}: {_format_value(old)}, then {_format_value(new)}"
    if first.experiment_sha256 != second.experiment_sha256:
        yield "experiment: different files; only common cells are compared"


def _format_value(value: Any) -> str:
    return "unknown" if value is None else str(value)


def _short(revision: str | None) -> str:
    return "unknown" if revision is None else revision[:9]
