"""Protocol Buffers, by google.protobuf."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import DecodeError

from wirelab.contracts.descriptors import message_types
from wirelab.contracts.schema import Contract, Field, Kind, Label
from wirelab.contracts.values import MOMENTS, Value, has_presence, map_fields
from wirelab.errors import UsageError


def encode(contract: Contract, message: str, value: Value) -> bytes:
    """Deterministic: map entries in the order of their keys."""
    made = message_types(contract)[message]()
    _fill(contract, message, made, value, message)
    return bytes(made.SerializeToString(deterministic=True))


def decode(contract: Contract, message: str, content: bytes) -> Value:
    """Raises :class:`UsageError`."""
    try:
        made = message_types(contract)[message].FromString(content)
    except DecodeError as error:
        raise UsageError(f"{message}: not a message of Protocol Buffers: {error}") from None
    return _read(contract, message, made)


def _fill(contract: Contract, message: str, into: Any, value: Value, path: str) -> None:
    for field in contract.message_by_name[message].fields:
        if field.name not in value:
            continue
        try:
            _fill_field(contract, field, into, value[field.name], f"{path}.{field.name}")
        except (TypeError, ValueError, AttributeError) as error:
            raise UsageError(f"{path}.{field.name}: {error}") from None


def _fill_field(contract: Contract, field: Field, into: Any, value: Any, path: str) -> None:
    if field.label is Label.REPEATED:
        target = getattr(into, field.name)
        if field.kind not in MOMENTS | {Kind.MESSAGE}:
            target.extend(value)
            return
        for one in value:
            _fill_message(contract, field, target.add(), one, path)
    elif field.label is Label.MAP:
        target = getattr(into, field.name)
        for key, one in value.items():
            if field.kind in MOMENTS | {Kind.MESSAGE}:
                _fill_message(contract, field, target[key], one, path)
            else:
                target[key] = one
    elif field.kind in MOMENTS | {Kind.MESSAGE}:
        target = getattr(into, field.name)
        target.SetInParent()
        _fill_message(contract, field, target, value, path)
    else:
        setattr(into, field.name, value)


def _fill_message(contract: Contract, field: Field, into: Any, value: Any, path: str) -> None:
    if field.kind is Kind.MESSAGE:
        _fill(contract, field.type_name, into, value, path)
    else:
        into.seconds, into.nanos = value


def _read(contract: Contract, message: str, made: Any) -> Value:
    found = {
        field.name: getattr(made, field.name)
        for field in contract.message_by_name[message].fields
        if not has_presence(field) or made.HasField(field.name)
    }
    return map_fields(contract, message, found, lambda *one: _read_one(contract, *one))


def _read_one(contract: Contract, field: Field, found: Any) -> Any:
    if field.kind is Kind.MESSAGE:
        return _read(contract, field.type_name, found)
    return (found.seconds, found.nanos) if field.kind in MOMENTS else found


def to_json(contract: Contract, message: str, value: Value) -> dict[str, Any]:
    """The value as proto3 JSON, every field that has a value named."""
    from google.protobuf import json_format

    made = message_types(contract)[message]()
    made.ParseFromString(encode(contract, message, value))
    document: dict[str, Any] = json_format.MessageToDict(
        made, always_print_fields_with_no_presence=True
    )
    return document
