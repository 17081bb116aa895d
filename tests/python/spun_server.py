"""A service of known capacity that uses its processor: one worker that spins for each call.

Started as ``spun_server.py PORT MILLISECONDS fixed|exponential|work LOG``. ``work`` spins for a
fixed CPU time, which takes longer where other processes use the core. Calls are answered one after
another. The seconds that each kept the worker busy, from reading it to writing its reply, are
appended to LOG as doubles: what the service could do follows from them and not from what was asked.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from array import array
from contextlib import suppress
from pathlib import Path

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
FLUSHED_EVERY = 100
"""Calls between two writes to the log."""


async def serve(port: int, seconds: float, kind: str, log: Path) -> None:
    """Until it is ended."""
    rng, busy = random.Random(7), array("d")
    clock = time.thread_time if kind == "work" else time.perf_counter

    def work() -> None:
        began = clock()
        lasts = rng.expovariate(1.0 / seconds) if kind == "exponential" else seconds
        while clock() - began < lasts:
            pass

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                began = time.perf_counter()
                work()
                writer.write(REPLY)
                busy.append(time.perf_counter() - began)
                if len(busy) >= FLUSHED_EVERY:
                    with log.open("ab") as file:
                        busy.tofile(file)
                    del busy[:]
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", port, backlog=4096)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), float(sys.argv[2]) / 1e3, sys.argv[3], Path(sys.argv[4])))
