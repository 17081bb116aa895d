"""The Avro schema of a contract's messages (Apache Avro 1.12, *Schema Declaration*)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

from wirelab.contracts.schema import Contract, Field, Kind, Label
from wirelab.contracts.values import (
    MOMENTS,
    SIGNED_32,
    SIGNED_64,
    UNSIGNED_32,
    UNSIGNED_64,
    has_presence,
)

Schema = str | Sequence["Schema"] | Mapping[str, "Schema"]
"""A part of a schema, as JSON has it."""
FILE = "service.avsc"
"""Name of the schema in a generated project."""
PRIMITIVES = {
    Kind.BOOL: "boolean",
    **dict.fromkeys(SIGNED_32, "int"),
    **dict.fromkeys(SIGNED_64 | UNSIGNED_32 | UNSIGNED_64, "long"),
    Kind.FLOAT: "float",
    Kind.DOUBLE: "double",
    Kind.STRING: "string",
    Kind.BYTES: "bytes",
}
_WORDS = frozenset({
    "null", "boolean", "int", "long", "float", "double", "bytes", "string", "record", "error",
    "enum", "array", "map", "union", "fixed",
})  # fmt: skip
"""Names of Avro's own types, which no other type may have."""
PROTO = "proto"
"""Property of a ``long``: its type in the .proto, where that has no sign. Avro ignores properties
that it does not define."""
PROTO_KEYS = "protoKeys"
"""The same of a map's keys, where they are not text."""


@lru_cache(maxsize=8)
def _short_names(contract: Contract) -> dict[str, str]:
    """Names of messages and enums without their namespace."""
    every = [*contract.message_by_name, *contract.enum_by_name]
    taken = set(every)
    names = {}
    for name in every:
        chosen = name
        while chosen in _WORDS or (chosen != name and chosen in taken):
            chosen += "_"
        taken.add(chosen)
        names[name] = chosen
    return names


def short_name(contract: Contract, name: str) -> str:
    """Of a message or an enum without its namespace: that of the .proto, with ``_`` at its end
    where Avro has a type of that name."""
    return _short_names(contract)[name]


def full_name(contract: Contract, name: str) -> str:
    """Of a message or an enum, as schemas refer to it."""
    short = short_name(contract, name)
    return f"{contract.package}.{short}" if contract.package else short


def write_schema(contract: Contract) -> str:
    """The text of the .avsc: a union of the request's record and the reply's, each type where it
    is needed first."""
    defined = set[str]()
    roots = dict.fromkeys((contract.request, contract.reply))
    union = [_describe_message(contract, name, defined) for name in roots]
    return json.dumps(union, indent=2) + "\n"


def _define(
    contract: Contract, kind: str, name: str, content: dict[str, Schema]
) -> dict[str, Schema]:
    namespace = {"namespace": contract.package} if contract.package else {}
    return {"type": kind, "name": short_name(contract, name), **namespace, **content}


def _describe_message(contract: Contract, name: str, defined: set[str]) -> Schema:
    """The record, or its name where it is defined already."""
    if name in defined:
        return full_name(contract, name)
    defined.add(name)
    fields = [
        {"name": field.name, "type": _describe_field(contract, field, defined)}
        for field in contract.message_by_name[name].fields
    ]
    return _define(contract, "record", name, {"fields": fields})


def _describe_field(contract: Contract, field: Field, defined: set[str]) -> Schema:
    one = _describe_one(contract, field, defined)
    if field.map_key is not None:
        keys = {} if field.map_key is Kind.STRING else {PROTO_KEYS: _key_kind(field.map_key)}
        return {"type": "map", "values": one, **keys}
    if field.label is Label.REPEATED:
        return {"type": "array", "items": one}
    return ["null", one] if has_presence(field) else one


def _describe_one(contract: Contract, field: Field, defined: set[str]) -> Schema:
    if field.kind is Kind.MESSAGE:
        return _describe_message(contract, field.type_name, defined)
    if field.kind is Kind.ENUM:
        return _describe_enum(contract, field.type_name, defined)
    if field.kind in MOMENTS:
        return _describe_moment(field.kind, defined)
    if field.kind in UNSIGNED_32 | UNSIGNED_64:
        return {"type": PRIMITIVES[field.kind], PROTO: _key_kind(field.kind)}
    return PRIMITIVES[field.kind]


def _describe_enum(contract: Contract, name: str, defined: set[str]) -> Schema:
    if name in defined:
        return full_name(contract, name)
    defined.add(name)
    return _define(
        contract, "enum", name, {"symbols": [*contract.enum_by_name[name].name_by_number.values()]}
    )


def _describe_moment(kind: Kind, defined: set[str]) -> Schema:
    """The message of Protocol Buffers. Avro's own types have no nanoseconds of the year 1."""
    name = kind.capitalize()
    full = f"google.protobuf.{name}"
    if full in defined:
        return full
    defined.add(full)
    fields = [{"name": "seconds", "type": "long"}, {"name": "nanos", "type": "int"}]
    return {"type": "record", "name": name, "namespace": "google.protobuf", "fields": fields}


def _key_kind(kind: Kind) -> str:
    """The type whose range and text a kind of integer, or a bool, has."""
    for kinds, name in (
        (SIGNED_32, Kind.INT32),
        (SIGNED_64, Kind.INT64),
        (UNSIGNED_32, Kind.UINT32),
        (UNSIGNED_64, Kind.UINT64),
    ):
        if kind in kinds:
            return str(name)
    return str(kind)
