"""The result of a wrapped command as an HTML page that opens offline. It uses the parts of a run's
report. All text from the tool, its target or its packets is escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wirelab.documents.dissection import Dissection, FlowSums, Load
from wirelab.format.counting import format_count
from wirelab.format.numbers import NONE, digits, percent, quantity
from wirelab.loadtools.tool_report import ToolOptions
from wirelab.records.wire import PacketFinding
from wirelab.report import dissection_text
from wirelab.report.charts import packet_timeline
from wirelab.report.charts.distribution import Curves, distribution_picture
from wirelab.report.charts.stack_style import look
from wirelab.report.html_page import HtmlPage
from wirelab.report.section import Picture, Section, Table
from wirelab.report.sections import packet_findings, packet_gaps, packet_waits, packets
from wirelab.wrap import target
from wirelab.wrap.comparison import NAMES
from wirelab.wrap.kind import Kind
from wirelab.wrap.result import Result
from wirelab.wrap.session import Measured
from wirelab.wrap.text import (
    KINDS,
    MARKS,
    NOT_TESTED,
    list_circumstances,
    list_compared_times,
    sort_marked_first,
)

TITLE_MAX = 120
"""Maximum length of the command in the title; the complete command is below it."""
OUTPUT_MAX = 8_000
"""Maximum length of the tool's output that is shown; its end is shown."""
ROWS_MAX = 40
"""Maximum number of different requests that are shown."""
_PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0}
_TRUST = (
    "Each check compares the tool's figures with the packets in one respect. A check that does "
    "not apply is left out."
)
_LATENCY = (
    "Latency in the packets is the time from the request's first byte to the reply's last, at the "
    "place of the capture; percentiles only where ten samples lie above. The tool's figures also "
    "contain the time that it spends before sending and after receiving."
)
_BYTES = (
    "Means per exchange over everything captured, including set-up and tear-down of connections; "
    "sizes start at the IP header."
)

Rows = list[tuple[str, str]]


def html(result: Result) -> str:
    """The page for a result."""
    document = result.measured.document
    sections = [
        _trust(result),
        packet_waits.section(document.waits, packet_waits.summarize_seen(document)),
        _connections(result),
        _requests(result),
        _load(document.load, result.kind),
        _latency(result),
        _findings(document),
        _bytes(document),
        *_exchange(document),
        _output(result.measured),
    ]
    command = target.as_typed(result.measured.command)
    facts = [
        ("Command", command),
        *((name[0].upper() + name[1:], words) for name, words in list_circumstances(result)),
    ]
    page = HtmlPage(
        command if len(command) <= TITLE_MAX else f"{command[: TITLE_MAX - 1]}…",
        [section for section in sections if section is not None],
        kind="wrap",
        about=result.verdict.words,
        facts=facts,
    ).html()
    return result.measured.known_secrets.hide(page)


def _trust(result: Result) -> Section:
    ordered = sort_marked_first(result.checks)
    rows = [
        (check.name, f"{MARKS[check.outcome]} {check.outcome}", check.reason) for check in ordered
    ]
    marked = [place for place, check in enumerate(ordered) if check.outcome == "marked"]
    table = Table(("check", "outcome", "evidence"), rows, highlighted=marked)
    return Section("Can it be trusted?", (_TRUST,), (table,))


def _connections(result: Result) -> Section:
    document = result.measured.document
    used, flows = document.exchanges.connections, document.flows
    rows = [
        ("opened in the capture", f"{flows.opened:,}"),
        ("closed in the capture", f"{flows.closed:,}"),
        ("open at a time, at most", f"{document.load.connections_open_max:,}"),
        ("that carried requests", f"{used.used:,}"),
        ("that carried several", f"{flows.reused:,}"),
        ("requests on one, at most", f"{used.exchanges_max:,}"),
        ("requests in flight on one, at most", f"{used.in_flight_max:,}"),
        ("requested", _describe_requested_load(result.options) if result.options else NONE),
    ]
    return Section("Connections", tables=(_values(rows), _flows(flows)))


