"""The clock of another node, compared with that of this one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

ROUNDS = 15
"""Round trips of a measurement; the shortest decides."""


@dataclass(frozen=True)
class ClockOffset:
    """CLOCK_MONOTONIC of a node minus that of this one, nanoseconds. The truth is within
    ``error_ns``: half the round trip of the exchange (Cristian, 1989)."""

    offset_ns: int
    error_ns: int

    def there(self, here_ns: int) -> int:
        """A moment of this clock by the other one."""
        return here_ns + self.offset_ns


def measure(ask: Callable[[], int], rounds: int = ROUNDS) -> ClockOffset:
    """``ask`` returns the other clock now, nanoseconds."""
    exchanges = []
    for _ in range(rounds):
        before = time.monotonic_ns()
        there = ask()
        exchanges.append((time.monotonic_ns() - before, before, there))
    trip, before, there = min(exchanges)
    return ClockOffset(there - before - trip // 2, -(-trip // 2))


def drift_ns(before: ClockOffset, after: ClockOffset) -> int:
    """By how much the offset changed for certain, nanoseconds; 0 where the two agree within their
    errors."""
    apart = abs(after.offset_ns - before.offset_ns)
    return max(0, apart - before.error_ns - after.error_ns)
