"""Standard input as lines of bounded length, without a thread that delays the end of the server."""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator

import anyio
import mcp_types as types
from anyio import to_thread

LINE_BYTES_MAX = 4 * 2**20
"""Longest request. The longest body of a tool has a quarter of that."""
CHUNK_BYTES = 65_536
HEAD_BYTES = 1_024
"""Of a line that is too long, in which its id is looked for."""
PARSE_ERROR, INVALID_REQUEST = -32700, -32600
"""Codes of JSON-RPC 2.0, section 5.1."""
_ID = re.compile(
    r"\s*\{(?:\s*\"(?:jsonrpc|method)\"\s*:\s*\"[^\"\\]*\"\s*,)*\s*\"id\"\s*:\s*"
    r"(-?\d{1,15}|\"[^\"\\]{0,200}\")\s*[,}]"
)
"""The id of a request that cannot be read, in front of its parameters."""


class Replies:
    """Standard output, to which the protocol and refusals of lines are written."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = anyio.Lock()

    async def write(self, text: str) -> None:
        """Writes whole lines."""
        async with self._lock:
            await to_thread.run_sync(
                _write, self._descriptor, text.encode(), abandon_on_cancel=True
            )

    async def flush(self) -> None:
        """Nothing is left to be flushed."""


class Lines:
    """Asynchronous iterator over the messages of a descriptor. A line that is not a message is
    answered with an error, which the library does not do."""

    def __init__(self, descriptor: int, replies: Replies) -> None:
        self._descriptor = descriptor
        self._replies = replies

    async def __aiter__(self) -> AsyncIterator[str]:
        buffer, head = bytearray(), b""
        while chunk := await self._chunk():
            *ended, rest = chunk.split(b"\n")
            for part in ended:
                buffer += part
                refusal = _refuse_long(head) if head else _refuse(bytes(buffer))
                if refusal is None and buffer.strip():
                    yield buffer.decode() + "\n"
                elif refusal is not None:
                    await self._replies.write(refusal)
                buffer, head = bytearray(), b""
            buffer += rest
            if len(buffer) > LINE_BYTES_MAX:
                buffer, head = bytearray(), head or bytes(buffer[:HEAD_BYTES])

    async def _chunk(self) -> bytes:
        """The next bytes; empty at the end."""
        try:
            await anyio.wait_readable(self._descriptor)
        except PermissionError:  # a regular file, which is always readable (epoll_ctl(2), EPERM)
            await anyio.lowlevel.checkpoint()
        return os.read(self._descriptor, CHUNK_BYTES)


def _refuse(line: bytes) -> str | None:
    """The answer to a line that is not a message; None for a message or an empty line."""
    if not line.strip():
        return None
    try:
        text = line.decode()
        types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except UnicodeDecodeError:
        return _error(PARSE_ERROR, "it is not UTF-8", _id_of(line))
    except ValueError:
        return _refuse_text(text)
    return None


def _refuse_text(text: str) -> str:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as problem:
        return _error(PARSE_ERROR, f"it is not JSON: {problem}", _id_of(text.encode()))
    given = message.get("id") if isinstance(message, dict) else None
    is_id = isinstance(given, (int, str)) and not isinstance(given, bool)
    reason = "it is not a JSON-RPC 2.0 message"
    try:
        json.dumps(message, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        reason = "it has half a character (a single surrogate)"
    return _error(INVALID_REQUEST, reason, given if is_id else None)


def _refuse_long(head: bytes) -> str:
    return _error(PARSE_ERROR, f"the line has more than {LINE_BYTES_MAX:,} bytes", _id_of(head))


def _id_of(line: bytes) -> int | str | None:
    found = _ID.match(line.decode(errors="replace"))
    if found is None:
        return None
    known: int | str = json.loads(found[1])
    return known


def _error(code: int, reason: str, given: int | str | None) -> str:
    error = {"code": code, "message": f"the message cannot be read: {reason[:200]}"}
    return json.dumps({"jsonrpc": "2.0", "id": given, "error": error}) + "\n"


def _write(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
