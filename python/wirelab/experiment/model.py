"""An experiment: what to measure, how often, and under which loads.

This is the model; :mod:`wirelab.experiment.loading` reads a YAML file into it.
Sizes and times are written with units and stored in bytes and seconds.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

from wirelab.documents.axes import Axes
from wirelab.documents.plan import Window as PlanWindow
from wirelab.documents.plan import WindowCalls
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
from wirelab.experiment.fields import (
    Json,
    Model,
    Time,
    TimeAboveZero,
    read_size,
    time_default,
)
from wirelab.experiment.link_profiles import LOOPBACK, Profile
from wirelab.experiment.loads import Load
from wirelab.experiment.messages import Message, Preparation
from wirelab.experiment.secret_values import SecretValues, conceal
from wirelab.experiment.yaml_model import FOLDER
from wirelab.format.units import format_bytes
from wirelab.records.client import CLIENTS_MAX
from wirelab.stack import axes as table
from wirelab.stack.reference import Stack


def _reference(text: str) -> str:
    try:
        return Stack.parse(text).reference
    except StackError as error:
        raise ValueError(f"{error.message}. {error.remedy}") from None


Reference = Annotated[str, AfterValidator(_reference)]
"""A legal stack reference in canonical form."""


def _reference_or_name(text: str) -> str:
    return _reference(text) if "@" in text and "://" not in text else text


def _of_url(given: object) -> object:
    """Turns a bare URL into a service that is running there."""
    return {"name": given, "url": given} if isinstance(given, str) and "://" in given else given


Service = Annotated[
    Annotated[
        Annotated[Reference, Tag("a reference")] | Annotated[ExternalService, Tag("a service")],
        Discriminator(lambda given: "a reference" if isinstance(given, str) else "a service"),
    ],
    BeforeValidator(_of_url),
]
"""A stack of wirelab by its reference, or a user-defined service."""


def service_name(service: str | ExternalService) -> str:
    """Name of a service in ``only``."""
    return service if isinstance(service, str) else service.name


OWN_KEYS = frozenset(("body", "body_file", "json", *REQUEST_KEYS))
"""Keys that only messages for user-defined services have."""


def _kind_of_message(given: object) -> str:
    if isinstance(given, dict):
        parts = given.get("mix") or given.get("steps")
        if isinstance(parts, (list, tuple)) and parts:
            return _kind_of_message(parts[0])
        is_own = OWN_KEYS & set(given) or ("data" in given and "name" in given)
        return "own" if is_own and not {"operation", "sequence"} & set(given) else "of the lab"
    return "own" if isinstance(given, ExternalMessage) else "of the lab"


AnyMessage = Annotated[
    Annotated[Message, Tag("of the lab")] | Annotated[ExternalMessage, Tag("own")],
    Discriminator(_kind_of_message),
]
"""A message of a contract, or one with user-defined content."""
Count = Annotated[int, Field(ge=1)]
Calls = Annotated[
    Annotated[Count, Tag("a number")]
    | Annotated[
        dict[Annotated[str, BeforeValidator(lambda size: format_bytes(read_size(size)))], Count],
        Tag("by size"),
    ],
    Discriminator(lambda given: "by size" if isinstance(given, dict) else "a number"),
]
"""Calls of a window: one number, or one per message size."""


def _read_host(name: str) -> str:
    if not re.fullmatch(r"[\w.-]+|[0-9A-Fa-f:.]+", name, re.ASCII):
        raise ValueError(f"{name!r} is not a host: write its name or its address, without a range")
    return name


Host = Annotated[str, AfterValidator(_read_host)]
"""Name or address of another machine, as URLs have it."""


class Window(Model):
    """How long a trial measures: a duration, or a number of calls."""

    duration: Time | None = Field(None, description="e.g. 2 s")
    calls: Calls | None = Field(
        None, description="number of calls, or a mapping from message size to number of calls"
    )
    max: TimeAboveZero = time_default("60 s", "time limit for a window of calls")

    @field_validator("duration")
    @classmethod
    def _lasts(cls, seconds: float | None) -> float | None:
        if seconds is not None and seconds < 0.01:
            raise ValueError("duration must be at least 10 ms")
        return seconds

    @model_validator(mode="after")
    def _one_of_two(self) -> Window:
        if (self.duration is None) == (self.calls is None):
            raise ValueError("a window has either duration or calls")
        return self

    def plan_for_size(self, size: int) -> PlanWindow:
        """As in the plan."""
        if self.duration is not None:
            return PlanWindow(duration_s=self.duration)
        calls = self.calls[format_bytes(size)] if isinstance(self.calls, dict) else self.calls
        assert calls is not None  # as the validator requires
        return PlanWindow(calls=WindowCalls(calls=calls, max_s=self.max))


class WarmupBounds(Model):
    """Bounds of a warm-up, which lasts until the series is stationary."""

    min: Time = time_default("1 s", "minimum; not more than max")
    max: Time = time_default("5 s", "maximum")

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.min > self.max and "min" in self.model_fields_set:
            raise ValueError("min must not be longer than max")
        return self

    @property
    def least_s(self) -> float:
        """The minimum, in seconds."""
        return min(self.min, self.max)


class Warmup(WarmupBounds):
    """Warm-up before the window: lasts until the series is stationary, within bounds."""

    by_language: dict[str, WarmupBounds] = Field(
        default_factory=dict,
        description="other bounds for services in a language, such as java: its code is compiled "
        "during many seconds of load",
    )


JVM_WARMUP = WarmupBounds(min="15 s", max="17 s")
"""Of services in Java where a file has no warm-up: a JVM compiles their code during many seconds of
load (docs/studies/jagannathan2022.md, warm-up of a JVM)."""


class Placement(Model):
    """Cores of each process; a process without cores is not pinned."""

    service: tuple[int, ...] = Field((), description="cores of the service, from 0")
    engine: tuple[int, ...] = Field((), description="cores of the engine, from 0")
    emulator: tuple[int, ...] = Field((), description="cores of the link's emulator, from 0")
    capture: tuple[int, ...] = Field((), description="cores of captures, from 0")


class Freeze(Model):
    """Fault: the whole service stops once."""

    at_call: int = Field(ge=1)
    ms: int = Field(ge=1)


class Every(Model):
    """Fault: delays the N-th, 2N-th, ... call."""

    every: int = Field(ge=1)


class Wrong(Every):
    """Fault: a wrong reply."""

    what: Literal["content", "length", "status", "trailers"]


class Faults(Model):
    """Fault switches of the services, see docs/reference/process.md."""

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

    def list_given(self) -> Json:
        """Only the switches that are set."""
        return self.model_dump(exclude_none=True)


PlacementChoice = Annotated[
    Annotated[Literal["pinned", "unpinned"], Tag("a word")] | Annotated[Placement, Tag("cores")],
    Discriminator(lambda given: "a word" if isinstance(given, str) else "cores"),
]
"""A rule of :mod:`wirelab.experiment.placement` by name, or core numbers."""


def _as_list(given: object) -> object:
    return given if isinstance(given, (list, tuple)) else [given]


def _one_or_more(kind: Any) -> BeforeValidator:
    """Accepts a single value in place of a list with one element, also in the JSON Schema."""
    many = Annotated[tuple[kind, ...], Field(min_length=1)]
    return BeforeValidator(_as_list, json_schema_input_type=kind | many)


class MatrixPoint(Model):
    """One point of a matrix: a service, and indices in the experiment's lists, from 0."""

    stack: Annotated[str, AfterValidator(_reference_or_name)] = Field(
        description="an entry of services: its reference, or the name of your own service"
    )
    axes: dict[str, str] = Field(
        default_factory=dict, description="axis: value; axes to change at this point"
    )
    message: int = Field(0, ge=0)
    load: int = Field(0, ge=0)
    link: int = Field(0, ge=0)
    placement: int = Field(0, ge=0)
    capture: int = Field(0, ge=0)
    faults_off: tuple[str, ...] = Field((), description="faults to switch off at this point")


SLICE_S_MIN, SLICE_S_MAX = 0.02, 2.0
"""Bounds of the measured length of a slice, seconds."""


class Experiment(Model):
    """A matrix of services, axes, messages, loads, links and placements, with repeats."""

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9-]{0,63}$",
        description="lower-case letters, digits and dashes, no leading dash, at most 64 characters",
    )
    about: str = Field("", description="question that the experiment answers")
    seed: int = Field(
        1, ge=0, lt=2**63, description="random seed for the order of trials and for arrivals"
    )
    repeats: int = Field(4, ge=1, le=1000, description="trials per point, on fresh processes")
    services: tuple[Service, ...] = Field(
        min_length=1, description="stack references, URLs, and your own services"
    )
    allow_targets: tuple[Host, ...] = Field(
        (), description="other machines that may be loaded, with --any-target"
    )
    axes: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="axis: [values]; every service is measured with every value",
    )
    only: tuple[MatrixPoint, ...] | None = Field(
        None, min_length=1, description="measure only these points of the matrix"
    )
    skip_illegal: bool = Field(False, description="skip impossible combinations, and list them")
    messages: tuple[AnyMessage, ...] = Field(
        (), description="messages to send; not needed if every service declares its request"
    )
    loads: tuple[Load, ...] = Field(min_length=1)
    clients: int = Field(
        1,
        ge=1,
        le=CLIENTS_MAX,
        description="engines with one thread each that divide every load; more than 1 needs Ray",
    )
    prepare: tuple[Preparation, ...] = Field(
        (), description="calls that prepare the service before every trial; they are not measured"
    )
    links: Annotated[tuple[Profile, ...], _one_or_more(Profile)] = Field(
        (LOOPBACK,),
        min_length=1,
        description="network links between caller and service: names or custom profiles",
    )
    capture: Annotated[tuple[CaptureChoice, ...], _one_or_more(CaptureChoice)] = Field(
        (NO_CAPTURE,),
        min_length=1,
        description="where to capture packets; with a list, each value is measured",
    )
    host: bool = Field(
        False,
        description="in trials with a capture, also record what the service's threads do, to "
        "divide the server's time",
    )
    window: Window
    warmup: Warmup = Warmup()
    design: Literal["trials", "slices", "auto"] = Field(
        "trials",
        description="trials: one service at a time; slices: the services of a setting share a "
        "trial and are called in turns; auto: slices in the settings where they are valid",
    )
    slice: Time = time_default("100 ms", "measured length of a slice")
    timeout: TimeAboveZero = time_default("10 s", "time limit for one call")
    drain: TimeAboveZero = time_default(
        "10 s", "time limit for calls in flight when the window ends"
    )
    placement: Annotated[tuple[PlacementChoice, ...], _one_or_more(PlacementChoice)] = Field(
        ("pinned",),
        min_length=1,
        description="pinned, unpinned, or cores; with a list, each value is measured",
    )
    processors: int | None = Field(
        None, ge=1, description="threads of service code; default: as many as its cores"
    )
    collector: dict[str, Json] = Field(
        default_factory=dict, description="settings of the garbage collector, by language"
    )
    threshold: float = Field(
        0.02,
        ge=0,
        lt=1,
        description="a ratio counts as a difference if it deviates from 1 by more than this",
    )
    faults: Faults = Faults()
    codec_times: bool = Field(
        False,
        description="after every window, time the encoding and decoding of the operation's reply",
    )
    test_findings: bool = Field(
        False, description="after the run, test packet findings by intervention"
    )
    interventions: Any = Field(
        None, description="findings under test and their predictions, written by `dissect --test`"
    )

    _secrets: SecretValues = PrivateAttr(default_factory=SecretValues)

    @model_validator(mode="wrap")
    @classmethod
    def _take_secrets(
        cls, given: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        """Takes the secrets out before anything else reads the document."""
        if not isinstance(given, dict):
            return handler(given)
        concealed, secrets = conceal(given, (info.context or {}).get(FOLDER) or Path())
        made = handler(concealed)
        made._secrets = secrets
        return made

    @property
    def secrets(self) -> SecretValues:
        """The values that the file names or has, and that no document gets."""
        return self._secrets

    @field_validator("axes", mode="before")
    @classmethod
    def _canonical_axes(cls, axes: object) -> object:
        if not isinstance(axes, dict):
            return axes
        return {name: _values(name, values) for name, values in axes.items()}

    @field_validator("slice")
    @classmethod
    def _slice_within_bounds(cls, length: float) -> float:
        if not SLICE_S_MIN <= length <= SLICE_S_MAX:
            raise ValueError("must be between 20 ms and 2 s")
        return length

    @field_validator("links")
    @classmethod
    def _distinct_names(cls, links: tuple[Profile, ...]) -> tuple[Profile, ...]:
        names = Counter(profiles.name(link) for link in links)
        twice = next((name for name, count in names.items() if count > 1), None)
        if twice is not None:
            remedy = "remove one" if twice in links else "give them different names"
            raise ValueError(f"two links are named {twice}: {remedy}")
        return links

    @model_validator(mode="after")
    def _calls_for_every_message(self) -> Experiment:
        calls = self.window.calls
        if isinstance(calls, dict):
            sizes = {format_bytes(message.bytes) for message in self.called}
            if sizes != set(calls):
                raise ValueError(
                    f"window.calls must list exactly the sizes {', '.join(sorted(sizes))}, "
                    f"but lists {', '.join(sorted(calls))}"
                )
        return self

    @model_validator(mode="after")
    def _messages_for_every_service(self) -> Experiment:
        lab = [service for service in self.services if isinstance(service, str)]
        if lab and not any(isinstance(one, Message) for one in self.messages):
            raise ValueError(
                f"messages: {lab[0]} is a stack of wirelab and needs a message of its contracts, "
                "such as {operation: Hello}"
            )
        own = [one for one in self.messages if isinstance(one, ExternalMessage)]
        if own and len(lab) == len(self.services):
            raise ValueError(
                f"messages: {own[0].name} is for your own services, but services lists none"
            )
        names = Counter(one.name for one in self.external_services)
        twice = next((name for name, count in names.items() if count > 1), None)
        if twice is not None:
            raise ValueError(f"two services are named {twice}: give them different names")
        return self

    @model_validator(mode="after")
    def _own_messages_of_every_protocol(self) -> Experiment:
        own = [one for one in self.messages if isinstance(one, ExternalMessage)]
        for service in self.external_services:
            if own and not any(message.is_for(service) for message in own):
                raise ValueError(
                    f"no message can be sent to service {service.name}: write one with "
                    f"{'grpc' if service.kind == 'grpc' else 'path'}, or with content only"
                )
        return self

    @model_validator(mode="after")
    def _messages_are_distinct(self) -> Experiment:
        names = Counter(message.name for message in self.messages if message.has_own_name)
        twice = next((name for name, count in names.items() if count > 1), None)
        if twice is not None:
            raise ValueError(f"two messages are named {twice}: give them different names or files")
        return self

    @model_validator(mode="after")
    def _check_prepare(self) -> Experiment:
        contracts = {message.contract for message in self.messages} - {CONTRACT}
        for index, step in enumerate(self.prepare):
            if contracts != {step.contract}:
                raise ValueError(
                    f"prepare[{index}]: {step.name} is of contract {step.contract}, but the "
                    f"messages are of {', '.join(sorted(contracts))}"
                )
        return self

    @model_validator(mode="after")
    def _only_of_the_matrix(self) -> Experiment:
        services, faults = (
            {service_name(one) for one in self.services},
            set(self.faults.list_given()),
        )
        for index, place in enumerate(self.only or ()):
            if place.stack not in services or self.axes:
                raise ValueError(f"only[{index}].stack must be an entry of services, without axes")
            unknown = set(place.faults_off) - faults
            if unknown:
                raise ValueError(
                    f"only[{index}].faults_off: {min(unknown)} is not listed in faults"
                )
            for key, listed in self._lists().items():
                if getattr(place, key) >= len(listed):
                    raise ValueError(
                        f"only[{index}].{key}: use an index from 0 to {len(listed) - 1}"
                    )
        return self

    @model_validator(mode="after")
    def _packets_to_divide(self) -> Experiment:
        if self.host and set(self.capture) == {NO_CAPTURE}:
            raise ValueError(
                "host divides the time that packets show: add `capture: server`, or remove it"
            )
        return self

    @model_validator(mode="after")
    def _packets_to_test(self) -> Experiment:
        if self.test_findings and set(self.capture) == {NO_CAPTURE}:
            raise ValueError("test_findings needs packets: add `capture: client`")
        if self.test_findings and self.external_services:
            raise ValueError(
                "test_findings changes switches that only wirelab's services have: remove it, or "
                "your own services"
            )
        return self

    @property
    def external_services(self) -> tuple[ExternalService, ...]:
        """The user-defined services."""
        return tuple(one for one in self.services if isinstance(one, ExternalService))

    @property
    def called(self) -> tuple[Message | ExternalMessage, ...]:
        """The messages, followed by the request that a user-defined service declares, if such
        services have no other message."""
        has_own = any(isinstance(message, ExternalMessage) for message in self.messages)
        return (
            self.messages
            if has_own or not self.external_services
            else (*self.messages, OWN_REQUEST)
        )

    @property
    def uses_postgres(self) -> bool:
        """Whether any of its services stores rows in PostgreSQL."""
        lab = (service for service in self.services if isinstance(service, str))
        named = any("store=postgres" in service for service in lab)
        return named or any("postgres" in values for values in self.axes.values())

    def window_of(self, message: Message | ExternalMessage, load: Load) -> PlanWindow:
        """The window of trials of a message under a load, as in the plan."""
        return load.own_window(self.window.max) or self.window.plan_for_size(message.bytes)

    def warmup_of(self, load: Load, axes: Axes) -> WarmupBounds:
        """The warm-up of trials of a stack, by its axes, under a load."""
        if axes.start == "cold" or load.begins_with_window:
            return WarmupBounds(min="0 s", max="0 s")
        if "warmup" not in self.model_fields_set and axes.language == "java":
            return JVM_WARMUP
        return self.warmup.by_language.get(axes.language, self.warmup)

    def _lists(self) -> dict[str, tuple[Any, ...]]:
        """The list that a key of :class:`MatrixPoint` refers to."""
        return {
            "message": self.called,
            "load": self.loads,
            "link": self.links,
            "placement": self.placement,
            "capture": self.capture,
        }

    def digest(self) -> str:
        """SHA-256 of everything that affects the trials; comments and layout do not."""
        excluded = {"about", "test_findings", "interventions"}
        newer = ("only", "prepare", "allow_targets", "codec_times", "host")
        absent = {name for name in newer if not getattr(self, name)}
        if self.design == "trials":
            absent |= {"design", "slice"}
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
