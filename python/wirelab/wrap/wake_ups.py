"""How late the machine wakes a thread that only sleeps, while a command runs.

A tool reads its clock when it has been woken. On a machine that others share, a processor that was
idle starts late, and the tool's times contain that: neither the wire nor the tool is at fault.
"""

from __future__ import annotations

import math
import threading
import time
from array import array
from collections.abc import Sequence
from types import TracebackType

SLEEP_S = 0.005
"""Of a sample."""
SAMPLES_MIN = 100
"""Fewer show no tail."""


class WakeUps:
    """Samples in a thread of its own within the block."""

    def __init__(self) -> None:
        self.late_s = array("d")
        """How late each sleep ended, seconds."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> WakeUps:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._over.is_set():
            due = time.monotonic() + SLEEP_S
            time.sleep(SLEEP_S)
            self.late_s.append(time.monotonic() - due)


def tail_s(late_s: Sequence[float], share: float) -> float:
    """The quantile of lateness beyond its median, seconds; 0.0 of too few samples. The median is
    the timer's own, and that of every wake-up."""
    if len(late_s) < SAMPLES_MIN:
        return 0.0
    ordered = sorted(late_s)
    rank = math.ceil(round(share * len(ordered), 6))
    return ordered[max(rank, 1) - 1] - ordered[(len(ordered) - 1) // 2]
