"""What each of several clients did of one load."""

from __future__ import annotations

import msgspec

CLIENTS_MAX = 1_000
"""Engines that may make one load."""


class ClientRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One client."""

    client: str
    node: str
    """Name of its host."""
    share: float
    """Of the load that was ordered."""
    calls: int
    errors: int
    rate_per_s: float
    """Good calls per second."""
    p50_ms: float | None
    p99_ms: float | None
    """Response times; None of too few calls."""
    cpu_s: float
    late_ms: float
    """How late it was ready for the common start."""
    clock_offset_ms: float
    """Its clock minus that of the front, CLOCK_MONOTONIC."""
    clock_error_ms: float
    """The offset is right to within this."""
    clock_moved_ms: float
    """By how much its clock moved against the front's meanwhile, for certain."""


class ClientsRecord(msgspec.Struct, frozen=True):
    """All clients of one load."""

    clients: tuple[ClientRecord, ...] = ()
    cores: int | None = None
    """Cores that all share; None: they are on different machines."""
