"""Bytes per call: what the caller's sockets moved, by stack."""

from __future__ import annotations

from wirelab.format.numbers import DASH, NONE
from wirelab.report.section import Section, Table
from wirelab.report.source import Source
from wirelab.statistics.cell import Cell
from wirelab.statistics.figure import BYTES_RECEIVED, BYTES_SENT
from wirelab.statistics.interval import Interval
from wirelab.trial import labels as label

_TOLD = (
    "What the engine's sockets sent and received within the window, over the calls of the "
    "window: heads, bodies and framing, with TLS its records, without the headers of TCP and IP. "
    "Replies that straddle the window's edges count with the part that lies in it. Each figure "
    "stands above its 95 % interval, unless that is narrower than a byte."
)


def section(source: Source) -> Section:
    """One table per message; none where no trial counted bytes."""
    groups: dict[str, list[Cell]] = {}
    for cell in source.cells:
        groups.setdefault(label.message(cell.point), []).append(cell)
    columns = ["stack", "load", "sent per call", "received per call"]
    tables = []
    for message, cells in groups.items():
        rows = [row for cell in cells if (row := _row(source, cell))]
        if rows:
            tables.append(Table(columns, rows, message, (2, 3)))
    return Section("Bytes per call", (_TOLD,) if tables else (), tables)


def _row(source: Source, cell: Cell) -> list[str]:
    """Empty where nothing was counted: foreign tools do not say."""
    sent, received = cell.interval(BYTES_SENT), cell.interval(BYTES_RECEIVED)
    if sent is None and received is None:
        return []
    name, load = source.names.stacks[cell.point.stack], source.names.load(cell.point)
    return [name, load, _bytes(sent), _bytes(received)]


def _bytes(interval: Interval | None) -> str:
    """Whole bytes, limits too: the figures differ by few, and three digits would hide it."""
    if interval is None:
        return NONE
    whole = f"{interval.estimate:,.0f} B"
    if interval.bounds is None:
        return whole
    low, high = (f"{bound:,.0f}" for bound in interval.bounds)
    return whole if low == high else f"{whole}\n{low}{DASH}{high}"
