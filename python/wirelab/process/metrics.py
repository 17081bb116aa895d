"""What a service says of itself in Prometheus text, and what the kernel says of it."""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from wirelab.process import namespaces

SCRAPE_S_MAX = 10.0
SCRAPE_BYTES_MAX = 4 * 1024 * 1024
CPUCLOCK_SCHED = 2
"""Of clock_getcpuclockid(3): the CPU time of a whole process, ns, any process."""

Metrics = dict[str, float]
"""Name with its labels, as written, -> value."""


def parse(text: str) -> Metrics:
    """Samples of the Prometheus text format, version 0.0.4; lines that are none are passed
    over, for a service's other metrics are not the lab's business."""
    samples: Metrics = {}
    for line in text.splitlines():
        name, _, value = line.strip().rpartition(" ")
        if not name or name.startswith("#"):
            continue
        try:
            number = float(value)
        except ValueError:
            continue
        if math.isfinite(number):
            samples[name.strip()] = number
    return samples


def total(metrics: Metrics, name: str) -> float:
    """The sum over all label sets of ``name``."""
    return sum(
        value for key, value in metrics.items() if key == name or key.startswith(f"{name}{{")
    )


def scrape(address: str, seconds_max: float = SCRAPE_S_MAX, namespace: str | None = None) -> str:
    """The text at ``http://address/metrics``, as :func:`get` has it."""
    return get(address, "/metrics", seconds_max, namespace)


def get(address: str, path: str, seconds_max: float, namespace: str | None) -> str:
    """The text at ``http://address/path``, asked for from within a network namespace where
    given. Raises :class:`OSError`, also for a reply that is none."""
    import http.client  # it loads a parser of e-mail, which commands without a service do not need

    host, _, port = address.rpartition(":")
    where = host.strip("[]"), int(port)
    connection = http.client.HTTPConnection(*where, timeout=seconds_max)
    if namespace is not None:
        connection.sock = namespaces.connected(namespace, where, seconds_max)
    try:
        connection.request("GET", path)
        reply = connection.getresponse()
        text = reply.read(SCRAPE_BYTES_MAX).decode("utf-8", "replace")
        if reply.status != 200:
            raise OSError(f"status {reply.status} from the metrics address: {text[:200]}")
        return text
    except http.client.HTTPException as error:
        raise OSError(f"no reply of HTTP from the metrics address: {error!r}") from error
    finally:
        connection.close()


def cpu_seconds(pid: int) -> float | None:
    """User and system CPU time of a process, all its threads, in seconds with the
    resolution of a nanosecond; None when it has ended."""
    try:
        return time.clock_gettime((~pid << 3) | CPUCLOCK_SCHED)
    except OSError:
        return None


def rss_max_bytes(pid: int) -> int | None:
    """Peak resident memory (VmHWM of proc(5)) in bytes; None when it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return None


def involuntary_switches(pid: int) -> dict[int, int] | None:
    """How often the kernel took a core from each living thread of the process that would have
    gone on (nonvoluntary_ctxt_switches of proc(5)), by its id; None when it has ended."""
    try:
        threads = list(Path(f"/proc/{pid}/task").glob("*/status"))
    except OSError:
        return None
    counts = {}
    for thread in threads:
        try:
            status = thread.read_text(encoding="ascii", errors="replace")
        except OSError:
            continue
        lines = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        counts[int(thread.parent.name)] = int(lines["nonvoluntary_ctxt_switches"])
    return counts or None


def steal_seconds() -> float | None:
    """Core-seconds that the hypervisor took from this machine since it started (steal of
    proc(5), resolution 10 ms); None where the kernel does not tell."""
    try:
        first = Path("/proc/stat").read_text(encoding="ascii").partition("\n")[0]
        return int(first.split()[8]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


@dataclass(frozen=True)
class Sample:
    """A growing number at a moment of CLOCK_MONOTONIC."""

    at_ns: int
    value: float


def growth(samples: list[Sample], start_ns: int, end_ns: int) -> float | None:
    """How much the number grew from ``start_ns`` to ``end_ns``, linear between samples;
    None when the samples do not reach around the window."""
    first, last = _at(samples, start_ns), _at(samples, end_ns)
    return None if first is None or last is None else last - first


def _at(samples: list[Sample], at_ns: int) -> float | None:
    for before, after in pairwise(samples):
        if before.at_ns <= at_ns <= after.at_ns and before.at_ns < after.at_ns:
            share = (at_ns - before.at_ns) / (after.at_ns - before.at_ns)
            return before.value + share * (after.value - before.value)
    return None
