"""Lays a dissection next to what tshark reads, connection by connection."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.foreign.tshark import RST, Reading, Stream
from bench.foreign.turns import Turns, divide, is_plain
from bench.foreign.way import measure_ways
from wirelab.documents.dissection import Dissection, Flow

TOLERANCE_MS = 0.01
"""Both print microseconds."""
WAIT = "request to first byte"
"""With the way of each reply to the client, which the part ``path`` holds too."""
TIMED = frozenset({"http1", "http2", "postgresql", "mysql", "redis", "mqtt"})


@dataclass(frozen=True)
class Disagreement:
    """One figure of one connection, or of the file."""

    capture: str
    stream: int | None
    figure: str
    ours: float
    theirs: float
    ms: float
    """How much time is at stake; 0 for counts."""

    def text(self) -> str:
        """One line."""
        where = self.capture if self.stream is None else f"{self.capture} stream {self.stream}"
        return f"{self.ms:12.3f} ms  {where}: {self.figure}: {self.ours:g}, tshark {self.theirs:g}"


@dataclass(frozen=True)
class Compared:
    """One file."""

    figures: int
    """How many were compared."""
    timed: int
    """Connections whose waits were compared."""
    returned_ms: list[float]
    """Of those connections whose waits hold a way of replies to the client: how much."""
    disagreements: list[Disagreement]


def compare(capture: Path, document: Dissection, reading: Reading) -> Compared:
    """All figures that both have."""
    name = capture.name
    # Wireshark counts what a mirror port captured twice as sent twice.
    suffix = " (packets captured twice)" if document.capture.tcp.copies else ""
    pairs = [*_counts(document, reading), *_lookups(document, reading)]
    found = [
        Disagreement(name, None, figure + suffix, ours, theirs, 0.0)
        for figure, ours, theirs in pairs
        if abs(ours - theirs) > TOLERANCE_MS
    ]
    figures, timed = len(pairs), 0
    returned: list[float] = []
    ways = measure_ways(reading)
    # Both number connections in the order of their first packets. Where one sees more, the
    # numbers say nothing.
    if document.flows.count == len(reading.streams):
        for flow in document.flows.list:
            stream = reading.streams.get(flow.flow)
            if stream is None:
                continue
            turns = divide(stream, ways[flow.flow]) if is_plain(stream) else None
            for figure, ours, theirs in _times(flow, stream, turns):
                figures += 1
                timed += figure != "rtt"
                if turns and figure == WAIT and turns.returned_ms > TOLERANCE_MS:
                    returned.append(turns.returned_ms)
                if abs(ours - theirs) > TOLERANCE_MS:
                    gap = abs(ours - theirs)
                    found.append(Disagreement(name, flow.flow, figure + suffix, ours, theirs, gap))
    return Compared(figures, timed, returned, found)


def _counts(document: Dissection, reading: Reading) -> list[tuple[str, float, float]]:
    packets = [packet for stream in reading.streams.values() for packet in stream.packets]
    tcp = document.capture.tcp
    return [
        ("TCP packets", document.capture.tcp_packets, len(packets)),
        ("connections", document.flows.count, len(reading.streams)),
        ("retransmissions", tcp.retransmissions, sum(p.is_retransmission for p in packets)),
        ("out of order", tcp.out_of_order, sum(p.is_out_of_order for p in packets)),
        ("duplicate ACKs", tcp.duplicate_acknowledgments, sum(p.is_duplicate_ack for p in packets)),
        ("zero windows", tcp.zero_windows, sum(p.is_zero_window for p in packets)),
        ("resets", tcp.resets, sum(bool(p.flags & RST) for p in packets)),
    ]


def _lookups(document: Dissection, reading: Reading) -> Iterator[tuple[str, float, float]]:
    ours = [lookup.ms for lookup in document.names.slowest]
    if ours and reading.lookups_ms:
        yield "slowest lookup, ms", max(ours), max(reading.lookups_ms)


def _times(flow: Flow, stream: Stream, turns: Turns | None) -> Iterator[tuple[str, float, float]]:
    if stream.rtt_ms is not None and flow.rtt_us is not None:
        yield "rtt", flow.rtt_us / 1e3, stream.rtt_ms
    if flow.time is None or turns is None:
        return
    parts = flow.time.parts_ms
    if turns.protocol == flow.protocol and turns.protocol in TIMED:
        yield (
            WAIT,
            parts.get("server", 0) + parts.get("path", 0),
            turns.waited_ms + turns.returned_ms,
        )
    if flow.is_tls and turns.hello_ms:
        # The handshake holds this wait, and more.
        handshake = parts.get("tls-handshake", 0)
        yield "TLS hello", min(handshake, turns.hello_ms), turns.hello_ms
