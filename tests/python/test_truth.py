"""The tests of truth that `wirelab doctor --self-test` runs, on the real engine."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirelab import selftest
from wirelab.process import metrics
from wirelab.process.interruption import Interruption
from wirelab.selftest import Bed, rates

REST, GRPC = selftest.STACKS


@pytest.fixture
def bed(real_engine: Path, no_orphans: None) -> Iterator[Bed]:
    with Interruption() as interruption, selftest.bed(interruption) as made:
        yield made


@pytest.mark.parametrize("stack", selftest.STACKS)
def test_delays_that_were_given_are_found_again(bed: Bed, stack: str) -> None:
    truth = selftest.known_answer(bed, stack)
    assert truth.passed, truth.reason


@pytest.mark.parametrize("stack", selftest.STACKS)
def test_a_freeze_shows_in_response_times_as_the_schedule_says(bed: Bed, stack: str) -> None:
    truth = selftest.freeze(bed, stack)
    assert truth.passed, truth.reason


@pytest.mark.parametrize("stack", selftest.STACKS)
def test_the_service_sees_the_concurrency_that_was_planned(bed: Bed, stack: str) -> None:
    truth = selftest.concurrency(bed, stack)
    assert truth.passed, truth.reason


@pytest.mark.parametrize("stack", selftest.STACKS)
def test_the_rate_that_was_planned_is_achieved(bed: Bed, stack: str) -> None:
    truth = selftest.achieved_rate(bed, stack)
    assert truth.passed, truth.reason


@pytest.mark.parametrize("stack", selftest.STACKS)
def test_the_schedule_is_kept(bed: Bed, stack: str) -> None:
    truth = selftest.schedule_lag(bed, stack)
    if not truth.measurable:
        pytest.skip(truth.reason)
    assert truth.passed, truth.reason


def test_a_machine_that_is_not_idle_is_told_from_a_late_engine(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have no punctual window; it is the bare sleeper that differs, or what was stolen."""
    monkeypatch.setattr(rates, "_lag_us", lambda *_: (80.0, 5.0))
    monkeypatch.setattr(Bed, "unevenness_us", lambda *_: 20.0)
    monkeypatch.setattr(metrics, "steal_seconds", lambda: 1.0)
    late = selftest.schedule_lag(bed, REST)
    assert (late.passed, late.measurable) == (False, True)
    stolen = itertools.count()
    monkeypatch.setattr(metrics, "steal_seconds", lambda: float(next(stolen)))
    robbed = selftest.schedule_lag(bed, REST)
    assert (robbed.passed, robbed.measurable) == (False, False)
    monkeypatch.setattr(metrics, "steal_seconds", lambda: 1.0)
    looks = itertools.chain([300.0], itertools.repeat(20.0))
    monkeypatch.setattr(Bed, "unevenness_us", lambda *_: next(looks))
    busy = selftest.schedule_lag(bed, REST)
    assert (busy.passed, busy.measurable) == (False, False)
    assert "the machine is not idle" in busy.reason
    monkeypatch.setattr(rates, "_lag_us", lambda *_: (40.0, 5.0))
    assert selftest.schedule_lag(bed, REST).passed


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_poisson_arrivals_are_exponential(real_engine: Path, seed: int) -> None:
    truth = selftest.poisson_gaps(seed)
    assert truth.passed, truth.reason


@pytest.mark.parametrize("stack", selftest.STACKS)
def test_the_calls_of_a_poisson_load_are_exponential(bed: Bed, stack: str) -> None:
    truth = selftest.poisson_calls(bed, stack)
    assert truth.passed, truth.reason


@pytest.mark.parametrize(
    ("stack", "what"),
    [(stack, kind) for stack, kinds in selftest.KINDS.items() for kind in kinds],
)
def test_every_wrong_reply_is_found(bed: Bed, stack: str, what: str) -> None:
    truth = selftest.wrong_replies(bed, stack, what)
    assert truth.passed, truth.reason


def test_equal_services_do_not_differ(bed: Bed) -> None:
    truth = selftest.same_services(bed, REST)
    assert truth.passed, truth.reason
