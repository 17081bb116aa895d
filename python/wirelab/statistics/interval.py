"""An estimate with the interval that holds the true value at a stated confidence, and the
errors of this package."""

from __future__ import annotations

from dataclasses import dataclass


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

    def scale(self, factor: float) -> Interval:
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
