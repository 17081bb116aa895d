"""An experiment: what is measured, how often and under which loads.

This is the model; :mod:`wirelab.experiment.loading` reads a YAML file into it.
Sizes and times are written with units and held in bytes and seconds.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from wirelab.errors import StackError, UnitError
from wirelab.experiment import link_profiles as profiles
from wirelab.experiment.capture_ends import NO_CAPTURE as NO_CAPTURE
from wirelab.experiment.capture_ends import CaptureChoice as CaptureChoice
from wirelab.experiment.link_profiles import LOOPBACK, Profile
from wirelab.format.units import (
    DURATION_PATTERN,
    SIZE_PATTERN,
    format_bytes,
    parse_bytes,
    parse_seconds,
)
from wirelab.stack import axes as table
from wirelab.stack import operations
from wirelab.stack.operations import OPERATIONS, SEQUENCES
from wirelab.stack.reference import Stack

Json = dict[str, Any]


def _size(value: object) -> int:
    try:
        return parse_bytes(value)
    except UnitError as error:
        raise ValueError(error.message) from None


def _time(value: object) -> float:
    try:
        return parse_seconds(value)
    except UnitError as error:
        raise ValueError(error.message) from None


def _reference(text: str) -> str:
    try:
        return Stack.parse(text).reference
    except StackError as error:
        raise ValueError(f"{error.message}. {error.remedy}") from None


def _one_of(noun: str, known: Iterable[str]) -> tuple[AfterValidator, WithJsonSchema]:
    names = list(known)

    def check(text: str) -> str:
        if problem := operations.unknown(noun, text, names):
            raise ValueError(problem)
        return text

    return AfterValidator(check), WithJsonSchema({"type": "string", "enum": names})


OperationName = Annotated[str, *_one_of("operation", OPERATIONS)]
"""An operation of any contract."""
SequenceName = Annotated[str, *_one_of("sequence", SEQUENCES)]
"""A function of charging."""
Reference = Annotated[str, AfterValidator(_reference)]
"""A legal stack reference, canonical."""
Size = Annotated[
    int, BeforeValidator(_size), WithJsonSchema({"type": "string", "pattern": SIZE_PATTERN})
]
"""Bytes, written with a unit."""
Time = Annotated[
    float, BeforeValidator(_time), WithJsonSchema({"type": "string", "pattern": DURATION_PATTERN})
]
"""Seconds, written with a unit."""


def _default(text: str, about: str) -> Any:
    """A field of :data:`Time` whose default the JSON Schema writes with its unit, too."""
    return Field(
        _time(text), validate_default=False, json_schema_extra={"default": text}, description=about
    )


class Model(BaseModel):
    """Base: unknown keys are refused, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Message(Model):
    """One operation at one size, or one sequence of calls."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"oneOf": [{"required": ["operation"]}, {"required": ["sequence"]}]},
    )

    operation: OperationName | None = Field(None, description="operation of the contract")
    sequence: SequenceName | None = Field(
        None, description="function of charging: calls in a fixed order, instead of operation"
    )
    bytes: Size = Field(
        0,
        validate_default=False,
        description="size of the operation's large part, e.g. 150 kB; where it has one",
    )
    chunk: Size | None = Field(None, description="size of a chunk in streams; default 65536 B")

    @field_validator("bytes")
    @classmethod
    def _within_contract(cls, size: int) -> int:
        if size > operations.SIZE_BYTES_MAX:
            raise ValueError(f"at most {operations.SIZE_BYTES_MAX} B in this contract")
        return size

    @model_validator(mode="after")
    def _can_be(self) -> Message:
        problem = operations.problem(self.content, has_size="bytes" in self.model_fields_set)
        if problem:
            raise ValueError(problem)
        return self

    @cached_property
    def content(self) -> operations.Message:
        """The message by itself, without the file's model."""
        return operations.Message(self.operation, self.sequence, self.bytes, self.chunk)

    @property
    def name(self) -> str:
        """The operation, or ``ReservationDebit sequence``."""
        return self.content.name

    @property
    def contract(self) -> str:
        """The contract that it is of."""
        return self.content.contract

    def workload(self) -> Json:
        """The object ``workload`` of a group in the engine's plan."""
        return self.content.workload()


class Closed(Model):
    """Users who call again when their last call has ended."""

    users: int = Field(ge=1, le=1_000_000, description="number of users")
    think: Time = _default("0 s", "pause between calls, e.g. 10 ms")


class Constant(Model):
    """Evenly spaced arrivals."""

    rate: float = Field(gt=0, allow_inf_nan=False, description="calls per second")
    in_flight_max: int = Field(
        ge=1, description="calls under way at most; others wait in an unbounded queue"
    )


class Poisson(Model):
    """Arrivals with exponential gaps; their seed follows from the experiment's."""

    rate: float = Field(gt=0, allow_inf_nan=False, description="calls per second, on average")
    in_flight_max: int = Field(
        ge=1, description="calls under way at most; others wait in an unbounded queue"
    )


