"""Callers that use the client libraries of a language: processes that take the engine's plan
(docs/reference/process.md)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from wirelab.documents import to_json
from wirelab.documents.caller_event import CallerEvent, CallerOutcome
from wirelab.documents.event import Fault, Progress
from wirelab.documents.plan import Plan
from wirelab.errors import BuildError, TrialFailed
from wirelab.process import builds
from wirelab.process.build_progress import OnBuild, ignore
from wirelab.process.children import POLL_S, Ended, ProcessOptions, describe_exit
from wirelab.process.engine import PlanProcess, RunObserver
from wirelab.process.engine_binary import binary_digest
from wirelab.process.interruption import Interruption
from wirelab.process.usage import Usage
from wirelab.stack import manifests

END_S_MAX = 5.0
"""Time limit for a caller to exit after its result."""


@dataclass(frozen=True)
class CallerProgram:
    """A built caller."""

    name: str
    command: tuple[str, ...]

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of its binary. Raises :class:`OSError`."""
        return binary_digest(Path(self.command[0]))


class CallerPrograms:
    """Builds each caller once per run."""

    def __init__(self, on_build: OnBuild = ignore) -> None:
        self._on_build = on_build
        self._built: dict[str, CallerProgram] = {}

    def program(self, name: str, interruption: Interruption) -> CallerProgram:
        """The built caller. Raises :class:`BuildError`."""
        if name not in self._built:
            known = manifests.callers()
            if name not in known:
                raise BuildError(f"no services/*/caller.json defines caller={name}")
            manifest, folder = known[name]
            out = str(builds.build(manifest, folder, interruption, self._on_build))
            command = tuple(part.replace("{out}", out) for part in manifest.start)
            if not Path(command[0]).is_file():
                raise BuildError(
                    f"{manifest.title} was built, but {command[0]} does not exist",
                    "correct `build` and `start` in its caller.json",
                )
            self._built[name] = CallerProgram(name, command)
        return self._built[name]


class ClientDrive(PlanProcess[CallerOutcome]):
    """One caller that executes one plan. Its cost is measured by the kernel."""

    event = CallerEvent
    result = CallerOutcome

    def __init__(
        self,
        caller: CallerProgram,
        plan: Plan,
        options: ProcessOptions,
        *,
        interruption: Interruption,
        observer: RunObserver,
    ) -> None:
        """Starts the process; calls begin with :meth:`outcome`."""
        self.noun = f"the caller in {caller.name}"  # type: ignore[misc]
        self.ended: Ended | None = None
        """How it ended; None while it runs."""

        def look_on_tick() -> None:
            self.usage.look()
            observer.on_tick()

        watched = RunObserver(observer.on_progress, look_on_tick)
        super().__init__(caller.command, plan, options, interruption=interruption, observer=watched)
        self.usage = Usage(self._child.pid)

    def _event(self, line: bytes) -> CallerOutcome | Progress | Fault:
        """Parses a line; all lines except the last have the engine's format."""
        event = super()._event(line)
        if isinstance(event, CallerOutcome):
            return event
        same: Progress | Fault = msgspec.convert(to_json(event), Progress | Fault)
        return same

    def _await_exit(self) -> None:
        deadline = time.monotonic() + END_S_MAX
        while (ended := self._child.reap()) is None:
            if time.monotonic() > deadline:
                raise TrialFailed(
                    f"{self.noun} did not exit within {END_S_MAX:.0f} s of its result"
                )
            time.sleep(POLL_S)
        if ended.code != 0:
            raise TrialFailed(f"{self.noun} ended with {describe_exit(ended.code)}")
        self.usage.add_total(ended)
        self.ended = ended
