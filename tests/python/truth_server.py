"""An HTTP/1.1 server of known behaviour, which writes down what it did.

``python truth_server.py LOG [NAME=NUMBER ...]`` prints its port, and writes counts as JSON to
LOG with the 100th reply, and when it ends. Each reply takes 5 ms.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

THINK_S = 0.005
FAULTS = {
    "close_every": 0,  # every n-th reply has `Connection: close`
    "drop_every": 0,  # every n-th request gets FIN instead of a reply
    "error_every": 0,  # every n-th reply is 503
    "slow_every": 0,  # every n-th reply is later by slow_ms
    "slow_ms": 200,
    "mute_at_ms": 0,  # after the first request of a tool, only other clients get replies
    "freeze_at_ms": 0,  # after the first request nothing moves
    "freeze_ms": 0,
    "die_at_ms": 0,  # after the first request it ends
}


class Server:
    def __init__(self, log: Path, faults: dict[str, int]) -> None:
        self.log, self.faults = log, FAULTS | faults
        self.began = 0.0
        self.counts = dict.fromkeys(("requests", "replies", "dropped", "errors", "closes"), 0)

    def due(self, name: str) -> bool:
        every = self.faults[name]
        return bool(every) and self.counts["requests"] % every == 0

    def begin(self) -> None:
        loop = asyncio.get_running_loop()
        if self.faults["freeze_ms"]:
            loop.call_later(
                self.faults["freeze_at_ms"] / 1e3, time.sleep, self.faults["freeze_ms"] / 1e3
            )
        if self.faults["die_at_ms"]:
            loop.call_later(self.faults["die_at_ms"] / 1e3, self.end)

    def is_mute(self, head: bytes) -> bool:
        """Requests of other clients have a field of that name."""
        if not self.faults["mute_at_ms"] or b"\r\nother:" in head:
            return False
        self.began = self.began or time.monotonic()
        return time.monotonic() - self.began > self.faults["mute_at_ms"] / 1e3

    def write(self) -> None:
        self.log.write_text(json.dumps(self.counts), encoding="utf-8")

    def end(self) -> None:
        self.write()
        os._exit(0)


class Connection(asyncio.Protocol):
    def __init__(self, server: Server) -> None:
        self.server, self.received = server, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        while b"\r\n\r\n" in self.received:
            head, _, self.received = self.received.partition(b"\r\n\r\n")
            self.request(head.lower())

    def request(self, head: bytes) -> None:
        server = self.server
        server.counts["requests"] += 1
        if server.counts["requests"] == 1:
            server.begin()
        if server.is_mute(head):
            return
        think_s = THINK_S + server.due("slow_every") * server.faults["slow_ms"] / 1e3
        status = b"503 Unavailable" if server.due("error_every") else b"200 OK"
        kept = b"keep-alive" in head or b"http/1.1" in head
        closes = server.due("close_every") or not kept
        server.counts["closes"] += closes
        if server.due("drop_every"):
            asyncio.get_running_loop().call_later(think_s, self.drop)
            return
        asyncio.get_running_loop().call_later(think_s, self.reply, status, closes)

    def drop(self) -> None:
        self.server.counts["dropped"] += 1
        self.transport.close()

    def reply(self, status: bytes, closes: bool) -> None:
        if self.transport.is_closing():
            return
        counts = self.server.counts
        counts["replies"] += 1
        if counts["replies"] == 100:
            self.server.write()
        counts["errors"] += status.startswith(b"503")
        connection = b"close" if closes else b"keep-alive"
        self.transport.write(
            b"HTTP/1.1 "
            + status
            + b"\r\nContent-Length: 2\r\nConnection: "
            + connection
            + b"\r\n\r\nok"
        )
        if closes:
            self.transport.close()


@contextmanager
def run_server(folder: Path, **faults: int) -> Iterator[tuple[int, Path]]:
    """Its port, and the log that is there at its end."""
    log = folder / "server.json"
    words = [sys.executable, __file__, str(log), *(f"{k}={v}" for k, v in faults.items())]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield int(server.stdout.readline()), log
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(20)


async def serve(server: Server) -> None:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, server.end)
    listener = await loop.create_server(lambda: Connection(server), "127.0.0.1", 0)
    print(listener.sockets[0].getsockname()[1], flush=True)
    await listener.serve_forever()


if __name__ == "__main__":
    pairs = (word.split("=") for word in sys.argv[2:])
    asyncio.run(serve(Server(Path(sys.argv[1]), {name: int(value) for name, value in pairs})))
