"""An estimate with the interval that holds the true value at a stated confidence."""

from __future__ import annotations

from dataclasses import dataclass

from wirelab.statistics.distributions import beta_quantile


@dataclass(frozen=True)
class Interval:
    """An estimate and the interval that holds the true value at the stated confidence.

    ``low`` and ``high`` are None when there can be no interval; ``reason`` then says why.
    The unit is that of the values.
    """

    estimate: float
    low: float | None
    high: float | None
    n: int
    method: str
    reason: str = ""

    @property
    def bounds(self) -> tuple[float, float] | None:
        """``(low, high)``, or None when there is no interval."""
        if self.low is None or self.high is None:
            return None
        return self.low, self.high

    def scaled(self, factor: float) -> Interval:
        """The same interval in another unit; ``factor`` is positive."""
        low, high = self.bounds or (None, None)
        return Interval(
            self.estimate * factor,
            None if low is None else low * factor,
            None if high is None else high * factor,
            self.n,
            self.method,
            self.reason,
        )


def confidence_checked(confidence: float) -> float:
    """A confidence strictly between 0 and 1; raises :class:`OutOfRange`."""
    if not 0.0 < confidence < 1.0:
        raise OutOfRange(f"confidence: {confidence:g} is not between 0 and 1; 0.95 is usual")
    return confidence


class StatisticsError(ValueError):
    """Root of all errors of :mod:`wirelab.statistics`."""


class NoValues(StatisticsError):
    """There is nothing to judge."""


class NotPositive(StatisticsError):
    """The logarithm of a value that is not positive was asked for."""


class NotFinite(StatisticsError):
    """A value is NaN or infinite."""


class UnequalLengths(StatisticsError):
    """Paired values come in two lists of different lengths."""


class TooFewValues(StatisticsError):
    """The method needs more values than there are."""


class OutOfRange(StatisticsError):
    """A parameter lies outside its legal range."""


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
