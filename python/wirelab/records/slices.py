"""The slices of a service that shared a trial with others."""

from __future__ import annotations

import msgspec


class SlicesRecord(msgspec.Struct, frozen=True):
    """Parts of a trial in which one of several services was called. Times are in seconds."""

    count: int
    """Measured slices."""
    length_s: float
    """What is measured of each."""
    skip_s: float
    """What is not measured at the beginning of each."""
    drain_s: float
    """Time after a slice until its last call had ended, median."""
    drain_max_s: float
    """The same, at most."""
    own_s: float
    """All slices of this service, each with its beginning and its drain."""
    whole_s: float
    """From the first slice of any service to the end of the last."""
    idle_cpu: float | None = None
    """CPU seconds per second that this service used while others were called; None: unknown."""
    others_cpu: float | None = None
    """The same of all other services, which may have been while this one was called."""