class Load(Model):
    """One arrival process: exactly one of these keys."""

    closed: Closed | None = None
    constant: Constant | None = None
    poisson: Poisson | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Load:
        if len(self.model_fields_set) != 1:
            raise ValueError("a load has exactly one of closed, constant, poisson")
        return self

    def point(self) -> Json:
        """The load as results name it."""
        if self.closed:
            return {"kind": "closed", "users": self.closed.users, "think_s": self.closed.think}
        kind, open_load = (
            ("constant", self.constant) if self.constant else ("poisson", self.poisson)
        )
        assert open_load is not None  # by _exactly_one
        return {
            "kind": kind,
            "rate": open_load.rate,
            "in_flight_max": open_load.in_flight_max,
        }


Count = Annotated[int, Field(ge=1)]
Calls = Annotated[
    Annotated[Count, Tag("a number")]
    | Annotated[
        dict[Annotated[str, BeforeValidator(lambda size: format_bytes(_size(size)))], Count],
        Tag("by size"),
    ],
    Discriminator(lambda given: "by size" if isinstance(given, dict) else "a number"),
]
"""Calls of a window: one number, or one per size of message."""


class Window(Model):
    """How long a trial measures: a duration, or a number of calls."""

    duration: Time | None = Field(None, description="e.g. 2 s")
    calls: Calls | None = Field(
        None, description="calls to make; or a mapping from the size of a message to calls"
    )
    max: Time = _default("60 s", "ends a window of calls anyway")

    @field_validator("duration")
    @classmethod
    def _lasts(cls, seconds: float | None) -> float | None:
        if seconds is not None and seconds < 0.01:
            raise ValueError("a window lasts at least 10 ms")
        return seconds

    @model_validator(mode="after")
    def _one_of_two(self) -> Window:
        if (self.duration is None) == (self.calls is None):
            raise ValueError("a window has either duration or calls")
        return self

    def for_size(self, size: int) -> Json:
        """``{"duration_s": 2.0}`` or ``{"calls": {"calls": n, "max_s": 60.0}}``, as in the plan."""
        if self.duration is not None:
            return {"duration_s": self.duration}
        calls = self.calls[format_bytes(size)] if isinstance(self.calls, dict) else self.calls
        return {"calls": {"calls": calls, "max_s": self.max}}


class Warmup(Model):
    """What comes before the window: until the series is stationary, within bounds."""

    min: Time = _default("200 ms", "at least")
    max: Time = _default("5 s", "at most")

    @model_validator(mode="after")
    def _ordered(self) -> Warmup:
        if self.min > self.max:
            raise ValueError("min is longer than max")
        return self


class Placement(Model):
    """Which process runs on which cores; a side left out is not pinned."""

    service: tuple[int, ...] = Field((), description="cores, from 0")
    engine: tuple[int, ...] = Field((), description="cores, from 0")
    emulator: tuple[int, ...] = Field((), description="cores of the link's emulator, from 0")
    capture: tuple[int, ...] = Field((), description="cores of captures, from 0")


class Freeze(Model):
    """The whole service stops once."""

    at_call: int = Field(ge=1)
    ms: int = Field(ge=1)


class Every(Model):
    """The N-th, 2N-th, ... call."""

    every: int = Field(ge=1)


class Wrong(Every):
    """A wrong reply."""

    what: Literal["content", "length", "status", "trailers"]


class Faults(Model):
    """Switches of the services, docs/reference/process.md."""

    delay_us: int | None = Field(None, ge=0)
    freeze: Freeze | None = None
    wrong: Wrong | None = None
    close_mid_reply: Every | None = None
    reset: Every | None = None
    hang: Every | None = None
    endless: Every | None = None
    garbage: Every | None = None
    exit_at_call: int | None = Field(None, ge=1)
    fail_start: bool | None = None
    text_check_ns_per_kb: int | None = Field(None, ge=0)

    def given(self) -> Json:
        """Only the switches that are set."""
        return self.model_dump(exclude_none=True)


PlacementChoice = Annotated[
    Annotated[Literal["pinned", "unpinned"], Tag("a word")] | Annotated[Placement, Tag("cores")],
    Discriminator(lambda given: "a word" if isinstance(given, str) else "cores"),
]
"""A rule of :mod:`wirelab.experiment.placement` by name, or cores by number."""


def _as_list(given: object) -> object:
    return given if isinstance(given, (list, tuple)) else [given]


def _one_or_more(kind: Any) -> BeforeValidator:
    """A single value stands for a list of it, in the JSON Schema as well."""
    many = Annotated[tuple[kind, ...], Field(min_length=1)]
    return BeforeValidator(_as_list, json_schema_input_type=kind | many)


class Place(Model):
    """One point of a matrix: a stack, and places in the experiment's lists, from 0."""

    stack: Reference
    message: int = Field(0, ge=0)
    load: int = Field(0, ge=0)
    link: int = Field(0, ge=0)
    placement: int = Field(0, ge=0)
    capture: int = Field(0, ge=0)
    faults_off: tuple[str, ...] = Field((), description="faults that are off at this point")


