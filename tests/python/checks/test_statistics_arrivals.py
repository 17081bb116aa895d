"""Tests of arrivals, series, concurrency and percentiles."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from wirelab.checks.backlog import little_ratio, littles_law
from wirelab.statistics.exponential import _p_estimated, _p_known, anderson_darling_exponential
from wirelab.statistics.interval import OutOfRange, TooFewValues
from wirelab.statistics.sample import Floats, percentile_printable
from wirelab.statistics.stationarity import pettitt, stationary


def slow_a_square(gaps: list[float], scale: float) -> float:
    """Anderson and Darling's sum, term by term."""
    ordered = sorted(gaps)
    n = len(ordered)
    total = 0.0
    for i in range(1, n + 1):
        below = 1.0 - exp(-ordered[i - 1] / scale)
        above = exp(-ordered[n - i] / scale)
        total += (2 * i - 1) * (log(below) + log(above))
    return -n - total / n


@given(st.lists(st.floats(1e-3, 50.0), min_size=5, max_size=40))
def test_anderson_darling_against_the_sum(gaps: list[float]) -> None:
    """Known and estimated scale, against a slow reference."""
    known = anderson_darling_exponential(gaps, scale=4.0)
    assert known.statistic == pytest.approx(slow_a_square(gaps, 4.0), rel=1e-6, abs=1e-6)
    mean = sum(gaps) / len(gaps)
    estimated = anderson_darling_exponential(gaps)
    slow = slow_a_square(gaps, mean) * (1.0 + 0.6 / len(gaps))
    assert estimated.statistic == pytest.approx(slow, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("statistic", "p"),
    [(0.736, 0.25), (1.062, 0.10), (1.321, 0.05), (1.959, 0.01), (2.534, 0.0025)],
)
def test_table_for_an_estimated_scale(statistic: float, p: float) -> None:
    """D'Agostino and Stephens, table 4.14."""
    assert _p_estimated(statistic) == pytest.approx(p, rel=0.08)


@pytest.mark.parametrize(
    ("statistic", "p"), [(1.248, 0.25), (1.933, 0.10), (2.492, 0.05), (3.857, 0.01)]
)
def test_table_for_a_known_scale(statistic: float, p: float) -> None:
    """The same book, table 4.2, case 0."""
    assert _p_known(statistic) == pytest.approx(p, rel=0.03)


def test_p_falls_with_the_statistic() -> None:
    """No seam between the pieces turns the order around by more than the pieces' own error."""
    grid = np.linspace(0.05, 12.0, 2000)
    for curve in (_p_estimated, _p_known):
        p = np.array([curve(float(z)) for z in grid])
        assert np.all(np.diff(p) < 0.004)
        assert 0.0 <= p.min() <= p.max() <= 1.0


@pytest.mark.parametrize("scale", [None, 1.0])
def test_level_of_the_test(scale: float | None) -> None:
    """True Poisson arrivals are refused about as often as the level says: 0.1 % of 8,000."""
    random = np.random.default_rng(17)
    refused = sum(
        not anderson_darling_exponential(random.exponential(size=60), scale).passed
        for _ in range(8000)
    )
    assert refused <= stats.binom.ppf(0.999, 8000, 0.0015)
    assert refused >= 1


@pytest.mark.parametrize("shape", [0.7, 1.5])
def test_other_gaps_are_refused(shape: float) -> None:
    """Gamma gaps of another shape, and evenly spaced ones, are found out."""
    random = np.random.default_rng(4)
    assert not anderson_darling_exponential(random.gamma(shape, size=2000)).passed
    assert not anderson_darling_exponential(np.full(200, 0.001)).passed


def test_wrong_rate_is_refused_where_it_is_known() -> None:
    """Arrivals at 1.2 times the planned rate are exponential, but not as planned."""
    gaps = np.random.default_rng(8).exponential(1 / 1.2, size=3000)
    assert anderson_darling_exponential(gaps).passed
    assert not anderson_darling_exponential(gaps, scale=1.0).passed


