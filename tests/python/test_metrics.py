"""Prometheus text, and growth of counters over a window."""

from __future__ import annotations

import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirelab import metrics
from wirelab.metrics import Sample

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
