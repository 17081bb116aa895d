"""What runs next to each engine: an actor of Ray, one per client."""

from __future__ import annotations

import os
import platform
import time
from importlib import metadata
from pathlib import Path

import msgspec

from wirelab.documents.event import Fault, Outcome, Progress
from wirelab.documents.plan import Plan
from wirelab.errors import TrialFailed, WirelabError
from wirelab.process import engine_binary
from wirelab.process.children import POLL_S, ProcessOptions
from wirelab.process.engine import Drive, RunObserver
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch

SILENCE_S_MAX = 1.5
"""The engine is ended when its front has been silent for so long: crashed, stopped, or without a
network. Only time in which this process ran itself counts: a busy machine stops both."""
TICK_S_MAX = 2 * POLL_S
"""What counts of the time between two looks."""


class ClientInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Where a client runs, and what it would run."""

    node: str
    """Name of the host."""
    boot: str
    """Identifier of the running kernel: the same where two clients share a machine."""
    network: str
    """The network namespace."""
    version: str
    engine_sha256: str


def describe() -> ClientInfo:
    """This process. Raises :class:`EngineMissing`."""
    return ClientInfo(
        node=platform.node(),
        boot=Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(),
        network=str(Path("/proc/self/ns/net").readlink()),
        version=metadata.version("wirelab"),
        engine_sha256=engine_binary.binary_digest(engine_binary.find()),
    )


class LoadClient:
    """Runs one engine at a time. Its methods are called from different threads."""

    def __init__(self) -> None:
        self._interruption = Interruption()
        self._progress: Progress | None = None
        self._silent_s, self._looked = 0.0, time.monotonic()
        self._parent = os.getppid()

    def describe(self) -> bytes:
        """A :class:`ClientInfo` as JSON."""
        return msgspec.json.encode(describe())

    def clock_ns(self) -> int:
        """CLOCK_MONOTONIC now."""
        return time.monotonic_ns()

    def beat(self, *, stop: bool = False) -> bytes:
        """The front is there; ``stop`` ends the window. The last line of progress as JSON, or
        ``null``."""
        self._silent_s = 0.0
        if stop:
            self._interruption.requested = True
        return msgspec.json.encode(self._progress)

    def drive(self, plan: bytes) -> bytes:
        """Executes the part of a load, as JSON. An :class:`Outcome` or a :class:`Fault` as JSON."""
        self._silent_s, self._looked = 0.0, time.monotonic()
        self._interruption, self._progress = Interruption(), None
        return msgspec.json.encode(self._execute(msgspec.json.decode(plan, type=Plan)))

    def _execute(self, plan: Plan) -> Outcome | Fault:
        observer = RunObserver(self._note, self._listen)
        try:
            with Scratch() as scratch:
                options = ProcessOptions(log=scratch.folder / "engine.log")
                drive = Drive(plan, options, interruption=self._interruption, observer=observer)
                return drive.outcome()
        except TrialFailed as failed:
            return Fault(kind="internal", message=failed.reason, remedy="")
        except WirelabError as error:
            return Fault(kind="internal", message=error.message, remedy=error.remedy)

    def _note(self, progress: Progress) -> None:
        self._progress = progress

    def _listen(self) -> None:
        if os.getppid() != self._parent:
            raise TrialFailed("the process of Ray that started the client ended")
        now = time.monotonic()
        self._silent_s += min(now - self._looked, TICK_S_MAX)
        self._looked = now
        if self._silent_s > SILENCE_S_MAX:
            raise TrialFailed(f"the front of the load was silent for {self._silent_s:.1f} s")
