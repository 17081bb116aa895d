"""Intervals hold what they promise: formulas against tables, coverage against simulation."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from wirelab.statistics.distributions import binomial_interval
from wirelab.statistics.interval import NotFinite, NotPositive, NoValues, OutOfRange
from wirelab.statistics.mean import mean_interval

POSITIVE = st.floats(1e-6, 1e12)


def binomial_bounds(n: int, share: float) -> tuple[int, int]:
    """Counts that a true share leaves once in a thousand."""
    return int(stats.binom.ppf(0.0005, n, share)), int(stats.binom.ppf(0.9995, n, share))


def test_textbook_t_interval() -> None:
    """Logarithms 1 to 5: mean 3, s = 1.5811, t(4, 0.975) = 2.776 as tables print it."""
    interval = mean_interval([exp(x) for x in (1, 2, 3, 4, 5)])
    assert interval.bounds is not None
    assert log(interval.estimate) == pytest.approx(3.0)
    assert log(interval.bounds[0]) == pytest.approx(3.0 - 2.776 * 1.5811 / 5**0.5, abs=1e-3)
    assert log(interval.bounds[1]) == pytest.approx(3.0 + 2.776 * 1.5811 / 5**0.5, abs=1e-3)
    assert interval.method == "t on logarithms"


def test_one_trial_has_no_interval() -> None:
    """A single trial gives its value, no limits, and the reason."""
    interval = mean_interval([42.0])
    assert interval.estimate == pytest.approx(42.0)
    assert interval.bounds is None
    assert "one trial" in interval.reason


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ([], NoValues),
        ([1.0, 0.0], NotPositive),
        ([1.0, -2.0], NotPositive),
        ([1.0, float("nan")], NotFinite),
        ([1.0, float("inf")], NotFinite),
    ],
)
def test_values_that_cannot_be_judged(values: list[float], error: type[Exception]) -> None:
    """Nothing is dropped in silence."""
    with pytest.raises(error):
        mean_interval(values)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_confidence_out_of_range(confidence: float) -> None:
    """95 instead of 0.95 is refused."""
    with pytest.raises(OutOfRange, match=r"0\.95"):
        mean_interval([1.0, 2.0], confidence)


@given(st.lists(POSITIVE, min_size=2, max_size=12), st.floats(1e-3, 1e3))
def test_interval_follows_the_unit(values: list[float], factor: float) -> None:
    """In another unit the interval is the same one, and the estimate lies inside."""
    interval, other = mean_interval(values), mean_interval([v * factor for v in values])
    assert interval.bounds is not None
    assert other.bounds is not None
    assert interval.bounds[0] <= interval.estimate * (1 + 1e-9)
    assert interval.estimate <= interval.bounds[1] * (1 + 1e-9)
    scaled = interval.scale(factor)
    assert scaled.estimate == pytest.approx(other.estimate, rel=1e-6)


def test_coverage_of_the_t_interval() -> None:
    """Four log-normal trials: 95 % of 3,000 intervals hold the true value."""
    random = np.random.default_rng(7)
    hits = 0
    for values in random.lognormal(2.0, 0.3, size=(3000, 4)):
        low, high = mean_interval(values).bounds or (1.0, 0.0)
        hits += low <= exp(2.0) <= high
    low_hits, high_hits = binomial_bounds(3000, 0.95)
    assert low_hits <= hits <= high_hits


@pytest.mark.parametrize("kind", ["normal", "skewed"])
def test_coverage_of_the_bootstrap(kind: str) -> None:
    """Twenty-five trials, logarithms symmetric or skewed: 95 % of 400 intervals hold."""
    random = np.random.default_rng(11)
    hits = 0
    for seed in range(400):
        logs = random.normal(size=25) if kind == "normal" else random.gamma(4.0, 0.5, 25) - 2.0
        interval = mean_interval(np.exp(logs), seed=seed)
        assert "percentile-t" in interval.method
        low, high = interval.bounds or (1.0, 0.0)
        hits += low <= 1.0 <= high
    low_hits, high_hits = binomial_bounds(400, 0.95)
    assert low_hits <= hits <= high_hits


def test_bootstrap_is_the_same_every_time() -> None:
    """The same values give the same limits."""
    values = list(np.random.default_rng(3).lognormal(size=30))
    assert mean_interval(values) == mean_interval(values)


def test_ties_leave_the_bootstrap() -> None:
    """Where nearly all trials agree to the digit, the studentized bootstrap does not exist."""
    tied = mean_interval([1.0] * 24 + [1.1])
    assert tied.method == "t on logarithms"
    equal = mean_interval([5.0] * 25)
    assert list(equal.bounds or ()) == pytest.approx([5.0, 5.0])


@settings(max_examples=60)
@given(st.integers(1, 60), st.data())
def test_binomial_limits_solve_their_equations(n: int, data: st.DataObject) -> None:
    """Clopper and Pearson's definition: each limit leaves 2.5 % in its tail."""
    hits = data.draw(st.integers(0, n))
    low, high = binomial_interval(hits, n).bounds or (0.0, 0.0)
    if hits > 0:
        assert stats.binom.sf(hits - 1, n, low) == pytest.approx(0.025, rel=1e-6)
    if hits < n:
        assert stats.binom.cdf(hits, n, high) == pytest.approx(0.025, rel=1e-6)


def test_binomial_textbook_value() -> None:
    """0 of 10: 0 to 0.3085, as every table has it."""
    interval = binomial_interval(0, 10)
    assert interval.low == 0.0
    assert interval.high == pytest.approx(0.3085, abs=1e-4)


@pytest.mark.parametrize("share", [0.001, 0.02, 0.3, 0.5, 0.77])
def test_binomial_coverage_is_never_below(share: float) -> None:
    """By enumeration, not by chance: the exact interval covers at least 95 %."""
    n = 40
    covered = sum(
        float(stats.binom.pmf(hits, n, share))
        for hits in range(n + 1)
        if (bounds := binomial_interval(hits, n).bounds) and bounds[0] <= share <= bounds[1]
    )
    assert covered >= 0.95


@pytest.mark.parametrize(("hits", "n"), [(1, 0), (-1, 5), (6, 5)])
def test_binomial_refuses_no_shares(hits: int, n: int) -> None:
    """More hits than tries is an error of the caller."""
    with pytest.raises(OutOfRange):
        binomial_interval(hits, n)
