"""Student's t and the beta distribution: tails and quantiles.

A few evaluations per comparison do not justify a second of loading scipy; the tests hold these
against scipy's to a relative 1e-9. All rest on the regularized incomplete beta function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import exp, inf, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

from wirelab.statistics.interval import Interval, OutOfRange, confidence_checked

_TINY = 1e-300
_PRECISION = 1e-15
_STEPS_MAX = 100
_NEWTON_FREEDOM = (3.0, 1e6)
"""Where Newton's method is used: below, its start is far off; above, its density loses digits."""
_NEWTON_PRECISION = 1e-13
_TERMS_MAX = 100_000
"""The fraction needs about the square root of the larger parameter; a million calls need 1000."""


def student_t_tail(value: float, freedom: float) -> float:
    """Probability that Student's t with ``freedom`` degrees exceeds ``value``.

    ``I(v / (v + t^2); v/2, 1/2) / 2`` (DLMF 8.17; Abramowitz & Stegun 26.7.1). Raises
    :class:`OutOfRange` unless ``freedom > 0``.
    """
    if freedom <= 0.0:
        raise OutOfRange(f"freedom: {freedom:g} is not above 0")
    if value < 0.0:
        return 1.0 - student_t_tail(-value, freedom)
    if value == inf:
        return 0.0
    # The complement is given too: close to 1 its digits would be lost.
    square = value * value
    x, rest = freedom / (freedom + square), square / (freedom + square)
    return 0.5 * _beta(x, rest, 0.5 * freedom, 0.5)


@lru_cache(maxsize=256)
def student_t_quantile(probability: float, freedom: float) -> float:
    """The value that Student's t stays below with ``probability``. Raises :class:`OutOfRange`
    unless ``0 < probability < 1`` and ``freedom > 0``."""
    if not 0.0 < probability < 1.0:
        raise OutOfRange(f"probability: {probability:g} is not between 0 and 1")
    tail, sign = (probability, -1.0) if probability < 0.5 else (1.0 - probability, 1.0)
    if _NEWTON_FREEDOM[0] <= freedom <= _NEWTON_FREEDOM[1]:
        return sign * _newton_quantile(tail, freedom)
    high = 1.0
    while student_t_tail(high, freedom) > tail:
        high *= 2.0
    return sign * _root(lambda value: tail - student_t_tail(value, freedom), 0.0, high)


