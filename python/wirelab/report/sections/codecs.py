"""Encoding and decoding of replies alone, where the experiment times them."""

from __future__ import annotations

from wirelab.format.numbers import quantity, stack_limits
from wirelab.report.section import Section, Table
from wirelab.report.source import Source
from wirelab.statistics.cell import Cell
from wirelab.statistics.figure import CODEC
from wirelab.trial import labels as label

_ABOUT = (
    "After each window, the service encoded and decoded the operation's last reply in turn, on one "
    "thread and without a store or a connection. Encoding runs the code that answers calls; "
    "decoding reads the same bytes with the same library. The 95 % interval over the trials is "
    "below each figure. The share compares encoding with the mean service time."
)


def section(source: Source) -> Section:
    """A row per cell; empty where no trial timed a codec."""
    groups: dict[str, list[list[str]]] = {}
    for cell in source.cells:
        if any(trial.service.codec for trial in cell.measured):
            groups.setdefault(label.message(cell.point), []).append(_row(source, cell))
    columns = ["stack", "load", "reply", "encode", "decode", "share of encoding"]
    tables = Table.of_groups(columns, groups, range(2, len(columns)))
    return Section("Codecs alone", [_ABOUT] if tables else [], tables)


def _row(source: Source, cell: Cell) -> list[str]:
    return [
        source.names.stacks[cell.point.stack],
        source.names.load(cell.point),
        _reply(cell),
        *(stack_limits(cell.interval(figure), figure.unit) for figure in CODEC),
    ]


def _reply(cell: Cell) -> str:
    """Bytes of the reply; of several trials the least and the most, where they differ."""
    sizes = [trial.service.codec.bytes for trial in cell.measured if trial.service.codec]
    ends = dict.fromkeys((min(sizes), max(sizes)))
    return " to ".join(quantity(size, "B") for size in ends)
