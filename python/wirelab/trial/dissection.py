"""Runs ``wirelab-engine dissect`` on a capture and reads its document."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from wirelab.documents.dissection import Dissection
from wirelab.errors import LabError, UsageError
from wirelab.process import engine_binary
from wirelab.process.children import POLL_S, Child, ProcessOptions, describe_exit
from wirelab.process.interruption import Interruption

SECONDS_MAX = 600.0
"""Time limit. A dissection reads over a million packets per second, so more time means a hang."""

VERSION = 1
"""Format version of the document."""


@dataclass(frozen=True)
class Look:
    """What to include in the dissection."""

    port: int | None = None
    """Only connections from or to that TCP port."""
    timeline: int | None = None
    """The exchange to show packet by packet, from 1; None: one with median latency."""
    slowest: int | None = None
    """Number of the slowest exchanges to list; None: they are not looked for."""
    messages: int | None = None
    """Number of messages inside streams to list, those with the longest times before them; None:
    messages are not added up."""
    flows: int = 16
    """Maximum number of connections to list."""
    calls: Path | None = None
    """The engine's log of calls, to compare with the packets."""
    keylog: Path | None = None
    """Secrets of TLS connections, in the format of NSS key logs."""
    sample: int = 0
    """Number of requests, from the first, whose times to list."""
    host: Path | None = None
    """The record of what the server's processes did meanwhile."""
    without: Path | None = None
    """Connections to leave out: lines of the client's end and the time up to which it opened them,
    nanoseconds since the Unix epoch."""

    def options(self) -> list[str]:
        """As options of the engine."""
        given = (
            ("--port", self.port),
            ("--timeline", self.timeline),
            ("--slowest", self.slowest),
            ("--messages", self.messages),
            ("--calls", self.calls),
            ("--keylog", self.keylog),
            ("--host", self.host),
            ("--without", self.without),
        )
        words = [word for name, value in given if value is not None for word in (name, str(value))]
        # On one line, because an indented list has a line for each number.
        listed = ["--sample", str(self.sample), "--json"] if self.sample else []
        return [*words, "--flows", str(self.flows), *listed]


def dissect(
    capture: Path,
    look: Look,
    *,
    log: Path,
    interruption: Interruption,
    cores: Sequence[int] = (),
) -> Dissection:
    """The document of a capture. Raises :class:`UsageError` if the file is not a readable capture,
    :class:`LabError` if the engine fails, :class:`Interrupted` on request."""
    command = [str(engine_binary.find()), "dissect", str(capture), *look.options()]
    child = Child(command, ProcessOptions(log=log, cores=cores))
    try:
        child.close_input()
        text = _output(child, interruption)
        code = child.end(1.0)
    finally:
        child.kill()
    if code == 2:
        raise _refusal(child.log_tail(6), capture)
    if code != 0:
        raise LabError(
            f"{capture}: the engine ended with {describe_exit(code)} ({child.log_tail()})",
            "run `wirelab-engine dissect` on the file to see more",
        )
    return _document(text, capture)


def _refusal(message: str, capture: Path) -> LabError | UsageError:
    """Error from the engine's message. Its own remedy may refer to standard input, which it
    reads."""
    if "Usage: " in message:
        return LabError(
            f"{capture}: the engine does not support an option of this version ({message})",
            "run `make setup`, so that engine and Python package have the same version",
        )
    reason, _, remedy = message.removeprefix("wirelab-engine: ").rpartition("; ")
    if not reason or "standard input" in remedy:
        remedy = "give a capture in the format pcap or pcapng"
    return UsageError(reason or message, remedy)


def _output(child: Child, interruption: Interruption) -> bytes:
    parts: list[bytes] = []
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline:
        interruption.check()
        line = child.line(POLL_S)
        if line == b"":
            break
        if line is not None:
            parts.append(line)
    return b"\n".join(parts)


def _document(text: bytes, capture: Path) -> Dissection:
    try:
        document = msgspec.json.decode(text, type=Dissection)
        if document.dissection == VERSION:
            return document
    except ValueError:  # msgspec's errors are ValueErrors
        pass
    start = text[:200].decode("utf-8", "replace")
    raise LabError(
        f"{capture}: the engine printed {start!r}, which is not a dissection of version {VERSION}",
        "run `make setup`, so that engine and Python package have the same version",
    )