def test_gaps_of_zero_need_the_clock() -> None:
    """Two arrivals within one tick of the clock are not a reason to stop, once it is known."""
    gaps = np.random.default_rng(8).exponential(size=500)
    gaps[3] = 0.0
    with pytest.raises(OutOfRange, match="resolution"):
        anderson_darling_exponential(gaps)
    assert anderson_darling_exponential(gaps, resolution=1e-6).passed
    with pytest.raises(TooFewValues):
        anderson_darling_exponential([1.0, 2.0])


def slow_pettitt(values: list[float]) -> int:
    """Pettitt's K by its definition as a double sum of signs."""
    n = len(values)
    return max(
        abs(sum(int(np.sign(values[i] - values[j])) for i in range(t) for j in range(t, n)))
        for t in range(1, n)
    )


@given(st.lists(st.integers(0, 20), min_size=3, max_size=20))
def test_pettitt_against_its_definition(values: list[int]) -> None:
    """Rank form and sign form agree, ties included."""
    floats = [float(v) for v in values]
    n, k = len(values), slow_pettitt(floats)
    p, place = pettitt(floats)
    assert p == pytest.approx(min(1.0, 2.0 * exp(-6.0 * k * k / (n**3 + n**2))))
    assert 1 <= place < n


def test_steady_series_are_left_alone() -> None:
    """Poisson counts at any rate: marked at most about twice in a thousand."""
    random = np.random.default_rng(21)
    marked = 0
    for rate in (2.0, 30.0, 1000.0):
        for _ in range(400):
            marked += stationary(random.poisson(rate, size=40).tolist()).stationary is False
    assert marked <= stats.binom.ppf(0.999, 1200, 0.003)


@pytest.mark.parametrize(
    ("shape", "word"),
    [
        (np.linspace(700, 1300, 60), "moves"),
        (np.r_[np.full(30, 800.0), np.full(30, 1100.0)], "s"),
        (np.r_[np.full(25, 1000.0), np.full(4, 20.0), np.full(31, 1000.0)], "falls"),
    ],
)
def test_drift_step_and_stall_are_found(shape: Floats, word: str) -> None:
    """Each way to leave the place, under noise."""
    noisy = np.random.default_rng(3).poisson(shape)
    found = stationary(noisy.tolist())
    assert found.stationary is False
    assert word in found.reason


def test_a_drift_too_small_to_matter() -> None:
    """4 % over the window is certain at this rate, and harmless."""
    drift = np.random.default_rng(3).poisson(np.linspace(98_000, 102_000, 60))
    assert stationary(drift.tolist()).stationary is True


@pytest.mark.parametrize("series", [[5] * 7, [0] * 30, []])
def test_series_that_cannot_be_judged(series: list[int]) -> None:
    """Too short, or empty of calls: not measurable rather than fine."""
    assert stationary(series).stationary is None


def test_negative_counts_are_refused() -> None:
    """A count below zero is a bug of the caller."""
    with pytest.raises(OutOfRange):
        stationary([1.0] * 20 + [-1.0])


@given(st.integers(0, 5000), st.sampled_from([0, 50, 90, 95, 99, 99.9, 99.99, 100]))
def test_printable_percentiles_by_counting(count: int, percentile: float) -> None:
    """Against a list of that many samples, counted one by one in tenths of a thousandth."""
    needed = round(percentile * 100) * count
    at_or_below = next(k for k in range(count + 1) if k * 10_000 >= needed)
    assert percentile_printable(count, percentile) == (count - at_or_below >= 10)


@pytest.mark.parametrize(
    ("count", "percentile", "printable"),
    [
        (1000, 99, True),
        (999, 99, False),
        (10_000, 99.9, True),
        (9_999, 99.9, False),
        (19, 50, False),
    ],
)
def test_printable_percentiles_at_the_edge(count: int, percentile: float, printable: bool) -> None:
    """Exactly ten above is enough; binary fractions do not move the edge."""
    assert percentile_printable(count, percentile) is printable


def test_littles_law() -> None:
    """1,000 calls per second of 32 ms each: 32 under way."""
    assert littles_law(1000.0, 0.032) == pytest.approx(32.0)
    assert little_ratio(32.0, 32.0) == 1.0
    assert little_ratio(24.0, 32.0) == 0.75
    with pytest.raises(OutOfRange):
        littles_law(-1.0, 1.0)
    with pytest.raises(OutOfRange):
        little_ratio(1.0, 0.0)
