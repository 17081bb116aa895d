"""The shown figures as JSON, CSV and Parquet, for other programs.

docs/reference/export.md describes the columns of CSV and Parquet.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from wirelab.checks import hosts
from wirelab.checks.load import client_bound
from wirelab.checks.marks import Mark, figure_marks, marks_text
from wirelab.errors import RunDirectoryError
from wirelab.experiment.loads import PROBE
from wirelab.format.untrusted import TooLarge
from wirelab.records.trial import Json, Trial
from wirelab.report.curves import log_lines
from wirelab.report.findings.ranking import NO_VALUE, Ranking, all_rankings
from wirelab.report.findings.sentences import sentences
from wirelab.report.parts import Part, parts
from wirelab.report.sections import groups
from wirelab.report.sections.tables import doubt
from wirelab.run.manifest import Comparison
from wirelab.statistics.cell import Cell, cells
from wirelab.statistics.figure import Figure
from wirelab.statistics.verdict import THRESHOLD

_TEXT, _NUMBER, _COUNT, _FLAG = str, float, int, bool
COLUMNS: Mapping[str, type] = MappingProxyType(
    {
        "stack": _TEXT,
        "operation": _TEXT,
        "bytes": _COUNT,
        "load": _TEXT,
        "link": _TEXT,
        "options": _TEXT,
        "group": _TEXT,
        "part": _TEXT,
        "part_name": _TEXT,
        "start_s": _NUMBER,
        "duration_s": _NUMBER,
        "figure": _TEXT,
        "unit": _TEXT,
        "estimate": _NUMBER,
        "low": _NUMBER,
        "high": _NUMBER,
        "n": _COUNT,
        "method": _TEXT,
        "reason": _TEXT,
        "trials": _COUNT,
        "failed": _COUNT,
        "marks": _TEXT,
        "bias": _NUMBER,
        "errors": _COUNT,
        "client_bound": _FLAG,
    }
)
"""Columns of CSV and Parquet, with their types; all but the point may be empty."""
if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

_CELL = "cell"
"""The part that is the whole cell."""
_LACKING = "some trials lack it, or some but not all have zero"


def to_json(trials: Sequence[Trial], threshold: float, asked: Comparison | None = None) -> Json:
    """Cells with their figures, comparisons and sentences, ready for ``json.dumps``; ``asked`` is
    the question of ``wirelab compare``."""
    shown = {
        "threshold": threshold,
        "sentences": sentences(trials, threshold, asked),
        "cells": [_cell(cell, threshold) for cell in cells(trials)],
        "comparisons": [
            row
            for ranking in all_rankings(trials, threshold, asked)
            for row in _comparisons(ranking)
        ],
    }
    if (check := hosts.check(trials)) is not None:
        shown["hosts"] = {"outcome": check.outcome, "reason": check.reason}
    return {key: _legal(value) for key, value in shown.items()}


def rows(trials: Sequence[Trial], threshold: float = THRESHOLD) -> Iterator[Json]:
    """One row per figure of a cell, and of each of its parts, by :data:`COLUMNS`. ``threshold``: a
    share, up to which nothing is marked."""
    for cell in cells(trials):
        shared = _point(cell) | _counts(cell)
        for name in ("load", "options"):
            shared[name] = json.dumps(shared[name], sort_keys=True)
        of_cell = {"group": PROBE, "part": _CELL, "part_name": ""}
        marks = figure_marks(cell, threshold)
        for figure in cell.figures:
            named = {"figure": figure.name, "unit": figure.unit}
            found = _marks(marks.get(figure.name, ()))
            yield {**shared, **of_cell, **named, **_interval(cell, figure), **found}
        for part in parts(cell):
            yield from ({**shared, **row} for row in _part(part))


def to_csv(trials: Sequence[Trial]) -> str:
    """:func:`rows` with a header; figures in the unit of their row."""
    text = io.StringIO()
    writer = csv.DictWriter(text, tuple(COLUMNS), lineterminator="\n")
    writer.writeheader()
    for row in rows(trials):
        writer.writerow({key: _guard_formula(value) for key, value in row.items()})
    return text.getvalue()


def to_parquet(trials: Sequence[Trial]) -> bytes:
    """:func:`rows` as a Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    types = {str: pa.string(), float: pa.float64(), int: pa.int64(), bool: pa.bool_()}
    schema = pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    whole = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(list(rows(trials)), schema), whole)
    return whole.getvalue()


def to_jsonl(trials: Sequence[Trial]) -> str:
    """:func:`rows`, each as a JSON object in a line of its own."""
    return "".join(f"{json.dumps(_legal(row))}\n" for row in rows(trials))


