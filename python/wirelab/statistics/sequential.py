"""Looking after every pair and stopping when the answer is known, without paying for the looks.

A fixed-size test that is looked at after every pair finds a difference sooner or later where there
is none. A confidence sequence holds the true value at all times together, with the stated
probability: whoever stops by looking at it loses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, log1p, sqrt

from wirelab.statistics.interval import Interval, NotPositive, OutOfRange, confidence_checked
from wirelab.statistics.repeats import REPEATS_MAX
from wirelab.statistics.sample import finite
from wirelab.statistics.verdict import Verdict, verdict

PRIOR_PAIRS = 1.0
"""Weight of the prior in pairs, c squared: the test is at its best for effects of about one
standard deviation of a pair, and loses little for smaller ones."""


def confidence_sequence(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """The interval of the mean at this moment, of a sequence that holds at all moments.

    The anytime-valid t-test of Wang and Ramdas 2023 ("Anytime-valid t-tests and confidence
    sequences for Gaussian means with unknown variance", section 4), after Lai 1976: the mixture
    of t-likelihood ratios over effects delta/sigma ~ N(0, 1/c^2) is, with S and V the sums of the
    values less m and of their squares,
    ``M_n(m) = sqrt(c^2/(n+c^2)) ((n+c^2) V / ((n+c^2) V - S^2))^(n/2)``, a martingale where m is
    the mean; by Ville's inequality it exceeds 1/alpha ever with probability alpha at most. The
    interval holds every m with ``M_n(m) < 1/alpha``, which solves to
    ``mean -+ s sqrt((K-1)(n+c^2) / (n + c^2 - K c^2))`` with ``K = ((n+c^2)/(alpha^2 c^2))^(1/n)``
    and s the standard deviation with n in its denominator.

    No interval while ``n + c^2 <= K c^2``, in the first few pairs. Exact for normal values; on
    values resampled from real trials its coverage is tested. Raises :class:`NoValues`,
    :class:`NotFinite`, :class:`OutOfRange`.
    """
    found = finite(values)
    n, mean = int(found.size), float(found.mean())
    factor = reach_factor(n, confidence)
    if factor is None:
        return Interval(mean, None, None, n, "none", "too few pairs for an interval")
    reach = float(found.std()) * factor
    return Interval(mean, mean - reach, mean + reach, n, "anytime-valid t")


def reach_factor(n: int, confidence: float = 0.95) -> float | None:
    """Half the width of :func:`confidence_sequence` in standard deviations (n in the
    denominator); None while there is no interval. Raises :class:`OutOfRange`."""
    confidence_checked(confidence)
    c2 = PRIOR_PAIRS
    if n < 2:
        return None
    k = exp(log((n + c2) / ((1.0 - confidence) ** 2 * c2)) / n)
    room = n + c2 - k * c2
    return sqrt((k - 1.0) * (n + c2) / room) if room > 0.0 else None


def p_value(values: Sequence[float], border: float) -> float:
    """Of the hypothesis that the mean lies between -``border`` and ``border``, at any moment:
    the least ``1 / M_n(m)`` that :func:`confidence_sequence` describes, over these m. Below alpha
    exactly when the interval of confidence 1 - alpha lies outside. Raises :class:`NoValues`,
    :class:`NotFinite`."""
    found = finite(values)
    n, mean, c2 = int(found.size), float(found.mean()), PRIOR_PAIRS
    if n < 2 or abs(mean) <= border:
        return 1.0
    nearest = border if mean > 0.0 else -border
    shifted = found - nearest
    total, squares = float(shifted.sum()), float((shifted**2).sum())
    whole = (n + c2) * squares
    rest = whole - total**2
    if rest <= 0.0:
        return 0.0
    grown = 0.5 * (log(c2 / (n + c2)) + n * log(whole / rest))
    return min(1.0, exp(-grown)) if grown < 700.0 else 0.0


@dataclass(frozen=True)
class Decision:
    """What is known after the pairs so far."""

    outcome: Verdict
    """``undecided`` while more pairs may decide."""
    ratio: Interval
    """Of b over a."""

    @property
    def decided(self) -> bool:
        """Whether to stop."""
        return self.outcome != "undecided"


def further_pairs(
    a_values: Sequence[float],
    b_values: Sequence[float],
    threshold: float,
    confidence: float = 0.95,
) -> int | None:
    """Pairs after which :func:`judge` is expected to decide, besides those that there are, if mean
    and standard deviation of the logarithms stay what they are; None beyond
    :data:`~wirelab.statistics.repeats.REPEATS_MAX`, or of fewer than two pairs. Raises
    :class:`OutOfRange`."""
    if len(a_values) < 2:
        return None
    logs = finite([log(b / a) for a, b in zip(a_values, b_values, strict=True)])
    distance, spread = abs(float(logs.mean())), float(logs.std())
    for further in range(1, REPEATS_MAX + 1):
        factor = reach_factor(len(a_values) + further, confidence)
        if factor is None:
            continue
        reach, border = spread * factor, log1p(threshold)
        if distance - reach > border or distance + reach <= border:
            return further
    return None


def judge(
    a_values: Sequence[float],
    b_values: Sequence[float],
    threshold: float,
    confidence: float = 0.95,
) -> Decision:
    """The verdict (:func:`wirelab.statistics.verdict.verdict`) on b over a, of pairs measured
    next to each other, at any moment. Raises :class:`NoValues`, :class:`NotPositive`,
    :class:`NotFinite`, :class:`OutOfRange`.
    """
    if len(a_values) != len(b_values):
        raise OutOfRange(f"{len(a_values)} values against {len(b_values)}: they come in pairs")
    if min(*a_values, *b_values, 1.0) <= 0.0:
        raise NotPositive("a value is not positive, so it has no ratio")
    logs = [log(b / a) for a, b in zip(a_values, b_values, strict=True)]
    interval = confidence_sequence(logs, confidence)
    ratio = Interval(
        exp(interval.estimate),
        None if interval.low is None else exp(interval.low),
        None if interval.high is None else exp(interval.high),
        interval.n,
        f"{interval.method} on logarithms",
        interval.reason,
    )
    return Decision(verdict(ratio, threshold), ratio)
