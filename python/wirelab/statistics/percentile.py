"""Which percentiles a number of samples can carry."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from wirelab.statistics.errors import OutOfRange

SAMPLES_ABOVE = 10
"""Samples that must lie above a percentile for it to be printed."""


def percentile_printable(count: int, percentile: float) -> bool:
    """True when at least 10 of ``count`` samples lie above the percentile.

    The percentile is the smallest sample with at least ``percentile`` per cent of all
    at or below it (Hyndman & Fan 1996, The American Statistician 50(4), definition 1),
    so ``count - ceil(count * percentile / 100)`` lie above. Computed in whole numbers:
    99.9 % of 10,000 leaves exactly 10. Raises :class:`OutOfRange`.
    """
    if count < 0 or not 0.0 <= percentile <= 100.0:
        raise OutOfRange(f"count {count}, percentile {percentile:g}: need count >= 0, 0 to 100")
    at_or_below = ceil(count * Fraction(repr(float(percentile))) / 100)
    return count - at_or_below >= SAMPLES_ABOVE
