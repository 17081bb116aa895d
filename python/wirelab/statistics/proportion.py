"""Shares: so many of so many."""

from __future__ import annotations

from wirelab.statistics.distributions import beta_quantile
from wirelab.statistics.errors import OutOfRange
from wirelab.statistics.interval import Interval, confidence_checked


def binomial_interval(hits: int, n: int, confidence: float = 0.95) -> Interval:
    """Exact interval of a share (Clopper & Pearson 1934, Biometrika 26(4)).

    In the form of beta quantiles: ``low = B(alpha/2; x, n-x+1)``,
    ``high = B(1-alpha/2; x+1, n-x)`` (Brown, Cai, DasGupta 2001, Statistical Science
    16(2), equation 4). Its coverage is never below the confidence. Raises
    :class:`OutOfRange` unless ``0 <= hits <= n`` and ``n >= 1``.
    """
    confidence_checked(confidence)
    if n < 1 or not 0 <= hits <= n:
        raise OutOfRange(f"hits: {hits} of {n} is no share; need 0 <= hits <= n and n >= 1")
    tail = (1.0 - confidence) / 2.0
    low = 0.0 if hits == 0 else beta_quantile(tail, hits, n - hits + 1)
    high = 1.0 if hits == n else beta_quantile(1.0 - tail, hits + 1, n - hits)
    return Interval(hits / n, low, high, n, "Clopper-Pearson")
