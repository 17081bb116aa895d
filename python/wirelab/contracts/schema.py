"""The schema of a contract with one operation: messages, enums, and the rules that services obey.

The types follow the Protocol Buffers language (proto3). A schema has no nested types: a message or
enum that was nested has the names of both, joined by an underscore.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property


class Kind(StrEnum):
    """Type of a value, named as in a .proto file."""

    BOOL = "bool"
    INT32 = "int32"
    INT64 = "int64"
    UINT32 = "uint32"
    UINT64 = "uint64"
    SINT32 = "sint32"
    SINT64 = "sint64"
    FIXED32 = "fixed32"
    FIXED64 = "fixed64"
    SFIXED32 = "sfixed32"
    SFIXED64 = "sfixed64"
    FLOAT = "float"
    DOUBLE = "double"
    STRING = "string"
    BYTES = "bytes"
    ENUM = "enum"
    MESSAGE = "message"
    TIMESTAMP = "timestamp"
    DURATION = "duration"


class Label(StrEnum):
    """How often a field occurs."""

    SINGLE = "single"
    OPTIONAL = "optional"
    REPEATED = "repeated"
    MAP = "map"


@dataclass(frozen=True)
class Field:
    """One field of a message."""

    name: str
    """Name in the .proto: an identifier in lower case, unique in its message."""
    json_name: str
    """Name in JSON, CBOR and MessagePack, as the user's document has it; any text."""
    number: int
    kind: Kind
    label: Label = Label.SINGLE
    type_name: str = ""
    """Name of the message or enum; empty for other kinds."""
    map_key: Kind | None = None
    """Type of a map's keys; None: not a map. `kind` is then the type of its values."""
    oneof: str = ""
    """Name of the oneof that it belongs to; empty: none."""


@dataclass(frozen=True)
class Message:
    """A message, its fields in the order of their numbers."""

    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Enum:
    """An enum: names and numbers, in the order of the .proto; the first number is 0."""

    name: str
    values: tuple[tuple[str, int], ...]

    @property
    def name_by_number(self) -> dict[int, str]:
        """The first name of each number, in the order of the .proto."""
        first = {number: name for name, number in reversed(self.values)}
        return {number: first[number] for _, number in self.values}


@dataclass(frozen=True)
class Contract:
    """One operation, with all types that its request and reply need."""

    package: str
    """Package of the .proto, such as `wirelab.order.v1`."""
    service: str
    method: str
    request: str
    """Name of the request's message."""
    reply: str
    """Name of the reply's message."""
    messages: tuple[Message, ...]
    enums: tuple[Enum, ...] = ()

    @cached_property
    def message_by_name(self) -> dict[str, Message]:
        """Messages by name."""
        return {message.name: message for message in self.messages}

    @cached_property
    def enum_by_name(self) -> dict[str, Enum]:
        """Enums by name."""
        return {enum.name: enum for enum in self.enums}

    @property
    def grpc_path(self) -> str:
        """`package.Service/Method`."""
        return f"{self.package}.{self.service}/{self.method}"

    @property
    def xml_namespace(self) -> str:
        """Namespace of all elements in XML and SOAP."""
        return f"urn:{self.package.replace('.', ':')}"
