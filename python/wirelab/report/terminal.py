"""The table of a run in a terminal of 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from wirelab.report import label
from wirelab.report.quantity import NONE, digits, estimate, plain, quantity, step
from wirelab.statistics import (
    CLIENT_CPU,
    RATE,
    RESPONSE_P50,
    RESPONSE_P99,
    SERVICE_CPU,
    Cell,
    Interval,
    cells,
)
from wirelab.trial import Trial
from wirelab.verdicts import client_bound, marked

WIDTH = 80
"""Columns that the table needs at most."""


def terminal_table(trials: Sequence[Trial]) -> RenderableType:
    """One block per message, load and link; one row per stack; marks with reasons below."""
    names = label.stacks(trial.point for trial in trials)
    parts: list[RenderableType] = []
    group: list[Cell] = []
    for cell in cells(trials):
        if group and label.setting(cell.point) != label.setting(group[0].point):
            parts.append(_block(group, names))
            group = []
        group.append(cell)
    if group:
        parts.append(_block(group, names))
    parts.append(Text("rate: 95 % interval over trials, ≥ client-bound; p50, p99: response time;"))
    parts.append(Text("CPU per call of client and service; marks: trials with a marked check"))
    return Group(*parts)


def _block(group: list[Cell], names: dict[str, str]) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("stack", max_width=18, overflow="fold")
    table.add_column("calls/s", justify="right", no_wrap=True)
    for title in ("p50", "p99", "client", "service"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("err", justify="right", no_wrap=True)
    table.add_column("marks", justify="right", no_wrap=True)
    for cell in group:
        table.add_row(*_row(cell, names))
    heading = Text(f"{label.setting(group[0].point)} ({_kind(group[0])})", style="bold")
    return Padding(Group(heading, table, *_notes(group, names)), (0, 0, 1, 0))


def _kind(cell: Cell) -> str:
    return f"{label.openness(cell.point.load)} load"


def _row(cell: Cell, names: dict[str, str]) -> list[Text]:
    times = (RESPONSE_P50, RESPONSE_P99, CLIENT_CPU, SERVICE_CPU)
    shown = [
        names[cell.point.stack],
        _rate(cell),
        *(estimate(cell.interval(figure), figure.unit) for figure in times),
        _errors(cell),
        _marks(cell),
    ]
    return [Text(text) for text in shown]


def _rate(cell: Cell) -> str:
    interval = cell.interval(RATE)
    if interval is None:
        return NONE
    bound = "≥" if any(map(client_bound, cell.measured)) else ""
    return f"{bound}{_with_limits(interval)}"


def _with_limits(interval: Interval) -> str:
    """``12.3k 11.9-12.7``: limits in the unit of the estimate."""
    divisor, name = step(interval.estimate, "1/s")
    prefix = name.removesuffix("/s")
    shown = f"{digits(interval.estimate / divisor)}{prefix}"
    if interval.bounds is None:
        return shown
    low, high = interval.bounds
    return f"{shown} {digits(low / divisor)}-{digits(high / divisor)}"


def _errors(cell: Cell) -> str:
    total = sum(int(trial.result.get("errors", 0)) for trial in cell.measured)
    return quantity(total, "") if total < 10_000 else f"{total:.0e}"


def _marks(cell: Cell) -> str:
    count = sum(1 for trial in cell.measured if marked(trial))
    shown = f"{count}/{len(cell.measured)}" if count else "ok"
    if not cell.measured:
        shown = NONE
    return f"{shown} {len(cell.failed)}✗" if cell.failed else shown


def _notes(group: list[Cell], names: dict[str, str]) -> list[Text]:
    """What was marked and what failed, counted, with one reason each."""
    notes = []
    for cell in group:
        name = names[cell.point.stack]
        found = [mark for trial in cell.measured for mark in marked(trial)]
        for check, count in Counter(mark.name for mark in found).items():
            reason = next(mark.reason for mark in found if mark.name == check)
            notes.append(_note(f"{name}: {check} marked in {count}: {plain(reason)}"))
        for reason, count in Counter(plain(t.reason) for t in cell.failed).items():
            notes.append(_note(f"{name}: {count} failed: {reason}"))
    return notes


def _note(text: str) -> Text:
    return Text(f"! {text}", style="dim")
