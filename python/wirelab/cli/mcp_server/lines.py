"""Standard input as lines of bounded length, without a thread that delays the end of the server."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import anyio

LINE_BYTES_MAX = 4 * 2**20
"""Longest request. The longest body of a tool has a quarter of that."""
CHUNK_BYTES = 65_536
TOO_LONG = "(a line that is too long)\n"
"""Replaces such a line. It is not JSON, so the client receives a parse error."""


class Lines:
    """Asynchronous iterator over the lines of a descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def __aiter__(self) -> AsyncIterator[str]:
        buffer, is_too_long = bytearray(), False
        while chunk := await self._chunk():
            *ended, rest = chunk.split(b"\n")
            for part in ended:
                buffer += part
                yield TOO_LONG if is_too_long else buffer.decode(errors="replace") + "\n"
                buffer, is_too_long = bytearray(), False
            buffer += rest
            if len(buffer) > LINE_BYTES_MAX:
                buffer, is_too_long = bytearray(), True

    async def _chunk(self) -> bytes:
        """The next bytes; empty at the end."""
        try:
            await anyio.wait_readable(self._descriptor)
        except PermissionError:  # a regular file, which is always readable (epoll_ctl(2), EPERM)
            await anyio.lowlevel.checkpoint()
        return os.read(self._descriptor, CHUNK_BYTES)