def _newton_quantile(tail: float, freedom: float) -> float:
    """The positive quantile by Newton's method: the tail is convex, so that from the second
    step on it approaches the root from below. It starts at the expansion of Cornish & Fisher
    (Abramowitz & Stegun 26.7.5) and takes about 4 evaluations of the tail, Ridders' method 17."""
    z = -NormalDist().inv_cdf(tail) if tail < 0.5 else 0.0
    first, second = (z**3 + z) / 4.0, (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0
    value = z + first / freedom + second / freedom**2
    half = 0.5 * (freedom + 1.0)
    scale = lgamma(half) - lgamma(0.5 * freedom) - 0.5 * log(freedom * pi)
    for _ in range(_STEPS_MAX):
        density = exp(scale - half * log1p(value * value / freedom))
        step = (student_t_tail(value, freedom) - tail) / density
        value += step
        if abs(step) <= _NEWTON_PRECISION * value or value == 0.0:
            break
    return value


def beta_quantile(probability: float, a: float, b: float) -> float:
    """The share that a beta variable with parameters ``a`` and ``b`` stays below with
    ``probability``. Raises :class:`OutOfRange` unless ``0 < probability < 1`` and both
    parameters are above 0."""
    if not 0.0 < probability < 1.0 or a <= 0.0 or b <= 0.0:
        raise OutOfRange(f"probability {probability:g}, a {a:g}, b {b:g}: out of range")
    return _root(lambda share: _beta(share, 1.0 - share, a, b) - probability, 0.0, 1.0)


def _beta(x: float, rest: float, a: float, b: float) -> float:
    """The regularized incomplete beta function I(x; a, b); ``rest`` is 1 - x."""
    if x <= 0.0 or rest <= 0.0:
        return 0.0 if x <= 0.0 else 1.0
    # The fraction converges fast on this side of the mean (DLMF 8.17.22).
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _beta_below(rest, x, b, a)
    return _beta_below(x, rest, a, b)


def _beta_below(x: float, rest: float, a: float, b: float) -> float:
    logs = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * _log(rest, x)
    return exp(logs) * _fraction(x, a, b) / a


def _log(rest: float, x: float) -> float:
    """The logarithm of 1 - x, exact where x is small."""
    return log1p(-x) if x < 0.5 else log(rest)


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of DLMF 8.17.22, by Lentz's method (Thompson & Barnett 1986, Journal
    of Computational Physics 64)."""
    c, d = 1.0, 1.0 / _nonzero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, _TERMS_MAX):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for term in (even, odd):
            d = 1.0 / _nonzero(1.0 + term * d)
            c = _nonzero(1.0 + term / c)
            value *= c * d
        if abs(c * d - 1.0) < _PRECISION:
            return value
    raise OutOfRange(f"a {a:g}, b {b:g}: the incomplete beta function does not converge")


def _nonzero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _root(of: Callable[[float], float], low: float, high: float) -> float:
    """Where a growing function is 0, between its ends, by the method of Ridders (1979, IEEE
    Transactions on Circuits and Systems 26(11)): about twice as many digits with each step."""
    at_low, at_high, before = of(low), of(high), low
    for _ in range(_STEPS_MAX):
        middle = 0.5 * (low + high)
        at_middle = of(middle)
        scale = sqrt(at_middle * at_middle - at_low * at_high)
        if scale == 0.0:
            return middle
        found = middle - (middle - low) * at_middle / scale
        at_found = of(found)
        if abs(found - before) <= _PRECISION * abs(found) or at_found == 0.0:
            return found
        before = found
        points = ((low, at_low), (middle, at_middle), (found, at_found), (high, at_high))
        low, at_low = max(point for point in points if point[1] <= 0.0)
        high, at_high = min(point for point in points if point[1] >= 0.0)
    return before


def binomial_interval(hits: int, n: int, confidence: float = 0.95) -> Interval:
    """Exact interval of a share (Clopper & Pearson 1934, Biometrika 26(4)).

    In the form of beta quantiles: ``low = B(alpha/2; x, n-x+1)``,
    ``high = B(1-alpha/2; x+1, n-x)`` (Brown, Cai, DasGupta 2001, Statistical Science
    16(2), equation 4). Its coverage is never below the confidence. Raises
    :class:`OutOfRange` unless ``0 <= hits <= n`` and ``n >= 1``.
    """
    confidence_checked(confidence)
    if n < 1 or not 0 <= hits <= n:
        raise OutOfRange(f"hits: {hits} of {n} is not a share; need 0 <= hits <= n and n >= 1")
    tail = (1.0 - confidence) / 2.0
    low = 0.0 if hits == 0 else beta_quantile(tail, hits, n - hits + 1)
    high = 1.0 if hits == n else beta_quantile(1.0 - tail, hits + 1, n - hits)
    return Interval(hits / n, low, high, n, "Clopper-Pearson")


def cluster_share(clusters: Sequence[tuple[int, int]], confidence: float = 0.95) -> Interval | None:
    """Interval of a share whose cases come in clusters of (hits, cases); None without a case.

    Clopper and Pearson's with the number of independent cases that has the variance between
    clusters (Korn & Graubard 1998, Survey Methodology 24(2), section 3), with their correction for
    few clusters, and at most that of the clusters. Where all or none are hits, each cluster is one
    case. Raises :class:`OutOfRange`.
    """
    confidence_checked(confidence)
    known = [(hits, cases) for hits, cases in clusters if cases]
    if not known:
        return None
    if any(not 0 <= hits <= cases for hits, cases in known):
        raise OutOfRange("a cluster has more hits than cases, or less than none")
    total, number = sum(cases for _, cases in known), len(known)
    share = sum(hits for hits, _ in known) / total
    squares = sum((hits - share * cases) ** 2 for hits, cases in known)
    worth = float(number)
    if 0.0 < share < 1.0 and squares > 0.0 and number > 1:
        variance = squares * number / (number - 1) / total**2
        tail = 0.5 + confidence / 2.0
        few = student_t_quantile(tail, total - 1) / student_t_quantile(tail, number - 1)
        worth = min(worth, share * (1.0 - share) / variance * few**2)
    hits, tail = share * worth, (1.0 - confidence) / 2.0
    low = 0.0 if hits <= 0.0 else beta_quantile(tail, hits, worth - hits + 1.0)
    high = 1.0 if share == 1.0 else beta_quantile(1.0 - tail, hits + 1.0, worth - hits)
    return Interval(share, low, high, number, "Clopper-Pearson, clusters as units")


_SHIFT = 8.0
"""From here on the asymptotic series have a relative error below 1e-12."""


def digamma(x: float) -> float:
    """Derivative of ``ln gamma`` for ``x > 0`` (DLMF 5.5.2 and 5.11.2)."""
    value = 0.0
    while x < _SHIFT:
        value -= 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    series = square * (
        1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132)))
    )
    return value + log(x) - 0.5 / x - series


def trigamma(x: float) -> float:
    """Second derivative of ``ln gamma`` for ``x > 0`` (DLMF 5.15.5 and 5.15.8)."""
    value = 0.0
    while x < _SHIFT:
        value += 1.0 / (x * x)
        x += 1.0
    square = 1.0 / (x * x)
    series = square * (
        1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * 5 / 66)))
    )
    return value + 1.0 / x + 0.5 * square + series / x


def trigamma_inverse(value: float) -> float:
    """``x`` with ``trigamma(x) = value`` for ``value > 0``. Raises :class:`OutOfRange`."""
    if value <= 0.0:
        raise OutOfRange(f"trigamma: {value:g} is not above 0")
    # trigamma lies between 1/x and 1/x + 1/x^2.
    low, high = 1.0 / value, 0.5 / value * (1.0 + sqrt(1.0 + 4.0 * value))
    return _root(lambda x: value - trigamma(x), low, max(high, low * (1.0 + 1e-9)))
