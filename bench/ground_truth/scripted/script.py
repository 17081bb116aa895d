"""What both sides of scripted conversations share: plans with notes, and HTTP/1.1 by hand."""

from __future__ import annotations

import random
import socket
import struct
import time
from dataclasses import dataclass, field

CONTENT = b"x" * 600
HEAD = b"Content-Type: text/plain\r\n"
REQUEST = b"GET /item HTTP/1.1\r\nHost: service\r\n\r\n"
UPLOAD = b"POST /item HTTP/1.1\r\nHost: service\r\n" + HEAD + b"Content-Length: 600\r\n\r\n"
REPLY = b"HTTP/1.1 200 OK\r\n" + HEAD + b"Content-Length: 600\r\n\r\n"
FOUND = b"HTTP/1.1 302 Found\r\nLocation: /item\r\nContent-Length: 0\r\n\r\n"
LARGE_REPLY, ENDLESS_REPLY = (
    REPLY.replace(b"600", str(size).encode()) + b"x" * size for size in (1 << 18, 1 << 23)
)
PAUSE_S = (0.15, 0.4)
IDLE_S = (1.1, 1.5)
_DUPLICATES = slice(216, 220)
"""Of ``struct tcp_info``: ``tcpi_dsack_dups``, a number of the machine's own byte order."""


@dataclass
class Script:
    """What one side of one connection does by plan."""

    random: random.Random
    waits: list[tuple[str, float]] = field(default_factory=list)
    """Cause and milliseconds; 0 where the cause has no length of its own."""

    def pause(self, cause: str, bounds: tuple[float, float] = PAUSE_S) -> None:
        """Sleeps for a random time, as an occurrence of ``cause``."""
        began = time.monotonic()
        time.sleep(self.random.uniform(*bounds))
        self.note(cause, 1e3 * (time.monotonic() - began))

    def note(self, cause: str, ms: float = 0.0) -> None:
        """An occurrence."""
        self.waits.append((cause, ms))

    def note_repetitions(self, connection: socket.socket) -> None:
        """Notes whether this side's kernel has counted a repetition in vain (RFC 2883), to be
        called before the connection is closed."""
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _DUPLICATES.stop)
        if struct.unpack("=I", info[_DUPLICATES])[0]:
            self.note("spurious-retransmission")


def read_head(connection: socket.socket) -> bytes:
    """Up to the empty line; empty at the end of the connection."""
    head = b""
    while b"\r\n\r\n" not in head:
        got = connection.recv(65_536)
        if not got:
            return b""
        head += got
    return head


def read_reply(connection: socket.socket) -> None:
    """A whole reply with a length."""
    got = read_head(connection)
    head, _, body = got.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    while len(body) < length:
        more = connection.recv(65_536)
        if not more:
            return
        body += more
