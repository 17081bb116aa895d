"""The time from a request to the first byte of its reply, by turns of a connection."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bench.foreign.tshark import ACK, RST, SYN, Packet, Stream

MESSAGES_OF_HTTP2 = {"0", "1", "9"}
"""DATA, HEADERS and CONTINUATION (RFC 9113 section 6); the others are of the connection."""

READ_BY_TURNS = {
    "http": "http1",
    "http2": "http2",
    "pgsql": "postgresql",
    "mysql": "mysql",
    "redis": "redis",
    "resp": "redis",
    "mqtt": "mqtt",
}
"""Protocols whose replies wait for requests, by their names in tshark; ours."""


@dataclass(frozen=True)
class Turns:
    """What a connection shows without any parser."""

    protocol: str
    waited_ms: float
    """From the last byte of each request to the first of its reply, in all."""
    hello_ms: float
    """From the ClientHello to the first byte of the server, where there is one."""


def protocol_of(stream: Stream) -> str:
    """By tshark's dissectors; empty for one whose turns show nothing."""
    seen = frozenset[str]().union(*(packet.protocols for packet in stream.packets))
    if "tls" in seen:
        return "tls"
    known = {ours for name, ours in READ_BY_TURNS.items() if name in seen}
    if known == {"http1", "http2"}:
        return ""
    return known.pop() if len(known) == 1 else ""


def is_plain(stream: Stream) -> bool:
    """The turns alone show the waits: the connection is there from its SYN on, both sides are,
    and nothing was lost, reordered or held back."""
    first, *others = stream.packets
    opened = first.flags & (SYN | ACK) == SYN
    disturbed = any(
        packet.is_retransmission
        or packet.is_out_of_order
        or packet.is_probe
        or packet.is_zero_window
        or packet.flags & RST
        for packet in stream.packets
    )
    ordered = all(
        one.at_ms <= other.at_ms for one, other in zip(stream.packets, others, strict=False)
    )
    both = {packet.source for packet in stream.packets if packet.payload}
    return opened and not disturbed and ordered and len(both) == 2


def divide(stream: Stream) -> Turns:
    """The times of a plain connection."""
    protocol = protocol_of(stream)
    client = stream.packets[0].source
    waited = hello = 0.0
    # The server may speak first: it does so once the handshake is complete.
    asked: Packet | None = next(_completions(stream, client), None)
    for packet in _messages(stream, protocol):
        if packet.source == client:
            asked = packet
        elif asked is not None:
            waited += packet.at_ms - asked.at_ms
            hello += packet.at_ms - asked.at_ms if asked.is_client_hello else 0.0
            asked = None
    return Turns(protocol, waited, hello)


def _completions(stream: Stream, client: tuple[str, str]) -> Iterator[Packet]:
    return (p for p in stream.packets if p.source == client and not p.flags & SYN)


def _messages(stream: Stream, protocol: str) -> Iterator[Packet]:
    for packet in stream.packets:
        if not packet.payload:
            continue
        if (
            protocol == "http2"
            and packet.http2_types
            and not packet.http2_types & MESSAGES_OF_HTTP2
        ):
            continue
        yield packet
