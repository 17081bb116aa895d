"""A server of HTTP/1.1 that notes when requests come."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

REPLY = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class _Counter(asyncio.Protocol):
    """Answers requests without a body after a while, and notes when each came."""

    def __init__(self, arrivals: list[int], delay_s: float) -> None:
        self._arrivals = arrivals
        self._delay_s = delay_s
        self._transport: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        for _ in range(data.count(b"\r\n\r\n")):
            self._arrivals.append(time.monotonic_ns())
            asyncio.get_running_loop().call_later(self._delay_s, self._answer)

    def _answer(self) -> None:
        assert isinstance(self._transport, asyncio.WriteTransport)
        if not self._transport.is_closing():
            self._transport.write(REPLY)


@contextmanager
def serve_counting(delay_s: float) -> Iterator[tuple[str, list[int]]]:
    """Its address, and the times of arrivals, nanoseconds of CLOCK_MONOTONIC."""
    arrivals: list[int] = []
    loop = asyncio.new_event_loop()
    listening = loop.run_until_complete(
        loop.create_server(lambda: _Counter(arrivals, delay_s), "127.0.0.1", 0)
    )
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    host, port = listening.sockets[0].getsockname()
    try:
        yield f"{host}:{port}", arrivals
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10.0)
        listening.close()
        loop.close()