class Experiment(Model):
    """A matrix of services, axes, messages, loads, links and placements, with repeats."""

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9-]{0,63}$",
        description="lower-case letters, digits and dashes, no dash first, 64 at most",
    )
    about: str = Field("", description="what it is to find out")
    seed: int = Field(1, ge=0, lt=2**63, description="of the order of trials and of arrivals")
    repeats: int = Field(4, ge=1, le=1000, description="trials per point, on fresh processes")
    services: tuple[Reference, ...] = Field(min_length=1, description="stack references")
    axes: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="axis: [values], multiplied with the services"
    )
    only: tuple[Place, ...] | None = Field(
        None, min_length=1, description="of the matrix, these points and no others"
    )
    skip_illegal: bool = Field(
        False, description="leave out combinations that cannot exist, and list them"
    )
    messages: tuple[Message, ...] = Field(min_length=1)
    loads: tuple[Load, ...] = Field(min_length=1)
    links: Annotated[tuple[Profile, ...], _one_or_more(Profile)] = Field(
        (LOOPBACK,), min_length=1, description="between caller and service, by name or your own"
    )
    capture: Annotated[tuple[CaptureChoice, ...], _one_or_more(CaptureChoice)] = Field(
        (NO_CAPTURE,), min_length=1, description="where packets are captured; a list is an ablation"
    )
    window: Window
    warmup: Warmup = Warmup()
    timeout: Time = _default("10 s", "of one call")
    drain: Time = _default("10 s", "for calls under way when the window ends")
    placement: Annotated[tuple[PlacementChoice, ...], _one_or_more(PlacementChoice)] = Field(
        ("pinned",), min_length=1, description="pinned, unpinned, or cores; a list is an ablation"
    )
    processors: int | None = Field(
        None, ge=1, description="threads of service code; default: as many as its cores"
    )
    collector: dict[str, Json] = Field(
        default_factory=dict, description="language: settings of its garbage collector"
    )
    threshold: float = Field(
        0.02, ge=0, lt=1, description="a ratio counts as a difference beyond 1 by this much"
    )
    faults: Faults = Faults()
    test_findings: bool = Field(
        False, description="test what is found in the packets by intervention, after the run"
    )
    interventions: Any = Field(
        None, description="findings under test and their predictions; `dissect --test` writes them"
    )

    @field_validator("axes", mode="before")
    @classmethod
    def _canonical_axes(cls, axes: object) -> object:
        if not isinstance(axes, dict):
            return axes
        return {name: _values(name, values) for name, values in axes.items()}

    @field_validator("links")
    @classmethod
    def _told_apart(cls, links: tuple[Profile, ...]) -> tuple[Profile, ...]:
        names = Counter(profiles.name(link) for link in links)
        twice = next((name for name, count in names.items() if count > 1), None)
        if twice is not None:
            remedy = "remove one" if twice in links else "give each a name of its own"
            raise ValueError(f"two links are called {twice}: {remedy}")
        return links

    @model_validator(mode="after")
    def _calls_for_every_message(self) -> Experiment:
        calls = self.window.calls
        if isinstance(calls, dict):
            sizes = {format_bytes(message.bytes) for message in self.messages}
            if sizes != set(calls):
                raise ValueError(
                    f"window.calls must name the sizes {', '.join(sorted(sizes))}, "
                    f"and names {', '.join(sorted(calls))}"
                )
        return self

    @model_validator(mode="after")
    def _only_of_the_matrix(self) -> Experiment:
        services, faults = set(self.services), set(self.faults.given())
        for index, place in enumerate(self.only or ()):
            if place.stack not in services or self.axes:
                raise ValueError(f"only[{index}].stack must be one of services, without axes")
            strange = set(place.faults_off) - faults
            if strange:
                raise ValueError(f"only[{index}].faults_off: {min(strange)} is not among faults")
            for key, listed in self._lists().items():
                if getattr(place, key) >= len(listed):
                    raise ValueError(f"only[{index}].{key}: there are {len(listed)}, from 0")
        return self

    @model_validator(mode="after")
    def _packets_to_test(self) -> Experiment:
        if self.test_findings and set(self.capture) == {NO_CAPTURE}:
            raise ValueError("test_findings needs packets: add `capture: client`")
        return self

    def _lists(self) -> dict[str, tuple[Any, ...]]:
        """By the key of a :class:`Place`."""
        return {
            "message": self.messages,
            "load": self.loads,
            "link": self.links,
            "placement": self.placement,
            "capture": self.capture,
        }

    def digest(self) -> str:
        """SHA-256 of everything that shapes the trials; comments and layout do not."""
        told = {"about", "test_findings", "interventions"}
        content = self.model_dump(
            mode="json", exclude=told | ({"only"} if not self.only else set())
        )
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _values(name: object, values: object) -> list[str]:
    try:
        axis = table.axis(str(name))
        if not isinstance(values, (list, tuple)) or not values:
            raise ValueError(f"axis {name!r} needs a list of values, e.g. [{axis.default}]")
        return [axis.canonical(str(value)) for value in values]
    except StackError as error:
        raise ValueError(f"{error.message}. {error.remedy}") from None
