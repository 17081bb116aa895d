"""A server of streams that notes when it sent what: the truth that measured streams are compared
with."""

from __future__ import annotations

import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

HEAD = "HTTP/1.1 200 OK\r\ncontent-type: {}\r\n"
EVENTS = "text/event-stream"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER of 0 s: close sends RST."""


@dataclass
class Request:
    """One request, the connection to answer it on, and the log of the answer."""

    connection: socket.socket
    received_ns: int
    sent_ns: list[int] = field(default_factory=list)
    """After each message."""
    size: int = 0
    """Bytes that were sent."""
    body: bytes = b""
    """Of a request with a content-length."""

    def head(self, framing: str = "transfer-encoding: chunked", kind: str = EVENTS) -> None:
        """Status and fields."""
        self.raw(f"{HEAD.format(kind)}{framing}\r\n\r\n".encode())

    def raw(self, content: bytes) -> None:
        """Bytes as they are."""
        self.connection.sendall(content)
        self.size += len(content)

    def chunk(self, content: bytes) -> None:
        """A chunk, in one segment."""
        self.raw(b"%x\r\n%b\r\n" % (len(content), content))

    def message(self, content: bytes) -> None:
        """A chunk that ends a message."""
        self.chunk(content)
        self.sent_ns.append(time.monotonic_ns())

    def end(self) -> None:
        """The last chunk."""
        self.raw(b"0\r\n\r\n")

    def reset(self) -> None:
        """Ends the connection with RST."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.connection.close()


Answer = Callable[[Request], None]


class StreamServer:
    """Answers every request on a connection, one after another."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.requests: list[Request] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}/"

    def close(self) -> None:
        """Takes no more connections."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while (body := self._read_request(connection)) is not None:
                request = Request(connection, time.monotonic_ns(), body=body)
                self.requests.append(request)
                self._answer(request)

    def _read_request(self, connection: socket.socket) -> bytes | None:
        """The body of the next request; None at the end of the connection."""
        read = b""
        while b"\r\n\r\n" not in read and not read.startswith(PREFACE):
            received = connection.recv(65536)
            if not received:
                return None
            read += received
        head, _, body = read.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        while length and len(body) < int(length[1]):
            body += connection.recv(65536)
        return body


@contextmanager
def stream_server(answer: Answer) -> Iterator[StreamServer]:
    """A server that answers that way, while the block lasts."""
    server = StreamServer(answer)
    try:
        yield server
    finally:
        server.close()


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """A frame of HTTP/2 (RFC 9113, section 4.1)."""
    length = len(payload).to_bytes(3, "big")
    return length + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload
