"""An experiment: what is measured, how often and under which loads.

This is the model; :mod:`wirelab.experiment.loading` reads a YAML file into it.
Sizes and times are written with units and held in bytes and seconds.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    field_validator,
    model_validator,
)

from wirelab.errors import StackError
from wirelab.experiment import link_profiles as profiles
from wirelab.experiment.capture_ends import NO_CAPTURE as NO_CAPTURE
from wirelab.experiment.capture_ends import CaptureChoice as CaptureChoice
from wirelab.experiment.external import (
    CONTRACT,
    OWN_REQUEST,
    REQUEST_KEYS,
    ExternalMessage,
    ExternalService,
)
from wirelab.experiment.fields import Json, Model, Time, read_size, time_default
from wirelab.experiment.link_profiles import LOOPBACK, Profile
from wirelab.experiment.loads import Load
from wirelab.experiment.messages import Message, Preparation
from wirelab.format.units import format_bytes
from wirelab.stack import axes as table
from wirelab.stack.reference import Stack


def _reference(text: str) -> str:
    try:
        return Stack.parse(text).reference
    except StackError as error:
        raise ValueError(f"{error.message}. {error.remedy}") from None


Reference = Annotated[str, AfterValidator(_reference)]
"""A legal stack reference, canonical."""


def _reference_or_name(text: str) -> str:
    return _reference(text) if "@" in text and "://" not in text else text


def _of_url(given: object) -> object:
    """A bare URL is a service that runs there."""
    return {"name": given, "url": given} if isinstance(given, str) and "://" in given else given


Service = Annotated[
    Annotated[
        Annotated[Reference, Tag("a reference")] | Annotated[ExternalService, Tag("a service")],
        Discriminator(lambda given: "a reference" if isinstance(given, str) else "a service"),
    ],
    BeforeValidator(_of_url),
]
"""A stack of the lab by its reference, or a service of the user's own."""


def named(service: str | ExternalService) -> str:
    """As ``only`` names a service."""
    return service if isinstance(service, str) else service.name


def _kind_of_message(given: object) -> str:
    if isinstance(given, dict):
        parts = given.get("mix") or given.get("steps")
        if isinstance(parts, (list, tuple)) and parts:
            return _kind_of_message(parts[0])
        keys = {"body", "body_file", "json", *REQUEST_KEYS}
        is_own = keys & set(given) or ("data" in given and "name" in given)
        return "own" if is_own and not {"operation", "sequence"} & set(given) else "of the lab"
    return "own" if isinstance(given, ExternalMessage) else "of the lab"


AnyMessage = Annotated[
    Annotated[Message, Tag("of the lab")] | Annotated[ExternalMessage, Tag("own")],
    Discriminator(_kind_of_message),
]
"""A message of a contract, or one with content of the user's own."""
Count = Annotated[int, Field(ge=1)]
Calls = Annotated[
    Annotated[Count, Tag("a number")]
    | Annotated[
        dict[Annotated[str, BeforeValidator(lambda size: format_bytes(read_size(size)))], Count],
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
    max: Time = time_default("60 s", "ends a window of calls anyway")

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

    min: Time = time_default("200 ms", "at least")
    max: Time = time_default("5 s", "at most")

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


class MatrixPoint(Model):
    """One point of a matrix: a service, and places in the experiment's lists, from 0."""

    stack: Annotated[str, AfterValidator(_reference_or_name)] = Field(
        description="one of services: its reference, or the name of a service of your own"
    )
    axes: dict[str, str] = Field(
        default_factory=dict, description="axis: value, changed at this point"
    )
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
    services: tuple[Service, ...] = Field(
        min_length=1, description="stack references, URLs, and services of your own"
    )
    allow_targets: tuple[str, ...] = Field(
        (), description="hosts beyond this machine that may be loaded, with --any-target"
    )
    axes: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="axis: [values], multiplied with the services"
    )
    only: tuple[MatrixPoint, ...] | None = Field(
        None, min_length=1, description="of the matrix, these points and no others"
    )
    skip_illegal: bool = Field(
        False, description="leave out combinations that cannot exist, and list them"
    )
    messages: tuple[AnyMessage, ...] = Field(
        (), description="not needed where every service names its request"
    )
    loads: tuple[Load, ...] = Field(min_length=1)
    prepare: tuple[Preparation, ...] = Field(
        (), description="calls that fill the service before every trial; none is measured"
    )
    links: Annotated[tuple[Profile, ...], _one_or_more(Profile)] = Field(
        (LOOPBACK,), min_length=1, description="between caller and service, by name or your own"
    )
    capture: Annotated[tuple[CaptureChoice, ...], _one_or_more(CaptureChoice)] = Field(
        (NO_CAPTURE,), min_length=1, description="where packets are captured; a list is an ablation"
    )
    window: Window
    warmup: Warmup = Warmup()
    timeout: Time = time_default("10 s", "of one call")
    drain: Time = time_default("10 s", "for calls under way when the window ends")
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
    codec_times: bool = Field(
        False,
        description="after every window, time encoding and decoding the operation's reply alone",
    )
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
    def _distinct_names(cls, links: tuple[Profile, ...]) -> tuple[Profile, ...]:
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
            sizes = {format_bytes(message.bytes) for message in self.called}
            if sizes != set(calls):
                raise ValueError(
                    f"window.calls must name the sizes {', '.join(sorted(sizes))}, "
                    f"and names {', '.join(sorted(calls))}"
                )
        return self

    @model_validator(mode="after")
    def _messages_for_every_service(self) -> Experiment:
        lab = [service for service in self.services if isinstance(service, str)]
        if lab and not any(isinstance(one, Message) for one in self.messages):
            raise ValueError(
                f"messages: {lab[0]} is of the lab and needs a message of its contracts, such as "
                "{operation: Hello}"
            )
        own = [one for one in self.messages if isinstance(one, ExternalMessage)]
        if own and len(lab) == len(self.services):
            raise ValueError(f"messages: {own[0].name} is for services of your own; there are none")
        names = Counter(one.name for one in self.external_services)
        twice = next((name for name, count in names.items() if count > 1), None)
        if twice is not None:
            raise ValueError(f"two services are called {twice}: give them different names")
        return self

    @model_validator(mode="after")
    def _own_messages_of_every_protocol(self) -> Experiment:
        own = [one for one in self.messages if isinstance(one, ExternalMessage)]
        for service in self.external_services:
            if own and not any(message.is_for(service) for message in own):
                raise ValueError(
                    f"messages: none is for service {service.name}: write one with "
                    f"{'grpc' if service.kind == 'grpc' else 'path'}, or with its content alone"
                )
        return self

    @model_validator(mode="after")
    def _messages_are_distinct(self) -> Experiment:
        names = Counter(message.name for message in self.messages if message.has_own_name)
        twice = next((name for name, count in names.items() if count > 1), None)
        if twice is not None:
            raise ValueError(f"two messages are called {twice}: give them different names or files")
        return self

    @model_validator(mode="after")
    def _prepared_by_its_contract(self) -> Experiment:
        contracts = {message.contract for message in self.messages} - {CONTRACT}
        for index, step in enumerate(self.prepare):
            if contracts != {step.contract}:
                raise ValueError(
                    f"prepare[{index}]: {step.name} is of contract {step.contract}, and the "
                    f"messages are of {', '.join(sorted(contracts))}"
                )
        return self

    @model_validator(mode="after")
    def _only_of_the_matrix(self) -> Experiment:
        services, faults = {named(one) for one in self.services}, set(self.faults.given())
        for index, place in enumerate(self.only or ()):
            if place.stack not in services or self.axes:
                raise ValueError(f"only[{index}].stack must be one of services, without axes")
            unknown = set(place.faults_off) - faults
            if unknown:
                raise ValueError(f"only[{index}].faults_off: {min(unknown)} is not among faults")
            for key, listed in self._lists().items():
                if getattr(place, key) >= len(listed):
                    raise ValueError(f"only[{index}].{key}: there are {len(listed)}, from 0")
        return self

    @model_validator(mode="after")
    def _packets_to_test(self) -> Experiment:
        if self.test_findings and set(self.capture) == {NO_CAPTURE}:
            raise ValueError("test_findings needs packets: add `capture: client`")
        if self.test_findings and self.external_services:
            raise ValueError(
                "test_findings flips switches of services of the lab: leave it out, or services "
                "of your own"
            )
        return self

    @property
    def external_services(self) -> tuple[ExternalService, ...]:
        """Services of the user's own."""
        return tuple(one for one in self.services if isinstance(one, ExternalService))

    @property
    def called(self) -> tuple[Message | ExternalMessage, ...]:
        """The messages, and after them the request that a service names itself, where services of
        the user's own have no other."""
        has_own = any(isinstance(message, ExternalMessage) for message in self.messages)
        return (
            self.messages
            if has_own or not self.external_services
            else (*self.messages, OWN_REQUEST)
        )

    @property
    def uses_postgres(self) -> bool:
        """Whether any of its services keeps rows in PostgreSQL."""
        lab = (service for service in self.services if isinstance(service, str))
        named = any("store=postgres" in service for service in lab)
        return named or "postgres" in self.axes.get("store", ())

    def window_of(self, message: Message | ExternalMessage, load: Load) -> Json:
        """The window of trials of a message under a load, as in the plan."""
        return load.own_window(self.window.max) or self.window.for_size(message.bytes)

    def warmup_of(self, load: Load, *, cold: bool) -> Warmup:
        """What comes before the window of trials under a load."""
        return Warmup(min="0 s", max="0 s") if cold or load.begins_with_window else self.warmup

    def _lists(self) -> dict[str, tuple[Any, ...]]:
        """By the key of a :class:`MatrixPoint`."""
        return {
            "message": self.called,
            "load": self.loads,
            "link": self.links,
            "placement": self.placement,
            "capture": self.capture,
        }

    def digest(self) -> str:
        """SHA-256 of everything that shapes the trials; comments and layout do not."""
        excluded = {"about", "test_findings", "interventions"}
        newer = ("only", "prepare", "allow_targets", "codec_times")
        absent = {name for name in newer if not getattr(self, name)}
        content = self.model_dump(mode="json", exclude=excluded | absent)
        messages = (one for one in self.messages if isinstance(one, ExternalMessage))
        declared: tuple[ExternalService | ExternalMessage, ...]
        declared = (*self.external_services, *messages)
        own = [one.point() for one in declared if not one.problem]
        if own:
            content["own"] = own  # with hashes of the files that they name
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _values(name: object, values: object) -> list[str]:
    try:
        axis = table.axis(str(name))
        if not isinstance(values, (list, tuple)) or not values:
            raise ValueError(f"axis {name!r} needs a list of values, e.g. [{axis.default}]")
        return [axis.canonical(str(value)) for value in values]
    except StackError as error:
        raise ValueError(f"{error.message}. {error.remedy}") from None
