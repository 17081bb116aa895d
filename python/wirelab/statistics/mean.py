"""The interval of one figure over the trials of one cell.

A figure of a trial (its rate, its 99th percentile) is positive and varies by
factors rather than by amounts, so the interval is built on logarithms and the
estimate is the geometric mean of the trials.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, sqrt

import numpy as np

from wirelab.statistics.distributions import student_t_quantile
from wirelab.statistics.interval import Interval, confidence_checked
from wirelab.statistics.sample import Floats, logarithms

BOOTSTRAP_FROM = 20
"""Trials from which on the bootstrap is used; below, its coverage is too low."""
RESAMPLES = 9_999
"""Bootstrap resamples: (resamples + 1) x alpha/2 is then a whole number."""
DRAWS_MAX = 1_000_000
"""Draws that are in memory at a time; 8 bytes each, three times."""
ONE_TRIAL = "one trial gives no spread between trials; use at least 3 repeats"


def mean_interval(
    values: Sequence[float] | Floats, confidence: float = 0.95, seed: int = 1
) -> Interval:
    """Geometric mean of the trials' figures, with its interval.

    2 to 19 trials: Student's t on the logarithms; with ``y = ln x``, the limits are
    ``exp(mean(y) -+ t[n-1, 1-alpha/2] * s / sqrt(n))`` (Student 1908; on logarithms:
    Limpert, Stahel, Abbt 2001, "Log-normal distributions across the sciences",
    BioScience 51(5), section on confidence intervals). From 20 trials on:
    percentile-t bootstrap on the logarithms (:func:`percentile_t`).
    One trial: no interval.

    Raises :class:`NoValues`, :class:`NotPositive`, :class:`NotFinite`, :class:`OutOfRange`.
    """
    confidence_checked(confidence)
    logs = logarithms(values)
    if logs.size == 1:
        return Interval(exp(logs[0]), None, None, 1, "none", ONE_TRIAL)
    if logs.size >= BOOTSTRAP_FROM:
        limits = percentile_t(logs, confidence, seed)
        if limits is not None:
            return _of_logs(logs, limits, "percentile-t bootstrap on logarithms")
    return _of_logs(logs, student_t(logs, confidence), "t on logarithms")


def student_t(logs: Floats, confidence: float) -> tuple[float, float]:
    """Student's t-interval of the mean (Student 1908, Biometrika 6(1))."""
    error = float(np.std(logs, ddof=1)) / sqrt(logs.size)
    reach = student_t_quantile(0.5 + confidence / 2.0, logs.size - 1) * error
    centre = float(np.mean(logs))
    return centre - reach, centre + reach


def percentile_t(logs: Floats, confidence: float, seed: int) -> tuple[float, float] | None:
    """Percentile-t (studentized) bootstrap interval of the mean.

    ``[m - q(1-alpha/2) * se, m - q(alpha/2) * se]`` with q the quantiles of
    ``(m* - m) / se*`` over resamples (Efron & Tibshirani 1993, An Introduction to
    the Bootstrap, equation 12.22; Hall 1988, Annals of Statistics 16(3):
    second-order accurate, and better for means than the plain percentiles).

    None when values are tied to the extent that resamples without any spread reach
    the quantiles: the studentized statistic does not exist there.
    """
    n = logs.size
    centre, error = float(np.mean(logs)), float(np.std(logs, ddof=1)) / sqrt(n)
    if error == 0.0:
        return centre, centre
    means, errors = _resample(logs, seed)
    usable = errors > 0.0
    if np.count_nonzero(~usable) > 0.1 * (1.0 - confidence) * RESAMPLES:
        return None
    pivots = (means[usable] - centre) / errors[usable]
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(pivots, [tail, 1.0 - tail])
    return centre - float(high) * error, centre - float(low) * error


def _resample(logs: Floats, seed: int) -> tuple[Floats, Floats]:
    """Means of the resamples and their standard errors. A part at a time is in memory; the draws do
    not depend on the size of the parts."""
    n, random = logs.size, np.random.default_rng(seed)
    rows = max(1, DRAWS_MAX // n)
    means, errors = np.empty(RESAMPLES), np.empty(RESAMPLES)
    for start in range(0, RESAMPLES, rows):
        end = min(start + rows, RESAMPLES)
        draws = logs[random.integers(0, n, size=(end - start, n))]
        means[start:end] = np.mean(draws, axis=1)
        errors[start:end] = np.std(draws, axis=1, ddof=1) / sqrt(n)
    return means, errors


def _of_logs(logs: Floats, limits: tuple[float, float], method: str) -> Interval:
    return Interval(exp(float(np.mean(logs))), exp(limits[0]), exp(limits[1]), logs.size, method)
