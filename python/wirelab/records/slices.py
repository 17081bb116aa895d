"""The slices of a service that shared a trial with others."""

from __future__ import annotations

import msgspec


class SlicesRecord(msgspec.Struct, frozen=True):
    """Parts of a trial in which one of several services was called."""

    count: int
    """Measured slices."""
    length_s: float
    """Measured seconds of each."""
    skip_s: float
    """Seconds at the beginning of each that were not measured."""
    drain_max_s: float
    """Longest time after a slice until its last call had ended, seconds."""
    share: float
    """Part of the time from the first slice to the last that belongs to this service."""
