"""A load as results name it: times in seconds, rates in calls per second."""

from __future__ import annotations

import msgspec


class StageRecord(msgspec.Struct, frozen=True):
    """A stage of a load that changes over time."""

    to: int | float
    """Users of a closed load, calls per second of an open one, at its end."""
    duration_s: float
    """0: at once."""


class LoadRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How calls arrive. What a kind of load does not have is at its default."""

    kind: str
    """``closed``, or of open loads ``constant``, ``poisson``, ``stages``, ``bursts``."""
    users: int | None = None
    """Of a closed load, the most there are."""
    think_s: float | None = None
    """Mean think time."""
    think: str = "constant"
    """Distribution of think times."""
    calls_per_pause: int = 1
    iterations: int | None = None
    """Calls of each user; None: as many as the window lasts."""
    rate: float | None = None
    """Calls per second; within bursts the rate of their calls, None: all at once."""
    from_rate: float | None = msgspec.field(default=None, name="from")
    """At which stages of an open load begin."""
    stages: tuple[StageRecord, ...] = ()
    calls: int | None = None
    """Of a burst."""
    gap_s: float | None = None
    """Mean time between bursts."""
    gaps: str = "constant"
    """Distribution of the time between calls of stages, or between bursts."""
    in_flight_max: int | None = None
    """Calls of an open load under way at most."""
    background: tuple[BackgroundRecord, ...] = ()
    """Groups of calls that run next to those of the probe."""

    @property
    def is_closed(self) -> bool:
        """Whether each user waits for a reply before the next call."""
        return self.kind == "closed"

    @property
    def begins_with_window(self) -> bool:
        """Whether the window opens with the load and nothing is warmed up before: stages and
        iterations have a beginning and an end, and all of them are measured."""
        loads = (self, *(group.load for group in self.background))
        return any(load.stages or load.iterations for load in loads)

    def concurrency(self) -> int:
        """Calls under way at most."""
        return (self.users if self.is_closed else self.in_flight_max) or 0

    def rate_max(self) -> float | None:
        """Calls per second at most; None where nothing bounds them."""
        if self.kind == "stages":
            return max(self.from_rate or 0.0, *(float(stage.to) for stage in self.stages))
        return self.rate

    def level(self) -> float:
        """Users, calls per second or calls of a burst: the number that names a load shortly."""
        if self.kind == "bursts":
            return float(self.calls or 0)
        return float(self.users or self.rate_max() or 0.0)

    def unit(self) -> str:
        """What :meth:`level` counts, behind the number; empty for users."""
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
    """A group of calls next to those of the probe."""

    name: str
    operation: str
    bytes: int
    load: LoadRecord
    chunk_bytes: int | None = None
    message: dict[str, object] = {}
    """What the message is made of."""
