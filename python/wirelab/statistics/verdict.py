"""The verdict on a ratio: on which side of the threshold its interval lies.

Every comparison of the lab takes its verdict from :func:`verdict`, whatever the method of its
interval.
"""

from __future__ import annotations

from math import inf
from typing import Literal

from wirelab.statistics.interval import Interval, OutOfRange

THRESHOLD = 0.05
"""Ratio minus one up to which a difference is of no interest, unless declared otherwise."""

Verdict = Literal["higher", "lower", "equivalent", "undecided"]
"""``higher``, ``lower``: the whole interval lies beyond the threshold. ``equivalent``: the whole
interval lies within it. ``undecided``: everything else."""


def verdict(interval: Interval, threshold: float) -> Verdict:
    """Of a ratio. A threshold of 0.05 has the borders 1.05 and 1 / 1.05, so that a verdict does not
    depend on which side is named first. Raises :class:`OutOfRange`."""
    if not 0.0 <= threshold < inf:
        raise OutOfRange(f"threshold: {threshold:g} is not zero or more; 0.05 means 5 %")
    if interval.bounds is None:
        return "undecided"
    low, high = interval.bounds
    upper = 1.0 + threshold
    if low > upper:
        return "higher"
    if high < 1.0 / upper:
        return "lower"
    return "equivalent" if low >= 1.0 / upper and high <= upper else "undecided"


def explain_undecided(interval: Interval, threshold: float) -> str:
    """Which border of the threshold the interval contains."""
    if interval.bounds is None:
        return interval.reason
    if threshold == 0.0:
        return "the interval includes 1"
    low, high = interval.bounds
    if low < 1.0 / (1.0 + threshold) and high > 1.0 + threshold:
        return f"the interval exceeds the threshold of {100 * threshold:g} % on both sides"
    return f"the interval crosses the threshold of {100 * threshold:g} %"
