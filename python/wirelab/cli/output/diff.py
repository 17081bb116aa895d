"""Output of ``wirelab diff``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from wirelab.cli.error_handling import fold, out
from wirelab.comparisons.finished_runs import (
    NOT_INTERLEAVED,
    SHOWN,
    CellDifference,
    RunDifference,
    difference,
)
from wirelab.comparisons.gate import KNOWN
from wirelab.errors import EXIT_OK, UsageError
from wirelab.explain.thresholds import full_name
from wirelab.format.console import Line
from wirelab.format.counting import format_count
from wirelab.format.numbers import digits
from wirelab.records.trial import Point
from wirelab.run import directory, finished
from wirelab.stack.suggestions import did_you_mean
from wirelab.statistics.cell import point_key
from wirelab.statistics.figure import Figure
from wirelab.trial.labels import Names

STYLES = {"higher": "yellow", "lower": "yellow", "equivalent": "green", "undecided": "dim"}
LISTED_MAX = 5
"""Maximum number of cells to list that only one run has."""


def run(
    first: Path,
    second: Path,
    figures: Sequence[str],
    threshold: float | None,
    *,
    everything: bool,
    as_json: bool,
) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    chosen = [figure_named(name) for name in figures] or SHOWN
    manifests = directory.read_manifest(first), directory.read_manifest(second)
    if threshold is None:
        threshold = manifests[0].threshold_in_use
    runs = finished.read(first), finished.read(second)
    found = difference(*runs, manifests, chosen, threshold)
    if not found.cells:
        raise UsageError(
            f"{first} and {second} have no common measured cell",
            "a cell is a stack, message, load and link; wirelab report prints those of a run",
        )
    if as_json:
        print(json.dumps(_json(found, threshold), indent=1))
        return EXIT_OK
    for line in _lines(found, threshold, everything=everything):
        out.print(line.text if line.style else fold(line.text, out.width), style=line.style)
    return EXIT_OK


def figure_named(name: str) -> Figure:
    """The figure with that name. Raises :class:`UsageError`."""
    full = full_name(name)
    if full not in KNOWN:
        raise UsageError(f"unknown figure {name!r}", did_you_mean(name, KNOWN))
    return KNOWN[full]


def _lines(found: RunDifference, threshold: float, *, everything: bool) -> Iterator[Line]:
    yield Line(NOT_INTERLEAVED)
    for condition in found.conditions:
        yield Line(f"• {condition}")
    yield Line("")
    every = (*(one.point for one in found.cells), *found.only_first, *found.only_second)
    names = Names.of(every)
    yield Line(_summary(found, threshold))
    yield Line("")
    shown = found.cells if everything else found.found
    for _, group in groupby(shown, key=lambda one: point_key(one.point)):
        of_cell = list(group)
        yield Line(_name(of_cell[0].point, names), "bold")
        for one in of_cell:
            yield _line(one)
    if not everything and (hidden := len(found.cells) - len(found.found)):
        yield Line(
            f"{format_count(hidden, 'figure')} without a difference; --all shows them.", "dim"
        )
    yield from _alone("only in the first run", found.only_first, names)
    yield from _alone("only in the second run", found.only_second, names)
    yield from _alone("without a measured trial in one of them", found.without_figures, names)


def _summary(found: RunDifference, threshold: float) -> str:
    verdicts = [one.comparison.verdict for one in found.cells]
    parts = [
        f"{count} {verdict}"
        for verdict in ("higher", "lower", "equivalent", "undecided")
        if (count := verdicts.count(verdict))
    ]
    cells = len({point_key(one.point) for one in found.cells})
    return (
        f"{format_count(len(verdicts), 'figure')} of {format_count(cells, 'cell')}, second run "
        "over first: "
        f"{', '.join(parts)}. Differences up to {100 * threshold:g} % count as equivalent."
    )


def _line(one: CellDifference) -> Line:
    comparison = one.comparison
    interval = comparison.ratio
    if interval.bounds is None:
        span = "no interval"
    else:
        span = f"{digits(interval.bounds[0])} to {digits(interval.bounds[1])}"
    text = (
        f"  {one.figure.title:<30} {digits(interval.estimate):>7}  {span:<18} {comparison.verdict}"
    )
    return Line(text, STYLES[comparison.verdict])


def _name(point: Point, names: Names) -> str:
    return f"{names.stacks[point.stack]}: {names.setting(point)}"


def _alone(where: str, points: Sequence[Point], names: Names) -> Iterator[Line]:
    if not points:
        return
    yield Line("")
    yield Line(f"{format_count(len(points), 'cell')} {where}:", "bold")
    for point in points[:LISTED_MAX]:
        yield Line(f"  {_name(point, names)}")
    if (more := len(points) - LISTED_MAX) > 0:
        yield Line(f"  and {more} more")


def _json(found: RunDifference, threshold: float) -> dict[str, object]:
    return {
        "warning": NOT_INTERLEAVED,
        "threshold": threshold,
        "conditions": found.conditions,
        "cells": [
            {
                "point": msgspec.to_builtins(one.point),
                "figure": one.figure.name,
                "comparison": one.comparison.to_json(),
            }
            for one in found.cells
        ],
        "only_first": [msgspec.to_builtins(point) for point in found.only_first],
        "only_second": [msgspec.to_builtins(point) for point in found.only_second],
        "without_figures": [msgspec.to_builtins(point) for point in found.without_figures],
    }
