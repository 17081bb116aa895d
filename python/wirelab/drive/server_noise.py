"""Whether the server of a drive had processors when it needed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirelab.documents.event import Progress
from wirelab.experiment import placement
from wirelab.process.system_noise import SystemNoiseSampler
from wirelab.records.group import GroupResult


@dataclass(frozen=True)
class KeptOff:
    """Time within the window in which the server's threads could have run."""

    waited_s: float
    """They waited for a processor, summed over the threads."""
    others_s: float
    """CPU time of all other processes but the load engine."""


class ServerNoise:
    """Observes the processes of a server while calls are made."""

    def __init__(self) -> None:
        self._sampler: SystemNoiseSampler | None = None

    def watch(self, pids: Sequence[int]) -> None:
        """Begins; without processes nothing is observed."""
        if pids:
            self._sampler = SystemNoiseSampler(placement.available_cores(), lambda: pids)

    def progress(self, progress: Progress) -> None:
        """Receives every line of the engine's progress."""
        if self._sampler is not None:
            self._sampler.progress(progress.phase)

    def tick(self) -> None:
        """To be called about every 50 ms."""
        if self._sampler is not None:
            self._sampler.tick()

    def end(self) -> None:
        """To be called when the calls are over."""
        if self._sampler is not None:
            self._sampler.mark()

    def measure_waits(self, group: GroupResult) -> KeptOff | None:
        """What was observed within the group's window; None if that is not known."""
        start = group.window_start_ns
        if self._sampler is None or start is None or not group.window_s:
            return None
        window = start, start + round(group.window_s * 1e9)
        waited_s = self._sampler.service_run_delay_s(*window)
        others_s = self._sampler.findings(*window).other_cpu_s
        if waited_s is None or others_s is None:
            return None
        return KeptOff(waited_s, others_s)
