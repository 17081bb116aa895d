"""The figures of a cell over many runs, and their change points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path

from wirelab.records.trial import Point
from wirelab.run.finished import Run
from wirelab.run.manifest import MANIFEST, Manifest
from wirelab.statistics.cell import cells, point_key
from wirelab.statistics.change_points import LEAST, change_points
from wirelab.statistics.figure import Figure

RUNS_MIN = 2 * LEAST
"""Minimum number of runs to find a change."""


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


def ordered(every: Sequence[tuple[Run, Manifest]]) -> list[Past]:
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


def history(past: Sequence[Past], figures: Sequence[Figure], alpha: float) -> list[Series]:
    """The series of every cell with their changes; on logarithms, as figures vary by factors."""
    points: dict[str, Point] = {}
    found: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for one in past:
        for cell in cells(one.run.trials):
            key = point_key(cell.point)
            points.setdefault(key, cell.point)
            for figure in figures:
                if values := [value for value in cell.values(figure) if value > 0.0]:
                    mean = exp(sum(map(log, values)) / len(values))
                    found.setdefault((key, figure.name), []).append((one.name, mean))
    by_name = {figure.name: figure for figure in figures}
    return [
        _series(points[key], by_name[name], entries, alpha)
        for (key, name), entries in found.items()
    ]


def _series(
    point: Point, figure: Figure, entries: Sequence[tuple[str, float]], alpha: float
) -> Series:
    names = tuple(name for name, _ in entries)
    values = tuple(value for _, value in entries)
    logs = [log(value) for value in values]
    found = change_points(logs, alpha) if len(logs) >= RUNS_MIN else ()
    borders = [0, *(change.index for change in found), len(logs)]
    changes = []
    for place, change in enumerate(found):
        before, after = (logs[borders[i] : borders[i + 1]] for i in (place, place + 1))
        factor = exp(sum(after) / len(after) - sum(before) / len(before))
        better = (factor > 1.0) == (figure.better == "higher")
        changes.append(Change(change.index, names[change.index], factor, change.p_value, better))
    return Series(point, figure, names, values, tuple(changes))
