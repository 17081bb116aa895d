"""Connections of the two logs put together, and the exchanges on them.

An exchange is found from the order of the calls alone: the client's first send
after it has received something begins the next one. Where HTTP/2 is spoken,
buffers of control frames are left out. That holds where a connection carries
one call at a time; of others (pipelined, multiplexed) the exchanges are not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.ground_truth.syscalls.endpoints import Endpoint, Process, Transfer

REQUEST, REPLY = "request", "reply"


@dataclass(frozen=True)
class Message:
    """One message: how its sender handed it over and how its receiver took it."""

    sends: tuple[Transfer, ...]
    receives: tuple[Transfer, ...]
    """All that gave at least one byte of it."""

    @property
    def start(self) -> int:
        return self.sends[0].start

    @property
    def end(self) -> int:
        return self.sends[-1].end

    @property
    def bytes(self) -> int:
        return sum(send.bytes for send in self.sends)


@dataclass(frozen=True)
class Exchange:
    """A request and its reply."""

    ordinal: int
    request: Message
    reply: Message | None
    begun: int
    """When its first send was made, or, of the first on a connection, connect()."""

    @property
    def ns(self) -> int:
        """From its beginning to the last receive of the reply."""
        receives = (self.reply or self.request).receives
        until = receives[-1].ended if receives else self.request.sends[-1].ended
        return until - self.begun


@dataclass(frozen=True)
class Connection:
    """Both ends of one connection."""

    client: Endpoint
    server: Endpoint
    exchanges: tuple[Exchange, ...]

    @property
    def port(self) -> int:
        """The client's, by which the packets know the connection."""
        return int(self.client.ends[0].rpartition(":")[2])

    def sides(self, direction: str) -> tuple[Endpoint, Endpoint]:
        """Sender and receiver of that direction."""
        if direction == REQUEST:
            return self.client, self.server
        return self.server, self.client


@dataclass(frozen=True)
class Conversation:
    """All that client and server said to each other."""

    client: Process
    server: Process
    connections: tuple[Connection, ...]

    def receiver(self, direction: str) -> Process:
        return self.server if direction == REQUEST else self.client

    def sender(self, direction: str) -> Process:
        return self.client if direction == REQUEST else self.server


def put_together(
    client: Process, server: Process, *, is_http2: bool, is_serial: bool
) -> Conversation:
    """Pairs the ends. Connections that one log alone knows are none of this conversation:
    the service's call to itself before it is ready, or a call of another client."""
    connections = []
    for ends, near in client.endpoints.items():
        far = server.endpoints.get((ends[1], ends[0]))
        if far is not None:
            exchanges = tuple(_exchanges(near, far, is_http2)) if is_serial else ()
            connections.append(Connection(near, far, exchanges))
    return Conversation(client, server, tuple(connections))


def _exchanges(client: Endpoint, server: Endpoint, is_http2: bool) -> Iterator[Exchange]:
    requests = _requests(client, is_http2)
    replies = [send for send in server.sends if not _is_control(send, is_http2)]
    for ordinal, sends in enumerate(requests):
        request = Message(sends, _find_receives(server.receives, sends))
        since = request.receives[0].ended if request.receives else None
        until = None
        if ordinal + 1 < len(requests):
            following = _find_receives(server.receives, requests[ordinal + 1])
            until = following[0].ended if following else None
        own = [
            send
            for send in replies
            if since is not None and send.at >= since and (until is None or send.at < until)
        ]
        reply = Message(tuple(own), _find_receives(client.receives, own)) if own else None
        opening = client.connect if ordinal == 0 else None
        begun = opening.at if opening is not None else sends[0].at
        yield Exchange(ordinal, request, reply, begun)


def _requests(client: Endpoint, is_http2: bool) -> list[tuple[Transfer, ...]]:
    """The sends of each request."""
    found: list[list[Transfer]] = []
    stream = 0
    for send in client.sends:
        if _is_control(send, is_http2):
            continue
        if is_http2:
            opened = opens_stream(send.prefix, stream)
            is_new = opened is not None
            stream = opened or stream
        else:
            is_new = not found or _has_received_between(client, found[-1][-1].ended, send.at)
        if is_new:
            found.append([send])
        elif found:
            found[-1].append(send)
    return [tuple(sends) for sends in found]


def _has_received_between(endpoint: Endpoint, start: int, end: int) -> bool:
    return any(start <= receive.ended <= end for receive in endpoint.receives)


def _is_control(send: Transfer, is_http2: bool) -> bool:
    return is_http2 and is_control_only(send.prefix, send.bytes)


def _find_receives(receives: Sequence[Transfer], sends: Sequence[Transfer]) -> tuple[Transfer, ...]:
    """The receives that gave a byte of these sends."""
    if not sends:
        return ()
    start, end = sends[0].start, sends[-1].end
    return tuple(one for one in receives if one.start < end and one.end > start)


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADER_BYTES = 9
HEADERS, WINDOW_UPDATE = 1, 8
CONTROL = frozenset((2, 3, 4, 6, 7, WINDOW_UPDATE))
"""PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE: no part of a message."""


def frames(buffer: bytes) -> Iterator[tuple[int, int, int]]:
    """Type, stream and length of the payload of each frame whose header can be seen in a
    buffer that begins with one."""
    offset = len(PREFACE) if buffer.startswith(PREFACE) else 0
    while offset + HEADER_BYTES <= len(buffer):
        length = int.from_bytes(buffer[offset : offset + 3], "big")
        stream = int.from_bytes(buffer[offset + 5 : offset + 9], "big") & 0x7FFF_FFFF
        yield buffer[offset + 3], stream, length
        offset += HEADER_BYTES + length


def is_control_only(buffer: bytes, bytes_total: int) -> bool:
    """The whole buffer, of which the first bytes are seen, holds control frames alone."""
    offset = len(PREFACE) if buffer.startswith(PREFACE) else 0
    for kind, _, length in frames(buffer):
        if kind not in CONTROL:
            return False
        offset += HEADER_BYTES + length
    return offset == bytes_total


def opens_stream(buffer: bytes, after: int) -> int | None:
    """The stream that this buffer of a client opens, newer than ``after``; None when it
    begins with anything but control frames and HEADERS."""
    for kind, stream, length in frames(buffer):
        if kind == HEADERS and stream % 2 == 1 and stream > after and length < 1 << 14:
            return stream
        if kind not in CONTROL:
            return None
    return None
