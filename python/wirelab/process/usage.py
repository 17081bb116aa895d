"""Resource usage of a running child process, from the kernel's counters."""

from __future__ import annotations

import time

from wirelab.process import metrics
from wirelab.process.children import Ended
from wirelab.process.metrics import Sample
from wirelab.process.system_noise import RunDelay


class Usage:
    """Samples of a living process."""

    def __init__(self, pid: int) -> None:
        """Takes the first sample."""
        self.cpu: list[Sample] = []
        """CPU seconds of the whole process."""
        self.steal: list[Sample] = []
        """Steal time of the machine, core-seconds."""
        self.run_delay: list[Sample] = []
        """Seconds for which its threads have waited for a core."""
        self._run_delay = RunDelay()
        self.rss_max_bytes: int | None = None
        """VmHWM. Not ru_maxrss, which inherits the peak of the forking process."""
        self.pid = pid
        self.look()

    def look(self) -> None:
        """Takes a sample."""
        self._add(self.cpu, metrics.cpu_seconds(self.pid))
        self._add(self.steal, metrics.steal_seconds())
        self._add(self.run_delay, self._run_delay.look((self.pid,)))
        # VmHWM only grows, so the last value is the peak.
        self.rss_max_bytes = metrics.rss_max_bytes(self.pid) or self.rss_max_bytes

    def add_total(self, ended: Ended) -> None:
        """Called when the process has ended and the kernel has reported its total usage."""
        self._add(self.cpu, ended.cpu_user_s + ended.cpu_system_s)
        self._add(self.steal, metrics.steal_seconds())
        # The kernel forgets it with the threads: the last samples are at most one look old.
        self._add(self.run_delay, self._run_delay.look((self.pid,)))

    def _add(self, samples: list[Sample], value: float | None) -> None:
        if value is not None:
            samples.append(Sample(time.monotonic_ns(), value))


def split(ended: Ended, cpu_s: float | None) -> tuple[float | None, float | None]:
    """CPU seconds of a part of a process, split into user and system. The process clock is not
    split: each gets its share of the whole process."""
    user, system = ended.cpu_user_s, ended.cpu_system_s
    whole = user + system
    if cpu_s is None or whole <= 0.0:
        return None, None
    return cpu_s * user / whole, cpu_s * system / whole
