"""How often the four verdicts are wrong, and whether the number of repeats decides: simulated
worlds whose truth is known, with fixed seeds."""

from __future__ import annotations

from math import exp, log1p

import numpy as np
import pytest
from scipy import stats

from wirelab.statistics.comparison import Comparison, family, ratio
from wirelab.statistics.repeats import REPEATS_MAX, SHARE_DECIDED, Room, Spread, further_repeats
from wirelab.statistics.verdict import Verdict

WORLDS = 1000
SPREADS = [(4, 0.02, 0.02), (4, 0.05, 0.05), (3, 0.03, 0.09), (8, 0.1, 0.1)]
"""Trials of a cell, and the spread between trials of each of the two."""


def _verdicts(
    true: float, threshold: float, n: int, spreads: tuple[float, float], seed: int
) -> list[Verdict]:
    """Of comparisons in worlds in which the logarithm of the ratio is ``true``."""
    random = np.random.default_rng(seed)
    first, second = spreads
    return [
        ratio(random.lognormal(true, first, n), random.lognormal(0.0, second, n), threshold).verdict
        for _ in range(WORLDS)
    ]


def _binomial_bound(share: float) -> int:
    """The binomial bound at the 0.1 % level; Welch's degrees of freedom are an approximation,
    so half a point beyond."""
    return int(stats.binom.ppf(0.999, WORLDS, share + 0.005))


@pytest.mark.parametrize(("n", "first", "second"), SPREADS)
def test_equal_worlds_seldom_show_a_difference(n: int, first: float, second: float) -> None:
    """Without a threshold in 5 % of all; with one in less."""
    found = {
        threshold: sum(
            verdict in ("higher", "lower")
            for verdict in _verdicts(0.0, threshold, n, (first, second), 1)
        )
        for threshold in (0.0, 0.02)
    }
    assert found[0.0] <= _binomial_bound(0.05)
    assert found[0.02] <= found[0.0]


@pytest.mark.parametrize(("n", "first", "second"), SPREADS)
@pytest.mark.parametrize("threshold", [0.02, 0.05, 0.2])
def test_worlds_at_the_threshold_are_neither_beyond_nor_equivalent(
    n: int, first: float, second: float, threshold: float
) -> None:
    """There each of the two claims is wrong, and made in at most 2.5 % of all."""
    verdicts = _verdicts(log1p(threshold), threshold, n, (first, second), 2)
    assert verdicts.count("higher") <= _binomial_bound(0.025)
    assert verdicts.count("equivalent") <= _binomial_bound(0.025)
    assert verdicts.count("lower") <= _binomial_bound(0.0)


def test_verdicts_are_reached_where_they_are_right() -> None:
    """Or all of the above would hold of a rule that decides nothing."""
    equal = _verdicts(0.0, 0.05, 8, (0.02, 0.02), 3)
    assert equal.count("equivalent") > 0.9 * WORLDS
    slower = _verdicts(-0.2, 0.05, 8, (0.05, 0.05), 4)
    assert slower.count("lower") > 0.9 * WORLDS


def test_families_of_equal_worlds_hold_a_difference_in_one_of_twenty_at_most() -> None:
    """Holm's promise, for twelve comparisons at once."""
    random = np.random.default_rng(5)
    families = 400

    def any_found() -> bool:
        every = [
            ratio(random.lognormal(0, 0.05, 4), random.lognormal(0, 0.05, 4), 0.0)
            for _ in range(12)
        ]
        return any(comparison.found for comparison in family(every))

    wrong = sum(any_found() for _ in range(families))
    assert wrong <= stats.binom.ppf(0.999, families, 0.05)


def _sample(mean: float, spread: float, n: int) -> list[float]:
    """Trials with exactly that mean and standard deviation of their logarithms."""
    shape = np.linspace(-1.0, 1.0, n)
    return list(np.exp(mean + spread * (shape - shape.mean()) / shape.std(ddof=1)))


