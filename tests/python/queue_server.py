"""A service of known capacity: K workers, each busy for a fixed time per call.

Started as ``queue_server.py PORT WORKERS MILLISECONDS``. Workers / time is the most it answers in
a second; what arrives beyond waits in a queue.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def serve(port: int, workers: int, seconds: float) -> None:
    """Until it is ended."""
    free = asyncio.Queue[float]()
    for _ in range(workers):
        free.put_nowait(0.0)
    loop = asyncio.get_running_loop()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                arrived = loop.time()
                # Waking up late costs the worker no time: it begins when it was free.
                done_at = max(arrived, await free.get()) + seconds
                await asyncio.sleep(max(0.0, done_at - loop.time()))
                free.put_nowait(done_at)
                writer.write(REPLY)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", port, backlog=4096)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]) / 1000.0))
