"""The record of what the service's threads did in a trial."""

from __future__ import annotations

import msgspec

NAME = "host.records"
"""The file of records in a trial's folder."""


class HostRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """Contents of a recording."""

    records: int = 0
    drops: int = 0
    """Records dropped because the ring buffer was full."""
    threads: int = 0
    parts_ms: dict[str, float] = {}
    """Times of all threads off the CPU by part, and from data at a socket until it was read."""
    file: str = NAME
    cpu_s: float = 0.0
    """CPU seconds of the recording process, without what the kernel programs take."""