def to_openmetrics(trials: Sequence[Trial]) -> str:
    """:func:`rows` that have an estimate as gauges ``wirelab_<figure>``, whose label ``bound`` is
    ``estimate``, ``low`` or ``high`` (OpenMetrics 1.0; units as in its conventions: seconds,
    bytes)."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import GaugeMetricFamily
    from prometheus_client.openmetrics.exposition import generate_latest

    families: dict[str, GaugeMetricFamily] = {}
    for row in rows(trials):
        if row.get("estimate") is None:
            continue
        suffix, factor = _BASE_UNITS[row["unit"]]
        name = f"wirelab_{row['figure']}{suffix}"
        family = families.setdefault(
            name, GaugeMetricFamily(name, f"Figure {row['figure']}", labels=(*_LABELS, "bound"))
        )
        labels = [str(row[label]) for label in _LABELS]
        for bound in ("estimate", "low", "high"):
            value = row.get(bound)
            if value is not None and isfinite(value):
                family.add_metric([*labels, bound], value * factor)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Families(list(families.values())))
    text: bytes = generate_latest(registry)  # type: ignore[no-untyped-call]
    return text.decode()


class _Families:
    """Families that are there already, as a registry collects them."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        """All of them."""
        return self._families


_LABELS = (
    *("stack", "operation", "bytes", "load", "link", "options"),
    *("group", "part", "part_name"),
)
_BASE_UNITS = {
    "ns": ("_seconds", 1e-9),
    "s": ("_seconds", 1.0),
    "B": ("_bytes", 1.0),
    "1/s": ("_per_second", 1.0),
    "": ("", 1.0),
}
"""Unit of a figure -> suffix of a metric's name, and the factor to it."""


def to_hlog(folder: Path, trials: Sequence[Trial]) -> str:
    """The histograms of all trials of a run in ``folder``, HdrHistogram log format 1.3; the tag
    of a line is ``<trial>/<name>``, and ``<trial>/<group>/<name>`` of a background group."""
    lines = ["#[Histogram log format version 1.3]"]
    for trial in trials:
        for path in sorted((folder / "trials" / trial.id).glob("histograms*.hlog")):
            group = path.stem.removeprefix("histograms").removeprefix("-")
            prefix = "/".join(filter(None, (trial.id, group)))
            lines += [f"Tag={prefix}/{tagged}" for tagged in _read_tagged(path)]
    return "\n".join(lines) + "\n"


def _read_tagged(log: Path) -> Iterator[str]:
    """The histograms of a log after their ``Tag=``. Raises :class:`RunDirectoryError`."""
    number = 0
    try:
        for at, line in log_lines(log):
            number = at
            if "\ufffd" in line or not line.isprintable():
                raise ValueError("it is not text")
            if line.startswith("Tag="):
                yield line.removeprefix("Tag=")
    except ValueError as error:
        number += isinstance(error, TooLarge)
        raise RunDirectoryError(
            f"{log}:{number} is not a line of a histogram log: {error}",
            "restore the file from a copy, or export without .hlog",
        ) from error


def _cell(cell: Cell, threshold: float) -> Json:
    marks = figure_marks(cell, threshold)
    return {
        **_point(cell),
        **_counts(cell),
        "figures": {
            figure.name: {**_figure(cell, figure), **_marks(marks.get(figure.name, ()))}
            for figure in cell.figures
        },
        "groups": groups.to_json(cell),
    }


def _point(cell: Cell) -> Json:
    point = cell.point
    return {
        "stack": point.stack,
        "operation": point.operation,
        "bytes": point.bytes,
        "load": msgspec.to_builtins(point.load),
        "link": point.link,
        "options": point.options,
    }


def _counts(cell: Cell) -> Json:
    return {
        "trials": len(cell.trials),
        "failed": len(cell.failed),
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


def _marks(marks: Sequence[Mark]) -> Json:
    """What marked a figure, and the largest share of it that may be due to that; null where one
    is not known."""
    biases = [mark.bias for mark in marks]
    known = [bias for bias in biases if bias is not None]
    largest = max(known, default=None) if len(known) == len(biases) else None
    return {"marks": marks_text(marks), "bias": largest}


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


def _part(part: Part) -> Iterator[Json]:
    """A row for each figure of a part."""
    shared = {
        "group": part.group,
        "part": part.kind,
        "part_name": part.name,
        "start_s": part.start_s,
        "duration_s": part.duration_s,
        "trials": part.trials,
        "errors": part.errors,
    }
    for figure in part.figures:
        interval = figure.interval()
        shown = {"reason": _LACKING} if interval is None else asdict(interval)
        yield {**shared, "figure": figure.name, "unit": figure.unit, **shown}


def _legal(value: object) -> object:
    """JSON has no infinity: such a limit becomes null."""
    if isinstance(value, dict):
        return {key: _legal(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_legal(inner) for inner in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _guard_formula(value: object) -> object:
    """A text that a spreadsheet would take for a formula gets an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value
