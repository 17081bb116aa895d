"""Messages of an experiment file: the calls to make."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    field_validator,
    model_serializer,
    model_validator,
)

from wirelab.contracts.message_sizes import OF_CODEC, resolve, sentences
from wirelab.errors import UnitError, UsageError
from wirelab.experiment.fields import Json, MessageSize, Model, Size, Time
from wirelab.experiment.yaml_model import FOLDER
from wirelab.format.untrusted import open_regular
from wirelab.stack import operations
from wirelab.stack.operations import OPERATIONS, SEQUENCES


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
"""A function of the charging contract."""
ItemGap = Annotated[Time, Field(le=60.0)]
"""In seconds, at most a minute (contracts/README.md, stream)."""
Pattern = Literal["constant", "bursts", "pause", "tokens"]
"""How items are spread over time (contracts/stream.proto)."""
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,31}$")]


class RandomValue(Model):
    """Random values for a field: exactly one of these keys."""

    integer: tuple[int, int] | None = Field(None, description="[least, greatest], both included")
    text: int | None = Field(
        None, ge=1, le=65_536, description="a text with this number of lower-case letters"
    )
    choice: tuple[Any, ...] | None = Field(None, min_length=1, description="one of these values")

    @model_validator(mode="after")
    def _exactly_one(self) -> RandomValue:
        if len(self.model_fields_set) != 1:
            raise ValueError("write exactly one of integer, text, choice")
        if self.integer and self.integer[0] > self.integer[1]:
            raise ValueError("integer: the first value must not exceed the second")
        return self

    def plan(self) -> Json:
        """The values in the engine's plan."""
        if self.integer:
            return {"kind": "integer", "min": self.integer[0], "max": self.integer[1]}
        if self.text:
            return {"kind": "text", "length": self.text}
        return {"kind": "choice", "values": list(self.choice or ())}


class RandomRows(Model):
    """Rows of random values, generated before the load."""

    count: int = Field(ge=1, le=1_000_000, description="rows")
    fields: dict[str, RandomValue] = Field(min_length=1, description="field: its values")

    def __hash__(self) -> int:
        """Hashes all values; a mapping has no hash of its own."""
        return hash(self.model_dump_json())


class Data(Model):
    """Rows whose columns replace fields of the request."""

    file: str | None = Field(
        None, description="CSV or JSON lines (.csv, .jsonl), relative to the experiment file"
    )
    random: RandomRows | None = Field(None, description="instead of a file")
    per: Literal["call", "user"] = Field(
        "call", description="take the next row for each call, or one row per user"
    )
    _path: Path = PrivateAttr(Path())

    def model_post_init(self, context: Any) -> None:
        """Resolves the path of the file."""
        if self.file is not None:
            self._path = ((context or {}).get(FOLDER) or Path()) / self.file

    @model_validator(mode="after")
    def _exactly_one(self) -> Data:
        if (self.file is None) == (self.random is None):
            raise ValueError("data has either file or random")
        return self

    @property
    def problem(self) -> str:
        """Why the file cannot be read; empty if it can, or if there is none."""
        try:
            _ = self.sha256
        except OSError as error:
            return f"data: {self._path}: {error.strerror}"
        except ValueError as error:
            return f"data: {error}"
        return ""

    @cached_property
    def sha256(self) -> str:
        """Digest of the file's content; empty without a file. Raises :class:`OSError`, and
        :class:`ValueError` for a pipe, a device or a folder."""
        if self.file is None:
            return ""
        with open_regular(self._path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def point(self) -> Json:
        """The data in results."""
        described = self.model_dump(mode="json", exclude_none=True)
        return {**described, "sha256": self.sha256} if self.file else described

    def plan(self, seed: int) -> Json:
        """The data in the engine's plan."""
        if self.random is None:
            return {"per": self.per, "rows": {"kind": "file", "path": str(self._path.resolve())}}
        fields = {name: value.plan() for name, value in self.random.fields.items()}
        rows = {"kind": "random", "count": self.random.count, "seed": seed, "fields": fields}
        return {"per": self.per, "rows": rows}

    @property
    def name(self) -> str:
        """Part of the name of a message."""
        return f"with {self.file}" if self.file else "with random data"


class Carry(Model):
    """A value of a reply to copy into a later request."""

    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True)

    from_: str = Field(alias="from", description="field of the reply")
    to: str = Field(description="field of the request")
    step: int | None = Field(
        None,
        ge=0,
        description="step whose reply to use, counted from 0; default: the previous step",
    )


