"""A load in results: times in seconds, rates in calls per second."""

from __future__ import annotations

import msgspec


class StageRecord(msgspec.Struct, frozen=True):
    """One stage of a load that changes over time."""

    to: int | float
    """Level at the end of the stage: users (closed load) or calls per second (open load)."""
    duration_s: float
    """Duration; 0: a step."""


class LoadRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How calls arrive. Properties that a kind of load does not have keep their default."""

    kind: str
    """``closed``, or for open loads ``constant``, ``poisson``, ``stages``, ``bursts``."""
    users: int | None = None
    """Closed load: maximum number of users."""
    think_s: float | None = None
    """Mean think time."""
    think: str = "constant"
    """Distribution of think times."""
    calls_per_pause: int = 1
    iterations: int | None = None
    """Calls per user; None: limited by the window only."""
    rate: float | None = None
    """Calls per second; for bursts the rate within a burst, None: all at once."""
    from_rate: float | None = msgspec.field(default=None, name="from")
    """Initial rate of the stages of an open load."""
    stages: tuple[StageRecord, ...] = ()
    calls: int | None = None
    """Calls per burst."""
    gap_s: float | None = None
    """Mean time between bursts."""
    gaps: str = "constant"
    """Distribution of the gaps between calls of stages, or between bursts."""
    in_flight_max: int | None = None
    """Maximum number of calls of an open load in flight."""
    background: tuple[BackgroundRecord, ...] = ()
    """Groups of calls that run in parallel to the probe."""

    @property
    def is_closed(self) -> bool:
        """Whether each user waits for a reply before the next call."""
        return self.kind == "closed"

    @property
    def begins_with_window(self) -> bool:
        """Whether the window opens with the load, without a warm-up: loads of stages or
        iterations are measured completely."""
        loads = (self, *(group.load for group in self.background))
        return any(load.stages or load.iterations for load in loads)

    def concurrency(self) -> int:
        """Maximum number of calls in flight."""
        return (self.users if self.is_closed else self.in_flight_max) or 0

    def rate_max(self) -> float | None:
        """Maximum call rate, per second; None if it is not bounded."""
        if self.kind == "stages":
            return max(self.from_rate or 0.0, *(float(stage.to) for stage in self.stages))
        return self.rate

    def level(self) -> float:
        """Users, calls per second or calls per burst: the number that identifies a load briefly."""
        if self.kind == "bursts":
            return float(self.calls or 0)
        return float(self.users or self.rate_max() or 0.0)

    def unit(self) -> str:
        """Unit of :meth:`level`, appended to the number; empty for users."""
        return {"closed": "", "bursts": " calls"}.get(self.kind, "/s")

    def plan(self, seed: int) -> dict[str, object]:
        """The object ``load`` of a group in the engine's plan."""
        planned: dict[str, object] = msgspec.to_builtins(self)
        planned.pop("background", None)
        if self.kind == "stages":
            random = planned.pop("gaps", "constant") != "constant"
        else:
            random = self.kind == "poisson" or "gaps" in planned or "think" in planned
        return {**planned, "seed": seed} if random else planned


class BackgroundRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A group of calls that runs in parallel to the probe."""

    name: str
    operation: str
    bytes: int
    load: LoadRecord
    chunk_bytes: int | None = None
    message: dict[str, object] = {}
    """Content of the message."""
