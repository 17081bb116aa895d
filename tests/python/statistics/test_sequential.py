"""Confidence sequences: simulated under continuous looking, on the residuals of real trials."""

from __future__ import annotations

import json
from math import exp, log, log1p
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from wirelab.statistics.interval import NotPositive, OutOfRange
from wirelab.statistics.sequential import (
    PRIOR_PAIRS,
    confidence_sequence,
    further_pairs,
    judge,
    reach_factor,
)

RESIDUALS = np.array(
    json.loads((Path(__file__).parents[1] / "trial_residuals.json").read_text())["values"]
)
WORLDS = 10_000
BUDGET = 60
POWER = 0.9
EFFECT, LARGE = log(1.03), log(1.10)

Floats = NDArray[np.float64]


def pairs(effect: float, spread: float, worlds: int, budget: int, seed: int) -> Floats:
    """Logarithms of ratios of pairs: the difference of two residuals of real trials, with this
    standard deviation, and the effect."""
    rng = np.random.default_rng(seed)
    drawn = rng.choice(RESIDUALS, (2, worlds, budget))
    difference: Floats = drawn[0] - drawn[1]
    return effect + spread * difference / float(np.sqrt(2.0) * np.std(RESIDUALS))


def find_stops(values: Floats) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Whether the interval excluded 0 ever, and after how many pairs; else all of them."""
    budget = values.shape[1]
    counts = np.arange(1, budget + 1)
    means = np.cumsum(values, axis=1) / counts
    squares = np.cumsum(values**2, axis=1) / counts
    spreads = np.sqrt(np.maximum(squares - means**2, 1e-24))
    factors = np.array([reach_factor(int(n)) or np.inf for n in counts])
    excluded = np.abs(means) > spreads * factors
    excluded[:, 0] = False
    ever = excluded.any(axis=1)
    return ever, np.where(ever, excluded.argmax(axis=1) + 1, budget)


def calculate_fixed_size(effect: float, spread: float) -> int:
    """Pairs of Student's paired test that finds the effect with the power of 0.9."""
    for n in range(2, 10_000):
        centre = effect / spread * n**0.5
        limit = stats.t.ppf(0.975, n - 1)
        found = stats.nct.sf(limit, n - 1, centre) + stats.nct.cdf(-limit, n - 1, centre)
        if found >= POWER:
            return n
    raise AssertionError


@pytest.mark.parametrize("spread", [0.01, 0.1])
def test_false_alarms_stay_below_one_in_twenty_whenever_one_looks(spread: float) -> None:
    alarms, _ = find_stops(pairs(0.0, spread, WORLDS, BUDGET, seed=1))
    assert alarms.mean() <= 0.05


def test_looking_at_students_test_raises_alarms() -> None:
    """What the sequence is for: in the same worlds, looked at after every sixth pair."""
    values = pairs(0.0, 0.03, 1_000, BUDGET, seed=1)
    tests = (stats.ttest_1samp(values[:, :n], 0.0, axis=1) for n in range(6, BUDGET, 6))
    looks = [np.asarray(test.pvalue) for test in tests]
    assert np.mean(np.min(looks, axis=0) < 0.05) > 0.1


@pytest.mark.parametrize("spread", [0.03, 0.06, 0.1])
def test_power_and_cost_next_to_the_fixed_design(spread: float) -> None:
    """At 3 % with at most 1.2 times the trials of the fixed design, at 10 % with half."""
    fixed = calculate_fixed_size(EFFECT, spread)
    budget = int(2.5 * fixed)
    found, taken = find_stops(pairs(EFFECT, spread, 2_000, budget, seed=2))
    assert found.mean() >= POWER
    assert taken.mean() <= 1.2 * fixed
    found, taken = find_stops(pairs(LARGE, spread, 2_000, budget, seed=3))
    assert found.mean() >= POWER
    assert taken.mean() <= 0.5 * fixed


def test_the_interval_is_where_the_martingale_reaches_its_limit() -> None:
    """M_n at both ends is 1/alpha, by the formula of the paper."""
    values = pairs(0.02, 0.05, 1, 12, seed=4)[0]
    interval = confidence_sequence(list(values))
    assert interval.bounds is not None
    n, c2 = values.size, PRIOR_PAIRS
    for limit in interval.bounds:
        s, v = float(np.sum(values - limit)), float(np.sum((values - limit) ** 2))
        ratio = (n + c2) * v / ((n + c2) * v - s * s)
        assert (c2 / (n + c2)) ** 0.5 * ratio ** (n / 2) == pytest.approx(20.0)


def test_verdicts() -> None:
    rng = np.random.default_rng(5)
    a = np.exp(rng.normal(0.0, 0.02, 40))
    noise = np.exp(rng.normal(0.0, 0.02, 40))
    assert judge(list(a), list(a * 1.1 * noise), 0.05).outcome == "higher"
    assert judge(list(a), list(a / 1.1 * noise), 0.05).outcome == "lower"
    equal = judge(list(a), list(a * noise), 0.05)
    assert equal.outcome == "equivalent"
    assert equal.ratio.bounds is not None
    assert log(equal.ratio.bounds[1]) <= log1p(0.05)
    first = judge([1.0, 1.0], [1.1, 1.2], 0.05)
    assert (first.outcome, first.ratio.bounds) == ("undecided", None)
    assert first.ratio.estimate == pytest.approx(exp((log(1.1) + log(1.2)) / 2))
    assert not first.decided


@pytest.mark.parametrize(
    ("ratios", "threshold"),
    [
        ([1.0, 1.06, 1.01, 1.09, 0.98, 1.05], 0.0),
        ([0.99, 1.01, 1.02, 0.98], 0.015),
        ([0.9, 1.0, 0.9, 1.0, 0.97], 0.03),
    ],
)
def test_pairs_like_those_so_far_decide_after_the_stated_number(
    ratios: list[float], threshold: float
) -> None:
    """Repeating all pairs changes neither their mean nor their standard deviation."""
    n = len(ratios)
    further = further_pairs([1.0] * n, ratios, threshold)
    assert further is not None
    copies = range(1, 2 + further // n + 1)
    decided = [judge([1.0] * n * each, ratios * each, threshold).decided for each in copies]
    assert decided == [n * (each - 1) >= further for each in copies]
    assert True in decided
    assert False in decided


def test_no_number_of_pairs_is_stated_where_none_is_known() -> None:
    assert further_pairs([1.0], [1.1], 0.03) is None
    # Pairs that vary far more than they differ.
    assert further_pairs([1.0] * 6, [0.5, 2.0, 0.6, 1.8, 0.7, 1.3], 0.03) is None


def test_nonsense_is_refused() -> None:
    with pytest.raises(OutOfRange, match="pairs"):
        judge([1.0], [1.0, 2.0], 0.05)
    with pytest.raises(NotPositive):
        judge([1.0, 0.0], [1.0, 2.0], 0.05)
    with pytest.raises(OutOfRange):
        judge([1.0], [1.0], -0.1)