class Sized(Model):
    """What may have a size that is given in a codec."""

    _asked: str = PrivateAttr("")

    @model_validator(mode="wrap")
    @classmethod
    def _choose_size(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """The size of the message whose encoding is nearest to ``bytes: 2 kB of json``."""
        written = value.get("bytes") if isinstance(value, dict) else None
        if not isinstance(written, str) or not OF_CODEC.fullmatch(written.strip()):
            return handler(value)
        try:
            size = resolve(str(value.get("operation")), written)
        except (UsageError, UnitError) as error:
            raise ValueError(f"bytes: {error.message}; {error.remedy}") from None
        made = handler({**value, "bytes": f"{size} B"})
        made._asked = written
        return made


class Step(Sized):
    """One call of a message with several calls."""

    operation: OperationName = Field(description="operation of the contract")
    bytes: MessageSize = Field(0, validate_default=False, description="size of the variable part")
    carry: tuple[Carry, ...] = Field((), description="values of earlier replies")

    @model_validator(mode="after")
    def _can_be(self) -> Step:
        content = operations.Message(self.operation, None, self.bytes)
        problem = operations.problem(content, has_size="bytes" in self.model_fields_set)
        if problem:
            raise ValueError(problem)
        return self

    def plan(self) -> Json:
        """The step in the engine's plan."""
        carried = [
            {key: value for key, value in carry.model_dump().items() if value is not None}
            for carry in self.carry
        ]
        return {"operation": self.operation, "bytes": self.bytes, "carry": carried}


class Calls(Sized):
    """One operation at one size, one sequence of calls, or steps."""

    operation: OperationName | None = Field(None, description="operation of the contract")
    sequence: SequenceName | None = Field(
        None,
        description="function of contract charging: calls in a fixed order, instead of operation",
    )
    bytes: MessageSize = Field(
        0,
        validate_default=False,
        description="size of the operation's variable part, if it has one, e.g. 150 kB; or of the "
        "whole message in a codec, e.g. 2 kB of json",
    )
    chunk: Size | None = Field(None, description="size of a chunk in streams; default 65536 B")
    items: int | None = Field(
        None,
        ge=1,
        le=operations.ITEMS_MAX,
        description="number of items per stream, with operation Feed, Push or Chat; default 100",
    )
    item_gap: ItemGap | None = Field(
        None, description="mean gap between two items, e.g. 10 ms, the default"
    )
    item_pattern: Pattern | None = Field(
        None, description="how items are spread over time; default constant"
    )
    steps: tuple[Step, ...] = Field(
        (),
        max_length=100,
        description="calls in this order, which are one arrival; instead of operation",
    )
    data: Data | None = Field(None, description="rows whose columns replace fields of the request")
    label: Name | None = Field(None, alias="name", description="name of steps or of a mix")

    @field_validator("bytes")
    @classmethod
    def _check_size(cls, size: int) -> int:
        if size > operations.SIZE_BYTES_MAX:
            raise ValueError(f"at most {operations.SIZE_BYTES_MAX} B in this contract")
        return size

    @model_validator(mode="after")
    def _can_be(self) -> Calls:
        if problem := self._problem():
            raise ValueError(problem)
        return self

    @model_serializer(mode="wrap")
    def _omit_unused(self, handler: SerializerFunctionWrapHandler) -> Json:
        """Omits unused keys that older experiments do not have."""
        dumped: Json = handler(self)
        newer = ("steps", "data", "label", "mix", "items", "item_gap", "item_pattern")
        return {key: value for key, value in dumped.items() if value or key not in newer}

    def _problem(self) -> str:
        """Why the calls are impossible; empty if they are not."""
        has_size = "bytes" in self.model_fields_set
        if self.steps:
            return self._problem_of_several("steps", has_size=has_size)
        if self.label is not None:
            if not (self.operation or self.sequence):
                return (
                    "a message needs a request: json, body, body_file, method, path, grpc, data, "
                    "mix or steps; leave `messages` out to send the services' own request"
                )
            return "name applies to steps and mix only"
        if self.data is not None and self.sequence is not None:
            return "data applies to operation and steps only; a sequence has its own values"
        return operations.problem(self._content, has_size=has_size)

    def _problem_of_several(self, kind: str, *, has_size: bool) -> str:
        if self.operation or self.sequence:
            return f"a message has either operation, sequence or {kind}"
        if self._items:
            return f"items applies to operation Feed, Push and Chat only, not to {kind}"
        if has_size or self.chunk is not None:
            return f"write bytes and chunk in the operations of {kind}"
        if self.label is None:
            return f"{kind} need a name: add for example name: browsing"
        contracts = dict.fromkeys(OPERATIONS[name].contract for name in self._operations())
        if len(contracts) > 1:
            return f"{kind} must be of one contract, not of {' and '.join(contracts)}"
        return ""

    def _operations(self) -> Iterator[str]:
        """The names of all operations in it."""
        if self.operation:
            yield self.operation
        if self.sequence:
            yield from SEQUENCES[self.sequence].operations
        for step in self.steps:
            yield step.operation

    @property
    def _content(self) -> operations.Message:
        return operations.Message(
            self.operation, self.sequence, self.bytes, self.chunk, self._items
        )

    @property
    def _items(self) -> operations.Items | None:
        """None where no key is given."""
        if self.items is None and self.item_gap is None and self.item_pattern is None:
            return None
        default = operations.Items()
        return operations.Items(
            self.items or default.count,
            default.gap_us if self.item_gap is None else round(self.item_gap * 1e6),
            self.item_pattern or default.pattern,
        )

    @property
    def name(self) -> str:
        """The operation, ``ReservationDebit sequence``, ``browsing mix`` or ``adding steps``."""
        if self.steps:
            return f"{self.label} steps"
        if self._items:
            return f"{self._content.name} with {self._items.words(self._content.name)}"
        return f"{self._content.name} {self.data.name}" if self.data else self._content.name

    @property
    def has_own_name(self) -> bool:
        """Whether the name is not that of an operation or sequence."""
        return self.label is not None or self.data is not None

    @property
    def called(self) -> tuple[str, ...]:
        """Operations and sequences in it, named as in :func:`operations.refusal`."""
        if self.steps:
            return tuple(step.operation for step in self.steps)
        return (self._content.name,)

    @property
    def hello_sizes(self) -> frozenset[int]:
        """Sizes of Hello, whose text is configured when the service starts."""
        sized = [(step.operation, step.bytes) for step in self.steps]
        sized += [(self.operation, self.bytes)] if self.operation else []
        return frozenset(size for name, size in sized if name.startswith("Hello"))

    @property
    def contract(self) -> str:
        """The contract of its operations."""
        return OPERATIONS[next(self._operations())].contract

    def describe_size(self, codecs: Iterable[str]) -> tuple[str, ...]:
        """What its size is in these codecs, and how it was chosen where one was named; empty
        without a size, and for steps and mixes, whose operations have sizes of their own."""
        if self.operation is None or not self.bytes:
            return ()
        return sentences(self.operation, self.bytes, codecs, self._asked)

    @property
    def data_problem(self) -> str:
        """Why the rows of a file cannot be read; empty if they can."""
        return self.data.problem if self.data else ""

    def point(self) -> Json:
        """Properties that the name does not contain, for results."""
        described = self.model_dump(mode="json", by_alias=True, include={"steps"})
        return {**described, "data": self.data.point()} if self.data else described

    def workload(self, seed: int = 0) -> Json:
        """The object ``workload`` of a group in the engine's plan."""
        if self.steps:
            steps = [step.plan() for step in self.steps]
            workload: Json = {"kind": "steps", "contract": self.contract, "steps": steps}
        else:
            workload = self._content.workload()
        return {**workload, "data": self.data.plan(seed)} if self.data else workload


class Part(Calls):
    """One part of a mix."""

    weight: float = Field(
        1.0, gt=0, le=1e9, description="its share is weight divided by the sum of all weights"
    )


class Message(Calls):
    """Calls of a group: one operation, one sequence, steps, or a mix of these."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "oneOf": [{"required": [key]} for key in ("operation", "sequence", "steps", "mix")]
        },
    )

    mix: tuple[Part, ...] = Field(
        (), max_length=1_000, description="parts; each arrival is one of them, chosen by weight"
    )

    def _problem(self) -> str:
        if not self.mix:
            return super()._problem()
        if self.steps or self.data:
            return "in a mix, write steps and data in its parts"
        if len(self.hello_sizes) > 1:
            return "a service has only one text of Hello: use the same size"
        return self._problem_of_several("mix", has_size="bytes" in self.model_fields_set)

    def _operations(self) -> Iterator[str]:
        yield from super()._operations()
        for part in self.mix:
            yield from part._operations()

    @property
    def name(self) -> str:
        """The operation, ``ReservationDebit sequence``, ``browsing mix`` or ``adding steps``."""
        return f"{self.label} mix" if self.mix else super().name

    @property
    def called(self) -> tuple[str, ...]:
        """Operations and sequences in it, named as in :func:`operations.refusal`."""
        if self.mix:
            return tuple(name for part in self.mix for name in part.called)
        return super().called

    @property
    def hello_sizes(self) -> frozenset[int]:
        """Sizes of Hello, whose text is configured when the service starts."""
        return super().hello_sizes.union(*(part.hello_sizes for part in self.mix))

    @property
    def data_problem(self) -> str:
        """Why the rows of a file cannot be read; empty if they can."""
        problems = (part.data_problem for part in self.mix)
        return super().data_problem or next(filter(None, problems), "")

    def point(self) -> Json:
        """Properties that the name does not contain, for results."""
        if not self.mix:
            return super().point()
        return {"mix": [{"weight": p.weight, "calls": p.name, **p.point()} for p in self.mix]}

    def workload(self, seed: int = 0) -> Json:
        """The object ``workload`` of a group in the engine's plan."""
        if not self.mix:
            return super().workload(seed)
        parts = [{"weight": part.weight, "workload": part.workload(seed)} for part in self.mix]
        return {"kind": "mix", "parts": parts, "seed": seed}


class Preparation(Message):
    """Calls that prepare a service before a trial, e.g. create rows."""

    calls: int = Field(ge=1, le=1_000_000, description="number of calls, made one after another")
