"""Comparisons say "higher" only where they may, and A/A stays quiet."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from wirelab.statistics.comparison import Comparison, family, holm, ratio, resample_aa
from wirelab.statistics.interval import OutOfRange, TooFewValues, UnequalLengths

TRIALS = st.lists(st.floats(0.5, 2000.0), min_size=2, max_size=9)


def spread_enough(values: list[float]) -> bool:
    """scipy's own test loses its digits where a side has no spread."""
    return float(np.std(np.log(values))) > 1e-3


@given(TRIALS.filter(spread_enough), TRIALS.filter(spread_enough))
def test_welch_against_scipy(a: list[float], b: list[float]) -> None:
    """Limits and p of another implementation, on the same logarithms."""
    comparison = ratio(a, b, 0.0)
    reference = stats.ttest_ind(np.log(a), np.log(b), equal_var=False)
    limits = reference.confidence_interval(0.95)
    low, high = comparison.ratio.bounds or (0.0, 0.0)
    assert np.log(low) == pytest.approx(limits.low, rel=1e-6, abs=1e-6)
    assert np.log(high) == pytest.approx(limits.high, rel=1e-6, abs=1e-6)
    assert comparison.p_value == pytest.approx(reference.pvalue, rel=1e-6, abs=1e-9)


@given(st.lists(st.tuples(st.floats(1, 100), st.floats(1, 100)), min_size=2, max_size=8))
def test_paired_against_scipy(pairs: list[tuple[float, float]]) -> None:
    """The paired variant is Student's t of the differences."""
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    differences = np.log(a) - np.log(b)
    if np.std(differences) < 1e-3:
        return
    comparison = ratio(a, b, 0.0, paired=True)
    limits = stats.ttest_1samp(differences, 0.0).confidence_interval(0.95)
    low, high = comparison.ratio.bounds or (0.0, 0.0)
    assert np.log(low) == pytest.approx(limits.low, rel=1e-6, abs=1e-6)
    assert np.log(high) == pytest.approx(limits.high, rel=1e-6, abs=1e-6)


@given(TRIALS, TRIALS, st.floats(0.0, 0.5))
def test_verdict_follows_from_the_interval(a: list[float], b: list[float], limit: float) -> None:
    """Higher exactly where the interval lies above 1 + threshold, equivalent where it lies
    within; p agrees."""
    comparison = ratio(a, b, limit)
    low, high = comparison.ratio.bounds or (0.0, 0.0)
    slack = 1e-9
    if comparison.verdict == "higher":
        assert low >= (1.0 + limit) * (1.0 - slack)
    elif comparison.verdict == "lower":
        assert high <= (1.0 + slack) / (1.0 + limit)
    elif comparison.verdict == "equivalent":
        assert high <= (1.0 + limit) * (1.0 + slack)
        assert low >= (1.0 - slack) / (1.0 + limit)
    else:
        assert low <= (1.0 + limit) * (1.0 + slack)
        assert high >= (1.0 - slack) / (1.0 + limit)
        within = low > (1.0 + slack) / (1.0 + limit) and high < (1.0 + limit) * (1.0 - slack)
        assert not within
        assert comparison.decided_by
    assert comparison.found == ((comparison.p_value or 0.0) < 0.05)


@given(TRIALS, TRIALS)
def test_from_the_other_side(a: list[float], b: list[float]) -> None:
    """Swapping the sides swaps the verdict and inverts the interval."""
    comparison, swapped = ratio(a, b), ratio(b, a)
    inverted = comparison.invert()
    assert inverted.verdict == swapped.verdict
    assert inverted.ratio.estimate == pytest.approx(swapped.ratio.estimate, rel=1e-6)
    assert inverted.ratio.low == pytest.approx(swapped.ratio.low, rel=1e-5)


def test_a_small_difference_is_equivalence() -> None:
    """3 % with no noise to speak of: certain, and still below the threshold of 5 %."""
    a, b = [103.0, 103.01, 102.99], [100.0, 100.01, 99.99]
    comparison = ratio(a, b, 0.05)
    assert comparison.verdict == "equivalent"
    assert comparison.explanation == "the 95 % interval lies within the threshold of 5 %"
    assert ratio(a, b, 0.01).verdict == "higher"
    assert ratio(b, a, 0.01).verdict == "lower"


def test_one_trial_is_undecided_without_an_interval() -> None:
    """No spread; the ratio is shown without an interval, and how many repeats give one."""
    comparison = ratio([2.0], [1.0, 1.1])
    assert comparison.verdict == "undecided"
    assert comparison.explanation == (
        "1 and 2 trials give no interval; 2 more repeats would give one"
    )
    assert comparison.further_repeats == 2
    assert comparison.ratio.bounds is None
    assert comparison.p_value is None


def test_exact_agreement_without_spread() -> None:
    """Identical trials on both sides: a difference, or equivalence, by its size alone."""
    assert ratio([2.0, 2.0], [1.0, 1.0]).verdict == "higher"
    assert ratio([1.0, 1.0], [1.0, 1.0]).verdict == "equivalent"


def test_two_wild_trials_reach_everything() -> None:
    """A spread beyond what a float holds is neither a crash nor a finding."""
    comparison = ratio([1e-300, 1e300], [1.0, 1.1])
    assert (comparison.verdict, comparison.further_repeats) == ("undecided", None)
    assert "more than 100 more repeats" in comparison.decided_by
    assert comparison.invert().invert().ratio.estimate == pytest.approx(comparison.ratio.estimate)


