"""The self-tests that `wirelab doctor --self-test` runs, on the real engine.

That command runs each on both stacks. Here those that take long run on one, in turns.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirelab import selftest
from wirelab.process import metrics
from wirelab.process.interruption import Interruption
from wirelab.selftest import rates

REST, GRPC = selftest.STACKS


@pytest.fixture
def harness(real_engine: Path, no_orphans: None) -> Iterator[selftest.Testbed]:
    with Interruption() as interruption, selftest.open_testbed(interruption) as made:
        yield made


@pytest.mark.parametrize("stack", selftest.STACKS)
def test_delays_that_were_given_are_found_again(harness: selftest.Testbed, stack: str) -> None:
    result = selftest.check_known_answer(harness, stack)
    assert result.passed, result.reason


@pytest.mark.parametrize("stack", [GRPC])
def test_a_freeze_shows_in_response_times_as_the_schedule_says(
    harness: selftest.Testbed, stack: str
) -> None:
    result = selftest.freeze(harness, stack)
    assert result.passed, result.reason


@pytest.mark.parametrize("stack", [REST])
def test_the_service_sees_the_concurrency_that_was_planned(
    harness: selftest.Testbed, stack: str
) -> None:
    result = selftest.concurrency(harness, stack)
    assert result.passed, result.reason


@pytest.mark.parametrize("stack", [GRPC])
def test_the_rate_that_was_planned_is_achieved(harness: selftest.Testbed, stack: str) -> None:
    result = selftest.check_rate(harness, stack)
    assert result.passed, result.reason


@pytest.mark.parametrize("stack", [REST])
def test_the_schedule_is_kept(harness: selftest.Testbed, stack: str) -> None:
    result = selftest.schedule_lag(harness, stack)
    if not result.measurable:
        pytest.skip(result.reason)
    assert result.passed, result.reason


def test_a_busy_machine_is_distinguished_from_a_late_engine(
    harness: selftest.Testbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have no punctual window; it is the bare sleeper that differs, or what was stolen."""
    monkeypatch.setattr(rates, "_lag_us", lambda *_: (80.0, 5.0))
    monkeypatch.setattr(selftest.Testbed, "sleep_jitter_us", lambda *_: 20.0)
    monkeypatch.setattr(metrics, "steal_seconds", lambda: 1.0)
    late = selftest.schedule_lag(harness, REST)
    assert (late.passed, late.measurable) == (False, True)
    stolen = itertools.count()
    monkeypatch.setattr(metrics, "steal_seconds", lambda: float(next(stolen)))
    robbed = selftest.schedule_lag(harness, REST)
    assert (robbed.passed, robbed.measurable) == (False, False)
    monkeypatch.setattr(metrics, "steal_seconds", lambda: 1.0)
    looks = itertools.chain([300.0], itertools.repeat(20.0))
    monkeypatch.setattr(selftest.Testbed, "sleep_jitter_us", lambda *_: next(looks))
    busy = selftest.schedule_lag(harness, REST)
    assert (busy.passed, busy.measurable) == (False, False)
    assert "the machine is not idle" in busy.reason
    monkeypatch.setattr(rates, "_lag_us", lambda *_: (40.0, 5.0))
    assert selftest.schedule_lag(harness, REST).passed


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_poisson_arrivals_are_exponential(real_engine: Path, seed: int) -> None:
    result = selftest.poisson_gaps(seed)
    assert result.passed, result.reason


@pytest.mark.parametrize("stack", [GRPC])
def test_the_calls_of_a_poisson_load_are_exponential(harness: selftest.Testbed, stack: str) -> None:
    result = selftest.poisson_calls(harness, stack)
    assert result.passed, result.reason


@pytest.mark.parametrize(
    ("stack", "what"),
    [(stack, kind) for stack, kinds in selftest.KINDS.items() for kind in kinds],
)
def test_every_wrong_reply_is_found(harness: selftest.Testbed, stack: str, what: str) -> None:
    result = selftest.wrong_replies(harness, stack, what)
    assert result.passed, result.reason


def test_equal_services_do_not_differ(harness: selftest.Testbed) -> None:
    result = selftest.same_services(harness, REST)
    assert result.passed, result.reason
