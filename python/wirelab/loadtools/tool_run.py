"""One run of a third-party tool: started, pinned, measured by the kernel's counters, ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import TrialFailed
from wirelab.process import metrics
from wirelab.process.children import POLL_S, Child, Ended, ProcessOptions, describe_exit
from wirelab.process.interruption import Interruption
from wirelab.process.metrics import Sample
from wirelab.process.usage import Usage


@dataclass(frozen=True)
class ToolRun:
    """A tool that has ended normally."""

    ended: Ended
    cpu: tuple[Sample, ...]
    """CPU seconds of the whole process; the first sample before its own code, the last at its
    end."""
    steal: tuple[Sample, ...]
    """Steal time of the machine, core-seconds."""
    rss_max_bytes: int | None
    """VmHWM. Not ru_maxrss, which inherits the peak of the forking process."""
    output: str
    """Its standard output."""
    wall_offset_ns: int
    """CLOCK_MONOTONIC minus CLOCK_REALTIME, to convert the tool's time stamps."""

    def cpu_within(self, start_ns: int, end_ns: int) -> float | None:
        """CPU seconds from ``start_ns`` to ``end_ns`` of CLOCK_MONOTONIC, without the tool's start
        and the writing of its report."""
        return metrics.growth(list(self.cpu), start_ns, end_ns)

    def steal_within(self, start_ns: int, end_ns: int) -> float | None:
        """Steal time from ``start_ns`` to ``end_ns``."""
        return metrics.growth(list(self.steal), start_ns, end_ns)


def run(
    command: Sequence[str],
    *,
    log: Path,
    cores: Sequence[int],
    namespace: str | None = None,
    group: Path | None = None,
    seconds_max: float,
    interruption: Interruption,
    on_tick: Callable[[], None] = lambda: None,
) -> ToolRun:
    """Runs ``command``, pinned to ``cores``, in the network namespace and the control group if
    given. ``on_tick`` is called about every 50 ms. Raises :class:`TrialFailed` if the tool fails or
    runs longer than ``seconds_max``, and :class:`Interrupted` on request. The process has ended in
    every case."""
    offset_ns = time.monotonic_ns() - time.time_ns()
    child = Child(command, ProcessOptions(log=log, cores=cores, namespace=namespace, group=group))
    watch = Usage(child.pid)
    deadline = time.monotonic() + seconds_max
    try:
        child.close_input()
        output = _Output(child)
        while (ended := child.reap()) is None:
            output.read()
            watch.look()
            on_tick()
            interruption.check()
            if time.monotonic() > deadline:
                raise TrialFailed(
                    f"{_name(command)} exceeded the time limit of {seconds_max:.0f} s"
                )
            time.sleep(POLL_S)
        output.read()
    finally:
        child.kill()
    if ended.code != 0:
        tail = child.log_tail()
        said = f" ({tail})" if tail else ""
        raise TrialFailed(f"{_name(command)} ended with {describe_exit(ended.code)}{said}")
    watch.add_total(ended)
    cpu, steal = tuple(watch.cpu), tuple(watch.steal)
    return ToolRun(ended, cpu, steal, watch.rss_max_bytes, output.text(), offset_ns)


class _Output:
    """Standard output, read continuously, so that the pipe never fills up."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._lines: list[bytes] = []

    def read(self) -> None:
        while line := self._child.line(0.0):
            self._lines.append(line)

    def text(self) -> str:
        return b"\n".join(self._lines).decode("utf-8", "replace")


def _name(command: Sequence[str]) -> str:
    return Path(command[0]).name
