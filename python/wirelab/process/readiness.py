"""How long wirelab waits for a process to become ready: as long as the process makes progress.

A start takes many times longer on a loaded machine than on an idle one, but the process still uses
CPU time or prints. A process that hangs does neither.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from wirelab.process.children import Child
from wirelab.process.process_tree import ProcessTree

READY_TIMEOUT_S = 120.0
"""Default time without progress after which a process is given up, seconds."""
TIMEOUTS_MAX = 10
"""Number of these times after which a process is given up although it makes progress: a process
that spins forever must not hang wirelab."""
INTERVAL_S_MAX = 1.0
"""Longest interval over which CPU time is compared, seconds."""
CORE_SHARE_MIN = 0.01
"""Share of a core that counts as progress. An idle JVM uses about 0.001 for its timers."""
READY_REMEDY = "give a longer --ready-timeout if the machine is slow"
"""What to do about a service that is not ready in time."""
LINE_MAX = 200
"""Maximum length of the quoted line of a log."""


class ReadyWait:
    """The wait for one process. Its time begins with the object."""

    def __init__(
        self,
        child: Child,
        timeout_s: float,
        tree: ProcessTree | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``timeout_s`` is the time without progress, in seconds. ``tree`` has the processes whose
        CPU time counts; by default those that the child has started. ``clock`` returns seconds."""
        self._child = child
        self._timeout_s = timeout_s
        self._tree = tree or ProcessTree(child.pid)
        self._clock = clock
        self._began = self._progressed = self._observed = clock()
        self._log_bytes = child.log.size()
        self._seen = self._output()
        self._cpu_s = 0.0

    def failure(self, *, counts_progress: bool = True) -> str:
        """``was not ready after 131 s, …`` once the wait is over; empty before. Progress can be
        left out, for a process that is busy only because it is asked whether it is ready."""
        self._child.log.trim()
        now = self._clock()
        if now - self._observed >= min(INTERVAL_S_MAX, self._timeout_s / 4):
            if self._observe(now - self._observed) and counts_progress:
                self._progressed = now
            self._observed = now
        limit_s = TIMEOUTS_MAX * self._timeout_s
        if now - self._progressed >= self._timeout_s:
            why = f"the last {now - self._progressed:.3g} s without progress"
        elif now - self._began >= limit_s:
            why = f"which is the limit for a process that makes progress ({limit_s:g} s)"
        else:
            return ""
        return f"was not ready after {now - self._began:.3g} s, {why} ({self._describe_progress()})"

    def _observe(self, seconds: float) -> bool:
        """Whether the process made progress in the last ``seconds``."""
        cpu_s, output = self._tree.look() or 0.0, self._output()
        is_busy = cpu_s - self._cpu_s >= CORE_SHARE_MIN * seconds
        has_printed = output != self._seen
        self._cpu_s, self._seen = cpu_s, output
        return is_busy or has_printed

    def _output(self) -> tuple[int, int]:
        """Bytes on standard output, and in the log."""
        return self._child.bytes_read, self._child.log.size()

    def _describe_progress(self) -> str:
        """How far the process got, for the message."""
        has_printed = self._child.log.size() > self._log_bytes
        last = self._child.log_tail(1)[:LINE_MAX] if has_printed else ""
        printed = f"last line: {last}" if last else "no output"
        return f"CPU time so far: {self._cpu_s:.2f} s; {printed}"
