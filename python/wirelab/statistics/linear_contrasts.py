"""Contrasts of cells: weighted sums of their means, with t-intervals.

A comparison of two cells, a growth from one load to another, the interaction
of two changes and the slope of a trend line are all of this one form. Trials
run on fresh processes in random order, so the cells are independent and their
variances add; the degrees of freedom are those of Satterthwaite 1946
(Biometrics Bulletin 2(6), equation 17). For two cells and weights 1 and -1,
:func:`product` is :func:`wirelab.statistics.ratio`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf

import numpy as np

from wirelab.statistics.distributions import student_t_tail
from wirelab.statistics.interval import Interval, TooFewValues, confidence_checked
from wirelab.statistics.repeats import Spread
from wirelab.statistics.sample import Floats, finite, logarithms

CONFIDENCE = 0.95
"""Of every interval that is printed."""

Term = tuple[float, Sequence[float]]
"""A weight, and one figure per trial of a cell."""


def total(terms: Sequence[Term], confidence: float = CONFIDENCE) -> Interval:
    """Sum of weight x arithmetic mean, in the unit of the figures.

    Without an interval where a cell has fewer than two trials; the reason states it.
    Raises :class:`NoValues`, :class:`NotFinite`.
    """
    return _sum([(weight, finite(values)) for weight, values in terms], confidence)


def p_value(terms: Sequence[Term]) -> float | None:
    """Two-sided, of a :func:`total` that in truth is 0: below 0.05 where its 95 % interval
    leaves 0 out. None where it has no interval. Raises as it does."""
    used = _drop_zero_terms([(weight, finite(values)) for weight, values in terms])
    if any(values.size < 2 for _, values in used):
        return None
    estimate, (error, freedom) = _estimate(used), _spread(used).error()
    if error <= 0.0:
        return 1.0 if estimate == 0.0 else 0.0
    return 2.0 * student_t_tail(abs(estimate) / error, freedom)


def log_spread(terms: Sequence[Term]) -> Spread | None:
    """Of the logarithm of a :func:`product`; None where that has no interval. Raises as it
    does."""
    used = _drop_zero_terms([(weight, logarithms(values)) for weight, values in terms])
    return None if any(values.size < 2 for _, values in used) else _spread(used)


def spread(terms: Sequence[Term]) -> Spread | None:
    """Of a :func:`total`; None where that has no interval. Raises as it does."""
    used = _drop_zero_terms([(weight, finite(values)) for weight, values in terms])
    return None if any(values.size < 2 for _, values in used) else _spread(used)


def product(terms: Sequence[Term], confidence: float = CONFIDENCE) -> Interval:
    """Product of the cells' geometric means, each to the power of its weight.

    Raises :class:`NoValues`, :class:`NotPositive`, :class:`NotFinite`.
    """
    return exponential(_sum([(weight, logarithms(values)) for weight, values in terms], confidence))


def average_paired_ratios(
    numerators: Sequence[Sequence[float]],
    denominators: Sequence[Sequence[float]],
    power: float,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Power mean of the ratios of paired cells: power 1 is the arithmetic mean of the
    ratios, -1 one over the mean of their inverses, 0 the geometric mean.

    The interval is that of the logarithm by the delta method: the derivative of
    ``ln M`` by ``ln r_i`` is ``r_i^p / sum(r^p)``, which weighs the cells.
    """
    pairs = zip(numerators, denominators, strict=True)
    return average_of_ratios(
        [((1.0, top), (-1.0, bottom)) for top, bottom in pairs], power, confidence
    )


def average_of_ratios(
    every: Sequence[Sequence[Term]], power: float, confidence: float = CONFIDENCE
) -> Interval:
    """:func:`average_paired_ratios` of ratios that are the products of their terms."""
    logs = [[(weight, logarithms(values)) for weight, values in terms] for terms in every]
    ratios = np.array([_estimate(terms) for terms in logs])
    powers = np.exp(power * (ratios - ratios.max()))
    shares = powers / powers.sum()
    linear = _sum(
        [
            (float(share) * weight, values)
            for share, terms in zip(shares, logs, strict=True)
            for weight, values in terms
        ],
        confidence,
    )
    mean = float(ratios.mean()) if power == 0 else _log_mean_power(ratios, power)
    shift = mean - linear.estimate
    low, high = linear.bounds or (None, None)
    return exponential(
        Interval(
            mean,
            None if low is None else low + shift,
            None if high is None else high + shift,
            linear.n,
            "delta method, t on logarithms",
            linear.reason,
        )
    )


def slope_weights(levels: Sequence[float]) -> list[float]:
    """Of the means of cells at these levels, whose weighted :func:`total` is the least-squares
    slope: ``(x - mean(x)) / sum((x - mean(x))^2)``."""
    x = np.asarray(levels, dtype=float)
    centred = x - x.mean()
    return [float(weight) for weight in centred / float(centred @ centred)]


def exponential(logarithm: Interval) -> Interval:
    """From the scale of logarithms back to ratios."""
    low, high = logarithm.bounds or (None, None)
    return Interval(
        exp(logarithm.estimate),
        None if low is None else exp(max(low, -700.0)),
        None if high is None else exp(high) if high < 700.0 else inf,
        logarithm.n,
        logarithm.method,
        logarithm.reason,
    )


def bounds(interval: Interval) -> tuple[float, float]:
    """The limits. Raises :class:`TooFewValues` where there are none."""
    if interval.bounds is None:
        raise TooFewValues(interval.reason)
    return interval.bounds


def _sum(terms: Sequence[tuple[float, Floats]], confidence: float) -> Interval:
    confidence_checked(confidence)
    used = _drop_zero_terms(terms)
    estimate = _estimate(used)
    n = sum(values.size for _, values in used)
    if any(values.size < 2 for _, values in used):
        return Interval(estimate, None, None, n, "none", "every cell needs at least 2 trials")
    reach = _spread(used).reach(confidence)
    if reach <= 0.0:
        return Interval(estimate, estimate, estimate, n, "no spread between trials")
    return Interval(estimate, estimate - reach, estimate + reach, n, "t, variances added")


def _drop_zero_terms(terms: Sequence[tuple[float, Floats]]) -> list[tuple[float, Floats]]:
    return [(weight, values) for weight, values in terms if abs(weight) > 1e-12]


def _estimate(used: Sequence[tuple[float, Floats]]) -> float:
    return float(sum(weight * values.mean() for weight, values in used))


def _spread(used: Sequence[tuple[float, Floats]]) -> Spread:
    return Spread(tuple((float(w**2 * v.var(ddof=1)), v.size) for w, v in used))


def _log_mean_power(logs: Floats, power: float) -> float:
    scaled = power * logs
    peak = float(scaled.max())
    return (peak + float(np.log(np.mean(np.exp(scaled - peak))))) / power
