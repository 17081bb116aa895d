"""When calls are made: the loads of an experiment file.

Stages are those of k6: each has a ``duration`` and a ``target`` that is approached linearly;
``0 s`` is a step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, Self

import msgspec
from pydantic import (
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core.core_schema import SerializerFunctionWrapHandler

from wirelab.documents.plan import Window, WindowCalls
from wirelab.experiment.fields import Json, Model, Time, time_default
from wirelab.experiment.messages import Message
from wirelab.records.load import BackgroundRecord, LoadRecord, StageRecord

USERS_MAX = 1_000_000
"""Maximum number of users of a closed load."""
RATE_MAX = 1e8
"""Maximum rate of an open load, calls per second."""
STAGES_MAX = 100
"""Maximum number of stages of a load; each is reported separately."""

Distribution = Literal["constant", "exponential", "uniform"]
"""Distribution of pauses and gaps around their mean; uniform: 0.5 to 1.5 times the mean."""


class Spread(Model):
    """A time with a mean and a distribution."""

    mean: Time = Field(description="e.g. 100 ms")
    distribution: Distribution = Field(
        "constant", description="distribution around the mean; uniform: 0.5 to 1.5 times the mean"
    )


SpreadTime = Annotated[
    Annotated[Time, Tag("a time")] | Annotated[Spread, Tag("a distribution")],
    Discriminator(lambda given: "a distribution" if isinstance(given, dict | Spread) else "a time"),
]
"""A constant time, or a mean and a distribution."""


def _mean(time: float | Spread) -> float:
    return time.mean if isinstance(time, Spread) else time


def _distribution(time: float | Spread) -> str:
    return time.distribution if isinstance(time, Spread) else "constant"


class UserStage(Model):
    """A number of users that is approached linearly."""

    target: int = Field(ge=0, le=USERS_MAX, description="users at the end of the stage")
    duration: Time = Field(le=1e6, description="e.g. 10 s; 0 s: a step")


class RateStage(Model):
    """A rate that is approached linearly."""

    target: float = Field(
        ge=0,
        le=RATE_MAX,
        allow_inf_nan=False,
        description="calls per second at the end of the stage",
    )
    duration: Time = Field(le=1e6, description="e.g. 10 s; 0 s: a step")


def _stages(stages: Iterable[UserStage | RateStage]) -> tuple[StageRecord, ...]:
    return tuple(StageRecord(stage.target, stage.duration) for stage in stages)


def _check_stages(stages: Sequence[UserStage | RateStage]) -> None:
    if not any(stage.duration > 0 for stage in stages):
        raise ValueError("all stages have a duration of 0 s: give one of them a longer duration")
    if not any(stage.target > 0 for stage in stages):
        raise ValueError(
            "all stages have a target of 0, so no calls are made: give one of them a higher target"
        )


class Closed(Model):
    """A closed load: each user waits for the reply before the next call."""

    stages: tuple[UserStage, ...] = Field(
        (),
        max_length=STAGES_MAX,
        description="number of users over time, from 0; the window lasts as long as the stages",
    )
    users: int | None = Field(
        None,
        validate_default=True,
        ge=1,
        le=USERS_MAX,
        description="number of users; with stages: the highest target",
    )
    think: SpreadTime = time_default(
        "0 s", "think time between calls: 10 ms, or {mean: 10 ms, distribution: exponential}"
    )
    calls_per_pause: int = Field(
        1, ge=1, le=1_000_000, description="calls that a user makes between two pauses"
    )
    iterations: int | None = Field(
        None,
        ge=1,
        le=1_000_000_000,
        description="number of calls that each user makes; the window ends with the last of them",
    )

    @field_validator("users")
    @classmethod
    def _either_users_or_stages(cls, users: int | None, info: ValidationInfo) -> int | None:
        stages = info.data.get("stages")
        if users is None and stages == ():
            raise ValueError("this key is missing; add it, or stages")
        if users is not None and stages:
            raise ValueError("stages set the number of users: leave users out")
        return users

    @model_validator(mode="after")
    def _consistent(self) -> Closed:
        if self.stages:
            _check_stages(self.stages)
        if self.stages and self.iterations:
            raise ValueError("iterations and stages exclude each other: keep only one of them")
        if self.calls_per_pause > 1 and not _mean(self.think):
            raise ValueError("calls_per_pause needs a pause: add `think`, e.g. think: 100 ms")
        return self

    @model_serializer(mode="wrap")
    def _as_given(self, serialize: SerializerFunctionWrapHandler) -> Json:
        """Omits unused keys, so that a new feature does not change the digests of experiments that
        do not use it."""
        unused = {"calls_per_pause": 1, "iterations": None, "stages": ()}
        content: Json = serialize(self)
        for key, default in unused.items():
            if getattr(self, key) == default:
                content.pop(key, None)
        return content

    @property
    def users_max(self) -> int:
        """Maximum number of users at a time."""
        return self.users or max(stage.target for stage in self.stages)

    def point(self) -> LoadRecord:
        """The load in results."""
        return LoadRecord(
            kind="closed",
            users=self.users_max,
            think_s=_mean(self.think),
            think=_distribution(self.think),
            calls_per_pause=self.calls_per_pause,
            iterations=self.iterations or None,
            stages=_stages(self.stages),
        )


IN_FLIGHT_MAX = Field(
    ge=1,
    le=USERS_MAX,
    description="maximum number of calls in flight; others wait in an unbounded queue",
)


class Constant(Model):
    """Evenly spaced arrivals."""

    rate: float = Field(gt=0, le=RATE_MAX, allow_inf_nan=False, description="calls per second")
    in_flight_max: int = IN_FLIGHT_MAX

    def point(self) -> LoadRecord:
        """The load in results."""
        return LoadRecord(kind="constant", rate=self.rate, in_flight_max=self.in_flight_max)


class Poisson(Model):
    """Poisson arrivals: exponential gaps, seeded from the experiment's seed."""

    rate: float = Field(
        gt=0, le=RATE_MAX, allow_inf_nan=False, description="calls per second, on average"
    )
    in_flight_max: int = IN_FLIGHT_MAX

    def point(self) -> LoadRecord:
        """The load in results."""
        return LoadRecord(kind="poisson", rate=self.rate, in_flight_max=self.in_flight_max)


