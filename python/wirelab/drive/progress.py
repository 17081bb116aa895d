"""Activity of a drive second by second, from the engine's lines of progress."""

from __future__ import annotations

from dataclasses import dataclass

from wirelab.documents.event import Progress
from wirelab.format.units import format_seconds


@dataclass(frozen=True)
class Second:
    """Activity between two progress lines, about one second apart."""

    phase: str
    elapsed_s: float
    rate: float
    """Calls that ended per second."""
    errors: int
    """Number of these calls that failed."""
    in_flight: int
    p50_s: float | None
    """None if there were too few calls."""
    p99_s: float | None

    @property
    def text(self) -> str:
        """``measure 3 s: 12,345 calls/s, p50 180 µs, p99 1.2 ms, 0 failed, 16 in flight``."""
        times = (("p50", self.p50_s), ("p99", self.p99_s))
        return ", ".join(
            (
                f"{self.phase} {self.elapsed_s:.0f} s: {self.rate:,.0f} calls/s",
                *(f"{name} {format_seconds(time)}" for name, time in times if time is not None),
                f"{self.errors:,} failed",
                f"{self.in_flight:,} in flight",
            )
        )


class Seconds:
    """Computes seconds from progress lines, whose counts start with each phase."""

    def __init__(self) -> None:
        self._before: Progress | None = None

    def next(self, now: Progress) -> Second:
        """The activity since the previous progress line."""
        before = self._before
        if before and (before.phase != now.phase or before.elapsed_s >= now.elapsed_s):
            before = None
        self._before = now
        since_s = now.elapsed_s - (before.elapsed_s if before else 0.0)
        calls = now.calls - (before.calls if before else 0)
        return Second(
            phase=now.phase,
            elapsed_s=now.elapsed_s,
            rate=calls / since_s,
            errors=now.errors - (before.errors if before else 0),
            in_flight=now.in_flight,
            p50_s=None if now.p50_ns is None else now.p50_ns / 1e9,
            p99_s=None if now.p99_ns is None else now.p99_ns / 1e9,
        )
