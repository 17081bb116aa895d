"""When calls are made: the load, the window and the time limits of a drive."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Json = dict[str, object]
Distribution = Literal["constant", "exponential", "uniform"]


WINDOW_S = 3.0
"""Default length of the measurement window."""


@dataclass(frozen=True)
class Spread:
    """A time that varies around its mean."""

    mean_s: float
    distribution: Distribution = "constant"

    @property
    def random(self) -> bool:
        """Whether a seed chooses it."""
        return self.distribution != "constant"


@dataclass(frozen=True)
class Stage:
    """A level that is reached in a straight line; 0 s: at once."""

    duration_s: float
    to: float
    """Users, or calls per second."""
    of_rate: bool
    """Calls per second."""


@dataclass(frozen=True)
class Bursts:
    """Bursts of arrivals with gaps between them."""

    calls: int
    gap: Spread


@dataclass(frozen=True)
class Amount:
    """How many calls, how fast."""

    connections: int | None = None
    in_flight: int | None = None
    """Per connection."""
    users: int | None = None
    """Of a closed load, the most at a time; default: connections x in_flight."""
    think: Spread = field(default_factory=lambda: Spread(0.0))
    calls_per_pause: int = 1
    iterations: int | None = None
    """Calls of each user."""
    rate: float | None = None
    """Calls per second, of bursts within each; makes the load an open one."""
    poisson: bool = False
    stages: tuple[Stage, ...] = ()
    """Of users, or of a rate, which makes the load an open one."""
    start_rate: float = 0.0
    """What stages of a rate begin at."""
    bursts: Bursts | None = None
    seed: int = 1
    duration_s: float | None = None
    calls: int | None = None
    max_s: float = 600.0
    """Ends a number of calls, or iterations, anyway."""
    warmup_s: float = 0.0
    timeout_s: float = 10.0
    reconnect_delay_s: float = 0.128
    """The longest pause between attempts to connect after failures in a row; 0: none."""
    head_bytes: int = 256 * 1024
    """Of the largest head of a reply that is accepted."""
    head_fields: int = 256
    """Of HTTP/1.x."""
    slowest: int = 0
    """Slowest calls that are listed."""

    def concurrency(self) -> int:
        """Calls under way at most."""
        return self.users or (self.connections or 1) * (self.in_flight or 1)

    def load(self) -> Json:
        """The plan's ``load``."""
        bounded = {"in_flight_max": self.concurrency()}
        stages = [{"to": stage.to, "duration_s": stage.duration_s} for stage in self.stages]
        if self.bursts is not None:
            gap = self.bursts.gap
            load: Json = {"kind": "bursts", "calls": self.bursts.calls, "rate": self.rate}
            gaps = {"gap_s": gap.mean_s, "gaps": gap.distribution, "seed": self.seed}
            return {**load, **gaps, **bounded}
        if any(stage.of_rate for stage in self.stages):
            load = {"kind": "stages", "from": self.start_rate, "stages": stages, **bounded}
            return {**load, "seed": self.seed} if self.poisson else load
        if self.rate is not None:
            load = {"kind": "constant", "rate": self.rate, **bounded}
            return {**load, "kind": "poisson", "seed": self.seed} if self.poisson else load
        return {
            "kind": "closed",
            "users": self.concurrency(),
            "think_s": self.think.mean_s,
            "think": self.think.distribution,
            "calls_per_pause": self.calls_per_pause,
            "iterations": self.iterations,
            "stages": stages,
            "seed": self.seed,
        }

    def window(self) -> Json:
        """The plan's ``window``: stages and iterations have an end of their own."""
        if self.stages:
            return {"duration_s": sum(stage.duration_s for stage in self.stages)}
        calls = self.concurrency() * self.iterations if self.iterations else self.calls
        if calls is not None:
            return {"calls": {"calls": calls, "max_s": self.max_s}}
        return {"duration_s": WINDOW_S if self.duration_s is None else self.duration_s}

    def _limits(self) -> Json:
        """The part of the plan's group that differs from its defaults."""
        defaults = Amount()
        heads = {"bytes": self.head_bytes, "fields": self.head_fields}
        usual = {"bytes": defaults.head_bytes, "fields": defaults.head_fields}
        limits: Json = {} if heads == usual else {"head_limits": heads}
        if self.reconnect_delay_s != defaults.reconnect_delay_s:
            limits["reconnect_delay_s"] = self.reconnect_delay_s
        if self.slowest:
            limits["slowest"] = self.slowest
        return limits

    def group(self) -> Json:
        """The part of the plan's group that says when calls are made."""
        return {
            "name": "drive",
            "load": self.load(),
            "window": self.window(),
            "warmup": {"min_s": self.warmup_s, "max_s": self.warmup_s},
            "timeout_s": self.timeout_s,
            "drain_s": self.timeout_s,
            **self._limits(),
        }
