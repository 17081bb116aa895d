"""Differences of paired values that vary by amounts, and the two-period crossover design.

Points of a questionnaire are bounded and additive, so unlike figures of trials they are
compared as they are, not on logarithms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import sqrt

import numpy as np

from wirelab.statistics.distributions import student_t_quantile, student_t_tail
from wirelab.statistics.interval import Interval, TooFewValues, confidence_checked
from wirelab.statistics.mean import student_t
from wirelab.statistics.sample import Floats, finite

EXACT_PAIRS_MAX = 14
"""Pairs up to which all assignments of signs are counted; 2^14 of them."""
SIGNS_DRAWN = 99_999
"""Random assignments of signs above that."""


def mean_of(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Arithmetic mean with Student's t-interval (Student 1908, Biometrika 6(1)); the unit is that
    of the values. Of one value there is no interval.

    Raises :class:`NoValues`, :class:`NotFinite`, :class:`OutOfRange`.
    """
    confidence_checked(confidence)
    found = finite(values)
    mean = float(np.mean(found))
    if found.size == 1:
        return Interval(mean, None, None, 1, "none", "one value has no spread")
    low, high = student_t(found, confidence)
    return Interval(mean, low, high, int(found.size), "t")


def sign_flip_p(differences: Sequence[float], seed: int = 1) -> float:
    """Two-sided p-value of the hypothesis that paired differences are symmetric around zero.

    The share of assignments of signs whose mean is at least as far from zero (Fisher 1935, The
    Design of Experiments, section 21): all of them up to :data:`EXACT_PAIRS_MAX` pairs, else
    :data:`SIGNS_DRAWN` random ones and the one observed (Phipson and Smyth 2010). It assumes no
    distribution. Raises :class:`NoValues` and :class:`NotFinite`.
    """
    found = finite(differences)
    observed = abs(float(found.sum())) * (1.0 - 1e-12)
    if found.size <= EXACT_PAIRS_MAX:
        signs: Floats = np.array(list(product((-1.0, 1.0), repeat=found.size)))
        return float(np.mean(np.abs(signs @ found) >= observed))
    rng = np.random.default_rng(seed)
    as_far = sum(
        int(np.sum(np.abs(rng.choice((-1.0, 1.0), size=(1_000, found.size)) @ found) >= observed))
        for _ in range(SIGNS_DRAWN // 1_000)
    )
    return (as_far + 1) / (SIGNS_DRAWN // 1_000 * 1_000 + 1)


@dataclass(frozen=True)
class Crossover:
    """Effects in a two-period crossover of treatments A and B, in the unit of the values."""

    treatment: Interval
    """A minus B, with the effect of the period removed."""
    period: Interval
    """What a treatment gains by being second."""
    carry_over_p: float
    """Of the hypothesis that what was used first has no effect on what follows; it is tested
    between groups, so it finds only large ones."""


def crossover(
    a_first: Sequence[tuple[float, float]],
    b_first: Sequence[tuple[float, float]],
    confidence: float = 0.95,
) -> Crossover:
    """Of pairs (A, B) of those who began with A and of those who began with B.

    With d = A - B: the effect of the treatment is ``(mean d1 + mean d2) / 2``, that of the period
    ``(mean d2 - mean d1) / 2``, both with the pooled variance of d and ``n1 + n2 - 2`` degrees of
    freedom; carry-over compares ``A + B`` between the groups (Hills and Armitage 1979, British
    Journal of Clinical Pharmacology 8). Raises :class:`TooFewValues` unless both groups have two
    members, :class:`NotFinite`, :class:`OutOfRange`.
    """
    confidence_checked(confidence)
    if min(len(a_first), len(b_first)) < 2:
        raise TooFewValues("both orders need at least two participants")
    groups = [np.asarray(group, dtype=float) for group in (a_first, b_first)]
    for group in groups:
        finite(group.ravel())
    first, second = (group[:, 0] - group[:, 1] for group in groups)
    error, freedom = _pool_error(first, second)
    reach = student_t_quantile(0.5 + confidence / 2.0, freedom) * error / 2.0
    n = freedom + 2

    def half(value: float) -> Interval:
        return Interval(value / 2.0, value / 2.0 - reach, value / 2.0 + reach, n, "crossover t")

    means = float(np.mean(first)), float(np.mean(second))
    sums = [group.sum(axis=1) for group in groups]
    between, freedom = _pool_error(*sums)
    apart = abs(float(np.mean(sums[0]) - np.mean(sums[1])))
    if between > 0.0:
        carried = 2.0 * student_t_tail(apart / between, freedom)
    else:
        carried = 1.0 if apart == 0.0 else 0.0
    return Crossover(half(means[0] + means[1]), half(means[1] - means[0]), carried)


def _pool_error(a: Floats, b: Floats) -> tuple[float, int]:
    """Standard error of the difference of two means, and its degrees of freedom."""
    freedom = a.size + b.size - 2
    squares = (a.size - 1) * np.var(a, ddof=1) + (b.size - 1) * np.var(b, ddof=1)
    return sqrt(float(squares) / freedom * (1.0 / a.size + 1.0 / b.size)), freedom
