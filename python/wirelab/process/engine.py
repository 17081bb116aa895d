"""Runs one plan in one engine process: plan in, progress and result out, as JSON lines."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from wirelab.documents.event import Event, Fault, Outcome, Progress
from wirelab.documents.plan import Group, Plan
from wirelab.errors import EngineRefused, TrialFailed
from wirelab.process import engine_binary
from wirelab.process.children import POLL_S, Child, ProcessOptions, describe_exit
from wirelab.process.interruption import Interruption

SILENCE_S_MAX = 30.0
"""Without a line for so long the engine hangs; it reports several times a second."""
MARGIN_S = 15.0
"""Allowed beyond the plan's own bounds."""
STOP_S = 15.0
"""For the engine to drain and report after it was told to stop."""

OnProgress = Callable[[Progress], None]
OnTick = Callable[[], None]


def bound_seconds(plan: Plan) -> float:
    """The longest that the plan itself allows: warm-up, window, timeout, drain."""
    return max(_group_bound(group) for group in plan.groups) + MARGIN_S


def _group_bound(group: Group) -> float:
    window = group.window
    length = window.calls.max_s if window.calls is not None else window.duration_s or 0.0
    return group.warmup.max_s + length + group.timeout_s + group.drain_s


@dataclass(frozen=True)
class RunObserver:
    """Hears of calls while they are made."""

    on_progress: OnProgress = lambda _: None
    """Called with every progress line."""
    on_tick: OnTick = lambda: None
    """Called about every 50 ms."""


class Drive:
    """One ``wirelab-engine drive``."""

    def __init__(
        self,
        plan: Plan,
        options: ProcessOptions,
        *,
        interruption: Interruption,
        observer: RunObserver | None = None,
    ) -> None:
        """Starts it; nothing is called before :meth:`outcome`."""
        self.plan = plan
        self._interruption = interruption
        self._observer = observer or RunObserver()
        self._is_over = False
        self._child = Child([str(engine_binary.find()), "drive"], options)

    def stop(self) -> None:
        """Ends the windows now, from within the observer: the outcome is of what was called
        until then."""
        self._is_over = True

    def outcome(self) -> Outcome:
        """Runs the plan; the outcome says ``interrupted`` when it was cut short. Raises
        :class:`TrialFailed` when the engine dies, hangs or cannot go on,
        :class:`EngineRefused` when it refuses the plan, and :class:`Interrupted` when it
        was told to stop and gave no result."""
        try:
            self._child.say(msgspec.json.encode(self.plan) + b"\n")
            self._child.close_input()
            outcome = self._listen()
            self._child.wait(1.0)
            return outcome
        finally:
            self._child.kill()

    def _listen(self) -> Outcome:
        deadline = time.monotonic() + bound_seconds(self.plan)
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
            if isinstance(event, Outcome):
                return event
            if isinstance(event, Fault):
                raise self._fault(event)
            self._observer.on_progress(event)

    def _watch(self, now: float, heard: float, deadline: float) -> None:
        if now > deadline:
            self._interruption.check()
            bound = bound_seconds(self.plan)
            raise TrialFailed(f"the engine went on beyond the plan's bound of {bound:.0f} s")
        if now - heard > SILENCE_S_MAX:
            raise TrialFailed(f"the engine was silent for {SILENCE_S_MAX:.0f} s")

    def _event(self, line: bytes) -> Event:
        try:
            event: Event = msgspec.json.decode(line, type=Event)
            return event
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            start = line[:200].decode("utf-8", "replace")
            raise EngineRefused(
                f"the engine printed {start!r}, which is no event of its contract: {error}",
                "are the engine and the front of one version? run `make setup`",
            ) from error

    def _ended(self) -> Exception:
        code = self._child.end(1.0)
        self._interruption.check()
        tail = self._child.log_tail()
        return TrialFailed(
            f"the engine ended with {describe_exit(code)} and without a result"
            + (f" ({tail})" if tail else "")
        )

    def _fault(self, fault: Fault) -> Exception:
        if fault.kind == "plan":
            return EngineRefused(f"the engine refused the plan: {fault.message}", fault.remedy)
        self._child.wait(1.0)
        tail = self._child.log_tail() if fault.kind == "internal" else ""
        logged = f" ({tail})" if tail else ""
        return TrialFailed(f"the engine could not go on: {fault.message}; {fault.remedy}{logged}")