def _describe_requested_load(options: ToolOptions) -> str:
    """The load that the tool's options request."""
    reuse = {True: "connections kept", False: "one connection per request", None: ""}[options.reuse]
    amounts = ("connection", options.connections), ("user", options.users)
    requested = [format_count(count, noun) for noun, count in amounts if count is not None]
    rate = [] if options.rate is None else [f"{digits(options.rate)} requests/s"]
    given = ", ".join(options.options) or "its defaults"
    return f"{', '.join(filter(None, (*requested, *rate, reuse))) or 'nothing'} ({given})"


def _flows(flows: FlowSums) -> Table:
    columns = ["client", "server", "protocol", "opened", "closed", "requests", "packets"]
    columns += ["bytes", "sent again", "round trip"]
    rows = [
        [
            *(flow.client, flow.server, flow.protocol, flow.opening, flow.closing),
            *(f"{flow.exchanges:,}", f"{flow.packets:,}", f"{flow.bytes:,}"),
            f"{flow.retransmissions:,}",
            NONE if flow.rtt_us is None else quantity(flow.rtt_us * 1e3, "ns"),
        ]
        for flow in flows.list
    ]
    shown = f"The first of {format_count(flows.count, 'connection')}"
    caption = shown if len(rows) < flows.count else "Every connection"
    return Table(columns, rows, caption, range(5, 10))


def _requests(result: Result) -> Section:
    exchanges = result.measured.document.exchanges
    columns = ["request", "protocol", "count", "replies", "p50", "p99", "sent", "received"]
    rows = [
        [
            named.name or NONE,
            named.protocol,
            f"{named.count:,}",
            ", ".join(f"{status}: {n:,}" for status, n in named.status.items()) or "none",
            *dissection_text.percentiles(named.latency_us),
            f"{digits(named.request_message_bytes + named.request_overhead_bytes)} B",
            f"{digits(named.reply_message_bytes + named.reply_overhead_bytes)} B",
        ]
        for named in exchanges.by_name[:ROWS_MAX]
    ]
    left = len(exchanges.by_name) - len(rows)
    more = (f"{left:,} more in wrap.json.",) if left else ()
    endings = ", ".join(f"{name} {count:,}" for name, count in exchanges.endings.items() if count)
    total = format_count(exchanges.count, "request")
    summary = f"{total}; {result.statuses()}; ended: {endings or 'none'}."
    return Section("Requests", (summary, *more), (Table(columns, rows, "", (2, 4, 5, 6, 7)),))


def _load(load: Load, kind: Kind) -> Section:
    """Concurrency and arrivals."""
    words = KINDS[kind.name]
    concurrency = Section("Concurrency", tables=(_values(_list_concurrency(load)),))
    arrivals = Section("Arrivals", tables=(_values(_list_requests(load)),))
    summary = f"{words[0].upper()}{words[1:]}: {kind.reason}."
    return Section("Load", (summary,), sections=(concurrency, arrivals))


def _list_concurrency(load: Load) -> Rows:
    seen = load.concurrency
    if not seen:
        return [("requests in flight", NONE)]
    return [
        ("requests in flight, mean", f"{seen.mean:.2f}"),
        ("median", f"{seen.median:,}"),
        ("at most", f"{seen.max:,}"),
        ("share of the time with none", f"{percent(seen.idle_share, 1)}"),
        ("share of the time with the most", f"{percent(seen.full_share, 1)}"),
    ]


def _list_requests(load: Load) -> Rows:
    rows = [
        ("requests begun", f"{load.requests:,}"),
        ("within", quantity(load.seconds, "s")),
        ("rate", NONE if load.per_s is None else quantity(load.per_s, "1/s")),
    ]
    if load.gap_us:
        rows.append(("gap between requests, mean", _us(load.gap_us.mean)))
        rows.append(("its standard deviation", _us(load.gap_us.deviation)))
    if load.coupling:
        rows.append(("correlation of gap and latency", f"{load.coupling.correlation:.2f}"))
    for pause, words in (
        (load.pause_waiting, "longest pause while replies were outstanding"),
        (load.pause_resting, "longest pause with nothing outstanding"),
    ):
        if pause:
            rows.append((words, f"{_us(pause.us)}, before packet {pause.packet:,}"))
    return rows


