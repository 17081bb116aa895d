"""One stack against another: a ratio, its interval, and what may be said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log1p, sqrt
from typing import Literal

import numpy as np

from wirelab.statistics.distributions import student_t_quantile, student_t_tail
from wirelab.statistics.errors import OutOfRange, UnequalLengths
from wirelab.statistics.interval import Interval, confidence_checked
from wirelab.statistics.sample import Floats, logarithms

Verdict = Literal["higher", "lower", "no difference found", "cannot be told"]

THRESHOLD = 0.05
"""Ratio minus one up to which a difference is of no interest, unless declared otherwise."""


@dataclass(frozen=True)
class Comparison:
    """The ratio a / b of two figures, and the verdict on it."""

    ratio: Interval
    verdict: Verdict
    reason: str
    threshold: float
    """Declared: a difference counts only when the interval lies beyond ``1 + threshold``
    or below ``1 / (1 + threshold)``."""
    p_value: float | None
    """Two-sided p of "the ratio lies within the threshold"; None when nothing can be told.
    Below ``1 - confidence`` exactly where the verdict is a difference."""

    @property
    def found(self) -> bool:
        """True when a difference was found."""
        return self.verdict in ("higher", "lower")

    def inverted(self) -> Comparison:
        """The same comparison told from the other side: b / a."""
        turned: dict[Verdict, Verdict] = {"higher": "lower", "lower": "higher"}
        low, high = self.ratio.bounds or (None, None)
        return replace(
            self,
            ratio=replace(
                self.ratio,
                estimate=1.0 / self.ratio.estimate,
                low=None if high is None else _reciprocal(high),
                high=None if low is None else _reciprocal(low),
            ),
            verdict=turned.get(self.verdict, self.verdict),
        )


@dataclass(frozen=True)
class _Difference:
    """A difference of mean logarithms, its standard error and degrees of freedom."""

    value: float
    error: float
    freedom: float


def ratio(
    a_values: Sequence[float] | Floats,
    b_values: Sequence[float] | Floats,
    threshold: float = THRESHOLD,
    *,
    paired: bool = False,
    confidence: float = 0.95,
) -> Comparison:
    """Ratio of the geometric means of two sets of trials, ``a / b``.

    Welch's t on logarithms: ``d = mean(ln a) - mean(ln b)``, standard error
    ``sqrt(s_a^2/n_a + s_b^2/n_b)``, degrees of freedom by Welch 1947 (Biometrika 34,
    equation 28) and Satterthwaite 1946 (Biometrics Bulletin 2(6), equation 17);
    the limits are those of d, exponentiated. ``paired``: the i-th values come from
    one block, and Student's t is taken of the differences ``ln a_i - ln b_i``.

    The verdict is a difference only when the interval excludes 1 by more than
    ``threshold`` (0.05 means 5 %), which is the minimum-effect test of Murphy & Myors
    1999 (Journal of Applied Psychology 84(2)) with the bounds of :attr:`Comparison.threshold`.

    Raises :class:`NoValues`, :class:`NotPositive`, :class:`NotFinite`,
    :class:`UnequalLengths` (paired), :class:`OutOfRange`.
    """
    confidence_checked(confidence)
    if not 0.0 <= threshold < inf:
        raise OutOfRange(f"threshold: {threshold:g} is not zero or more; 0.05 means 5 %")
    a_logs, b_logs = logarithms(a_values, "first"), logarithms(b_values, "second")
    if paired and a_logs.size != b_logs.size:
        raise UnequalLengths(
            f"paired: {a_logs.size} values against {b_logs.size}; give both of every block"
        )
    if min(a_logs.size, b_logs.size) < 2:
        return _untold(a_logs, b_logs, threshold)
    difference = _paired(a_logs - b_logs) if paired else _welch(a_logs, b_logs)
    method = "paired t on logarithms" if paired else "Welch t on logarithms"
    interval = _interval(difference, confidence, a_logs.size + b_logs.size, method)
    return _judge(interval, difference, threshold, confidence)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values of a family of tests, in the given order.

    Step-down: with p sorted upwards, ``p_adj(i) = max over j <= i of min(1, (m - j + 1) p(j))``,
    which bounds the chance of any false finding in the family (Holm 1979, Scandinavian
    Journal of Statistics 6(2)). Raises :class:`OutOfRange` for a p outside [0, 1].
    """
    for p in p_values:
        if not 0.0 <= p <= 1.0:
            raise OutOfRange(f"p-value: {p:g} is not between 0 and 1")
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def upheld(comparisons: Sequence[Comparison], alpha: float = 0.05) -> list[bool]:
    """Which differences Holm's method upholds when the comparisons are judged together.

    A verdict stands on its own 95 % interval, so of many comparisons without a difference
    a few find one by chance; those upheld here hold for the family as a whole. Comparisons
    that cannot be told are not counted in the family.
    """
    told = [c.p_value for c in comparisons if c.p_value is not None]
    adjusted = iter(holm(told))
    return [
        comparison.p_value is not None and next(adjusted) < alpha and comparison.found
        for comparison in comparisons
    ]


