"""What is known of a capture beside its system calls: the link, and what it dropped."""

from __future__ import annotations

from dataclasses import dataclass

SEGMENT_BYTES_LOOPBACK = 65_483
SEGMENT_BYTES_ETHERNET = 1_448
"""MTU 1500 less IP and TCP headers, timestamps among them (RFC 7323)."""


@dataclass(frozen=True)
class Drop:
    """One packet that the link did not deliver."""

    at: int
    """ns of the Unix epoch."""
    port: int
    """The client's."""
    is_forward: bool
    """It was on its way to the server."""
    is_syn: bool
    bytes: int
    """Of payload."""


@dataclass(frozen=True)
class Circumstances:
    """Of one capture."""

    rtt_ns: int
    """Of the link, as it was measured; not with any load."""
    segment_bytes: int
    drops: tuple[Drop, ...] = ()
    is_steady: bool = True
    """The link's delay does not vary, unless the machine is too busy to keep it."""

    @property
    def one_way_ns(self) -> int:
        return self.rtt_ns // 2

    def is_clean(self, port: int, start: int, end: int) -> bool:
        """No packet of the connection was lost in that time."""
        return not any(drop.port == port and start <= drop.at <= end for drop in self.drops)
