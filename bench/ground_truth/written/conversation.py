"""A capture in the making: what both sides send, when, and what they wait for."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Literal

from bench.ground_truth.written.frames import (
    ACK,
    DNS_PORT,
    FIN,
    PSH,
    RST,
    SYN,
    TCP,
    TTL,
    UDP,
    US_PER_S,
    Frame,
    dns,
    ethernet,
    ipv4,
    pcap,
    tcp,
    udp,
)

Side = Literal["client", "server"]
SIDES: tuple[Side, Side] = ("client", "server")
MS = 1_000
SECOND = 1_000 * MS
BEGIN_US = 1_700_000_000 * US_PER_S
WINDOW_SHIFT = 7
MSS = 1_460
RESOLVER = IPv4Address("10.0.0.53")


@dataclass
class Connection:
    """Its numbers, and what its sides announce. Lists are by side: client, server."""

    hosts: tuple[IPv4Address, IPv4Address]
    ports: tuple[int, int]
    to_client_us: int
    """From the capture to the client and back."""
    to_server_us: int
    next: list[int]
    acknowledged: list[int] = field(default_factory=lambda: [0, 0])
    windows: list[int] = field(default_factory=lambda: [8_000, 8_000])
    """As in headers: units of 128 B."""
    ids: list[int] = field(default_factory=lambda: [0, 0])

    @property
    def rtt_us(self) -> int:
        """From end to end and back."""
        return self.to_client_us + self.to_server_us


class Conversation:
    """Packets and the true account of their time. Times are microseconds."""

    def __init__(self, seed: str) -> None:
        """`seed` decides every length, size, address and pause."""
        self.random = random.Random(seed)
        self.frames: list[Frame] = []
        self.parts: Counter[str] = Counter()
        """True time by part of the account, microseconds."""
        self.gaps_us: list[int] = []
        """True times before messages inside streams; empty where there are none."""
        self.now_us = BEGIN_US + self.random.randrange(US_PER_S)
        self.snap = 65_535
        self.hidden: frozenset[str] = frozenset()
        """Sides whose packets the capture lacks."""
        self.ids: Literal["zero", "host", "connection"] = "zero"
        self.connections = 0
        self._host_ids = [self.random.randrange(1 << 16) for _ in SIDES]
        net, host = self.random.randrange(1, 200), self.random.randrange(2, 250)
        self._client, self._server = (IPv4Address(f"10.{net}.{side}.{host}") for side in (1, 2))

    def connect(
        self, to_client_us: int | None = None, to_server_us: int | None = None
    ) -> Connection:
        """A connection of which nothing was sent yet; a capture at the client where the ways are
        not given."""
        self.connections += 1
        return Connection(
            (self._client, self._server),
            (40_000 + self.random.randrange(100) * 100 + self.connections, 8_000),
            self.random.randrange(20, 60) if to_client_us is None else to_client_us,
            self.random.randrange(150, 900) if to_server_us is None else to_server_us,
            [self.random.randrange(1 << 31) for _ in SIDES],
            ids=[self.random.randrange(1 << 16) for _ in SIDES],
        )

    def open(self, to_client_us: int | None = None, to_server_us: int | None = None) -> Connection:
        """The same with its handshake."""
        connection = self.connect(to_client_us, to_server_us)
        self.shake_hands(connection)
        return connection

    def shake_hands(self, connection: Connection) -> None:
        """SYN, its answer, and the acknowledgment of that."""
        self.put(connection, "client", SYN)
        self.wait(connection.to_server_us, "connecting")
        self.put(connection, "server", SYN | ACK)
        self.wait(connection.to_client_us, "connecting")
        self.ack(connection, "client")

    def wait(self, us: float, *parts: str) -> None:
        """Time passes, on as many connections as there are parts."""
        self.now_us += round(us)
        for part in parts:
            self.parts[part] += round(us)

    def pause(self, low_ms: float, high_ms: float, *parts: str) -> int:
        """The same for a random time; returns it, microseconds."""
        us = round(self.random.uniform(low_ms, high_ms) * MS)
        self.wait(us, *parts)
        return us

    def send(self, connection: Connection, side: Side, payload: bytes) -> None:
        """Payload."""
        self.put(connection, side, PSH | ACK, payload)

    def ack(self, connection: Connection, side: Side) -> None:
        """All of the other side."""
        self.put(connection, side, ACK)

    def end(self, connection: Connection, side: Side) -> None:
        """FIN."""
        self.put(connection, side, FIN | ACK)

    def reset(self, connection: Connection, side: Side) -> None:
        """RST."""
        self.put(connection, side, RST | ACK)

    def lose(self, connection: Connection, side: Side, payload: bytes) -> None:
        """Payload that is lost before the capture."""
        self.put(connection, side, PSH | ACK, payload)
        self.frames.pop()

    def repeat(self, connection: Connection, side: Side, payload: bytes) -> None:
        """The last payload again."""
        connection.next[SIDES.index(side)] -= len(payload)
        self.send(connection, side, payload)

    def probe(self, connection: Connection, side: Side) -> None:
        """A keep-alive probe: no byte, one number below the next (RFC 9293 section 3.8.4)."""
        own = SIDES.index(side)
        connection.next[own] -= 1
        self.put(connection, side, ACK)
        connection.next[own] += 1

    def ask(self, connection: Connection, request: bytes) -> None:
        """A request, and the way to the server and back."""
        self.send(connection, "client", request)
        self.wait(connection.to_server_us, "path")

    def answer(self, connection: Connection, reply: bytes, part: str) -> None:
        """A reply, and its acknowledgment, which the way to the client precedes."""
        self.send(connection, "server", reply)
        self.wait(connection.to_client_us, part)
        self.ack(connection, "client")

    def put(
        self,
        connection: Connection,
        side: Side,
        flags: int,
        payload: bytes = b"",
    ) -> None:
        """One packet, now."""
        own = SIDES.index(side)
        other = 1 - own
        if flags & ACK:
            connection.acknowledged[own] = connection.next[other]
        ends = (connection.hosts[own], connection.hosts[other])
        segment = tcp(
            ends,
            (connection.ports[own], connection.ports[other]),
            (connection.next[own], connection.acknowledged[own]),
            flags,
            60_000 if flags & SYN else connection.windows[own],
            payload,
            _SYN_OPTIONS if flags & SYN else b"",
        )
        # SYN and FIN take a number each (RFC 9293 section 3.4).
        length = len(payload) + bool(flags & (SYN | FIN))
        connection.next[own] = (connection.next[own] + length) % (1 << 32)
        packet = ipv4(ends, TCP, segment, self._next_id(connection, own), TTL)
        if side not in self.hidden:
            self.frames.append(Frame(self.now_us, ethernet(packet)))

    def _next_id(self, connection: Connection, own: int) -> int:
        if self.ids == "zero":
            return 0
        counters = self._host_ids if self.ids == "host" else connection.ids
        counters[own] = (counters[own] + 1) % (1 << 16)
        return counters[own]

    def query(self, number: int, name: str, kind: int) -> None:
        """To the resolver, for addresses of a kind (1: A, 28: AAAA)."""
        message = dns(number, 0x0100, name, kind, None)
        self._datagram((self._client, RESOLVER), (50_000, DNS_PORT), message)

    def resolve(self, number: int, name: str, kind: int, *, has_address: bool = True) -> None:
        """The resolver's answer."""
        address = self._server if has_address and kind == 1 else None
        code = 0x8180 if has_address else 0x8183
        message = dns(number, code, name, kind, address)
        self._datagram((RESOLVER, self._client), (DNS_PORT, 50_000), message)

    def _datagram(
        self, ends: tuple[IPv4Address, IPv4Address], ports: tuple[int, int], payload: bytes
    ) -> None:
        packet = ipv4(ends, UDP, udp(ports, payload))
        self.frames.append(Frame(self.now_us, ethernet(packet)))

    def file(self) -> bytes:
        """The capture, as pcap."""
        return pcap(self.frames, self.snap)


_SYN_OPTIONS = bytes([2, 4, MSS >> 8, MSS & 0xFF, 1, 3, 3, WINDOW_SHIFT])
"""MSS and window scale (RFC 7323)."""


def write_request(random_: random.Random, method: str = "GET", fields: str = "") -> bytes:
    """A request of HTTP/1.1 without a body."""
    path = f"/{random_.choice(['item', 'cart', 'user'])}/{random_.randrange(10_000)}"
    return f"{method} {path} HTTP/1.1\r\nHost: shop.test\r\n{fields}\r\n".encode()


def write_reply(body: int, status: str = "200 OK", fields: str = "") -> bytes:
    """A reply of HTTP/1.1 with a length."""
    head = f"HTTP/1.1 {status}\r\n{fields}Content-Length: {body}\r\n\r\n"
    return head.encode() + b"x" * body
