"""Executes one plan in one process, the engine or another caller: the plan is its input, progress
and result are its output, as JSON lines."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from wirelab.documents.event import Event, Fault, Outcome, Progress
from wirelab.documents.plan import Group, Plan
from wirelab.errors import EngineRefused, TrialFailed
from wirelab.process import rust_programs
from wirelab.process.children import POLL_S, Child, ProcessOptions, describe_exit
from wirelab.process.interruption import Interruption

SILENCE_S_MAX = 30.0
"""Maximum time without a line; the engine reports several times per second."""
MARGIN_S = 15.0
"""Time allowed beyond the plan's own bounds."""
STOP_S = 15.0
"""Time for the engine to drain and report after a request to stop."""

OnProgress = Callable[[Progress], None]
OnTick = Callable[[], None]
Result = TypeVar("Result", bound=msgspec.Struct)


def limit_seconds(plan: Plan) -> float:
    """Maximum length that the plan allows: warm-up, window, timeout, drain. Groups that take turns
    have their windows one after another, in slices."""
    groups = plan.groups
    rest_s = max(group.timeout_s + group.drain_s for group in groups) + MARGIN_S
    if (slices := plan.slices) is None:
        return rest_s + max(group.warmup.max_s + _window_s(group) for group in groups)
    slice_s = slices.skip_s + slices.length_s + slices.drain_s
    # One round more for the slices in which the warm-up ends.
    rounds = ceil(max(map(_window_s, groups)) / slices.length_s) + 1
    return rest_s + max(group.warmup.max_s for group in groups) + rounds * len(groups) * slice_s


def _window_s(group: Group) -> float:
    window = group.window
    return window.calls.max_s if window.calls is not None else window.duration_s or 0.0


@dataclass(frozen=True)
class RunObserver:
    """Observes calls while they are made."""

    on_progress: OnProgress = lambda _: None
    """Called for every progress line."""
    on_tick: OnTick = lambda: None
    """Called about every 50 ms."""


class PlanProcess(Generic[Result]):
    """One process that executes one plan; ``Result`` is the type of its last line."""

    noun: ClassVar[str]
    """Name of the process in messages."""
    event: ClassVar[Any]
    """Type of its other lines."""
    result: ClassVar[type[msgspec.Struct]]
    """``Result``."""

    def __init__(
        self,
        command: Sequence[str],
        plan: Plan,
        options: ProcessOptions,
        *,
        interruption: Interruption,
        observer: RunObserver | None = None,
    ) -> None:
        """Starts the process; calls begin with :meth:`outcome`."""
        self.plan = plan
        self._interruption = interruption
        self._observer = observer or RunObserver()
        self._is_over = False
        # With a session of its own a caller would get another share of a crowded machine than a
        # load tool that is started by hand.
        self._child = Child(command, options, own_session=False)

    def stop(self) -> None:
        """Ends the windows now; to be called by the observer. The outcome covers the calls made
        until then."""
        self._is_over = True

    def outcome(self) -> Result:
        """Executes the plan; the outcome has ``interrupted`` set if it was stopped early. Raises
        :class:`TrialFailed` if the process dies, hangs or cannot continue, :class:`EngineRefused`
        if the engine refuses the plan, and :class:`Interrupted` if it was stopped and returned no
        result."""
        try:
            self._child.say(msgspec.json.encode(self.plan) + b"\n")
            self._child.close_input()
            outcome = self._listen()
            self._await_exit()
            return outcome
        finally:
            self._child.kill()

    def _await_exit(self) -> None:
        """Called with the result, after which the process ends by itself."""
        self._child.wait(1.0)

    def _listen(self) -> Result:
        deadline = time.monotonic() + limit_seconds(self.plan)
        heard = time.monotonic()
        stopping = False
        while True:
            line = self._child.line(POLL_S)
            self._observer.on_tick()
            now = time.monotonic()
            if (self._interruption.requested or self._is_over) and not stopping:
                stopping, deadline = True, now + STOP_S
                self._child.signal(signal.SIGINT)
            self._watch(now, heard if line is None else now, deadline)
            if line is None:
                continue
            if not line:
                raise self._ended()
            heard = now
            event = self._event(line)
            if isinstance(event, self.result):
                return event  # type: ignore[return-value]
            if not isinstance(event, Progress):
                raise self._fault(event)
            self._observer.on_progress(event)

    def _watch(self, now: float, heard: float, deadline: float) -> None:
        if now > deadline:
            self._interruption.check()
            bound = limit_seconds(self.plan)
            raise TrialFailed(f"{self.noun} exceeded the plan's time limit of {bound:.0f} s")
        if now - heard > SILENCE_S_MAX:
            raise TrialFailed(f"{self.noun} printed no progress for {SILENCE_S_MAX:.0f} s")

    def _event(self, line: bytes) -> Any:
        try:
            return msgspec.json.decode(line, type=self.event)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            start = line[:200].decode("utf-8", "replace")
            raise self._garbage(
                f"{self.noun} printed {start!r}, which is not an event of its contract: {error}"
            ) from error

    def _garbage(self, message: str) -> Exception:
        return TrialFailed(message)

    def _ended(self) -> Exception:
        code = self._child.end(1.0)
        self._interruption.check()
        tail = self._child.log_tail()
        return TrialFailed(
            f"{self.noun} ended with {describe_exit(code)} and without a result"
            + (f" ({tail})" if tail else "")
        )

    def _fault(self, fault: Any) -> Exception:
        if fault.kind == "plan":
            return self._refused(fault)
        self._child.wait(1.0)
        tail = self._child.log_tail() if fault.kind == "internal" else ""
        logged = f" ({tail})" if tail else ""
        return TrialFailed(
            f"{self.noun} could not continue: {fault.message}; {fault.remedy}{logged}"
        )

    def _refused(self, fault: Any) -> Exception:
        return TrialFailed(f"{self.noun} refused the plan: {fault.message}; {fault.remedy}")


class Drive(PlanProcess[Outcome]):
    """One ``wirelab-engine drive``."""

    noun = "the engine"
    event = Event
    result = Outcome

    def __init__(
        self,
        plan: Plan,
        options: ProcessOptions,
        *,
        interruption: Interruption,
        observer: RunObserver | None = None,
    ) -> None:
        """Starts the engine; calls begin with :meth:`outcome`."""
        command = [str(rust_programs.engine_for(plan, interruption)), "drive"]
        super().__init__(command, plan, options, interruption=interruption, observer=observer)

    def _garbage(self, message: str) -> Exception:
        return EngineRefused(
            message, "run `make setup`, so that engine and Python package have the same version"
        )

    def _refused(self, fault: Fault) -> Exception:
        return EngineRefused(f"the engine refused the plan: {fault.message}", fault.remedy)
