"""Runs a program on one core and says what it cost."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wirelab.process import namespaces

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
SAMPLE_S = 0.02
LIMIT_S = 600.0


class BenchError(Exception):
    """A figure that could not be taken; the message says which and why."""


class NotHere(BenchError):
    """A row that this machine cannot have; the message says what it lacks. No failure."""


@dataclass(frozen=True)
class Finished:
    """A program that ran to its end."""

    command: tuple[str, ...]
    exit_code: int
    output: str
    errors: str
    wall_s: float
    cpu_s: float
    """User and system seconds of the whole process, from its first instruction to its last."""
    rss_peak_bytes: int
    """VmHWM, sampled. Not ru_maxrss: that one inherits the peak of the process that forked."""


def cpu_seconds(pid: int) -> float:
    """User and system seconds of a living process, all of its threads (proc(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


def rss_peak_bytes(pid: int) -> int:
    """Peak resident memory of a living process; 0 when it has gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0].split()[1]) * 1024 if lines else 0


@contextmanager
def _peak_of(pid: int) -> Iterator[list[int]]:
    """Samples VmHWM until the block ends. The mark only grows, so that the last sample is it."""
    peak, over = [0], threading.Event()

    def sample() -> None:
        while not over.wait(SAMPLE_S):
            peak[0] = max(peak[0], rss_peak_bytes(pid))

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield peak
    finally:
        over.set()
        sampler.join()


@contextmanager
def placed(core: int | None, namespace: str | None) -> Iterator[Callable[[], None]]:
    """What a child does between fork and exec: goes to its core (None: any), and into the network
    namespace of that name."""
    network = None if namespace is None else namespaces.opened(namespace)

    def place() -> None:
        if core is not None:
            os.sched_setaffinity(0, {core})
        if network is not None:
            namespaces.enter(network)

    try:
        yield place
    finally:
        if network is not None:
            os.close(network)


def run_on_core(
    core: int | None,
    command: Sequence[str],
    given: str = "",
    memory: bool = False,
    namespace: str | None = None,
    limit_s: float = LIMIT_S,
) -> Finished:
    """Runs `command` pinned to `core` (None: wherever the kernel puts it) with `given` on its
    standard input, in the network namespace of that name.

    Memory is sampled only when asked for: the sampler costs CPU beside the
    processes that are measured.

    Raises:
        BenchError: the program ran longer than `limit_s`.
    """
    with (
        tempfile.TemporaryFile("w+") as stdin,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
        placed(core, namespace) as place,
    ):
        stdin.write(given)
        stdin.seek(0)
        start = time.monotonic()
        process = subprocess.Popen(
            command,
            stdin=stdin,
            stdout=out,
            stderr=err,
            preexec_fn=place,
        )
        status, cpu_s, peak = _reap(process, memory, limit_s)
        wall_s = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        if wall_s >= limit_s:
            raise BenchError(f"{command[0]} did not end within {limit_s:.0f} s")
        return Finished(tuple(command), status, out.read(), err.read(), wall_s, cpu_s, peak)


def _reap(process: subprocess.Popen[bytes], memory: bool, limit_s: float) -> tuple[int, float, int]:
    """Exit code, CPU seconds and peak memory; a process that hangs is killed.

    wait4 is called here and not Popen.wait, because it alone gives the usage
    of this one child.
    """
    killer = threading.Timer(limit_s, process.kill)
    killer.start()
    try:
        if memory:
            with _peak_of(process.pid) as peak:
                _, status, usage = os.wait4(process.pid, 0)
        else:
            peak = [0]
            _, status, usage = os.wait4(process.pid, 0)
    finally:
        killer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime, peak[0]
