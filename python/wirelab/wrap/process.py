"""Runs the wrapped command: passes its output through, samples its CPU time, and ends it with all
processes that it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal

import psutil

from wirelab.errors import UsageError
from wirelab.process import metrics
from wirelab.process.children import POLL_S, Child, Ended, ProcessOptions
from wirelab.process.containment import Containment, contain
from wirelab.process.interruption import Interruption
from wirelab.process.metrics import Sample
from wirelab.process.process_tree import wait_for_end
from wirelab.wrap.outputs import Outputs

GRACE_S = 5.0
"""Time from SIGINT, on which load tools print their results, to SIGKILL."""
WATCH_S = 0.2
"""Interval between two samples of its processes and threads."""
TICKS_PER_S = os.sysconf("SC_CLK_TCK")

OnTick = Callable[[Callable[[], set[int]]], None]
"""Called repeatedly while the command runs, with a function that lists its processes."""
How = Literal["ended", "interrupted", "timeout", "stopped"]


@dataclass(frozen=True)
class Threads:
    """CPU seconds of one sample, by thread id."""

    at_ns: int
    cpu_s: dict[int, float]


@dataclass
class Ran:
    """A command that has ended."""

    how: How
    ended: Ended
    seconds: float
    output: str
    """Complete standard output and standard error."""
    cut: bool
    """True if more was printed than is kept."""
    cpu: list[Sample] = field(default_factory=list)
    """CPU seconds of all its processes, at times of CLOCK_MONOTONIC."""
    threads: list[Threads] = field(default_factory=list)
    processes_max: int = 1
    left: tuple[str, ...] = ()
    """Its processes that still existed at its end, and were killed, described."""

    def busiest_thread(self, start_ns: int, end_ns: int) -> float | None:
        """The share of the time that the busiest thread ran; None if there are no two samples
        within the time."""
        within = [look for look in self.threads if start_ns <= look.at_ns <= end_ns]
        if len(within) < 2:
            return None
        first, last = within[0], within[-1]
        wall = (last.at_ns - first.at_ns) / 1e9
        grown = [cpu - first.cpu_s.get(tid, 0.0) for tid, cpu in last.cpu_s.items()]
        return max(grown, default=0.0) / wall

    def threads_max(self) -> int:
        """Maximum number of simultaneous threads."""
        return max((len(look.cpu_s) for look in self.threads), default=1)


class Stopping(Exception):
    """Raised by ``on_tick`` to end the command; the measurements are kept."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def run(
    command: Sequence[str],
    *,
    namespace: str | None,
    folder: Path,
    out: BinaryIO,
    err: BinaryIO,
    seconds_max: float | None,
    interruption: Interruption,
    on_tick: OnTick,
    environment: Mapping[str, str] | None = None,
) -> Ran:
    """Runs a command to its end, or ends it: on request, after ``seconds_max``, or when ``on_tick``
    raises :class:`Stopping`. Its output is copied to ``out`` and ``err`` as it arrives.
    ``environment`` adds variables to wirelab's own. Raises
    :class:`UsageError` if the command cannot be started. None of its processes remains, whatever is
    raised."""
    with contain() as containment, Outputs(folder, out, err) as outputs:
        options = ProcessOptions(
            log=folder / "tool.log",
            namespace=namespace,
            environment=environment or {},
            holder=containment.folder,
        )
        child = _start(command, options, outputs)
        try:
            outputs.close_ends_of_command()
            return _Run(child, outputs, containment).to_end(seconds_max, interruption, on_tick)
        finally:
            child.kill()


def _start(command: Sequence[str], options: ProcessOptions, outputs: Outputs) -> Child:
    try:
        return Child(
            command,
            options,
            stdin=_own_input(),
            stdout=outputs.stdout,
            stderr=outputs.stderr,
        )
    except OSError as error:
        raise UsageError(
            f"{command[0]} cannot be started: {error.strerror}",
            "check that it is installed and in PATH; write it after --, followed by its options",
        ) from error


def _own_input() -> int:
    """Standard input of wirelab, for tools that read it; none if wirelab has none."""
    try:
        os.fstat(0)
    except OSError:
        return subprocess.DEVNULL
    return 0


