"""The shown figures as JSON and CSV, for other programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite

from wirelab.checks.load import client_bound, marked
from wirelab.report.findings.ranking import NO_VALUE, Ranking, all_rankings
from wirelab.report.findings.sentences import sentences
from wirelab.report.sections import groups
from wirelab.report.sections.tables import doubt
from wirelab.statistics.cell import Cell, cells
from wirelab.statistics.comparison import THRESHOLD
from wirelab.statistics.figure import Figure
from wirelab.trial.record import Json, Trial

_COLUMNS = (
    "stack",
    "operation",
    "bytes",
    "load",
    "link",
    "options",
    "figure",
    "unit",
    "estimate",
    "low",
    "high",
    "n",
    "method",
    "reason",
    "trials",
    "failed",
    "marked",
    "errors",
    "client_bound",
)


def to_json(trials: Sequence[Trial], threshold: float = THRESHOLD) -> Json:
    """Cells with their figures, comparisons and sentences, ready for ``json.dumps``."""
    shown = {
        "threshold": threshold,
        "sentences": sentences(trials, threshold),
        "cells": [_cell(cell) for cell in cells(trials)],
        "comparisons": [
            row for ranking in all_rankings(trials, threshold) for row in _comparisons(ranking)
        ],
    }
    return {key: _legal(value) for key, value in shown.items()}


def to_csv(trials: Sequence[Trial]) -> str:
    """One line per cell and figure, with a header; times in the unit of their column."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for cell in cells(trials):
        for figure in cell.figures:
            writer.writerow({key: _guarded(value) for key, value in _line(cell, figure).items()})
    return text.getvalue()


def _cell(cell: Cell) -> Json:
    return {
        **_point(cell),
        **_counts(cell),
        "figures": {figure.name: _figure(cell, figure) for figure in cell.figures},
        "groups": groups.to_json(cell),
    }


def _point(cell: Cell) -> Json:
    point = cell.point
    return {
        "stack": point.stack,
        "operation": point.operation,
        "bytes": point.bytes,
        "load": point.load,
        "link": point.link,
        "options": point.options,
    }


def _counts(cell: Cell) -> Json:
    return {
        "trials": len(cell.trials),
        "failed": len(cell.failed),
        "marked": sum(1 for trial in cell.measured if marked(trial)),
        "errors": cell.errors,
        "client_bound": any(map(client_bound, cell.measured)),
    }


def _figure(cell: Cell, figure: Figure) -> Json:
    return {
        "unit": figure.unit,
        "better": figure.better,
        "values": cell.values(figure),
        "estimate": None,
        **_interval(cell, figure),
    }


def _interval(cell: Cell, figure: Figure) -> Json:
    """The interval, whose reason states what it lacks; empty where there is no value."""
    interval, lacks = cell.interval(figure), doubt(cell, figure)
    why = {"reason": f"{lacks.words}: {lacks.reason}"} if lacks else {}
    return why if interval is None else {**asdict(interval), **why}


def _comparisons(ranking: Ranking) -> list[Json]:
    rows = []
    for pair in ranking.pairs:
        shared = _point(pair.first)
        shared.pop("stack")
        row = {
            **shared,
            "figure": ranking.figure.name,
            "first": pair.first.point.stack,
            "second": pair.second.point.stack,
            "ranked": not ranking.barred,
        }
        unknown = {"verdict": "undecided", "reason": NO_VALUE, "further_repeats": None}
        rows.append({**row, **(pair.comparison.to_json() if pair.comparison else unknown)})
    return rows


def _line(cell: Cell, figure: Figure) -> Json:
    shown = _interval(cell, figure)
    point = _point(cell)
    point["load"] = json.dumps(point["load"], sort_keys=True)
    point["options"] = json.dumps(point["options"], sort_keys=True)
    return {**point, "figure": figure.name, "unit": figure.unit, **shown, **_counts(cell)}


def _legal(value: object) -> object:
    """JSON has no infinity: such a limit becomes null."""
    if isinstance(value, dict):
        return {key: _legal(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_legal(inner) for inner in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _guarded(value: object) -> object:
    """A text that a spreadsheet would take for a formula gets an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value