@pytest.mark.parametrize(
    ("threshold", "n", "true", "spread"),
    [
        (0.0, 4, 0.1, 0.1),
        (0.02, 4, 0.1, 0.1),
        (0.02, 4, 0.05, 0.05),
        (0.05, 5, -0.2, 0.3),
        (0.05, 3, -0.12, 0.06),
        (0.02, 4, 0.0, 0.03),
        (0.05, 6, 0.01, 0.05),
        (0.2, 4, 0.1, 0.1),
    ],
)
def test_the_number_of_repeats_decides_half_of_the_worlds_that_are_like_the_estimate(
    threshold: float, n: int, true: float, spread: float
) -> None:
    """Differences on either side, and equivalence, at its centre too, where both borders
    matter."""
    first = ratio(_sample(true, spread, n), _sample(0.0, spread, n), threshold)
    assert first.verdict == "undecided"
    further = first.further_repeats
    assert further is not None
    right: Verdict = (
        "equivalent" if abs(true) < log1p(threshold) else "higher" if true > 0 else "lower"
    )
    verdicts = _verdicts(true, threshold, n + further, (spread, spread), 6)
    share = verdicts.count(right) / WORLDS
    # A whole number of repeats may exceed what is needed; few trials vary in their spread.
    assert SHARE_DECIDED - 0.05 <= share <= SHARE_DECIDED + 0.15


def test_going_on_with_the_number_of_repeats_decides_at_least_half() -> None:
    """As it is used: the first trials are random, and the further ones join them."""
    random = np.random.default_rng(7)
    decided = tried = 0
    for _ in range(600):
        a, b = random.lognormal(0.1, 0.1, 4), random.lognormal(0.0, 0.1, 4)
        first: Comparison = ratio(a, b, 0.02)
        if first.verdict != "undecided" or first.further_repeats is None:
            continue
        more = first.further_repeats
        a = np.concatenate([a, random.lognormal(0.1, 0.1, more)])
        b = np.concatenate([b, random.lognormal(0.0, 0.1, more)])
        tried += 1
        decided += ratio(a, b, 0.02).verdict != "undecided"
    assert tried > 300
    assert stats.binom.ppf(0.001, tried, SHARE_DECIDED) <= decided <= 0.8 * tried


def test_repeats_by_hand() -> None:
    """Two cells of four trials, standard deviation 0.1: with n trials the half width is
    t(2 n - 2) x 0.1 x sqrt(2 / n), 0.0999 for n = 9 and 0.0940 for n = 10."""
    spread = Spread(((0.01, 4), (0.01, 4)))
    assert spread.reach(0.95, 5) == pytest.approx(2.1199 * 0.1 * (2 / 9) ** 0.5, rel=1e-4)
    assert further_repeats(spread, Room(0.1000), 0.95) == 5
    assert further_repeats(spread, Room(0.0999), 0.95) == 6


def test_near_the_threshold_no_number_is_named() -> None:
    """A hair beyond, on it, and where more than a hundred would be needed."""
    spread = Spread(((0.01, 4), (0.01, 4)))
    assert further_repeats(spread, Room(0.0), 0.95) is None
    assert further_repeats(spread, Room(0.001), 0.95) is None
    near = ratio(_sample(log1p(0.05) + 0.001, 0.1, 4), _sample(0.0, 0.1, 4), 0.05)
    assert near.further_repeats is None
    assert near.decided_by == (
        f"more than {REPEATS_MAX} more repeats would be needed: the distance to the threshold is "
        "small compared with the spread between trials"
    )


def test_the_number_does_not_depend_on_which_side_is_named_first() -> None:
    a, b = [1.0, 1.1, 1.05, 1.2], [exp(0.2), 1.2, 1.5, 1.1]
    assert ratio(a, b).further_repeats == ratio(b, a).further_repeats is not None
