"""The first calls of fresh processes: trials with ``start=cold``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from wirelab.format.numbers import stack_limits
from wirelab.report.charts.first_calls import FirstCallsLine, call_points, first_calls_picture
from wirelab.report.charts.load_panels import PANELS_MAX
from wirelab.report.section import Picture, Section, Table
from wirelab.report.source import Source
from wirelab.statistics.cell import Cell
from wirelab.statistics.figure import FIRST_CALLS
from wirelab.trial import labels as label

_ABOUT = (
    "Trials with start=cold have no warm-up. Their first call is the first that a fresh process "
    "answers after its preparation, and it includes making the connection. Calls are numbered in "
    "their intended order; failed calls are left out. A line is the geometric mean over the "
    "trials; its band reaches from the fastest trial to the slowest. From call 20 on, a point is "
    "the geometric mean of neighbouring calls, a tenth of their number."
)
_TABLE = (
    "Means of ranges are computed per trial; the 95 % interval over the trials is below each. A "
    "range is empty unless all trials completed it."
)
_COLUMNS = ("stack", "load", "first call", "calls 2–10", "calls 11–100", "calls 101–1,000")


def section(source: Source) -> Section:
    """A picture per message and load, a table per message; empty where no trial kept them."""
    kept = [cell for cell in source.cells if _calls(cell)]
    tables = [
        _table(source, message, cells)
        for message, cells in _group(kept, lambda cell: label.message(cell.point)).items()
    ]
    panels = _group(kept, lambda cell: _title(source, cell))
    drawn = (_picture(source, title, cells) for title, cells in panels.items())
    pictures = list(islice(filter(None, drawn), PANELS_MAX))
    some = f"{PANELS_MAX} of {len(panels):,} pictures are here; the table has the figures of all."
    return Section(
        "The first calls of a process",
        (_ABOUT, *((some,) if len(panels) > PANELS_MAX else ()), _TABLE) if tables else (),
        tables,
        pictures,
        legend=bool(pictures),
    )


def _group(cells: Sequence[Cell], key: Callable[[Cell], str]) -> dict[str, list[Cell]]:
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(key(cell), []).append(cell)
    return groups


def _calls(cell: Cell) -> list[tuple[int, ...]]:
    """Of each trial that kept them."""
    return [t.result.first_calls_ns for t in cell.measured if t.result.first_calls_ns]


def _title(source: Source, cell: Cell) -> str:
    where = ", ".join(("", *source.names.list_differing_conditions(cell.point)))
    return f"{label.message(cell.point)}, {label.load(cell.point.load)}{where}"


def _table(source: Source, message: str, cells: Sequence[Cell]) -> Table:
    rows = [
        [
            source.names.stacks[cell.point.stack],
            source.names.load(cell.point),
            *(stack_limits(cell.interval(figure), figure.unit) for figure in FIRST_CALLS),
        ]
        for cell in cells
    ]
    return Table(_COLUMNS, rows, message, range(2, len(_COLUMNS)))


def _picture(source: Source, title: str, cells: Sequence[Cell]) -> Picture | None:
    """None where there is no second call that could make a line."""
    lines = []
    for cell in cells:
        points = call_points(_calls(cell))
        if len(points) > 1:
            entry = source.legend[cell.point.stack]
            lines.append(FirstCallsLine(entry.name, entry.look, points))
    return first_calls_picture(lines, title) if lines else None
