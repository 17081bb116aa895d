"""An HTTP/1.1 server with one known defect, which logs every request.

Started as ``python -m bench.judge.server DEFECT LOG [CERTIFICATE KEY]``; prints its port. It takes
5 ms for a request, and writes one line of JSON for each: connection, begin, duration, status. A
request without a reply has no status.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TextIO

SERVICE_S = 0.005
TAIL_S = 0.2
FREEZE_S = 1.0
FREEZE_AT = 200
"""The request at which it freezes."""
DRAIN_S = 0.5
DEFECTS = ("fixed", "tail", "freeze", "close", "drop", "error")
_BODY = b"ok"


@dataclass(frozen=True)
class Reply:
    """How one request is answered."""

    seconds: float = SERVICE_S
    status: int | None = 200
    """None: the connection is closed instead."""
    closes: bool = False

    def encode(self, closes: bool) -> bytes:
        """Head and body. A client of HTTP/1.0 keeps a connection only if the reply asks for it."""
        reason = {200: "OK", 503: "Service Unavailable"}[self.status or 200]
        persistence = f"Connection: {'close' if closes else 'keep-alive'}\r\n"
        length = f"Content-Length: {len(_BODY)}\r\n"
        head = f"HTTP/1.1 {self.status} {reason}\r\n{length}{persistence}\r\n"
        return head.encode() + _BODY


_REPLIES: dict[str, Callable[[int], Reply]] = {
    "fixed": lambda _: Reply(),
    "freeze": lambda _: Reply(),
    "tail": lambda n: Reply(SERVICE_S + TAIL_S) if n % 100 == 0 else Reply(),
    "close": lambda n: Reply(closes=n % 10 == 0),
    "drop": lambda n: Reply(status=None if n % 100 == 0 else 200, closes=n % 100 == 0),
    "error": lambda n: Reply(status=503 if n % 10 == 0 else 200),
}


class Server:
    """Counts requests over all connections, from 1."""

    def __init__(self, defect: str, log: TextIO) -> None:
        self._reply = _REPLIES[defect]
        self._freezes = defect == "freeze"
        self._log = log
        self._count = 0
        self._connections = 0
        self._thaws_at = 0.0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection to its end."""
        self._connections += 1
        connection = self._connections
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                if not await self._answer_one(connection, head, writer):
                    break
        writer.close()

    async def _answer_one(self, connection: int, head: bytes, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection stays open."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        self._count += 1
        reply = self._reply(self._count)
        if self._freezes and self._count == FREEZE_AT:
            self._thaws_at = began + FREEZE_S
        await asyncio.sleep(max(reply.seconds, self._thaws_at - began))
        closes = reply.closes or (head.startswith(b"GET / HTTP/1.0") and b"eep-" not in head)
        closes = closes or b"onnection: close" in head
        if reply.status is not None:
            writer.write(reply.encode(closes))
            await writer.drain()
        line = [connection, began, loop.time() - began, reply.status]
        self._log.write(f"{json.dumps(line)}\n")
        return not closes and reply.status is not None


async def serve(defect: str, log: TextIO, context: ssl.SSLContext | None) -> None:
    """Until it is ended. Prints the port."""
    served = Server(defect, log)
    server = await asyncio.start_server(served.answer, "127.0.0.1", 0, backlog=4096, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    loop = asyncio.get_running_loop()
    # The end of standard input is the request to end: no signal can be lost.
    await loop.run_in_executor(None, sys.stdin.read)
    await asyncio.sleep(DRAIN_S)
    log.flush()
    server.close()


def main() -> None:
    """Serves until standard input ends."""
    defect, file, *secure = sys.argv[1:]
    context = None
    if secure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*secure)
    with open(file, "w", encoding="utf-8") as log:  # noqa: PTH123 - one name for all modes
        asyncio.run(serve(defect, log, context))


if __name__ == "__main__":
    main()
