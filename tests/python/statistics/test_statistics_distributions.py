"""Tails and quantiles against scipy's, which is not part of the lab itself."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from wirelab.statistics.distributions import beta_quantile, student_t_quantile, student_t_tail
from wirelab.statistics.interval import OutOfRange
from wirelab.statistics.stationarity import kendall_p, theil_sen

FREEDOM = st.floats(1.0, 1e4)
PROBABILITY = st.floats(1e-9, 1.0 - 1e-9)


@given(st.floats(1e-3, 1e4), FREEDOM)
def test_tails_of_student_t(value: float, freedom: float) -> None:
    expected = float(special.stdtr(freedom, -value))
    assert student_t_tail(value, freedom) == pytest.approx(expected, rel=1e-9, abs=1e-280)
    assert student_t_tail(-value, freedom) == pytest.approx(1.0 - expected, rel=1e-9)


def test_tails_of_student_t_with_one_degree_are_those_of_cauchy() -> None:
    """Exactly known, also where scipy loses digits."""
    for value in (1e-8, 0.5, 3.0, 1e6):
        assert student_t_tail(value, 1.0) == pytest.approx(math.atan2(1.0, value) / math.pi)


@given(PROBABILITY, FREEDOM)
def test_quantiles_of_student_t(probability: float, freedom: float) -> None:
    expected = float(special.stdtrit(freedom, probability))
    assert student_t_quantile(probability, freedom) == pytest.approx(expected, rel=1e-7, abs=1e-9)


@given(st.integers(1, 2_000_000), st.floats(0.0, 1.0), st.sampled_from((0.0005, 0.025, 0.975)))
def test_quantiles_of_beta(n: int, share: float, probability: float) -> None:
    """Those of Clopper and Pearson, up to two million calls."""
    hits = min(n, max(1, round(n * share)))
    expected = float(stats.beta.ppf(probability, hits, n - hits + 1))
    assert beta_quantile(probability, hits, n - hits + 1) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("freedom", [0.0, -1.0])
def test_no_degrees_of_freedom_are_refused(freedom: float) -> None:
    with pytest.raises(OutOfRange, match="freedom"):
        student_t_tail(1.0, freedom)


def test_probabilities_beyond_their_range_are_refused() -> None:
    with pytest.raises(OutOfRange, match="between 0 and 1"):
        student_t_quantile(1.0, 3.0)
    with pytest.raises(OutOfRange, match="out of range"):
        beta_quantile(0.5, 0.0, 1.0)


@given(st.lists(st.integers(0, 8), min_size=8, max_size=30))
def test_kendall_with_ties(values: list[int]) -> None:
    if len(set(values)) > 1:
        expected = float(stats.kendalltau(range(len(values)), values).pvalue)
        assert kendall_p(values) == pytest.approx(expected, rel=1e-9)
    assert kendall_p([3.0] * 9) == 1.0


@given(st.permutations(range(30)))
def test_kendall_without_ties_is_exact(values: list[int]) -> None:
    expected = float(stats.kendalltau(range(len(values)), values).pvalue)
    assert kendall_p(values) == pytest.approx(expected, rel=1e-9)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_theil_sen_is_the_median_slope(values: list[float]) -> None:
    expected = float(stats.theilslopes(values, range(len(values))).slope)
    assert theil_sen(values) == pytest.approx(expected, abs=1e-6)