class Ramping(Model):
    """Arrivals at a rate that changes over time (k6's ramping-arrival-rate)."""

    start_rate: float = Field(
        0.0, ge=0, le=RATE_MAX, allow_inf_nan=False, description="calls per second at the beginning"
    )
    stages: tuple[RateStage, ...] = Field(
        min_length=1,
        max_length=STAGES_MAX,
        description="rate over time; the window lasts as long as the stages",
    )
    gaps: Literal["constant", "exponential"] = Field(
        "constant", description="gaps between arrivals: even, or random as with poisson"
    )
    in_flight_max: int = IN_FLIGHT_MAX

    @model_validator(mode="after")
    def _consistent(self) -> Ramping:
        if not any(stage.duration > 0 for stage in self.stages) or not self.start_rate:
            _check_stages(self.stages)
        return self

    def point(self) -> LoadRecord:
        """The load in results."""
        return LoadRecord(
            kind="stages",
            from_rate=self.start_rate,
            stages=_stages(self.stages),
            gaps=self.gaps,
            in_flight_max=self.in_flight_max,
        )


class Bursts(Model):
    """Bursts of arrivals with gaps between them."""

    calls: int | None = Field(None, ge=1, le=1_000_000_000, description="calls per burst")
    length: Time | None = Field(
        None, description="length of a burst at `rate`, instead of calls, e.g. 200 ms"
    )
    rate: float | None = Field(
        None,
        gt=0,
        le=RATE_MAX,
        allow_inf_nan=False,
        description="calls per second within a burst; default: all calls arrive at once",
    )
    gap: SpreadTime = Field(
        description="time from the last arrival of a burst to the first of the next: 1 s, or "
        "{mean: 1 s, distribution: exponential}"
    )
    in_flight_max: int = IN_FLIGHT_MAX

    @model_validator(mode="after")
    def _consistent(self) -> Bursts:
        if (self.calls is None) == (self.length is None):
            raise ValueError("a burst has either calls or length")
        if self.length is not None and self.rate is None:
            raise ValueError("length needs a rate: add `rate`, or write calls instead of length")
        if self.length is not None and self.burst_calls < 1:
            raise ValueError("length x rate is less than one call: use a longer burst")
        if not 0 < _mean(self.gap) <= 1e6:
            raise ValueError("gap must be above 0 s: without gaps the load is `constant`")
        return self

    @property
    def burst_calls(self) -> int:
        """Number of calls per burst."""
        if self.calls is not None:
            return self.calls
        return round((self.length or 0.0) * (self.rate or 0.0))

    def point(self) -> LoadRecord:
        """The load in results."""
        return LoadRecord(
            kind="bursts",
            calls=self.burst_calls,
            rate=self.rate,
            gap_s=_mean(self.gap),
            gaps=_distribution(self.gap),
            in_flight_max=self.in_flight_max,
        )


