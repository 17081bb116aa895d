"""Wake-up latency of this machine: the lower bound for the precision of every schedule, which tests
of punctuality must not attribute to the engine."""

from __future__ import annotations

import ctypes
import os
import statistics
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

PR_SET_TIMERSLACK, PR_GET_TIMERSLACK = 29, 30
SLEEP_S = 100e-6

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Overshoot:
    """Delay of sleeps of 100 µs, in microseconds."""

    p50_us: float
    p99_us: float


def overshoot(slack_ns: int | None = None, sleeps: int = 300) -> Overshoot:
    """Sleeps many times; ``slack_ns`` is the timer slack of prctl(2), None the kernel's 50 µs."""
    with _slack(slack_ns):
        late = sorted(_one_us() for _ in range(sleeps))
    cuts = statistics.quantiles(late, n=100)
    return Overshoot(cuts[49], cuts[98])


def read_cost_ns(reads: int = 20_000) -> float:
    """Nanoseconds per reading of CLOCK_MONOTONIC, including the time of the interpreter."""
    began = time.perf_counter_ns()
    for _ in range(reads):
        time.monotonic_ns()
    return (time.perf_counter_ns() - began) / reads


def _one_us() -> float:
    began = time.monotonic_ns()
    time.sleep(SLEEP_S)
    return (time.monotonic_ns() - began) / 1e3 - SLEEP_S * 1e6


@contextmanager
def _slack(slack_ns: int | None) -> Iterator[None]:
    before = _libc.prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)
    if slack_ns is not None:
        _libc.prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(slack_ns), 0, 0, 0)
    try:
        yield
    finally:
        _libc.prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(max(0, before)), 0, 0, 0)


def sleep_jitter_us(cores: Iterable[int], rate: float, seconds: float) -> float:
    """p99 minus p50 of the wake-up delay on these cores, at that number of sleeps per second.

    A sleeper can compensate for the median by waking earlier; the rest is not predictable.
    """
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        late = _lateness_ns(rate, seconds)
    finally:
        os.sched_setaffinity(0, before)
    low, high = np.percentile(late, [50, 99])
    return float(high - low) / 1e3


def _lateness_ns(rate: float, seconds: float) -> list[int]:
    gap_ns, begin = round(1e9 / rate), time.monotonic_ns()
    late = []
    for due in range(begin + gap_ns, begin + round(seconds * 1e9), gap_ns):
        left = due - time.monotonic_ns()
        if left > 0:
            time.sleep(left / 1e9)
        late.append(time.monotonic_ns() - due)
    return late