def family(comparisons: Sequence[Comparison], alpha: float = 0.05) -> list[Comparison]:
    """The comparisons of one claim, judged together: differences that Holm's method does not
    uphold are withdrawn, with the reason. Their intervals stay, being their own."""
    members = sum(1 for comparison in comparisons if comparison.p_value is not None)
    reason = f"a difference on its own, but not among {members} comparisons (Holm)"
    return [
        replace(comparison, verdict="no difference found", reason=reason)
        if comparison.found and not kept
        else comparison
        for comparison, kept in zip(comparisons, upheld(comparisons, alpha), strict=True)
    ]


def _reciprocal(value: float) -> float:
    return inf if value == 0.0 else 1.0 / value


def _untold(a_logs: Floats, b_logs: Floats, threshold: float) -> Comparison:
    estimate = exp(float(np.mean(a_logs) - np.mean(b_logs)))
    reason = f"{a_logs.size} and {b_logs.size} trials; both sides need at least 2"
    interval = Interval(estimate, None, None, int(a_logs.size + b_logs.size), "none", reason)
    return Comparison(interval, "cannot be told", reason, threshold, None)


def _welch(a_logs: Floats, b_logs: Floats) -> _Difference:
    a_part = float(np.var(a_logs, ddof=1)) / a_logs.size
    b_part = float(np.var(b_logs, ddof=1)) / b_logs.size
    total = a_part + b_part
    value = float(np.mean(a_logs) - np.mean(b_logs))
    if total == 0.0:
        return _Difference(value, 0.0, float(a_logs.size + b_logs.size - 2))
    # Shares of the total, so that tiny variances do not underflow when squared.
    a_share, b_share = a_part / total, b_part / total
    freedom = 1.0 / (a_share**2 / (a_logs.size - 1) + b_share**2 / (b_logs.size - 1))
    return _Difference(value, sqrt(total), freedom)


def _paired(differences: Floats) -> _Difference:
    error = float(np.std(differences, ddof=1)) / sqrt(differences.size)
    return _Difference(float(np.mean(differences)), error, float(differences.size - 1))


def _interval(difference: _Difference, confidence: float, n: int, method: str) -> Interval:
    quantile = student_t_quantile(0.5 + confidence / 2.0, difference.freedom)
    reach = quantile * difference.error
    # A huge spread between two trials can pass what a float holds: that is "anything".
    low = exp(max(difference.value - reach, -700.0))
    high = exp(difference.value + reach) if difference.value + reach < 700.0 else inf
    return Interval(exp(difference.value), low, high, n, method)


def _judge(
    interval: Interval, difference: _Difference, threshold: float, confidence: float
) -> Comparison:
    p = _p_value(difference, threshold)
    share = f"{100.0 * confidence:g} %"
    verdict: Verdict = "no difference found"
    if p < 1.0 - confidence:
        verdict = "higher" if difference.value > 0.0 else "lower"
        reason = f"the {share} interval lies beyond the threshold of {100 * threshold:g} %"
    elif _within(interval, threshold):
        reason = f"any difference is smaller than the threshold of {100 * threshold:g} %"
    else:
        reason = (
            f"the {share} interval does not exclude a difference within "
            f"{100 * threshold:g} %, nor a larger one"
        )
    return Comparison(interval, verdict, reason, threshold, p)


def _within(interval: Interval, threshold: float) -> bool:
    low, high = interval.bounds or (0.0, inf)
    return low >= 1.0 / (1.0 + threshold) and high <= 1.0 + threshold


def _p_value(difference: _Difference, threshold: float) -> float:
    beyond = abs(difference.value) - log1p(threshold)
    if beyond <= 0.0:
        return 1.0
    if difference.error == 0.0:
        return 0.0
    return min(1.0, 2.0 * student_t_tail(beyond / difference.error, difference.freedom))