def _latency(result: Result) -> Section | None:
    wire = list_compared_times(result)
    if not wire:
        return None
    reported, tool = result.report.latency_s if result.report else {}, result.tool_name
    differs = {pair.name: pair.differs for pair in result.compared}
    rows = [
        [
            name,
            quantity(wire[name], "s") if name in wire else NONE,
            quantity(reported[name], "s") if name in reported else NONE,
            digits(reported[name] / wire[name]) if name in reported and wire.get(name) else NONE,
            {True: "differs", False: "agrees", None: "not compared"}[differs.get(name)],
        ]
        for name in NAMES
        if name in wire or name in reported
    ]
    table = Table(["", "packets", tool, "ratio", "judged"], rows, "", (1, 2, 3))
    drawn = _curves(wire, reported, tool)
    figures = () if drawn is None else (drawn,)
    connecting = _tabulate_connecting(result.measured.document.load)
    note = result.report.correction if result.report else ""
    words = (_LATENCY, f"{note}.") if note else (_LATENCY,)
    return Section("Latency", words, (table, *connecting), figures)


def _tabulate_connecting(load: Load) -> Iterator[Table]:
    connect = load.connect_us
    if connect:
        rows = [("median", _us(connect.p50)), ("connections", f"{connect.n:,}")]
        yield _values(rows, "From SYN to the first request")


def _curves(wire: Mapping[str, float], reported: Mapping[str, float], tool: str) -> Picture | None:
    """Both distributions by percentile; None if there is only a single point."""
    stacks = []
    for index, (label, times) in enumerate((("packets", wire), (tool, reported))):
        points = [
            (percentile, times[name] * 1e9)
            for name, percentile in _PERCENTILES.items()
            if times.get(name)
        ]
        if len(points) > 1:
            stacks.append(Curves(label, look(index), [tuple(points)]))
    words = f"by the packets{f' and by {tool}' if len(stacks) > 1 else ''}"
    return distribution_picture(stacks, "Latency", words)


def _findings(document: Dissection) -> Section | None:
    """None if no request was found: without requests there is no evidence either way."""
    count = document.exchanges.count
    findings = [PacketFinding.of(finding) for finding in document.findings]
    return packet_findings.section(findings, count, NOT_TESTED) if count else None


def _bytes(document: Dissection) -> Section | None:
    mean = document.accounting.per_exchange
    if mean is None:
        return None
    rows = [
        [name, NONE if count is None else digits(count), f"{size:,.1f}"]
        for name, count, size in dissection_text.means(mean)
    ]
    table = Table(("per exchange", "packets", "bytes"), rows, "", (1, 2))
    return Section("Bytes and packets", (_BYTES,), (table,))


def _exchange(document: Dissection) -> Iterator[Section]:
    name = (document.timeline_of and document.timeline_of.name) or "exchange"
    drawn = packet_timeline.picture(document, name)
    if drawn is not None:
        between = packet_gaps.section([(document, name)])
        yield Section("One exchange", (packets.SHOWN,), figures=(drawn,), sections=(between,))


def _output(measured: Measured) -> Section | None:
    """The end of the tool's output; overwritten lines are shown one below the other."""
    text = measured.ran.output.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        return None
    cut = f"The last {OUTPUT_MAX:,} of {format_count(len(text), 'character')}."
    notes = (cut,) if len(text) > OUTPUT_MAX else ()
    return Section("Output of the tool", notes, verbatim=text[-OUTPUT_MAX:])


def _values(rows: Rows, caption: str = "") -> Table:
    return Table(("", "value"), rows, caption)


def _us(microseconds: float) -> str:
    return quantity(microseconds * 1e3, "ns")
