"""Programs of a measurement: run on a core, what they cost, and what else the cores did."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
def enter_place(core: int | None, namespace: str | None) -> Iterator[Callable[[], None]]:
    """What a child does between fork and exec: goes to its core (None: any), and into the network
    namespace of that name."""
    network = None if namespace is None else namespaces.open_namespace(namespace)

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

    Memory is sampled only on request: the sampler uses CPU next to the measured
    processes.

    Raises:
        BenchError: the program ran longer than `limit_s`.
    """
    with (
        tempfile.TemporaryFile("w+") as stdin,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
        enter_place(core, namespace) as place,
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


IDLE_FIELDS = (3, 4)
"""idle and iowait, counted from `user` (proc(5), /proc/stat)."""
GUEST_FIELDS = (8, 9)
"""guest and guest_nice, which `user` and `nice` hold already."""


def busy_s(cores: Iterable[int], stat: str | None = None) -> float:
    """Seconds since boot in which these cores were not idle, stolen time included.

    `stat` is the text of /proc/stat; it is read when left out.
    """
    names = {f"cpu{core}" for core in cores}
    lines = (stat or Path("/proc/stat").read_text()).splitlines()
    rows = [line.split()[1:] for line in lines if line.split(maxsplit=1)[0] in names]
    left_out = IDLE_FIELDS + GUEST_FIELDS
    return sum(
        int(ticks) * TICK_S
        for row in rows
        for field, ticks in enumerate(row)
        if field not in left_out
    )


ROOT = Path(__file__).resolve().parent.parent


def build_example(package: str, example: str) -> str:
    """Path of the program, built as the product is.

    Raises:
        BenchError: cargo is not there, or it cannot be built.
    """
    command = [
        *("cargo", "build", "--release", "--locked", "--message-format=json"),
        *("-p", package, "--example", example),
    ]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise BenchError("cargo is not there: install Rust by rustup.rs") from error
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    built = [one["executable"] for one in messages if one.get("executable")]
    if done.returncode != 0 or not built:
        raise BenchError(f"{' '.join(command)}: {done.stderr.strip().splitlines()[-1:]}")
    return str(built[-1])


BUSY = 0.85


@dataclass(frozen=True)
class Count:
    """What a tool says of its own run."""

    calls: int
    """Calls that ended well: the divisor of CPU per call."""
    errors: int
    rate_per_s: float
    bytes_per_call: float | None = None
    """Sent and received on the sockets; None from a tool that does not say."""
    p50_us: float | None = None
    """Median response time; None from a tool that was not asked."""
    spin_s: float = 0.0
    """CPU seconds that the tool says it spun with nothing to do."""


@dataclass(frozen=True)
class Reading:
    """A tool's own count, and what the kernel says of both processes."""

    tool: str
    command: tuple[str, ...]
    calls: int
    errors: int
    rate_per_s: float
    client_cpu_s: float
    server_cpu_s: float
    wall_s: float
    others_cpu_s: float = 0.0
    """What else ran on the two cores while this was taken, interrupts and stolen time included."""
    bytes_per_call: float | None = None
    """As the tool counted them."""
    p50_us: float | None = None
    """As the tool found it."""
    spin_s: float = 0.0
    """As the tool says: of its CPU, what no call needed. CPU per call counts it all the same."""

    def subtract_spinning(self) -> Reading:
        """Without what the tool spun with nothing to do, which no call needed."""
        return replace(self, client_cpu_s=self.client_cpu_s - self.spin_s, spin_s=0.0)

    @property
    def others_share(self) -> float:
        """Of the two cores' time, the part that neither client nor server had."""
        return max(0.0, self.others_cpu_s) / (2 * self.wall_s)

    @property
    def client_us_per_call(self) -> float:
        """Client CPU per call in microseconds, start and end of the process included."""
        return self.client_cpu_s / self.calls * 1e6

    @property
    def bound(self) -> str:
        """Which process was the limit: the busier one, if it was busy 85 % of the time. A
        client that spins with nothing to do is not busy."""
        busy_s = self.client_cpu_s - self.spin_s
        client, server = busy_s / self.wall_s, self.server_cpu_s / self.wall_s
        if max(client, server) < BUSY:
            return "latency-bound"
        return "server-bound" if server >= client else "client-bound"
