"""How punctual anybody can be on this machine: what a test of punctuality must not blame on
the engine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

import numpy as np


def unevenness_us(cores: Iterable[int], rate: float, seconds: float) -> float:
    """p99 less p50 of how late a bare sleeper wakes on these cores, at so many sleeps a second.

    By its median a sleeper can wake earlier; what is beyond, nobody can foresee.
    """
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        late = _late_ns(rate, seconds)
    finally:
        os.sched_setaffinity(0, before)
    low, high = np.percentile(late, [50, 99])
    return float(high - low) / 1e3


def _late_ns(rate: float, seconds: float) -> list[int]:
    gap_ns, begin = round(1e9 / rate), time.monotonic_ns()
    late = []
    for due in range(begin + gap_ns, begin + round(seconds * 1e9), gap_ns):
        left = due - time.monotonic_ns()
        if left > 0:
            time.sleep(left / 1e9)
        late.append(time.monotonic_ns() - due)
    return late
