"""The rules that every generated service obeys: the digest of a request, and the reply to it.

contracts/README.md specifies both. This module is the reference that services are compared with.
"""

from __future__ import annotations

import struct
from enum import StrEnum
from typing import Any

from wirelab.contracts.schema import Contract, Field, Kind, Label
from wirelab.contracts.values import (
    FLOATS,
    INTEGERS,
    MODULUS,
    MOMENTS,
    Value,
    complete,
    is_optional,
    items_of,
    map_fields,
    round_to_float,
)

_MASK = 2**64 - 1


class Numbered(StrEnum):
    """What a reply's number is put into."""

    NUMBERS = "numbers"
    """It is added to every number."""
    TEXT = "text"
    """Three digits are appended to every string, because the reply has no number."""


def digest(contract: Contract, message: str, value: Value) -> int:
    """Unsigned, 64 bits: the sum of number times value over all fields of the message."""
    fields = contract.message_by_name[message].fields
    total = sum(
        field.number * _of_field(contract, field, value.get(field.name)) for field in fields
    )
    return total & _MASK


def number(contract: Contract, request: Value) -> int:
    """The number of the reply to a request: 0 to 999."""
    return digest(contract, contract.request, request) % MODULUS


def _of_field(contract: Contract, field: Field, value: Any) -> int:
    if value is None:
        return 0
    if field.label is Label.MAP:
        assert field.map_key is not None
        keys = sum(_of_scalar(field.map_key, key) for key in value)
        return len(value) + keys + sum(_of_one(contract, field, one) for one in value.values())
    if field.label is Label.REPEATED:
        return len(value) + sum(_of_one(contract, field, one) for one in value)
    extra = 1 if is_optional(field) and field.kind is not Kind.MESSAGE else 0
    return _of_one(contract, field, value) + extra


def _of_one(contract: Contract, field: Field, value: Any) -> int:
    if field.kind is Kind.MESSAGE:
        return digest(contract, field.type_name, value) + 1
    return _of_scalar(field.kind, value)


def _of_scalar(kind: Kind, value: Any) -> int:
    if kind in FLOATS:
        # Adding 0 turns -0 into 0.
        widened = round_to_float(value) if kind is Kind.FLOAT else float(value)
        return int.from_bytes(struct.pack(">d", widened + 0.0))
    if kind is Kind.STRING:
        return len(value) + (ord(value[0]) if value else 0)
    if kind is Kind.BYTES:
        return len(value) + (value[0] if value else 0)
    if kind in MOMENTS:
        return int(value[0]) + int(value[1])
    return int(value) & _MASK


def choose_numbered(contract: Contract, sample_reply: Value) -> Numbered:
    """Whether replies are numbered in their numbers or, where there are none, in their texts."""
    has = _has_number(contract, contract.reply, complete(contract, contract.reply, sample_reply))
    return Numbered.NUMBERS if has else Numbered.TEXT


def _has_number(contract: Contract, message: str, value: Value) -> bool:
    for field in contract.message_by_name[message].fields:
        items = items_of(field, value)
        if items and field.kind in INTEGERS | FLOATS:
            return True
        if field.kind is Kind.MESSAGE and any(
            _has_number(contract, field.type_name, one) for one in items
        ):
            return True
    return False


def reply(contract: Contract, sample_reply: Value, n: int) -> Value:
    """The reply that a service builds from its sample for the number n."""
    numbered = choose_numbered(contract, sample_reply)
    sample = complete(contract, contract.reply, sample_reply)
    return _copy(contract, contract.reply, sample, n, numbered)


def _copy(contract: Contract, message: str, value: Value, n: int, numbered: Numbered) -> Value:
    def copy_one(field: Field, one: Any) -> Any:
        if field.kind is Kind.MESSAGE:
            return _copy(contract, field.type_name, one, n, numbered)
        return _number_scalar(field.kind, one, n, numbered)

    return map_fields(contract, message, value, copy_one)


def _number_scalar(kind: Kind, value: Any, n: int, numbered: Numbered) -> Any:
    if kind in INTEGERS:
        return value + n
    if kind is Kind.FLOAT:
        return round_to_float(value + n)
    if kind is Kind.DOUBLE:
        return float(value) + n
    if kind is Kind.STRING and numbered is Numbered.TEXT:
        return f"{value}{n:03d}"
    return value
