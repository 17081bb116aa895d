"""Values of messages: zeros, ranges, and a complete form in which all readers agree.

A value of a message is a dictionary keyed by the names of fields. A missing key is an absent
field. An enum's value is its number; a timestamp and a duration are (seconds, nanoseconds); a map
is a dictionary with keys of its own type.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from wirelab.contracts.schema import Contract, Field, Kind, Label

Value = dict[str, Any]
"""A value of a message, by the names of its fields."""

SIGNED_32 = frozenset({Kind.INT32, Kind.SINT32, Kind.SFIXED32})
SIGNED_64 = frozenset({Kind.INT64, Kind.SINT64, Kind.SFIXED64})
UNSIGNED_32 = frozenset({Kind.UINT32, Kind.FIXED32})
UNSIGNED_64 = frozenset({Kind.UINT64, Kind.FIXED64})
INTEGERS = SIGNED_32 | SIGNED_64 | UNSIGNED_32 | UNSIGNED_64
FLOATS = frozenset({Kind.FLOAT, Kind.DOUBLE})
MOMENTS = frozenset({Kind.TIMESTAMP, Kind.DURATION})

MODULUS = 1000
"""Replies differ by a number below it."""
FLOAT_MAX = struct.unpack(">f", b"\x7f\x7f\xff\xff")[0]
"""The greatest finite float."""


def integer_range(kind: Kind) -> range:
    """Numbers that the kind can represent."""
    if kind in SIGNED_32:
        return range(-(2**31), 2**31)
    if kind in SIGNED_64:
        return range(-(2**63), 2**63)
    return range(2**32) if kind in UNSIGNED_32 else range(2**64)


def round_to_float(number: float) -> float:
    """The float (32 bits) nearest to a number; one that is too large becomes infinite."""
    try:
        return float(struct.unpack(">f", struct.pack(">f", number))[0])
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def zero_of(kind: Kind) -> Any:
    """The value of a scalar that is not written."""
    if kind is Kind.STRING:
        return ""
    if kind is Kind.BYTES:
        return b""
    if kind is Kind.BOOL:
        return False
    return 0.0 if kind in FLOATS else 0


def is_optional(field: Field) -> bool:
    """Whether its presence is a value of its own: an optional field or a member of a oneof."""
    return field.label is Label.OPTIONAL or bool(field.oneof)


def has_presence(field: Field) -> bool:
    """Whether the field can be absent."""
    return field.map_key is None and (
        is_optional(field)
        or (field.label is Label.SINGLE and field.kind in MOMENTS | {Kind.MESSAGE})
    )


def complete(contract: Contract, message: str, value: Value) -> Value:
    """The value with all fields that are always written; absent ones stay absent."""
    whole = {
        field.name: value[field.name] if field.name in value else _empty(field)
        for field in contract.message_by_name[message].fields
        if field.name in value or not has_presence(field)
    }
    return map_fields(contract, message, whole, lambda *one: _complete_one(contract, *one))


def _empty(field: Field) -> Any:
    if field.label is Label.MAP:
        return {}
    return [] if field.label is Label.REPEATED else zero_of(field.kind)


def _complete_one(contract: Contract, field: Field, value: Any) -> Any:
    if field.kind is Kind.MESSAGE:
        return complete(contract, field.type_name, value)
    if field.kind is Kind.FLOAT:
        return round_to_float(value)
    return float(value) if field.kind is Kind.DOUBLE else value


def clamp(contract: Contract, message: str, value: Value) -> Value:
    """A complete value whose integers leave room for the greatest number of a reply, 999."""

    def clamp_one(field: Field, one: Any) -> Any:
        if field.kind is Kind.MESSAGE:
            return clamp(contract, field.type_name, one)
        if field.kind in INTEGERS:
            return min(one, integer_range(field.kind)[-1] - (MODULUS - 1))
        return one

    return map_fields(contract, message, value, clamp_one)


def map_fields(
    contract: Contract, message: str, value: Value, change: Callable[[Field, Any], Any]
) -> Value:
    """The value with ``change`` applied to what each present field has: each item of a list, each
    value of a map, or the one value."""
    done: Value = {}
    for field in contract.message_by_name[message].fields:
        if field.name not in value:
            continue
        found = value[field.name]
        if field.label is Label.MAP:
            done[field.name] = {key: change(field, one) for key, one in found.items()}
        elif field.label is Label.REPEATED:
            done[field.name] = [change(field, one) for one in found]
        else:
            done[field.name] = change(field, found)
    return done


def items_of(field: Field, value: Value) -> list[Any]:
    """The values that a field has, without the keys of a map."""
    found = value.get(field.name)
    if field.label is Label.MAP:
        return list(found.values()) if found else []
    if field.label is Label.REPEATED:
        return list(found or ())
    return [found] if field.name in value else []


def has_many_entries(contract: Contract, message: str, value: Value) -> bool:
    """Whether a map in it has several entries, which a library may write in any order."""
    for field in contract.message_by_name[message].fields:
        items = items_of(field, value)
        if field.label is Label.MAP and len(items) > 1:
            return True
        if field.kind is Kind.MESSAGE and any(
            has_many_entries(contract, field.type_name, one) for one in items
        ):
            return True
    return False
