"""What the packets said: bytes, packets, findings and one exchange per stack."""

from __future__ import annotations

from collections.abc import Iterator

from wirelab.checks.load import find_marks
from wirelab.documents.dissection import Dissection
from wirelab.format.counting import of_all
from wirelab.format.numbers import NONE, digits
from wirelab.records.wire import WireRecord
from wirelab.report.charts import packet_timeline
from wirelab.report.section import Picture, Section, Table
from wirelab.report.sections import (
    packet_findings,
    packet_gaps,
    packet_waits,
    proxies,
    tested_findings,
    time_split,
)
from wirelab.report.source import Source
from wirelab.statistics.cell import Cell
from wirelab.trial import dissected

LOSSES = ("capture", "link drops")
"""Checks that mark a trial of which packets were lost that no profile configured."""
PICTURES_MAX = 24
"""Exchanges that are drawn; all others are in the trials' own files."""

_BYTES = (
    "Means per exchange over the whole capture, including warm-up, set-up and tear-down of "
    "connections. Bytes of packets include the IP header; pure TCP are packets without data. "
    "Overhead is what the protocol adds to the message inside TCP: heads, frames, lengths."
)
_ACCOUNT = (
    "All of the time of the exchanges of one captured trial, by what it passed with "
    "(`wirelab dissect` shows more of it)."
)
_FOUND = (
    "Likely causes of delay in the packets, each with the time of all its occurrences in one "
    "trial. A test names the change that should remove the cause. Only trials with that change "
    "prove a cause (wirelab dissect RUN --test); the last column has their verdict."
)
_HOST = (
    "The server's time in the exchanges of one captured trial, by what its threads did: from the "
    "kernel's tracepoints."
)
SHOWN = (
    "One exchange, with the set-up and tear-down of its connection where they were captured. "
    "Packets are drawn at equal distances, each with the time since the previous packet. The time "
    "is in colour where it is more than a fifth of the exchange. The connection may have carried "
    "other exchanges between set-up, exchange and tear-down."
)


def section(source: Source) -> Section:
    """Empty where no trial captured."""
    cells = [cell for cell in source.cells if any(trial.wire for trial in cell.measured)]
    if not cells:
        return Section("On the wire")
    parts = [
        Section("Bytes and packets", (_BYTES,), [_bytes(source, cells)]),
        Section("Where the time went", (_ACCOUNT,), figures=_accounts(source, cells)),
        Section("What the servers did meanwhile", (_HOST,), figures=_hosts(source, cells)),
        Section("Findings in the packets", (_FOUND,), [_findings(source, cells)]),
        time_split.section(source),
        proxies.section(source),
        _exchanges(source, cells),
    ]
    shown = [part for part in parts if part.tables or part.figures]
    return Section("On the wire", _warn_of_losses(cells), sections=shown)


def _warn_of_losses(cells: list[Cell]) -> tuple[str, ...]:
    """What the captures do not hold, ring and device of all trials together."""
    trials = [trial for cell in cells for trial in cell.measured if trial.wire]
    torn = [trial for trial in trials if any(check.name in LOSSES for check in find_marks(trial))]
    if not torn:
        return ()
    warning = (
        "The capture or a device of the link dropped packets in "
        f"{of_all(len(torn), len(trials), 'captured trial')}: byte counts there are too low, and "
        "findings may be missing or wrong. Checks name the trials."
    )
    return (warning,)


def _name(source: Source, cell: Cell) -> str:
    setting = source.names.setting(cell.point)
    return f"{source.names.stacks[cell.point.stack]}, {setting}"


def _list_captures(cell: Cell) -> list[WireRecord]:
    return [trial.wire for trial in cell.measured if trial.wire]


def _bytes(source: Source, cells: list[Cell]) -> Table:
    columns = ["stack", "total", "pure TCP", "with data", "TCP payload", "message", "overhead"]
    columns += ["packets", "sent again", "connections"]
    names = ("ip_bytes", "pure_tcp_ip_bytes", "data_ip_bytes", "payload_bytes", "message_bytes")
    rows = []
    for cell in cells:
        records = _list_captures(cell)
        means = [_mean(records, name) for name in (*names, "overhead_bytes", "packets")]
        again = sum(wire.retransmitted_packets for wire in records) / len(records)
        used = sum(wire.connections.used for wire in records) / len(records)
        rows.append([_name(source, cell), *means, digits(again), digits(used)])
    return Table(columns, rows, "Bytes and packets per exchange", tuple(range(1, 10)))


def _mean(records: list[WireRecord], name: str) -> str:
    values = [wire.per_exchange.get(name) for wire in records]
    known = [value for value in values if value is not None]
    return f"{sum(known) / len(known):,.1f}" if known else NONE


def _findings(source: Source, cells: list[Cell]) -> Table:
    columns = ["stack", "cause", "exchanges", "time of all", "median", "test", "verdict"]
    rows = []
    for cell in cells:
        wire = _list_captures(cell)[0]
        for finding in wire.findings:
            cause = finding.cause
            shown = packet_findings.figures(finding, wire.exchanges)
            change = packet_findings.change(finding) or NONE
            verdict = tested_findings.verdict(source, cell.point, cause)
            rows.append([_name(source, cell), cause, *shown, change, verdict])
    return Table(columns, rows, "Findings, first trial of each cell", (3, 4))


def _accounts(source: Source, cells: list[Cell]) -> list[Picture]:
    """A bar for each stack; documents of earlier versions have no account."""
    bars = [
        packet_waits.draw_stacked_bar(_name(source, cell), document.waits.exchanges)
        for cell, document in _documents(source, cells)
        if document.waits.exchanges.elapsed_ms > 0
    ]
    return bars[:PICTURES_MAX]


def _hosts(source: Source, cells: list[Cell]) -> list[Picture]:
    """A bar for each stack whose host was recorded."""
    bars = [
        packet_waits.host_bar(_name(source, cell), document.waits.host)
        for cell, document in _documents(source, cells)
        if document.waits.host and document.waits.host.server.elapsed_ms > 0
    ]
    return bars[:PICTURES_MAX]


def _exchanges(source: Source, cells: list[Cell]) -> Section:
    pictures: list[Picture] = []
    shown: list[tuple[Dissection, str]] = []
    for cell, document in _documents(source, cells):
        name = _name(source, cell)
        drawn = packet_timeline.picture(document, name)
        if drawn and len(pictures) < PICTURES_MAX:
            pictures.append(drawn)
            shown.append((document, name))
    left = len(cells) - len(pictures)
    more = (f"{left:,} more in trials/*/dissection-*.json.",) if left else ()
    between = [packet_gaps.section(shown)]
    return Section("One exchange", (SHOWN, *more), figures=pictures, sections=between)


def _documents(source: Source, cells: list[Cell]) -> Iterator[tuple[Cell, Dissection]]:
    for cell in cells:
        trial = next(trial for trial in cell.measured if trial.wire)
        for path in sorted((source.folder / "trials" / trial.id).glob("dissection-*.json"))[:1]:
            yield cell, dissected.read(path)
