"""One capture as a page that opens offline: where the time went, per connection and over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from wirelab.documents.dissection import Dissection, Flow, Series
from wirelab.errors import UsageError
from wirelab.format.counting import format_count
from wirelab.format.numbers import NONE, digits, quantity, sanitize
from wirelab.records.wire import PacketFinding
from wirelab.report import dissection_text
from wirelab.report.charts import packet_timeline
from wirelab.report.html_page import HtmlPage
from wirelab.report.section import Picture, Section, Table
from wirelab.report.sections import (
    packet_findings,
    packet_messages,
    packet_tail,
    packet_tls,
    packet_waits,
)
from wirelab.report.sections.packet_findings import Standing
from wirelab.report.sections.packet_waits import COLOURS, LABELS
from wirelab.run.directory import write_whole

TRIALS = "trials"
"""Folder of a run that holds its trials."""
SERVERS_MAX = 2
"""Servers that a title names."""
CONNECTIONS_MAX = 40
"""Connections that are drawn, and listed."""
_WIDTH, _LEFT, _ROW, _PANEL = 900, 190, 22, 150


def write(document: Dissection, file: Path, standing: Standing | None = None) -> None:
    """Writes the page, whole or not at all. Raises :class:`UsageError`."""
    try:
        write_whole(file, html(document, standing))
    except OSError as error:
        raise UsageError(
            f"--report {file} cannot be written: {error.strerror}",
            "name a file in a folder that exists and can be written",
        ) from error


def html(document: Dissection, standing: Standing | None = None) -> str:
    """The page as text."""
    findings = [PacketFinding.of(finding) for finding in document.findings]
    sections = [
        packet_waits.section(document.waits, packet_waits.summarize_seen(document)),
        packet_findings.section(findings, document.exchanges.count, standing or Standing()),
        _connections(document),
        _draw_over_time(document.series),
        _calls(document),
        packet_tail.section(document.slowest),
        packet_messages.section(document.messages),
        _exchange(document),
    ]
    return HtmlPage(
        title(document),
        [section for section in sections if section is not None],
        kind="capture",
        facts=list(_facts(document)),
    ).html()


def title(document: Dissection) -> str:
    """``orders.pcapng, 2026-11-26 10:00 UTC``: the file, or the trial of a run, or the servers of
    what passed live; then when its first packet was captured."""
    file = Path(document.file)
    name = file.name
    if file.parent.parent.name == TRIALS:
        name = f"{file.parent.name}, {file.stem}"
    if not file.suffix:
        servers = list(dict.fromkeys(flow.server for flow in document.flows.list))[:SERVERS_MAX]
        name = " and ".join(filter(None, (name, ", ".join(servers))))
    at_ns = document.capture.first_at_ns
    if not at_ns:
        return name
    when = datetime.fromtimestamp(at_ns / 1e9, UTC)
    return f"{name}, {when:%Y-%m-%d %H:%M} UTC"


def _facts(document: Dissection) -> Iterator[tuple[str, str]]:
    capture = document.capture
    yield "Packets", f"{capture.packets:,}, {capture.tcp_packets:,} of them TCP"
    yield "Time", quantity(capture.seconds, "s")
    yield "Connections", f"{document.flows.count:,}"
    yield "Exchanges", f"{document.exchanges.count:,}"
    for warning in dissection_text.warnings(capture, document.exchanges):
        yield "Note", warning
    for sentence in packet_tls.sentences(document):
        yield "Encryption", sentence.removeprefix("TLS: ")


def _connections(document: Dissection) -> Section | None:
    flows = [flow for flow in document.flows.list if flow.waits][:CONNECTIONS_MAX]
    if not flows:
        return None
    left = document.flows.count - len(flows)
    notes = ["Each row is one connection from its first packet to its last; colours as above."]
    if left:
        notes.append(f"{format_count(left, 'further connection')} not drawn.")
    rows = [
        (
            str(flow.flow),
            sanitize(flow.client),
            sanitize(flow.server),
            _protocol(flow),
            f"{flow.exchanges:,}",
            quantity(flow.time.elapsed_ms * 1e6, "ns") if flow.time else NONE,
            _main_part(flow),
        )
        for flow in flows
    ]
    columns = ("number", "client", "server", "protocol", "exchanges", "time", "largest part")
    table = Table(columns, rows, "Connections", (4, 5))
    return Section("Connections", notes, (table,), [_timelines(flows, document.capture.seconds)])


def _protocol(flow: Flow) -> str:
    return f"{flow.protocol} in TLS" if flow.is_tls and flow.protocol != "tls" else flow.protocol


def _main_part(flow: Flow) -> str:
    if flow.time is None:
        return NONE
    parts = packet_waits.shares(flow.time)
    if not parts:
        return NONE
    return f"{LABELS.get(parts[0].part, parts[0].part)}, {100 * parts[0].share:.0f} %"


def _timelines(flows: Sequence[Flow], seconds: float) -> Picture:
    whole_ms = max(seconds * 1e3, max(flow.waits[-1].to_ms for flow in flows), 1e-6)
    room = _WIDTH - _LEFT - 10
    height = 30 + _ROW * len(flows)
    drawn = [_svg(height)]
    for place, flow in enumerate(flows):
        y = 24 + place * _ROW
        label = f"{flow.flow}: {sanitize(flow.server)}"
        drawn.append(f'<text x="0" y="{y + 12}" fill="currentColor">{escape(label[:30])}</text>')
        for span in flow.waits:
            x = _LEFT + room * span.from_ms / whole_ms
            width = max(0.4, room * (span.to_ms - span.from_ms) / whole_ms)
            ms = span.to_ms - span.from_ms
            hint = f"{LABELS.get(span.part, span.part)}: {quantity(ms * 1e6, 'ns')}"
            drawn.append(
                f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{_ROW - 6}" '
                f'fill="{COLOURS.get(span.part, "#888888")}"><title>{escape(hint)}</title></rect>'
            )
    drawn += _time_axis(whole_ms, height)
    alt = "; ".join(f"connection {flow.flow}: {_main_part(flow)}" for flow in flows[:12])
    return Picture("".join([*drawn, "</svg>"]), "Connections over time", alt, wide=True)


def _time_axis(whole_ms: float, height: int) -> Iterator[str]:
    room = _WIDTH - _LEFT - 10
    for tick in range(5):
        x = _LEFT + room * tick / 4
        anchor = ("start", "middle", "middle", "middle", "end")[tick]
        text = quantity(whole_ms * tick / 4 * 1e6, "ns") if tick else "0"
        yield (
            f'<line x1="{x:.1f}" y1="18" x2="{x:.1f}" y2="{height - 4}" stroke="#99999966"/>'
            f'<text x="{x:.1f}" y="12" text-anchor="{anchor}" fill="currentColor">'
            f"{escape(text)}</text>"
        )


def _draw_over_time(series: Series) -> Section | None:
    if not series.request_bytes:
        return None
    pictures = [
        _curve("Payload from clients to servers", series.request_bytes, series.bin_ms, rate=True),
        _curve("Payload from servers to clients", series.reply_bytes, series.bin_ms, rate=True),
        _curve("Smallest window that a client offered", series.client_window, series.bin_ms),
        _curve("Smallest window that a server offered", series.server_window, series.bin_ms),
    ]
    words = f"In bins of {quantity(series.bin_ms * 1e6, 'ns')}, over all connections."
    return Section("Throughput and windows over time", (words,), figures=pictures)


def _curve(
    title: str, values: Sequence[int | None], bin_ms: float, *, rate: bool = False
) -> Picture:
    """Bytes of each bin, or bytes per second."""
    factor = 1e3 / bin_ms if rate else 1.0
    known = [None if value is None else value * factor for value in values]
    top = max((value for value in known if value is not None), default=0.0) or 1.0
    width, height = 440, _PANEL
    room = width - 70
    step = room / max(1, len(known))
    drawn = [_svg(height, width)]
    for place, value in enumerate(known):
        if value is None:
            continue
        bar = (height - 40) * value / top
        y = height - 22 - bar
        drawn.append(
            f'<rect x="{62 + place * step:.2f}" y="{y:.2f}" width="{max(0.5, step):.2f}" '
            f'height="{max(0.6, bar):.2f}" fill="#0072B2"/>'
        )
    unit = "B/s" if rate else "B"
    most = f"{digits(top)} {unit}" if top < 1000 else f"{quantity(top, 'B')}{'/s' if rate else ''}"
    end = quantity(len(known) * bin_ms * 1e6, "ns")
    drawn.append(
        f'<text x="58" y="24" text-anchor="end" fill="currentColor">{escape(most)}</text>'
        f'<text x="58" y="{height - 22}" text-anchor="end" fill="currentColor">0</text>'
        f'<text x="62" y="{height - 6}" fill="currentColor">0</text>'
        f'<text x="{width - 8}" y="{height - 6}" text-anchor="end" fill="currentColor">'
        f"{escape(end)}</text>"
        f'<line x1="62" y1="{height - 22}" x2="{width - 8}" y2="{height - 22}" stroke="#999999"/>'
    )
    return Picture("".join([*drawn, "</svg>"]), title, f"{title}: at most {most}")


def _svg(height: int, width: int = _WIDTH) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">'
    )


def _calls(document: Dissection) -> Section | None:
    named = document.exchanges.by_name
    if not named:
        return None
    rows = [
        (
            sanitize(call.name) or call.protocol,
            f"{call.count:,}",
            *dissection_text.times(call.latency_us),
            digits(call.request_message_bytes + call.request_overhead_bytes),
            digits(call.reply_message_bytes + call.reply_overhead_bytes),
        )
        for call in named[:CONNECTIONS_MAX]
    ]
    columns = ("exchange", "count", "min", "median", "p99", "max", "bytes sent", "bytes back")
    return Section("Exchanges", tables=(Table(columns, rows, "", tuple(range(1, 8))),))


def _exchange(document: Dissection) -> Section | None:
    name = (document.timeline_of and document.timeline_of.name) or "exchange"
    drawn = packet_timeline.picture(document, sanitize(name))
    return None if drawn is None else Section("Packets of one exchange", figures=(drawn,))
