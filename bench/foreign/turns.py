"""The time from a request to the first byte of its reply, by turns of a connection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.foreign.tshark import ACK, FIN, RST, SYN, Packet, Stream

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
    returned_ms: float
    """The way of the last segment of each reply to the client, until the client asks again or
    closes, in all."""
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
    and nothing was lost, reordered, held back or missed by the capture."""
    first, *others = stream.packets
    opened = first.flags & (SYN | ACK) == SYN
    disturbed = any(
        packet.is_retransmission
        or packet.is_out_of_order
        or packet.follows_gap
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


def divide(stream: Stream, ways: Sequence[float]) -> Turns:
    """The times of a plain connection. `ways`: for each packet, how long the way to the client
    and back takes, as far as known then, ms."""
    protocol = protocol_of(stream)
    client = stream.packets[0].source
    waited = hello = 0.0
    # The server may speak first: it does so once the handshake is complete.
    asked: Packet | None = next(_completions(stream, client), None)
    for packet in stream.packets:
        if not _is_message(packet, protocol):
            continue
        if packet.source == client:
            asked = packet
        elif asked is not None:
            waited += packet.at_ms - asked.at_ms
            hello += packet.at_ms - asked.at_ms if asked.is_client_hello else 0.0
            asked = None
    return Turns(protocol, waited, _measure_return_ms(stream, protocol, ways), hello)


def _measure_return_ms(stream: Stream, protocol: str, ways: Sequence[float]) -> float:
    client = stream.packets[0].source
    returned, has_closed = 0.0, False
    replied: Packet | None = None
    for place, packet in enumerate(stream.packets):
        is_message = _is_message(packet, protocol)
        if packet.source != client:
            replied = packet if is_message else replied
            has_closed = has_closed or bool(packet.flags & FIN)
        # Once the server closes, nobody waits for the client to do so too.
        elif replied is not None and (is_message or (packet.flags & FIN and not has_closed)):
            way_ms = ways[_find_settling(stream, place)]
            returned += min(packet.at_ms - replied.at_ms, way_ms)
            replied = None
    return returned


def _find_settling(stream: Stream, place: int) -> int:
    """Place of the packet at which the dissection divides the time before that one: the next that
    is more than an acknowledgment. It knows the ways that it has seen up to then."""
    behind = range(place + 1, len(stream.packets))
    return next((later for later in behind if _ends_wait(stream.packets[later])), behind.stop - 1)


def _ends_wait(packet: Packet) -> bool:
    return packet.payload > 0 or packet.is_probe or bool(packet.flags & (SYN | FIN | RST))


def _completions(stream: Stream, client: tuple[str, str]) -> Iterator[Packet]:
    return (p for p in stream.packets if p.source == client and not p.flags & SYN)


def _is_message(packet: Packet, protocol: str) -> bool:
    if not packet.payload:
        return False
    types = packet.http2_types
    return protocol != "http2" or not types or bool(types & MESSAGES_OF_HTTP2)
