"""What is called: the messages of an experiment file."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Annotated

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from wirelab.experiment.fields import Json, Model, Size
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
"""A function of charging."""


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
    def is_hello(self) -> bool:
        """Whether the service answers with a text that is configured when it starts."""
        return self.name.startswith("Hello")

    @property
    def contract(self) -> str:
        """The contract that it is of."""
        return self.content.contract

    def workload(self) -> Json:
        """The object ``workload`` of a group in the engine's plan."""
        return self.content.workload()


class Preparation(Message):
    """Calls that fill a service before a trial."""

    calls: int = Field(ge=1, le=1_000_000, description="how many, one after another")
