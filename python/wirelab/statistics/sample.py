"""Values that were checked once, at the door of every method."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wirelab.statistics.errors import NotFinite, NotPositive, NoValues

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
            f"{what}: {array.min():g} is not positive; leave trials without a success out "
            "and count them as failed"
        )
    return np.log(array)
