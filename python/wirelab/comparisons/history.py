"""The figures of a cell over many runs, and their change points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import exp, expm1, log, log1p
from pathlib import Path
from statistics import fmean

from wirelab.records.trial import Point
from wirelab.run.finished import Run
from wirelab.run.manifest import MANIFEST, Manifest
from wirelab.statistics.cell import cells, point_key
from wirelab.statistics.change_points import (
    LEAST,
    RunSeries,
    RunSpread,
    Step,
    benjamini_hochberg,
    further_runs,
    run_spread,
    steps,
    visible_step,
)
from wirelab.statistics.figure import Figure

RUNS_MIN = 2 * LEAST
"""Minimum number of runs to find a change."""
FALSE_RATE = 0.05
"""Share of false changes among those that are found in a directory (false discovery rate)."""
CHANGE = 0.1
"""Change for which the number of runs that are missing is reported."""


@dataclass(frozen=True)
class Past:
    """One run and its date."""

    run: Run
    manifest: Manifest

    @property
    def started(self) -> str:
        """ISO 8601, UTC; empty if the run does not contain it."""
        sessions = self.manifest.sessions
        return sessions[0].started if sessions else ""

    @property
    def name(self) -> str:
        """``2026-11-26 a1b2c3d demo``: day, revision and directory."""
        revision = (self.manifest.git_revision or "")[:7]
        return " ".join(filter(None, (self.started[:10], revision, self.run.folder.name)))


@dataclass(frozen=True)
class Change:
    """A change point of a series."""

    at: int
    """Index of the first run after the change, among the runs of the series."""
    name: str
    """Label of that run."""
    factor: float
    """Geometric mean of the runs until the next change, divided by that of the runs before."""
    p_value: float
    """Of no change in the series, or in the part of it around this change."""
    better: bool


@dataclass(frozen=True)
class Series:
    """One figure of one cell over the runs that have it."""

    point: Point
    figure: Figure
    runs: tuple[str, ...]
    values: tuple[float, ...]
    """Geometric means of the trials, in the figure's unit."""
    changes: tuple[Change, ...]
    run_to_run: float | None = None
    """Standard deviation of runs without a change, as a share; None where nothing is known."""
    visible_change: float | None = None
    """Smallest change in the middle of the series that would be found in 80 % of cases, as a share;
    None where nothing is known, or for fewer than :data:`RUNS_MIN` runs."""
    runs_needed: int | None = None
    """Further runs that show a change of :data:`CHANGE` from now on; 0 where such a change would be
    visible in these runs, None where no sensible number is enough."""


def sort_by_start(every: Sequence[tuple[Run, Manifest]]) -> list[Past]:
    """Sorts runs by start; runs without a start come first, by the names of their folders."""
    past = [Past(run, manifest) for run, manifest in every]
    return sorted(past, key=lambda one: (one.started, str(one.run.folder)))


def folders(given: Sequence[Path]) -> list[Path]:
    """Run directories: those given, and those directly below a folder that is not one itself."""
    found: list[Path] = []
    for folder in given:
        if (folder / MANIFEST).exists() or not folder.is_dir():
            found.append(folder)
        else:
            found += sorted(path.parent for path in folder.glob(f"*/{MANIFEST}"))
    return list(dict.fromkeys(found))


def history(
    past: Sequence[Past],
    figures: Sequence[Figure],
    false_rate: float = FALSE_RATE,
    equal: Sequence[Past] = (),
) -> list[Series]:
    """The series of every cell with their changes. ``equal``: runs of services that did not change
    between them, which show how runs vary."""
    found = [one for figure in figures for one in _of_figure(past, figure, equal)]
    first = [step.p_value for group in found for step in group.steps]
    cut = benjamini_hochberg(first, false_rate)
    level = false_rate / max(1, len(first))
    return [one for group in found for one in _series(group, past, cut, level)]


