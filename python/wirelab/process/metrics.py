"""A service's own metrics in Prometheus text format, and the kernel's metrics of a process."""

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
"""For clock_getcpuclockid(3): CPU time of a whole process, of any process, in ns."""

Metrics = dict[str, float]
"""Name with its labels, as written -> value."""


def parse(text: str) -> Metrics:
    """Samples of the Prometheus text format, version 0.0.4. Lines that are not samples are
    ignored: a service may export other metrics."""
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
    """The text at ``http://address/metrics``, fetched with :func:`get`."""
    return get(address, "/metrics", seconds_max, namespace)


def get(address: str, path: str, seconds_max: float, namespace: str | None) -> str:
    """The text at ``http://address/path``, requested from within a network namespace if one is
    given. Raises :class:`OSError`, also for a reply that is not HTTP 200."""
    import http.client  # a slow import (e-mail parser), needed only with a service

    host, _, port = address.rpartition(":")
    where = host.strip("[]"), int(port)
    connection = http.client.HTTPConnection(*where, timeout=seconds_max)
    if namespace is not None:
        connection.sock = namespaces.connect(namespace, where, seconds_max)
    try:
        connection.request("GET", path)
        reply = connection.getresponse()
        text = reply.read(SCRAPE_BYTES_MAX).decode("utf-8", "replace")
        if reply.status != 200:
            raise OSError(f"the metrics address returned status {reply.status}: {text[:200]}")
        return text
    except http.client.HTTPException as error:
        raise OSError(f"the metrics address returned no valid HTTP reply: {error!r}") from error
    finally:
        connection.close()


def cpu_seconds(pid: int) -> float | None:
    """User and system CPU time of a process with all its threads, in seconds, with a resolution of
    one nanosecond; None if it has ended."""
    try:
        return time.clock_gettime((~pid << 3) | CPUCLOCK_SCHED)
    except OSError:
        return None


def rss_max_bytes(pid: int) -> int | None:
    """Peak resident memory (VmHWM of proc(5)) in bytes; None if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return None


def involuntary_switches(pid: int) -> dict[int, int] | None:
    """Involuntary context switches of each living thread of the process, by thread id
    (nonvoluntary_ctxt_switches of proc(5)); None if it has ended."""
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
    """Core-seconds that the hypervisor has taken from this machine since boot (steal of proc(5),
    resolution 10 ms); None if the kernel does not report it."""
    try:
        first = Path("/proc/stat").read_text(encoding="ascii").partition("\n")[0]
        return int(first.split()[8]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


@dataclass(frozen=True)
class Sample:
    """A value of a counter at a moment of CLOCK_MONOTONIC."""

    at_ns: int
    value: float


def growth(samples: list[Sample], start_ns: int, end_ns: int) -> float | None:
    """Increase of the counter from ``start_ns`` to ``end_ns``, linearly interpolated between
    samples; None if the samples do not enclose the window."""
    first, last = _interpolate(samples, start_ns), _interpolate(samples, end_ns)
    return None if first is None or last is None else last - first


def _interpolate(samples: list[Sample], at_ns: int) -> float | None:
    for before, after in pairwise(samples):
        if before.at_ns <= at_ns <= after.at_ns and before.at_ns < after.at_ns:
            share = (at_ns - before.at_ns) / (after.at_ns - before.at_ns)
            return before.value + share * (after.value - before.value)
    return None
