"""What calls cost: processor time, bytes and connections by stack, and the engine's own share.

The engine overhead is the CPU cost of a call in the engine itself. It is part of client CPU in
every figure. Its figures come with the package, from one run of the bench
(docs/reference/engine-tax.md), and name their machine: they are there to compare stacks with each
other, not to be subtracted.
"""

from __future__ import annotations

from collections.abc import Iterable

from wirelab.documents.axes import Axes
from wirelab.format.numbers import DASH, NONE, estimate, quantity, stack_limits
from wirelab.records import engine_tax
from wirelab.records.engine_tax import StackTax
from wirelab.records.trial import Point, Trial
from wirelab.report.section import Section, Table
from wirelab.report.source import Source
from wirelab.stack.axes import ENGINE
from wirelab.stack.reference import Stack
from wirelab.statistics.cell import Cell
from wirelab.statistics.figure import (
    BYTES_RECEIVED,
    BYTES_SENT,
    CLIENT_CPU,
    PROXY_CPU,
    SERVICE_CPU,
    Figure,
)
from wirelab.statistics.interval import Interval
from wirelab.trial import labels as label
from wirelab.trial.labels import Names

_ABOUT_COSTS = (
    "CPU is in core-seconds of the processes of caller (without spinning) and service. Bytes sent "
    "and received by the caller's sockets are in gigabytes. Both are counted within the window and "
    "divided by the calls that ended in it. Connections opened and the CPU of a database are "
    "divided by the calls of the whole run, warm-up included. Database and proxy are not part of "
    "the service. Each figure has its 95 % interval, unless its first four digits do not show it. "
    "On loopback, the kernel's work for the receiver may be charged to the sender."
)
_MILLION = 1e6
_GB = 1e9


def _connections(trial: Trial) -> float | None:
    """Connections opened over the calls of the whole run."""
    opened, calls = trial.result.connections_opened, trial.result.calls_whole_run
    return float(opened) / calls if opened and calls else None


def _database_cpu(trial: Trial) -> float | None:
    """CPU seconds of a database that the lab started, over the calls of the whole run."""
    used, calls = trial.store.cpu_s() if trial.store else None, trial.result.calls_whole_run
    return used / calls if used is not None and calls else None


CONNECTIONS = Figure("connections", "connections opened per call", "", "lower", of=_connections)
DATABASE_CPU = Figure("database_cpu", "database CPU per call", "s", "lower", of=_database_cpu)
_HEADS = {
    CLIENT_CPU: ("caller, core-s", _MILLION),
    SERVICE_CPU: ("service, core-s", _MILLION),
    PROXY_CPU: ("proxy, core-s", _MILLION),
    DATABASE_CPU: ("database, core-s", _MILLION),
    BYTES_SENT: ("sent, GB", _MILLION / _GB),
    BYTES_RECEIVED: ("received, GB", _MILLION / _GB),
    CONNECTIONS: ("thousands of connections", _MILLION / 1e3),
}
"""Head of each figure's column, and the factor from one call to it."""


def costs_section(source: Source) -> Section:
    """One row per cell; no table where no trial measured any of it."""
    groups: dict[str, list[list[str]]] = {}
    absent = [
        of
        for of in (PROXY_CPU, DATABASE_CPU)
        if not any(cell.interval(of) for cell in source.cells)
    ]
    heads = {of: head for of, head in _HEADS.items() if of not in absent}
    for cell in source.cells:
        shown = [_stack_limits(cell.interval(of), factor) for of, (_, factor) in heads.items()]
        if any(text != NONE for text in shown):
            name = source.names.stacks[cell.point.stack]
            row = [name, source.names.load(cell.point), *shown]
            groups.setdefault(label.message(cell.point), []).append(row)
    columns = ["stack", "load", *(head for head, _ in heads.values())]
    tables = Table.of_groups(columns, groups, range(2, len(columns)))
    return Section("Cost per million calls", (_ABOUT_COSTS,) if tables else (), tables)


def _stack_limits(interval: Interval | None, factor: float) -> str:
    """The estimate above its limits, where it has any."""
    if interval is None:
        return NONE
    scaled = interval.scale(factor)
    return estimate(scaled, "") if scaled.bounds is None else stack_limits(scaled, "")


_ABOUT_TRAFFIC = (
    "Bytes that the engine's sockets sent and received within the window, divided by the calls of "
    "the window. They include heads, bodies, framing and TLS records, but not the headers of TCP "
    "and IP. Replies across an end of the window count with the part inside it. Each figure is "
    "above its 95 % interval, unless the interval is narrower than a byte."
)


def traffic_section(source: Source) -> Section:
    """One row per cell; no table where no trial counted bytes."""
    groups: dict[str, list[list[str]]] = {}
    for cell in source.cells:
        if row := _traffic_row(source, cell):
            groups.setdefault(label.message(cell.point), []).append(row)
    columns = ["stack", "load", "sent per call", "received per call"]
    tables = Table.of_groups(columns, groups, (2, 3))
    return Section("Bytes per call", (_ABOUT_TRAFFIC,) if tables else (), tables)


def _traffic_row(source: Source, cell: Cell) -> list[str]:
    """Empty where nothing was counted: foreign tools do not report bytes."""
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


_NO_TAX = ("language", "work", "start", "close_delay", "end_of_message")
"""Axes that change nothing of what the engine does in a call, and the one that chooses
between the two figures."""
_TAX_COLUMNS = ("stack", "engine's own CPU per call", "over REST json at equal bytes")


def engine_tax_table(points: Iterable[Point], names: Names) -> Table:
    """One row per stack of a run."""
    by_stack = {point.stack: point for point in points}
    rows = [[names.stacks[stack], *_tax_cells(point)] for stack, point in by_stack.items()]
    return Table(_TAX_COLUMNS, rows, _tax_caption(), (1, 2))


def _tax_cells(point: Point) -> tuple[str, str]:
    tool = point.axes.caller
    if tool != ENGINE:
        return f"called by {tool}", NONE
    found = _tax_of(point.axes)
    if found is None:
        return "not measured", NONE
    cpu_us = found.frame_us if point.axes.work == "frame" else found.decode_us
    rest, ratio = found.beside_rest, NONE
    if rest is not None:
        ratio = f"{rest.ratio:.2f} ({rest.low:.2f} to {rest.high:.2f})"
    return quantity(cpu_us * 1e3, "ns"), ratio


def _tax_of(axes: Axes) -> StackTax | None:
    """The figures of the stack that asks the same of the engine; None where none does."""
    asked = _select_engine_axes(axes)
    rows = engine_tax.read_published().stacks
    return next(
        (row for row in rows if _select_engine_axes(Stack.parse(row.stack).axes) == asked), None
    )


def _select_engine_axes(axes: Axes) -> dict[str, str]:
    return {
        name: value
        for name, value in axes.texts.items()
        if name not in _NO_TAX and not name.startswith("server.")
    }


def _tax_caption() -> str:
    data = engine_tax.read_published()
    return (
        "The engine's own CPU per call against a null service, always spinning; client CPU above "
        f"also includes sleeps. Submit {data.submit_bytes} B, {data.users} users, "
        f"{data.machine.processor}, {data.taken[:10]}. Ratios cover status and frame "
        "alone (work=frame)."
    )
