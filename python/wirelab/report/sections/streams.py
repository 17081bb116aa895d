"""Replies that were streams of messages: the first message, gaps, and how late items were."""

from __future__ import annotations

from wirelab.format.numbers import NONE
from wirelab.records.group import STREAM_TIMES
from wirelab.report.section import Section, Table
from wirelab.report.sections.groups import time_over_trials
from wirelab.report.source import Source
from wirelab.statistics.cell import Cell

_ABOUT = (
    "Times of messages of all streams, per trial; the 95 % interval over the trials is below each. "
    "Time to first message: from when a stream was due. Gap: between two messages of a stream. "
    "Lateness: from when an item was due by the schedule that its request defines to its last "
    "byte. It is the sum of what the service sent late, and of the delivery."
)
_PERCENTILES = ("p50", "p99")


def section(source: Source) -> Section:
    """A table per setting: a row per stack, a column per time that any cell has."""
    cells = [cell for cell in source.cells if _has(cell, "ttfm")]
    shown = [time for time in STREAM_TIMES if any(_has(cell, time.name) for cell in cells)]
    if not shown:
        return Section("Streams")
    columns = ("stack", *(f"{time.title}, {p}" for time in shown for p in _PERCENTILES))
    settings: dict[str, list[list[str]]] = {}
    for cell in cells:
        times = (_time(cell, time.name, p) for time in shown for p in _PERCENTILES)
        rows = settings.setdefault(source.names.setting(cell.point), [])
        rows.append([source.names.stacks[cell.point.stack], *times])
    numeric = range(1, len(columns))
    tables = [Table(columns, rows, name, numeric) for name, rows in settings.items()]
    return Section("Streams", (_ABOUT,), tables)


def _has(cell: Cell, name: str) -> bool:
    return any(name in trial.result.times for trial in cell.measured)


def _time(cell: Cell, name: str, percentile: str) -> str:
    if not _has(cell, name):
        return NONE
    return time_over_trials([trial.result.times.get(name) for trial in cell.measured], percentile)
