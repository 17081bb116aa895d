"""A process of a trial other than the engine: a service, a link, a capture.

It reads one JSON object on standard input, prints one JSON line when it is ready or refuses,
and stops when its input ends (docs/reference/process.md). A line is parsed once, into the models of
:mod:`wirelab.documents`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import ClassVar, Generic, Self, TypeVar, cast

import msgspec

from wirelab.errors import TrialFailed
from wirelab.process.children import POLL_S, Child, ProcessOptions, describe_exit
from wirelab.process.interruption import Interruption
from wirelab.process.readiness import READY_TIMEOUT_S, ReadyWait

R = TypeVar("R", bound=msgspec.Struct)
M = TypeVar("M", bound=msgspec.Struct)


class Refusal(msgspec.Struct, frozen=True):
    """The rejected option, what is wrong with it, and what to do."""

    option: str = ""
    message: str = ""
    remedy: str = ""


class _FirstLine(msgspec.Struct, frozen=True):
    """Keys that every first line may have."""

    ready: bool = False
    refused: Refusal | None = None


class ManagedProcess(Generic[R]):
    """One such process. Use as a context manager; it ends with the block."""

    noun = "the process"
    """Name of the process in messages."""
    model: ClassVar[type[msgspec.Struct]]
    """Type of its ready line: ``R``."""
    ready_timeout_s = READY_TIMEOUT_S
    """Seconds without progress before the ready line, unless the options set another time."""
    ready_remedy = ""
    """What to do if it is not ready in time, for messages."""
    stop_s = 2.5
    """Seconds from the end of its input to its exit."""

    def __init__(
        self,
        command: Sequence[str],
        order: object,
        options: ProcessOptions,
        *,
        interruption: Interruption,
    ) -> None:
        """Starts it and waits for its ready line. Raises :class:`TrialFailed` if it refuses, dies,
        stops making progress before it is ready or prints something else."""
        self.child = Child(command, options)
        try:
            self.child.say(msgspec.json.encode(order) + b"\n")
            wait = ReadyWait(self.child, options.ready_timeout_s or self.ready_timeout_s)
            line = self._first_line(wait, interruption)
            self.ready: R = self._parse(line)
            self.ready_line: dict[str, object] = msgspec.json.decode(line)
        except BaseException:
            self._give_up()
            raise

    ready_line: dict[str, object]
    """The complete ready line as printed, for records; it may have more keys than its model."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.end(self.stop_s)

    def death(self) -> str:
        """How the process ended; empty while it is running."""
        code = self.child.wait(0.0)
        return "" if code is None else f"{self.noun} ended with {describe_exit(code)}{self._tail()}"

    def accept(self, line: bytes) -> None:
        """Handles a line that is not the expected one. Subclasses may raise; the default does
        nothing."""

    def final_message(self, model: type[M]) -> M:
        """Closes the input, and returns the line that the process then prints. Raises
        :class:`TrialFailed` if it ends without one, and as :meth:`accept`."""
        self.child.close_input()
        deadline = time.monotonic() + self.stop_s
        while line := self.child.line(max(0.0, deadline - time.monotonic())):
            with contextlib.suppress(msgspec.MsgspecError):
                return msgspec.json.decode(line, type=model)
            self.accept(line)
        code = self.child.end(0.0)
        raise TrialFailed(
            f"{self.noun} ended with {describe_exit(code)} and without a report{self._tail()}"
        )

    def _give_up(self) -> None:
        self.child.kill()

    def _tail(self) -> str:
        tail = self.child.log_tail()
        return f" ({tail})" if tail else ""

    def _first_line(self, wait: ReadyWait, interruption: Interruption) -> bytes:
        while (line := self.child.line(POLL_S)) is None:
            interruption.check()
            if failure := wait.failure():
                remedy = f"; {self.ready_remedy}" if self.ready_remedy else ""
                raise TrialFailed(f"{self.noun} {failure}{remedy}")
        if not line:
            code = self.child.end(1.0)
            raise TrialFailed(
                f"{self.noun} ended with {describe_exit(code)} before it was ready{self._tail()}"
            )
        return line

    def _parse(self, line: bytes) -> R:
        start = line[:200].decode("utf-8", "replace")
        try:
            first = msgspec.json.decode(line, type=_FirstLine)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self._no_ready_line(start, error) from error
        if first.refused is not None:
            refused = first.refused
            raise Refused(
                f"{self.noun} refused {refused.option}: {refused.message};", refused.remedy
            )
        self.accept(line)
        if not first.ready:
            raise self._no_ready_line(start, "it is not a JSON object with ready: true")
        try:
            ready = cast(R, msgspec.json.decode(line, type=self.model))
        except msgspec.ValidationError as error:
            raise TrialFailed(f"{self.noun}'s ready line: {error}") from error
        return ready

    def _no_ready_line(self, start: str, why: object) -> TrialFailed:
        return TrialFailed(f"{self.noun} printed {start!r} instead of a ready line: {why}")


class Refused(TrialFailed):
    """The request cannot be fulfilled; message and remedy are those of the process."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(f"{message} {remedy}".rstrip("; "))
        self.message = message.rstrip(";")
        self.remedy = remedy
