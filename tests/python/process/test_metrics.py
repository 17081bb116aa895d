"""Prometheus text, and growth of counters over a window."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirelab.process import metrics
from wirelab.process.metrics import Sample

TEXT = """\
# HELP wirelab_calls_total calls
# TYPE wirelab_calls_total counter
wirelab_calls_total{operation="Hello"} 12
wirelab_calls_total{operation="Submit"} 3
wirelab_calls_total_created 1e9
wirelab_delay_seconds{quantile="0.5"} 0.0001
go_gc_duration_seconds{quantile="1"} NaN
broken line here
"""


def test_samples_are_read_by_name_and_label() -> None:
    found = metrics.parse(TEXT)
    assert found['wirelab_calls_total{operation="Hello"}'] == 12
    assert metrics.total(found, "wirelab_calls_total") == 15
    assert metrics.total(found, "absent") == 0
    assert not any("NaN" in name or "gc" in name for name in found)


@given(st.text(max_size=200))
def test_any_text_is_survived(text: str) -> None:
    assert all(isinstance(value, float) for value in metrics.parse(text).values())


def test_growth_is_linear_between_samples() -> None:
    samples = [Sample(0, 0.0), Sample(100, 10.0), Sample(200, 30.0)]
    assert metrics.growth(samples, 50, 150) == pytest.approx(15.0)
    assert metrics.growth(samples, 150, 250) is None


def test_cpu_of_a_process_grows_with_its_work() -> None:
    before = metrics.cpu_seconds(os.getpid())
    began = time.process_time()
    while time.process_time() - began < 0.05:
        pass
    after = metrics.cpu_seconds(os.getpid())
    assert before is not None
    assert after is not None
    assert 0.045 <= after - before <= 0.5


def test_a_process_that_is_gone_has_no_cpu() -> None:
    assert metrics.cpu_seconds(2**22 + 1) is None
    assert metrics.rss_max_bytes(2**22 + 1) is None
    assert metrics.involuntary_switches(2**22 + 1) is None


def test_two_who_want_one_core_are_taken_from_it() -> None:
    """The kernel counts it for both."""
    core = min(os.sched_getaffinity(0))
    busy = f"import os; os.sched_setaffinity(0, {{{core}}})\nwhile True: pass"
    with ExitStack() as both:
        pids = [both.enter_context(run_process(busy)) for _ in range(2)]
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            counts = [sum((metrics.involuntary_switches(pid) or {}).values()) for pid in pids]
            if min(counts) > 20:
                break
            time.sleep(0.05)
        assert min(counts) > 20


@contextmanager
def run_process(code: str) -> Iterator[int]:
    """A process with that code, ended with the block."""
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()
