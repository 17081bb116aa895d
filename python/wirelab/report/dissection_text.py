"""A dissection in a terminal of 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from wirelab.documents.dissection import (
    Accounting,
    Capture,
    Dissection,
    ExchangeSums,
    FlowSums,
    Named,
    PerExchange,
    Quantiles,
    Rung,
)
from wirelab.format import wrapping
from wirelab.format.counting import format_count
from wirelab.format.numbers import NONE, digits, quantity, sanitize
from wirelab.records.wire import PacketFinding
from wirelab.report.charts import packet_timeline
from wirelab.report.sections import (
    packet_findings,
    packet_messages,
    packet_tail,
    packet_tls,
    packet_waits,
    time_split,
)
from wirelab.report.sections.packet_findings import Standing
from wirelab.trial import labels

WIDTH = 80
PORTS_MAX = 8
"""Maximum number of ports that a sentence lists."""
_ARROWS = {"request": "──►", "reply": "◄──"}


def lines(
    document: Dissection, standing: Standing | None = None, unused_port: str = ""
) -> Iterator[str]:
    """Where the time went first, then the capture, what was found, and what it rests on.
    ``standing`` is what changes have shown of the findings; without it none was tested.
    ``unused_port`` is the sentence of :func:`describe_unused_port`, if the capture was read by
    port."""
    nothing = _explain_no_cost(document.capture, document.flows.count, unused_port)
    if nothing is None or document.names.queries:
        yield from packet_waits.lines(document)
        yield ""
    yield from _capture(document.capture, document.flows, document.exchanges)
    for sentence in packet_tls.sentences(document):
        yield from _wrap(sentence)
    yield ""
    if nothing is not None:
        yield from _wrap(nothing)
        yield from _slowest(document)
        return
    if document.findings or not document.capture.one_sided:
        findings = [PacketFinding.of(finding) for finding in document.findings]
        yield from packet_findings.lines(findings, standing or Standing())
    else:
        yield "Nothing was found, but one direction alone shows little of what costs time."
    yield ""
    yield from _calls(document.exchanges.by_name)
    yield from _slowest(document)
    yield ""
    yield from _format_accounting(document.accounting)
    if document.reconciliation:
        yield ""
        yield from time_split.lines(document.reconciliation)
    if document.timeline:
        yield ""
        yield from _timeline(document)


def _slowest(document: Dissection) -> Iterator[str]:
    if document.slowest is not None:
        yield ""
        yield from packet_tail.lines(document.slowest)
    if document.messages is not None:
        yield ""
        yield from packet_messages.lines(document.messages)


def _wrap(text: str, indent: str = "") -> list[str]:
    return wrapping.wrap(sanitize(text), WIDTH, subsequent_indent=indent) or [""]


def _capture(capture: Capture, flows: FlowSums, exchanges: ExchangeSums) -> Iterator[str]:
    kinds = ", ".join(map(sanitize, capture.link_types)) or "no link"
    yield from _wrap(
        f"{format_count(capture.packets, 'packet')}, {capture.bytes:,} B in "
        f"{quantity(capture.seconds, 's')} ({kinds}), {capture.tcp_packets:,} with TCP"
    )
    used = exchanges.connections
    yield from _wrap(
        f"{format_count(exchanges.count, 'exchange')} on {format_count(used.used, 'connection')}; "
        f"{format_count(flows.opened, 'connection')} opened and {flows.closed:,} closed in the "
        f"capture, {flows.reused:,} carried several; at most {used.in_flight_max:,} under "
        "way on one"
    )
    yield from _wrap(_tcp(capture))
    for warning in warnings(capture, exchanges):
        yield from _wrap(f"! {warning}", "  ")


def _tcp(capture: Capture) -> str:
    """Segments that were not plain progress, counted as Wireshark does."""
    tcp = capture.tcp
    again = f"{format_count(tcp.retransmissions, 'segment')} sent again"
    if tcp.fast_retransmissions or tcp.spurious_retransmissions:
        again += f" ({tcp.fast_retransmissions} fast, {tcp.spurious_retransmissions} in vain)"
    others = (
        (tcp.duplicate_acknowledgments, "duplicate ACK"),
        (tcp.out_of_order, "out-of-order segment"),
        (tcp.zero_windows, "closed window"),
        (tcp.probes, "probe"),
        (tcp.resets, "reset"),
    )
    seen = [format_count(count, what) for count, what in others if count]
    return ", ".join([f"TCP: {again}", *seen])


def warnings(capture: Capture, exchanges: ExchangeSums) -> Iterator[str]:
    """What the capture lacks."""
    if capture.damaged:
        yield f"the file is damaged: {capture.damaged}"
    if capture.drops:
        lost = format_count(capture.drops, "packet")
        yield f"lost by whoever captured: {lost}; findings may be missing"
    if capture.truncated:
        held = format_count(capture.truncated, "packet")
        yield f"held in part only: {held}; what they carry is known in part"
    if capture.clock:
        yield capture.clock
    if capture.unread:
        yield _unread(capture.unread)
    if capture.tcp.copies:
        copies = format_count(capture.tcp.copies, "packet")
        yield f"captured twice: {copies}; each counts once (a mirror port copies packets)"
    if capture.one_sided:
        yield capture.one_sided
    alone = exchanges.unpaired
    if alone.requests or alone.replies:
        requests, replies = (
            format_count(alone.requests, "request"),
            format_count(alone.replies, "reply"),
        )
        words = "the capture lacks their counterparts, or cannot tell which they are"
        yield f"{requests} and {replies} are not paired: {words}"


def _unread(unread: Mapping[str, int]) -> str:
    """Packets that may carry TCP, and in what they are hidden."""
    kinds = []
    for name, packets in unread.items():
        is_or_are = "is" if packets == 1 else "are"
        kinds.append(f"{format_count(packets, 'packet')} in {sanitize(name)} {is_or_are} not read")
    return ", ".join(kinds)


def describe_unused_port(port: int, everything: Dissection) -> str:
    """Says that no connection uses a port, and which ports of servers the whole capture has."""
    listed = everything.flows.list
    counts = Counter(flow.server.rpartition(":")[2] for flow in listed)
    if not counts:
        return f"No connection uses port {port}; the capture has no connections."
    words = [name for name, _ in counts.most_common(PORTS_MAX)]
    if len(words) < len(counts) or len(listed) < everything.flows.count:
        words.append("others")
    return f"No connection uses port {port}; the capture has {labels.join_words(words)}."


def _explain_no_cost(capture: Capture, connections: int, unused: str) -> str | None:
    """Why a capture can show no cost at all."""
    if not capture.packets:
        return "The capture holds no packets."
    if capture.unread and not capture.tcp_packets:
        return f"No packet carries TCP that can be read: {_unread(capture.unread)}."
    if not capture.tcp_packets:
        return "No packet carries TCP. Other packets are not analysed."
    if not connections:
        return unused or "None of its connections has the port that was asked for."
    return None


def _calls(named: Sequence[Named]) -> Iterator[str]:
    if not named:
        yield "No exchange was recognised."
        return
    heads = "".join(f"{head:>9}" for head in ("min", "median", "p99", "max"))
    yield f"{'exchange':<23}{'count':>7}{heads}{'sent':>7}{'back':>7}"
    for call in named[:12]:
        name = sanitize(call.name) or call.protocol
        yield (
            f"{_fit(name, 22, call.protocol):<23}{call.count:>7,}"
            + "".join(f"{time:>9}" for time in times(call.latency_us))
            + f"{_size(call.request_message_bytes + call.request_overhead_bytes):>7}"
            + f"{_size(call.reply_message_bytes + call.reply_overhead_bytes):>7}"
        )
    if len(named) > 12:
        yield f"… and {len(named) - 12} more (--json has them)"


def times(latency: Quantiles | None) -> tuple[str, str, str, str]:
    """Minimum, median, p99 and maximum; p99 only where at least ten samples lie above it."""
    if latency is None:
        return NONE, NONE, NONE, NONE
    least, median, p99, most = (
        quantity(us * 1e3, "ns") for us in (latency.min, latency.p50, latency.p99, latency.max)
    )
    return least, median, p99 if latency.n >= 1000 else NONE, most


def percentiles(latency: Quantiles | None) -> tuple[str, str]:
    """p50 and p99; they are shown only where at least ten samples lie above them."""
    if latency is None:
        return NONE, NONE
    p50, p99 = (
        quantity(us * 1e3, "ns") if latency.n >= enough else NONE
        for us, enough in ((latency.p50, 20), (latency.p99, 1000))
    )
    return p50, p99


def _size(mean: float) -> str:
    """At most six characters."""
    return digits(mean) if mean < 100_000 else quantity(mean, "B").replace(" ", "")


def _fit(text: str, width: int, protocol: str) -> str:
    """Of a path the end distinguishes it, of a query its beginning."""
    if len(text) <= width:
        return text
    if protocol in ("http1", "http2"):
        return "…" + text[1 - width :]
    return text[: width - 1] + "…"


def _format_accounting(accounting: Accounting) -> Iterator[str]:
    mean = accounting.per_exchange
    if mean is None:
        return
    yield f"{'per exchange':<22}{'packets':>10}{'bytes':>12}"
    for name, packets, size in means(mean):
        shown = "" if packets is None else digits(packets)
        yield f"  {name:<20}{shown:>10}{size:>12,.1f}"
    again = accounting.total.retransmitted.packets
    if again:
        yield f"  sent again: {format_count(again, 'packet')} in all"


def means(mean: PerExchange) -> list[tuple[str, float | None, float]]:
    """Name, packets and bytes of each part of a mean exchange. What is inside TCP, and what of
    that the protocol adds and carries, has no packets of its own."""
    return [
        ("pure TCP", mean.pure_tcp_packets, mean.pure_tcp_ip_bytes),
        ("with data", mean.data_packets, mean.data_ip_bytes),
        ("all, from IP on", mean.packets, mean.ip_bytes),
        ("of it payload", None, mean.payload_bytes),
        ("of it overhead", None, mean.overhead_bytes),
        ("of it message", None, mean.message_bytes),
    ]


def _timeline(document: Dissection) -> Iterator[str]:
    name = document.timeline_of.name if document.timeline_of else ""
    title = sanitize(name or "exchange")
    yield from _wrap(packet_timeline.caption(document, f"Packets of {title}"))
    yield f"{'packet':>8} {'at':>9} {'gap':>10}     {'flags':<9}{'bytes':>9}  carries"
    before: Rung | None = None
    for run in _runs(document.timeline):
        if before is not None and before.phase != run[0].phase:
            yield from _describe_omissions(document, before, run[0])
        yield from _packets(run)
        before = run[-1]


FOLDED_MIN = 4
"""Like packets in a row from which on they share one line."""


def _runs(rungs: Sequence[Rung]) -> Iterator[list[Rung]]:
    """Packets in a row that look alike; each of the others alone."""
    run: list[Rung] = []
    for rung in rungs:
        if run and _looks(run[-1]) != _looks(rung):
            yield from _fold(run)
            run = []
        run.append(rung)
    yield from _fold(run)


def _looks(rung: Rung) -> tuple[object, ...]:
    layers = tuple(part.layer for part in rung.layers)
    return rung.phase, rung.direction, rung.flags.replace("PSH ", ""), layers, rung.note


def _fold(run: list[Rung]) -> Iterator[list[Rung]]:
    if len(run) >= FOLDED_MIN:
        yield run
    else:
        yield from ([rung] for rung in run)


def _packets(run: Sequence[Rung]) -> Iterator[str]:
    rung = run[0]
    carries = packet_timeline.layers(rung)
    if len(run) > 1:
        whole = run[-1].at_us - rung.at_us
        names = ", ".join(sanitize(part.layer) for part in rung.layers)
        folded = f"{names}; " if names else ""
        count = format_count(len(run), "packet")
        carries = f"{folded}{count} to {run[-1].packet}, {_time(whole)}"
    carries = ", ".join(filter(None, (carries, sanitize(rung.note))))
    head = (
        f"{rung.packet:>8} {_time(rung.at_us):>9} {'+' + _time(rung.gap_us):>10} "
        f"{_ARROWS[rung.direction]} {sanitize(rung.flags):<9}"
        f"{sum(one.bytes for one in run):>9,}  "
    )
    yield from _wrap(head + carries, " " * 52) if carries else [head.rstrip()]


def _describe_omissions(document: Dissection, before: Rung, behind: Rung) -> Iterator[str]:
    """A line for exchanges between the opening of a connection and the one shown, or behind it."""
    of = document.timeline_of
    if of is None:
        return
    count = of.exchange
    if before.phase == packet_timeline.EXCHANGE:
        own = next((flow for flow in document.flows.list if flow.flow == of.flow), None)
        count = own.exchanges - of.exchange - 1 if own is not None else 0
    if count > 0:
        yield f"{'…':>8} {format_count(count, 'exchange')}, {_time(behind.at_us - before.at_us)}"


def _time(microseconds: float) -> str:
    return quantity(microseconds * 1e3, "ns") if microseconds else "0"
