"""Busy time of a core is everything but idling."""

from __future__ import annotations

import pytest

from bench.process import TICK_S, busy_s

STAT = """cpu  1000 0 0 0 0 0 0 0 0 0
cpu0 100 1 20 5000 300 2 3 4 50 6
cpu1 10 0 0 7000 0 0 0 0 0 0
cpu10 9999 0 0 0 0 0 0 0 0 0
intr 1
"""


def test_idle_iowait_and_guest_do_not_count() -> None:
    """user + nice + system + irq + softirq + steal; guest is within user, cpu10 is not cpu1."""
    assert busy_s([0], STAT) == pytest.approx(130 * TICK_S)
    assert busy_s([0, 1], STAT) == pytest.approx(140 * TICK_S)


def test_it_grows_on_this_machine() -> None:
    """The kernel's file is read as it is."""
    assert busy_s([0]) > 0