class _Run:
    """One command from start to end."""

    def __init__(self, child: Child, pipes: Outputs, containment: Containment) -> None:
        self._child = child
        self._pipes = pipes
        self._containment = containment
        self._began = time.monotonic()
        self._looked = 0.0
        self._cpu = [Sample(time.monotonic_ns(), 0.0)]
        self._dead_cpu: dict[int, float] = {}
        self._threads: list[Threads] = []
        self._most = 1

    def to_end(
        self,
        seconds_max: float | None,
        interruption: Interruption,
        on_tick: OnTick,
    ) -> Ran:
        how: How = "ended"
        ended: Ended | None = None
        stop_at: float | None = None
        while ended is None:
            self._look()
            self._wait()
            ended = self._child.reap()
            cause = self._reason(seconds_max, interruption, on_tick)
            if ended is None and stop_at is None and cause != "ended":
                how, stop_at = cause, time.monotonic() + GRACE_S
                self._signal(signal.SIGINT)
            if ended is None and stop_at is not None and time.monotonic() > stop_at:
                self._signal(signal.SIGKILL)
        seconds = time.monotonic() - self._began
        self._cpu.append(Sample(time.monotonic_ns(), ended.cpu_user_s + ended.cpu_system_s))
        # Remaining processes end before the output is read, because a child that is ended closes
        # its pipes. Each is counted as it is ended: after a signal to all of them, dead ones would
        # be counted.
        left = tuple(self._containment.end())
        self._signal(signal.SIGKILL)
        self._drain()
        self._child.kill()
        return Ran(
            how,
            ended,
            seconds,
            self._pipes.text(),
            self._pipes.cut,
            _make_rising(self._cpu),
            self._threads,
            self._most,
            left,
        )

    def _wait(self) -> None:
        if not self._pipes.pump(POLL_S):
            wait_for_end([self._child.pid], POLL_S)

    def _drain(self) -> None:
        """Rest of the output in the pipes; all processes that could write have ended."""
        deadline = time.monotonic() + 1.0
        while self._pipes.pump(0.05) and time.monotonic() < deadline:
            pass

    @staticmethod
    def _is_over(seconds: float | None, began: float) -> bool:
        return seconds is not None and time.monotonic() - began > seconds

    def _reason(
        self,
        seconds_max: float | None,
        interruption: Interruption,
        on_tick: OnTick,
    ) -> How:
        try:
            on_tick(self._own_pids)
        except Stopping:
            return "stopped"
        if interruption.requested:
            return "interrupted"
        return "timeout" if self._is_over(seconds_max, self._began) else "ended"

    def _own_pids(self) -> set[int]:
        pid = self._child.pid
        return {pid, *_descendants(pid), *self._containment.pids()}

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, number)

    def _look(self) -> None:
        """Adds up the CPU time of its processes, including those that have ended."""
        if time.monotonic() - self._looked < WATCH_S:
            return
        self._looked = time.monotonic()
        pids = [self._child.pid, *_descendants(self._child.pid)]
        self._most = max(self._most, len(pids))
        threads: dict[int, float] = {}
        for pid in pids:
            cpu = metrics.cpu_seconds(pid)
            if cpu is not None:
                self._dead_cpu[pid] = cpu
            threads |= _thread_seconds(pid)
        now = time.monotonic_ns()
        self._cpu.append(Sample(now, sum(self._dead_cpu.values())))
        self._threads.append(Threads(now, threads))


def _make_rising(samples: list[Sample]) -> list[Sample]:
    """The final value of the kernel may be less than the sum, because it counts only processes that
    were waited for."""
    if len(samples) > 1 and samples[-1].value < samples[-2].value:
        samples[-1] = Sample(samples[-1].at_ns, samples[-2].value)
    return samples


def _descendants(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return []


def _thread_seconds(pid: int) -> dict[int, float]:
    """User and system time of each thread, from proc_pid_stat(5), fields 14 and 15. A process or
    thread that has just ended has none."""
    found: dict[int, float] = {}
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError, ValueError, IndexError):
                text = (task / "stat").read_text(encoding="utf-8", errors="replace")
                fields = text.rpartition(")")[2].split()
                found[int(task.name)] = (int(fields[11]) + int(fields[12])) / TICKS_PER_S
    return found
