"""Values that were checked once, at the door of every method."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import NDArray

from wirelab.statistics.calls_needed import SAMPLES_ABOVE
from wirelab.statistics.interval import NotFinite, NotPositive, NoValues, OutOfRange

Floats = NDArray[np.float64]


def finite(values: Sequence[float] | Floats, what: str = "values") -> Floats:
    """The values as an array; at least one, all finite.

    Raises :class:`NoValues` or :class:`NotFinite`.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0:
        raise NoValues(f"{what}: there are none")
    if not np.all(np.isfinite(array)):
        raise NotFinite(f"{what}: at least one is NaN or infinite")
    return array


def logarithms(values: Sequence[float] | Floats, what: str = "values") -> Floats:
    """Natural logarithms of positive, finite values.

    Raises :class:`NotPositive` as well: a rate or a time of zero has no
    logarithm, and dropping it would flatter the rest.
    """
    array = finite(values, what)
    if np.any(array <= 0.0):
        raise NotPositive(
            f"{what}: {array.min():g} is not positive; leave out trials without a success "
            "and count them as failed"
        )
    return np.log(array)


@lru_cache(maxsize=256)
def _share(percentile: float) -> Fraction:
    """As it is written: 99.9 is 999/1000."""
    return Fraction(repr(percentile)) / 100


def percentile_printable(count: int, percentile: float) -> bool:
    """True when at least 10 of ``count`` samples lie above the percentile.

    The percentile is the smallest sample with at least ``percentile`` per cent of all
    at or below it (Hyndman & Fan 1996, The American Statistician 50(4), definition 1),
    so ``count - ceil(count * percentile / 100)`` lie above. Computed in whole numbers:
    99.9 % of 10,000 leaves exactly 10. Raises :class:`OutOfRange`.
    """
    if count < 0 or not 0.0 <= percentile <= 100.0:
        raise OutOfRange(f"count {count}, percentile {percentile:g}: need count >= 0, 0 to 100")
    at_or_below = ceil(count * _share(float(percentile)))
    return count - at_or_below >= SAMPLES_ABOVE
