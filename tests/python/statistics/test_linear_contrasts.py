"""Contrasts against the two-sample ratio, textbook values and simulation."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from wirelab.statistics import linear_contrasts
from wirelab.statistics.comparison import ratio
from wirelab.statistics.interval import NotPositive, TooFewValues

SAMPLES = st.lists(
    st.floats(min_value=0.01, max_value=1e6, allow_nan=False), min_size=2, max_size=8
)


@settings(deadline=None)
@given(SAMPLES, SAMPLES)
def test_a_product_of_two_cells_is_the_ratio(a: list[float], b: list[float]) -> None:
    """Weights 1 and -1 give what `statistics.ratio` gives."""
    ours, theirs = linear_contrasts.product([(1.0, a), (-1.0, b)]), ratio(a, b).ratio
    assert ours.estimate == pytest.approx(theirs.estimate)
    if theirs.bounds is not None and np.isfinite(theirs.bounds).all():
        assert ours.bounds == pytest.approx(theirs.bounds, rel=1e-6)


@given(SAMPLES, SAMPLES)
def test_the_p_value_of_a_difference_is_that_of_welch(a: list[float], b: list[float]) -> None:
    terms = [(1.0, a), (-1.0, b)]
    p, gone = linear_contrasts.p_value(terms), linear_contrasts.total(terms)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of samples without spread
        theirs = float(stats.ttest_ind(a, b, equal_var=False).pvalue)
    assert p is not None
    if np.ptp(a) > 1e-9 * max(a) or np.ptp(b) > 1e-9 * max(b):
        assert p == pytest.approx(theirs, abs=1e-9)
    assert gone.bounds is not None
    if abs(p - 0.05) > 1e-6:
        assert (p < 0.05) == (not gone.bounds[0] <= 0.0 <= gone.bounds[1])


def test_equal_times_have_a_p_value_without_a_warning() -> None:
    """A calm link gives the same mean twice."""
    assert linear_contrasts.p_value([(1.0, [260.97, 260.97]), (-1.0, [260.97, 260.97])]) == 1.0
    assert linear_contrasts.p_value([(1.0, [260.97, 260.97]), (-1.0, [11.5, 11.5])]) == 0.0
    assert (linear_contrasts.p_value([(1.0, [260.97, 260.97]), (-1.0, [11.5, 11.6])]) or 1.0) < 0.05
    assert linear_contrasts.p_value([(1.0, [260.97]), (-1.0, [11.5, 11.6])]) is None


def test_the_slope_is_that_of_least_squares() -> None:
    """The weights of `slope_weights` reproduce numpy's fit."""
    levels, cells = [1.0, 10.0, 50.0, 400.0], [[3.0, 5.0], [7.0, 7.2], [9.0, 8.0], [30.0, 31.0]]
    weights = linear_contrasts.slope_weights(levels)
    found = linear_contrasts.total(list(zip(weights, cells, strict=True))).estimate
    assert found == pytest.approx(np.polyfit(levels, [np.mean(cell) for cell in cells], 1)[0])


@pytest.mark.parametrize(
    ("power", "expected"), [(1.0, 1.25), (-1.0, 0.8), (0.0, 1.0)], ids=["mean", "inverse", "geo"]
)
def test_averages_of_ratios(power: float, expected: float) -> None:
    """Ratios 2 and 0.5 have the means 1.25, 0.8 and 1."""
    cells = [[2.0, 2.0], [1.0, 1.0]], [[1.0, 1.0], [2.0, 2.0]]
    assert linear_contrasts.average_paired_ratios(*cells, power).estimate == pytest.approx(expected)


def test_the_interval_of_an_average_covers_the_truth() -> None:
    """Coverage of the delta method over 1,000 seeds, within its binomial error at 0.1 %."""
    random = np.random.default_rng(5)
    truth = float(np.mean([2.0, 0.5, 1.5]))
    hits = 0
    for _ in range(1000):
        noise = np.exp(random.normal(0, 0.03, (6, 4)))
        tops = [(r * row).tolist() for r, row in zip((2.0, 0.5, 1.5), noise[:3], strict=True)]
        bottoms = noise[3:].tolist()
        low, high = linear_contrasts.bounds(
            linear_contrasts.average_paired_ratios(tops, bottoms, 1.0)
        )
        hits += low <= truth <= high
    assert hits >= stats.binom.ppf(0.001, 1000, 0.94)


def test_one_trial_has_no_interval() -> None:
    """The estimate stays, the reason is stated, and asking for bounds is an error."""
    found = linear_contrasts.product([(1.0, [2.0]), (-1.0, [1.0, 1.0])])
    assert found.estimate == pytest.approx(2.0)
    assert found.bounds is None
    assert "at least 2" in found.reason
    with pytest.raises(TooFewValues):
        linear_contrasts.bounds(found)


def test_a_rate_of_zero_is_refused() -> None:
    """Zero has no logarithm, and leaving it out would flatter the rest."""
    with pytest.raises(NotPositive):
        linear_contrasts.product([(1.0, [0.0, 1.0])])
