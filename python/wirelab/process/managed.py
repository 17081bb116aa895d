"""A process that attends to a trial: a service, a link, a capture.

It is told what to do by one JSON object on standard input, says by one JSON line on standard
output that it is ready or that it refuses, and takes the end of its input as the order to
stop (docs/reference/process.md).
"""

from __future__ import annotations

import contextlib
import json
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from wirelab.errors import TrialFailed
from wirelab.process.children import POLL_S, Child, describe_exit
from wirelab.process.interruption import Interruption

Json = dict[str, Any]


class ManagedProcess:
    """One such process. Use as a context manager; it ends with the block."""

    noun = "the process"
    """What messages call it."""
    ready_s_max = 20.0
    """Seconds from start to the ready line."""
    stop_s = 2.5
    """Seconds from the end of its input to its own end."""

    def __init__(
        self,
        command: Sequence[str],
        order: Json,
        *,
        log: Path,
        interruption: Interruption,
        cores: Sequence[int] = (),
        namespace: str | None = None,
        group: Path | None = None,
        orphaned: signal.Signals = signal.SIGKILL,
    ) -> None:
        """Starts it and waits for its ready line. Raises :class:`TrialFailed` when it refuses,
        dies, is silent for too long or says something else."""
        self.child = Child(
            command, log=log, cores=cores, namespace=namespace, group=group, orphaned=orphaned
        )
        try:
            self.child.say(json.dumps(order).encode() + b"\n")
            self.said = self._ready(interruption)
        except BaseException:
            self._give_up()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.end(self.stop_s)

    def death(self) -> str:
        """How the process ended; empty while it runs."""
        code = self.child.wait(0.0)
        return "" if code is None else f"{self.noun} ended with {describe_exit(code)}{self._tail()}"

    def accept(self, said: Json) -> None:
        """Sees what the process says in place of what is waited for. Raises what that means;
        nothing here."""

    def final_messages(self, key: str) -> Json:
        """Orders the end, and returns the object ``key`` of the line that the process says
        then. Raises :class:`TrialFailed` when it ends without, and as :meth:`accept`."""
        self.child.close_input()
        deadline = time.monotonic() + self.stop_s
        while line := self.child.line(max(0.0, deadline - time.monotonic())):
            said = _object(line)
            if isinstance(words := said.get(key), dict):
                return words
            self.accept(said)
        code = self.child.end(0.0)
        raise TrialFailed(f"{self.noun} ended with {describe_exit(code)} and no word{self._tail()}")

    def final_message(self) -> Json:
        """What it said before it ended by itself; empty where it said no object."""
        return _object(self.child.line(0.0) or b"")

    def _give_up(self) -> None:
        self.child.kill()

    def _tail(self) -> str:
        tail = self.child.log_tail()
        return f" ({tail})" if tail else ""

    def _ready(self, interruption: Interruption) -> Json:
        deadline = time.monotonic() + self.ready_s_max
        while (line := self.child.line(POLL_S)) is None:
            interruption.check()
            if time.monotonic() > deadline:
                raise TrialFailed(f"{self.noun} was not ready after {self.ready_s_max:.0f} s")
        if not line:
            code = self.child.end(1.0)
            raise TrialFailed(
                f"{self.noun} ended with {describe_exit(code)} before it was ready{self._tail()}"
            )
        return self._read(line)

    def _read(self, line: bytes) -> Json:
        start = line[:200].decode("utf-8", "replace")
        try:
            said = json.loads(line)
        except ValueError as error:
            raise self._no_ready_line(start, error) from error
        if isinstance(said, dict) and isinstance(refused := said.get("refused"), dict):
            raise Refused(
                f"{self.noun} refused {refused.get('option')}: {refused.get('message')};",
                str(refused.get("remedy", "")),
            )
        if isinstance(said, dict):
            self.accept(said)
        if not isinstance(said, dict) or said.get("ready") is not True:
            raise self._no_ready_line(start, "it is not an object with ready: true")
        return said

    def _no_ready_line(self, start: str, why: object) -> TrialFailed:
        return TrialFailed(f"{self.noun} said no ready line but {start!r}: {why}")


def _object(line: bytes) -> Json:
    """The line's JSON object; empty where it is none."""
    with contextlib.suppress(ValueError):
        if isinstance(said := json.loads(line), dict):
            return said
    return {}


class Refused(TrialFailed):
    """What was asked for cannot be had; message and remedy are the process's own."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(f"{message} {remedy}".rstrip("; "))
        self.message = message.rstrip(";")
        self.remedy = remedy
