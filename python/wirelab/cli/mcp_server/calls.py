"""Runs tool calls, one at a time, each in a process that ends with its call."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from wirelab.cli.mcp_server.limits import Limits
from wirelab.cli.mcp_server.tools import accept
from wirelab.errors import LabError, UsageError
from wirelab.format.counting import format_count
from wirelab.format.units import format_seconds
from wirelab.process.children import Child, ProcessOptions, describe_exit

WORKER = (sys.executable, "-m", "wirelab.cli.mcp_server.worker")
WAITING_MAX = 8
"""Maximum number of calls that wait for their turn; more are refused."""
LINE_S = 0.2
"""Longest wait for a line of the worker before a cancellation is noticed."""
GRACE_S = 1.5
"""Time for a worker to end its own children after SIGTERM. The SDK's client kills the server 2 s
after it has closed its standard input."""

OnProgress = Callable[[float, float | None, str], Awaitable[None]]
"""Receives progress, total (None: unknown) and a message."""


class Calls:
    """The calls of one server."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._turn = anyio.Lock()
        self._waiting = 0

    async def run(
        self, tool: str, given: Mapping[str, Any], on_progress: OnProgress
    ) -> dict[str, Any]:
        """The result of a worker (:func:`.bounds.limit_size`). Raises :class:`WirelabError`."""
        accept(tool, given, self._limits)
        if self._waiting >= WAITING_MAX:
            raise UsageError(
                f"one call is running and {format_count(self._waiting, 'call')} are waiting",
                "parallel measurements disturb each other: call again when one has ended",
            )
        await self._wait(on_progress)
        try:
            return await self._run(tool, given, on_progress)
        finally:
            self._turn.release()

    async def _wait(self, on_progress: OnProgress) -> None:
        """Waits for the turn of this call."""
        try:
            self._turn.acquire_nowait()
        except anyio.WouldBlock:
            self._waiting += 1
            try:
                await on_progress(0, None, "waiting for the end of the call before this one")
                await self._turn.acquire()
            finally:
                self._waiting -= 1

    async def _run(
        self, tool: str, given: Mapping[str, Any], on_progress: OnProgress
    ) -> dict[str, Any]:
        limits = self._limits
        order = {"tool": tool, "parameters": dict(given), "limits": limits.to_json()}
        # Started by the main thread: the kernel reports the end of the thread that made a child
        # as the end of its parent (prctl(2), PR_SET_PDEATHSIG).
        child = Child(
            WORKER,
            ProcessOptions(log=Path(os.devnull), orphaned=signal.SIGTERM),
            stdin=subprocess.PIPE,
            stderr=2,
        )
        try:
            with anyio.move_on_after(limits.call_s) as timed:
                await to_thread.run_sync(child.say, json.dumps(order).encode() + b"\n")
                return await _result(child, on_progress)
            assert timed.cancelled_caught
            raise UsageError(
                f"{tool} was ended after {format_seconds(limits.call_s)}, the limit of this server",
                "ask for less, or start the server with a longer --time; runs/ keeps what a "
                "comparison has measured, and `directory` continues it",
            )
        finally:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(_end, child)


async def _result(child: Child, on_progress: OnProgress) -> dict[str, Any]:
    """Reads the lines of a worker to the last. Raises :class:`WirelabError`."""
    while line := await _line(child):
        message = json.loads(line)
        if "result" in message:
            result: dict[str, Any] = message["result"]
            return result
        if "error" in message:
            raise UsageError(message["error"])
        await on_progress(message["progress"], message["total"], message["message"])
    code = await to_thread.run_sync(child.wait, GRACE_S)
    end = "closed its output" if code is None else describe_exit(code)
    raise LabError(
        f"wirelab failed internally ({end})", "the server's standard error has the details"
    )


async def _line(child: Child) -> bytes:
    """The next line; empty at the end of the output."""
    while True:
        line = await to_thread.run_sync(child.line, LINE_S)
        if line is not None:
            return line


def _end(child: Child) -> None:
    """Ends a worker. One that has given its result ends by itself; another one ends its own
    children after SIGTERM, and they die with it if that takes too long."""
    if child.wait(0.0) is None:
        child.signal(signal.SIGTERM)
    child.end(GRACE_S)