@dataclass(frozen=True)
class _Group:
    """All series of one figure."""

    figure: Figure
    points: tuple[Point, ...]
    series: tuple[RunSeries, ...]
    """Logarithms, as figures vary by factors."""
    equal: tuple[RunSeries, ...]

    @cached_property
    def steps(self) -> list[Step]:
        return [step for step in steps(self.series, self.equal) if step is not None]

    @cached_property
    def spread(self) -> RunSpread | None:
        return run_spread(self.series, self.equal)


def _of_figure(past: Sequence[Past], figure: Figure, equal: Sequence[Past]) -> list[_Group]:
    """One group, or none where no run has the figure."""
    made = _read(past, figure)
    if not made:
        return []
    points, series = zip(*made, strict=True)
    return [_Group(figure, points, series, tuple(one for _, one in _read(equal, figure)))]


def _read(past: Sequence[Past], figure: Figure) -> list[tuple[Point, RunSeries]]:
    points: dict[str, Point] = {}
    found: dict[str, list[tuple[int, float]]] = {}
    for place, one in enumerate(past):
        for cell in cells(one.run.trials):
            if values := [value for value in cell.values(figure) if value > 0.0]:
                points.setdefault(key := point_key(cell.point), cell.point)
                found.setdefault(key, []).append((place, sum(map(log, values)) / len(values)))
    return [
        (points[key], RunSeries(*map(tuple, zip(*entries, strict=True))))
        for key, entries in found.items()
    ]


def _series(group: _Group, past: Sequence[Past], cut: float, level: float) -> Iterator[Series]:
    borders = _borders(group, cut)
    for point, one, inside in zip(group.points, group.series, borders, strict=True):
        runs = len(one.values)
        shown = None if group.spread is None else visible_step(runs, group.spread, level)
        needed = _count_runs_needed(runs, group.spread, level, visible=shown)
        yield Series(
            point,
            group.figure,
            tuple(past[place].name for place in one.places),
            tuple(map(exp, one.values)),
            tuple(_changes(one, inside, group.figure, past)),
            None if group.spread is None else expm1(group.spread.deviation),
            None if shown is None else expm1(shown),
            needed,
        )


def _count_runs_needed(
    runs: int, spread: RunSpread | None, level: float, *, visible: float | None
) -> int | None:
    if visible is not None and visible <= log1p(CHANGE):
        return 0
    return None if spread is None else further_runs(runs, log1p(CHANGE), spread, level)


def _borders(group: _Group, cut: float) -> list[dict[int, float]]:
    """By series: the place of the first run after each change, with its p-value. The parts on both
    sides of a change are searched again."""
    found: list[dict[int, float]] = [{} for _ in group.series]
    parts = [(at, one) for at, one in enumerate(group.series)]
    while parts:
        made = steps([one for _, one in parts], group.equal)
        halves = []
        for (at, one), step in zip(parts, made, strict=True):
            if step is None or step.p_value > cut:
                continue
            found[at][step.place] = step.p_value
            first, last = one.places[0], one.places[-1] + 1
            halves += [(at, one.part(first, step.place)), (at, one.part(step.place, last))]
        if not halves:
            break
        split = {at for at, _ in halves}
        parts = [(at, one) for at, one in parts if at not in split] + halves
        parts = [(at, one) for at, one in parts if len(one.values) >= RUNS_MIN]
    return found


def _changes(
    one: RunSeries, inside: dict[int, float], figure: Figure, past: Sequence[Past]
) -> Iterator[Change]:
    places = [one.places[0], *sorted(inside), one.places[-1] + 1]
    levels = [fmean(one.part(*ends).values) for ends in pairwise(places)]
    for place, (before, after) in zip(sorted(inside), pairwise(levels), strict=True):
        factor = exp(after - before)
        better = (factor > 1.0) == (figure.better == "higher")
        at = one.places.index(place)
        yield Change(at, past[place].name, factor, inside[place], better)