PROBE = "probe"
"""Name of the group whose figures are those of the cell, if there are other groups."""
KINDS = ("closed", "constant", "poisson", "ramping", "bursts")
"""Keys of a load; it has exactly one of them."""


class ArrivalProcess(Model):
    """An arrival process: exactly one of these keys."""

    closed: Closed | None = None
    constant: Constant | None = None
    poisson: Poisson | None = None
    ramping: Ramping | None = None
    bursts: Bursts | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if len(self.model_fields_set.intersection(KINDS)) != 1 or self._process is None:
            raise ValueError(f"a load has exactly one of {', '.join(KINDS)}")
        return self

    @model_serializer(mode="wrap")
    def _as_given(self, serialize: SerializerFunctionWrapHandler) -> Json:
        """Omits unused newer kinds, so that they do not change the digests of experiments."""
        content: Json = serialize(self)
        return {
            key: value
            for key, value in content.items()
            if value or key in ("closed", "constant", "poisson")
        }

    @property
    def _process(self) -> Closed | Constant | Poisson | Ramping | Bursts | None:
        return self.closed or self.constant or self.poisson or self.ramping or self.bursts

    def point(self) -> LoadRecord:
        """The load in results."""
        assert self._process is not None  # checked by _exactly_one
        return self._process.point()


class Background(Model):
    """A group of calls that runs in parallel to the probe, to the same service over separate
    connections. It is reported separately; the figures of the cell are those of the probe."""

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9-]{0,31}$",
        description="lower-case letters, digits and dashes, no leading dash, at most 32 characters",
    )
    message: Message
    load: ArrivalProcess

    def point(self) -> BackgroundRecord:
        """The group in results."""
        message = self.message
        return BackgroundRecord(
            name=self.name,
            operation=message.name,
            bytes=message.bytes,
            load=self.load.point(),
            chunk_bytes=message.chunk,
            message=message.point(),
        )


class Load(ArrivalProcess):
    """One arrival process (the probe), and the groups that run in parallel to it."""

    background: tuple[Background, ...] = Field(
        (), max_length=16, description="further groups of calls, reported separately"
    )

    @field_validator("background")
    @classmethod
    def _distinct(cls, groups: tuple[Background, ...]) -> tuple[Background, ...]:
        names = [PROBE, *(group.name for group in groups)]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice == PROBE:
            raise ValueError(f"{PROBE} is reserved for the load itself: choose another name")
        if twice:
            raise ValueError(f"two groups are named {twice}: give them different names")
        return groups

    def point(self) -> LoadRecord:
        """The load in results."""
        groups = tuple(group.point() for group in self.background)
        return msgspec.structs.replace(super().point(), background=groups)

    def plan(self, seed: int) -> dict[str, object]:
        """The object ``load`` of the probe's group in the engine's plan."""
        return self.point().plan(seed)

    @property
    def concurrencies(self) -> list[int]:
        """Maximum number of calls in flight, of the probe and of each further group."""
        point = self.point()
        return [load.concurrency() for load in (point, *(g.load for g in point.background))]

    @property
    def begins_with_window(self) -> bool:
        """Whether the window opens with the load, without a warm-up: loads of stages or
        iterations are measured completely."""
        return self.point().begins_with_window

    def own_window(self, max_s: float) -> Window | None:
        """The window of a load with an end of its own, as in the plan; None for other loads."""
        point = self.point()
        if point.stages:
            return Window(duration_s=sum(stage.duration_s for stage in point.stages))
        if point.iterations and point.users:
            return Window(calls=WindowCalls(calls=point.users * point.iterations, max_s=max_s))
        return None
