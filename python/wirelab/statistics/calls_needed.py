"""How many calls a percentile needs, and the window that has them."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

SAMPLES_ABOVE = 10
"""Samples that must lie above a percentile for it to be printed."""


def calls_needed(percentile: str) -> int | None:
    """Calls from which on ``p99`` or another percentile is printable; None for other names."""
    try:
        below = Fraction(percentile.removeprefix("p")) / 100
    except ValueError:
        return None
    return ceil(SAMPLES_ABOVE / (1 - below)) if 0 <= below < 1 else None


def window_for(calls: int, window_s: float, needed: int) -> float:
    """Seconds of a window that is expected to have ``needed`` calls with a tenth to spare, after
    one of ``window_s`` had ``calls``: whole seconds from 2 s on, else tenths."""
    seconds = 1.1 * window_s * needed / calls
    return float(ceil(seconds)) if seconds >= 2.0 else ceil(10.0 * seconds) / 10.0