def test_refused_input() -> None:
    """Pairs that do not pair, and thresholds that are none."""
    with pytest.raises(UnequalLengths):
        ratio([1.0, 2.0], [1.0, 2.0, 3.0], paired=True)
    with pytest.raises(OutOfRange):
        ratio([1.0, 2.0], [1.0, 2.0], -0.1)


@pytest.mark.parametrize(("n_a", "n_b", "sd_b"), [(4, 4, 0.1), (4, 4, 0.4), (3, 8, 0.2)])
def test_coverage_of_the_ratio(n_a: int, n_b: int, sd_b: float) -> None:
    """Equal or unequal spreads and counts: about 95 % of 2,000 intervals hold the true ratio.

    Welch's degrees of freedom are an approximation, so the allowance is one point beyond
    the binomial bound at the 0.1 % level.
    """
    random = np.random.default_rng(5)
    hits = 0
    for _ in range(2000):
        a, b = random.lognormal(0.4, 0.1, n_a), random.lognormal(0.0, sd_b, n_b)
        low, high = ratio(a, b, 0.0).ratio.bounds or (1.0, 0.0)
        hits += low <= np.exp(0.4) <= high
    assert stats.binom.ppf(0.0005, 2000, 0.94) <= hits <= stats.binom.ppf(0.9995, 2000, 0.96)


def test_coverage_of_the_paired_ratio() -> None:
    """Blocks that differ widely do not touch a paired comparison."""
    random = np.random.default_rng(6)
    hits = 0
    for _ in range(2000):
        block = random.normal(0.0, 1.0, 4)
        a = np.exp(block + random.normal(0.2, 0.05, 4))
        b = np.exp(block + random.normal(0.0, 0.05, 4))
        low, high = ratio(a, b, 0.0, paired=True).ratio.bounds or (1.0, 0.0)
        hits += low <= np.exp(0.2) <= high
    assert stats.binom.ppf(0.0005, 2000, 0.95) <= hits <= stats.binom.ppf(0.9995, 2000, 0.95)


@settings(max_examples=80)
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6))
def test_holm_is_closed_testing(p_values: list[float]) -> None:
    """Against the definition: the worst Bonferroni p over all subfamilies that hold the test."""
    members = range(len(p_values))
    subsets = [s for size in range(1, len(p_values) + 1) for s in combinations(members, size)]
    slow = [
        max(min(1.0, len(s) * min(p_values[j] for j in s)) for s in subsets if i in s)
        for i in members
    ]
    assert holm(p_values) == pytest.approx(slow)


def test_holm_textbook_value() -> None:
    """Holm 1979's procedure on four p-values, by hand."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    with pytest.raises(OutOfRange):
        holm([1.5])


def _of(p_value: float) -> Comparison:
    """A found difference with that p."""
    found = ratio([1.4, 1.1, 1.2], [1.0, 1.01, 1.02])
    return replace(found, verdict="higher", p_value=p_value)


def test_a_difference_that_holm_does_not_confirm_is_undecided_with_the_reason() -> None:
    """Two found differences of three: the weaker one is not confirmed in the family."""
    three = [_of(0.001), _of(0.04), ratio([1.0, 1.1], [1.0, 1.1])]
    judged = family(three)
    assert [c.verdict for c in judged] == ["higher", "undecided", "undecided"]
    assert [c.withdrawn for c in judged] == [False, True, False]
    assert (
        judged[1].reason
        == "a difference by its own interval, not confirmed among 3 comparisons (Holm)"
    )
    assert judged[1].ratio == three[1].ratio
    assert [c.p_holm for c in judged] == pytest.approx([0.003, 0.08, 1.0])


def test_a_family_needs_more_repeats_than_a_comparison_alone() -> None:
    """What is undecided among twenty needs a smaller p than alone."""
    one = ratio([1.4, 1.1, 1.2], [1.0, 1.01, 1.1])
    alone, among = family([one])[0], family([one] * 20)[0]
    assert alone.verdict == among.verdict == "undecided"
    assert alone.further_repeats is not None
    assert among.further_repeats is not None
    assert among.further_repeats > alone.further_repeats


def test_equivalence_needs_no_family() -> None:
    """It claims no difference: a hundred of them stay what they are."""
    same = ratio([1.0, 1.001, 0.999], [1.0, 1.0005, 0.9995])
    assert {c.verdict for c in family([same] * 100)} == {"equivalent"}


def test_aa_stays_quiet() -> None:
    """Two equal services with 80 trials each: at most 35 of 400 comparisons find something."""
    random = np.random.default_rng(2023)
    a, b = random.lognormal(7.0, 0.05, 80), random.lognormal(7.0, 0.05, 80)
    assert resample_aa(a, b, seed=1) <= 35


def test_aa_hears_a_real_difference() -> None:
    """One service 15 % slower at 5 % spread: most comparisons find it, or the test is deaf."""
    random = np.random.default_rng(2024)
    a, b = random.lognormal(7.0, 0.05, 80), random.lognormal(7.14, 0.05, 80)
    assert resample_aa(a, b, seed=1) > 200


def test_aa_over_many_worlds() -> None:
    """The rate of false findings over 60 pairs of equal services is that of the level."""
    random = np.random.default_rng(9)
    found = sum(
        resample_aa(random.lognormal(0, 0.1, 40), random.lognormal(0, 0.1, 40), 20, seed=world)
        for world in range(60)
    )
    assert found <= stats.binom.ppf(0.999, 1200, 0.05) * 1.5


def test_aa_needs_trials() -> None:
    """Eight trials a side would compare the same four again and again."""
    with pytest.raises(TooFewValues, match="at least 40"):
        resample_aa([1.0] * 8, [1.0] * 8)
