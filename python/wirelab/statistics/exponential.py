"""Are these gaps exponential? The Anderson-Darling test of a Poisson process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np

from wirelab.statistics.interval import OutOfRange, TooFewValues
from wirelab.statistics.sample import Floats, finite

LEVEL = 0.001
"""Level of the test: how often true Poisson arrivals are refused."""


@dataclass(frozen=True)
class ExponentialFit:
    """The outcome of the test."""

    statistic: float
    """Anderson-Darling A-square, modified for the sample size where the scale was estimated."""
    p_value: float
    level: float
    n: int
    scale: float
    """The mean gap that was assumed, in the unit of the gaps."""

    @property
    def passed(self) -> bool:
        """True when the gaps may be exponential."""
        return self.p_value >= self.level


def anderson_darling_exponential(
    gaps: Sequence[float] | Floats,
    scale: float | None = None,
    *,
    level: float = LEVEL,
    resolution: float = 0.0,
) -> ExponentialFit:
    """Anderson-Darling test of exponential gaps (Anderson & Darling 1954, JASA 49, equation 2).

    ``A^2 = -n - (1/n) sum (2i - 1) (ln F(x_i) + ln(1 - F(x_{n+1-i})))``, ``F = 1 - exp(-x/scale)``.
    With ``scale`` given every parameter is known: Stephens' case 0, p by
    :func:`_p_known`. Without, the mean is estimated: Stephens' exponential case,
    ``A^2 (1 + 0.6/n)``, p by :func:`_p_estimated`.

    ``resolution`` is the clock's: a gap below half of it counts as half of it, since a
    gap of zero has no logarithm. Raises :class:`TooFewValues` below 5 gaps and
    :class:`OutOfRange` for gaps below zero, or of zero where no resolution is given.
    """
    values = np.sort(finite(gaps, "gaps"))
    if values.size < 5:
        raise TooFewValues(f"gaps: {values.size} are too few; the test needs at least 5")
    if values[0] < 0.0 or (values[0] == 0.0 and resolution <= 0.0):
        raise OutOfRange(f"gaps: {values[0]:g} is not positive; give the clock's resolution")
    values = np.maximum(values, resolution / 2.0)
    mean = float(np.mean(values)) if scale is None else scale
    if mean <= 0.0:
        raise OutOfRange(f"scale: {mean:g} is not positive")
    raw = _a_square(values / mean)
    statistic = raw * (1.0 + 0.6 / values.size) if scale is None else raw
    p = _p_estimated(statistic) if scale is None else _p_known(statistic)
    return ExponentialFit(statistic, p, level, values.size, mean)


def _a_square(scaled: Floats) -> float:
    n = scaled.size
    weights = 2.0 * np.arange(1, n + 1) - 1.0
    # ln F = ln(1 - e^-x), and ln(1 - F) = -x without any rounding.
    terms = np.log(-np.expm1(-scaled)) - scaled[::-1]
    return float(-n - np.sum(weights * terms) / n)


def _p_estimated(statistic: float) -> float:
    """p of the modified statistic, exponential with estimated scale.

    D'Agostino & Stephens 1986, Goodness-of-Fit Techniques, section 4.9 and table 4.14
    (upper tail 0.05 at 1.321, 0.01 at 1.959, 0.0025 at 2.534), by the book's
    curves. Beyond 3.0 the curve's straight part goes on, which errs by less than the
    level of any test here and stays falling.
    """
    z = statistic
    if z < 0.26:
        return 1.0 - exp(-12.2204 + 67.459 * z - 110.3 * z * z)
    if z < 0.51:
        return 1.0 - exp(-6.1327 + 20.218 * z - 18.663 * z * z)
    if z < 0.95:
        return exp(0.9209 - 3.353 * z + 0.300 * z * z)
    if z < 3.0:
        return exp(0.731 - 3.009 * z + 0.15 * z * z)
    return exp(0.731 - 3.009 * 3.0 + 0.15 * 9.0 - 2.109 * (z - 3.0))


def _p_known(statistic: float) -> float:
    """p of the statistic with all parameters known, asymptotic.

    Marsaglia & Marsaglia 2004, Evaluating the Anderson-Darling Distribution, Journal of
    Statistical Software 9(2), function ``adinf``, good to 2e-6 (below) and 8e-7 (above).
    """
    z = statistic
    if z <= 0.0:
        return 1.0
    if z < 2.0:
        inner = (
            2.00012
            + (0.247105 - (0.0649821 - (0.0347962 - (0.011672 - 0.00168691 * z) * z) * z) * z) * z
        )
        return 1.0 - exp(-1.2337141 / z) / float(np.sqrt(z)) * inner
    if z > 32.0:
        return 0.0
    inner = 1.0776 - (2.30695 - (0.43424 - (0.082433 - (0.008056 - 0.0003146 * z) * z) * z) * z) * z
    return float(-np.expm1(-exp(inner)))
