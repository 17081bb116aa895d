"""What the machine did besides a trial: time that processes waited for a core, CPU time of other
processes, times at which wirelab itself did not run, and steps of the system clock."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from wirelab.process import metrics
from wirelab.process.metrics import Sample
from wirelab.process.process_tree import cpu_seconds_of_trees
from wirelab.records.noise import NoiseRecord

RUN_DELAY_GAP_S = 0.25
"""Seconds between two looks at the threads of a service: what a thread waited that ended in between
is lost."""
CLOCK_READINGS = 3
"""Readings of both clocks, of which the closest pair counts: a process can lose its core in
between."""


class RunDelay:
    """Time for which the threads of processes were ready to run and waited for a core: the second
    figure of /proc/PID/task/TID/schedstat (Linux, Documentation/scheduler/sched-stats.rst)."""

    def __init__(self) -> None:
        self._ns: dict[tuple[int, int], int] = {}
        self.is_counted = Path("/proc/self/schedstat").exists()
        """False for a kernel that does not count it (CONFIG_SCHED_INFO)."""

    def look(self, pids: Sequence[int]) -> float | None:
        """Seconds so far of all threads that were seen, also of ended ones; None if the kernel does
        not count them, or if there are no processes."""
        for pid in pids:
            self._read(pid)
        return sum(self._ns.values()) / 1e9 if self.is_counted and self._ns else None

    def _read(self, pid: int) -> None:
        try:
            threads = list(Path(f"/proc/{pid}/task").iterdir())
        except OSError:
            return
        for thread in threads:
            try:
                text = (thread / "schedstat").read_bytes()
                self._ns[pid, int(thread.name)] = int(text.split()[1])
            except (OSError, ValueError, IndexError):
                continue


def busy_seconds(cores: Sequence[int]) -> float | None:
    """CPU seconds that processes have used on these cores since boot (user, nice and system of
    proc(5), without interrupts); None if the kernel does not report them."""
    wanted = {f"cpu{core}" for core in cores}
    try:
        lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
        words = [line.split() for line in lines if line.startswith("cpu")]
        ticks = [sum(map(int, one[1:4])) for one in words if one[0] in wanted]
    except (OSError, ValueError, IndexError):
        return None
    return sum(ticks) / os.sysconf("SC_CLK_TCK") if len(ticks) == len(wanted) else None


def clock_offset_ns() -> int:
    """CLOCK_REALTIME less CLOCK_MONOTONIC: constant, except that NTP slews it by at most 0.05 % and
    a step changes it at once."""
    best, offset = None, 0
    for _ in range(CLOCK_READINGS):
        before = time.monotonic_ns()
        real = time.time_ns()
        after = time.monotonic_ns()
        if best is None or after - before < best:
            best, offset = after - before, real - (before + after) // 2
    return offset


class SystemNoiseSampler:
    """Takes samples while calls are made."""

    def __init__(
        self,
        cores: Sequence[int],
        service_pids: Callable[[], Sequence[int]],
        other_runs: Callable[[], str] = lambda: "",
        *,
        clock_ns: Callable[[], int] = time.monotonic_ns,
        offset_ns: Callable[[], int] = clock_offset_ns,
    ) -> None:
        """``cores`` are those of the caller and the service. ``service_pids`` returns the processes
        of the service; without any, other processes cannot be distinguished from it.
        ``other_runs`` describes the runs that use the cores at the moment; empty: none."""
        self._cores = cores
        self._service_pids = service_pids
        self._other_runs = other_runs
        self._sharing = ""
        self._clock_ns = clock_ns
        self._offset_ns = offset_ns
        self._run_delay = RunDelay()
        self._waited: list[Sample] = []
        self._others: list[Sample] = []
        self._ticks: list[int] = []
        self._offsets: list[tuple[int, int]] = []
        self._due_ns = 0
        self._phase = ""
        self.mark()

    def progress(self, phase: str) -> None:
        """Receives the phase of the caller's progress: its changes are the ends of the window."""
        if phase != self._phase:
            self._phase = phase
            self.mark()

    def tick(self) -> None:
        """Takes the samples that are due; to be called about every 50 ms."""
        now = self._clock_ns()
        self._ticks.append(now)
        self._offsets.append((now, self._offset_ns()))
        if now >= self._due_ns:
            self._due_ns = now + round(RUN_DELAY_GAP_S * 1e9)
            self._add(self._waited, self._run_delay.look(self._service_pids()))
            self._sharing = self._sharing or self._other_runs()

    def mark(self) -> None:
        """Takes all samples: at the beginning and the end of the window, and of the calls."""
        self._due_ns = 0
        self.tick()
        pids = self._service_pids()
        busy = busy_seconds(self._cores)
        if busy is not None and pids:
            own = cpu_seconds_of_trees({os.getpid(), *pids})
            self._add(self._others, busy - own)

    def findings(self, start_ns: int, end_ns: int) -> NoiseRecord:
        """What was observed between these moments of CLOCK_MONOTONIC."""
        others = metrics.growth(self._others, start_ns, end_ns)
        return NoiseRecord(
            tuple(self._cores),
            None if others is None else max(0.0, others),
            self._longest_gap_s(start_ns, end_ns),
            self._largest_step_s(start_ns, end_ns),
            self._sharing,
        )

    def service_run_delay_s(self, start_ns: int, end_ns: int) -> float | None:
        """Seconds for which the threads of the service waited for a core between these moments,
        summed; None: not measurable here."""
        return metrics.growth(self._waited, start_ns, end_ns)

    def _longest_gap_s(self, start_ns: int, end_ns: int) -> float:
        gaps = [
            min(after, end_ns) - max(before, start_ns) for before, after in pairwise(self._ticks)
        ]
        return max(0, *gaps) / 1e9

    def _largest_step_s(self, start_ns: int, end_ns: int) -> float:
        steps = [
            after - before
            for (_, before), (at, after) in pairwise(self._offsets)
            if start_ns <= at and before != after and at <= end_ns + round(1e9)
        ]
        return max(steps, key=abs, default=0) / 1e9

    def _add(self, samples: list[Sample], value: float | None) -> None:
        if value is not None:
            samples.append(Sample(self._clock_ns(), value))
