"""Runs one plan in one engine process: plan in, progress and result out, as JSON lines."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from wirelab.errors import EngineRefused, TrialFailed
from wirelab.process import engine_binary
from wirelab.process.children import POLL_S, Child, describe_exit
from wirelab.process.interruption import Interruption

SILENCE_S_MAX = 30.0
"""Without a line for so long the engine hangs; it reports several times a second."""
MARGIN_S = 15.0
"""Allowed beyond the plan's own bounds."""
STOP_S = 15.0
"""For the engine to drain and report after it was told to stop."""

Json = dict[str, Any]
OnProgress = Callable[[Json], None]
OnTick = Callable[[], None]


def bound_seconds(plan: Json) -> float:
    """The longest that the plan itself allows: warm-up, window, timeout, drain."""
    return max(_group_bound(group) for group in plan["groups"]) + MARGIN_S


def _group_bound(group: Json) -> float:
    window = group["window"]
    length = window["duration_s"] if "duration_s" in window else window["calls"]["max_s"]
    warmup = group.get("warmup", {}).get("max_s", 5.0)
    waits = group.get("timeout_s", 10.0) + group.get("drain_s", 10.0)
    return float(warmup + length + waits)


class Drive:
    """One ``wirelab-engine drive``."""

    def __init__(
        self,
        plan: Json,
        *,
        log: Path,
        cores: Sequence[int] = (),
        namespace: str | None = None,
        group: Path | None = None,
        interruption: Interruption,
        on_progress: OnProgress = lambda _: None,
        on_tick: OnTick = lambda: None,
    ) -> None:
        """``on_tick`` is called about every 50 ms, ``on_progress`` with every progress line."""
        self.plan = plan
        self._interruption = interruption
        self._on_progress = on_progress
        self._on_tick = on_tick
        command = [str(engine_binary.find()), "drive"]
        self._child = Child(command, log=log, cores=cores, namespace=namespace, group=group)

    def outcome(self) -> Json:
        """Runs the plan; the outcome says ``interrupted`` when it was cut short. Raises
        :class:`TrialFailed` when the engine dies, hangs or cannot go on,
        :class:`EngineRefused` when it refuses the plan, and :class:`Interrupted` when it
        was told to stop and gave no result."""
        try:
            self._child.say(json.dumps(self.plan).encode() + b"\n")
            self._child.close_input()
            outcome = self._listen()
            self._child.wait(1.0)
            return outcome
        finally:
            self._child.kill()

    def _listen(self) -> Json:
        deadline = time.monotonic() + bound_seconds(self.plan)
        heard = time.monotonic()
        told = False
        while True:
            line = self._child.line(POLL_S)
            self._on_tick()
            now = time.monotonic()
            if self._interruption.requested and not told:
                told, deadline = True, now + STOP_S
                self._child.signal(signal.SIGINT)
            self._watch(now, heard if line is None else now, deadline)
            if line is None:
                continue
            if not line:
                raise self._ended()
            heard = now
            event = self._event(line)
            if event["event"] == "result":
                return event
            if event["event"] == "error":
                raise self._fault(event)
            self._on_progress(event)

    def _watch(self, now: float, heard: float, deadline: float) -> None:
        if now > deadline:
            self._interruption.check()
            bound = bound_seconds(self.plan)
            raise TrialFailed(f"the engine went on beyond the plan's bound of {bound:.0f} s")
        if now - heard > SILENCE_S_MAX:
            raise TrialFailed(f"the engine was silent for {SILENCE_S_MAX:.0f} s")

    def _event(self, line: bytes) -> Json:
        try:
            event = json.loads(line)
            if event["event"] in ("progress", "result", "error"):
                return dict(event)
        except (ValueError, KeyError, TypeError):
            pass
        start = line[:200].decode("utf-8", "replace")
        raise EngineRefused(
            f"the engine said {start!r}, which is no event of its contract",
            "are the engine and the front of one version? run `make setup`",
        )

    def _ended(self) -> Exception:
        code = self._child.end(1.0)
        self._interruption.check()
        tail = self._child.log_tail()
        return TrialFailed(
            f"the engine ended with {describe_exit(code)} and without a result"
            + (f" ({tail})" if tail else "")
        )

    def _fault(self, event: Json) -> Exception:
        message, remedy = str(event.get("message")), str(event.get("remedy", ""))
        if event.get("kind") == "plan":
            return EngineRefused(f"the engine refused the plan: {message}", remedy)
        self._child.wait(1.0)
        tail = self._child.log_tail() if event.get("kind") == "internal" else ""
        said = f" ({tail})" if tail else ""
        return TrialFailed(f"the engine could not go on: {message}; {remedy}{said}")
