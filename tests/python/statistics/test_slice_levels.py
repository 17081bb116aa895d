"""Services that took turns in slices: the trials on fresh processes remain the unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp

import numpy as np
import pytest
from scipy import stats

from tests.python.synthetic_run import GRPC, REST, World, trials
from wirelab.records.slices import SlicesRecord
from wirelab.records.trial import Trial
from wirelab.report.findings.ranking import rankings
from wirelab.statistics.comparison import Comparison, of_slices
from wirelab.statistics.figure import RATE, RESPONSE_P50
from wirelab.statistics.slices import LONGER_MAX, levels

WORLDS = 10_000
PROCESSES, SLICES = 0.05, 0.001
"""Standard deviations of the logarithms: between processes, and between slices of one."""
COUNT = 20
"""Slices of each service in a trial."""

Slices = list[tuple[list[float], list[float]]]


def world(
    random: np.random.Generator,
    number: int,
    truth: float = 1.0,
    processes: float = PROCESSES,
    slices: float = SLICES,
) -> tuple[list[float], list[float], Slices]:
    """Trials with a process of each service, and the slices of both."""
    of_process = random.normal(0.0, processes, (number, 2)) + np.log([truth, 1.0])
    each = np.exp(of_process[:, :, None] + random.normal(0.0, slices, (number, 2, COUNT)))
    pairs = [(one[0].tolist(), one[1].tolist()) for one in each]
    means = each.mean(axis=2)
    return means[:, 0].tolist(), means[:, 1].tolist(), pairs


@pytest.mark.parametrize("number", [3, 4, 8])
def test_intervals_hold_the_truth_where_processes_differ_and_slices_do_not(number: int) -> None:
    """A model that took slices for the unit would hold it in a few of a hundred worlds."""
    random = np.random.default_rng(number)
    holding = alarms = naive = 0
    for _ in range(WORLDS):
        a, b, slices = world(random, number)
        found = of_slices(a, b, slices, 2.0, 0.0)
        low, high = found.ratio.bounds or (0.0, 0.0)
        holding += low <= 1.0 <= high
        alarms += found.found
        naive += holds_with_slices(slices)
    assert holding >= 0.945 * WORLDS
    # 5 % and the binomial bound at the 0.1 % level.
    assert alarms <= 0.05 * WORLDS + 3.3 * (0.05 * 0.95 * WORLDS) ** 0.5
    assert naive < 0.5 * WORLDS


def holds_with_slices(slices: Slices) -> bool:
    """Whether Student's t of all slices holds 1."""
    logs = np.concatenate([np.log(np.array(a) / np.array(b)) for a, b in slices])
    reach = stats.t.ppf(0.975, logs.size - 1) * logs.std(ddof=1) / logs.size**0.5
    return bool(abs(logs.mean()) <= reach)


def test_the_interval_is_the_t_of_the_trials() -> None:
    a, b, slices = world(np.random.default_rng(1), 5)
    found = of_slices(a, b, slices, 2.0).ratio
    logs = np.log(np.array(a) / np.array(b))
    low, high = stats.t.interval(0.95, 4, logs.mean(), logs.std(ddof=1) / 5**0.5)
    assert found.bounds == pytest.approx((exp(low), exp(high)), rel=1e-9)
    assert found.n == 5


@pytest.mark.parametrize("number", [1, 2])
def test_fewer_than_three_trials_give_no_verdict(number: int) -> None:
    """However far apart both are, and however little their slices vary."""
    random = np.random.default_rng(1)
    for _ in range(200):
        a, b, slices = world(random, number, truth=5.0, processes=1e-6)
        found = of_slices(a, b, slices, 2.0, 0.02)
        assert found.verdict == "undecided"
        assert found.further_repeats == 3 - number
        assert "a verdict needs 3" in found.reason


def test_the_variance_is_divided_between_processes_and_slices() -> None:
    random = np.random.default_rng(2)
    found = [levels(*world(random, 6, processes=0.03, slices=0.2), 2.0) for _ in range(400)]
    within = np.mean([one.within for one in found if one])
    between = np.mean([one.between for one in found if one])
    assert within == pytest.approx(2.0 * 0.2**2 / COUNT, rel=0.05)
    assert between == pytest.approx(2.0 * 0.03**2, rel=0.35)


def share_decided(found: Comparison, truth: float, slices: float, longer: float) -> float:
    """Of 300 worlds whose trials are ``longer`` times as long: those that decide."""
    random = np.random.default_rng(3)
    count = 0
    for _ in range(300):
        a, b, _slices = world(random, found.ratio.n, truth, 0.0, slices / longer**0.5)
        count += of_slices(a, b, [], 2.0, found.threshold).verdict != "undecided"
    return count / 300


def test_the_seconds_that_it_names_decide_about_half_of_such_worlds() -> None:
    """Slices vary, processes do not: longer trials help."""
    random = np.random.default_rng(5)
    drawn = (world(random, 8, truth=1.08, processes=0.0, slices=0.3) for _ in range(100))
    every = (of_slices(a, b, slices, 2.0, 0.03) for a, b, slices in drawn)
    found = next(one for one in every if one.further_s and one.ratio.estimate > 1.03)
    assert found.further_s is not None
    assert f"or {found.further_s:.2g} s more of each service in each trial" in found.explanation
    truth = found.ratio.estimate
    longer = 1.0 + found.further_s / 2.0
    assert 0.35 <= share_decided(found, truth, 0.3, longer) <= 0.75


def test_longer_trials_are_not_named_where_processes_differ() -> None:
    a, b, slices = world(np.random.default_rng(7), 6, truth=1.03)
    found = of_slices(a, b, slices, 2.0, 0.03)
    assert found.verdict == "undecided"
    assert found.further_s is None
    assert "longer trials would not: their processes differ" in found.explanation
    assert LONGER_MAX > 1.0


def add_slices(every: Sequence[Trial]) -> list[Trial]:
    """The trials as if both services had shared them."""
    record = SlicesRecord(20, 0.1, 0.01, 0.005, 0.01, 2.3, 4.6)
    began = "2024-05-01T10:00:00.000+00:00"
    return [replace(one, slices=record, started=began, order=one.repeat) for one in every]


def test_a_run_in_slices_is_compared_by_its_trials() -> None:
    shared = World(sizes=(14,), loads=({"kind": "closed", "users": 8},), repeats=4)
    ((pair,),) = [one.pairs for one in rankings(add_slices(trials(shared)), RATE, 0.02)]
    assert pair.comparison is not None
    assert pair.comparison.ratio.method == "t over trials shared in slices, on logarithms"
    assert pair.comparison.levels is not None
    assert {pair.first.point.stack, pair.second.point.stack} == {REST, GRPC}
    # Two trials, of which an unpaired run would have a verdict.
    few = add_slices(trials(replace(shared, repeats=2, spread=0.001)))
    for figure in (RATE, RESPONSE_P50):
        ((pair,),) = [one.pairs for one in rankings(few, figure, 0.02)]
        assert pair.comparison is not None
        assert pair.comparison.verdict == "undecided"
    ((pair,),) = [one.pairs for one in rankings(trials(shared), RATE, 0.02)]
    assert pair.comparison is not None
    assert "slices" not in pair.comparison.ratio.method
