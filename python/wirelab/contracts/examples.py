"""Values for a contract of which its user gave no sample."""

from __future__ import annotations

from wirelab.contracts.schema import Contract, Field, Kind, Label, Message
from wirelab.contracts.values import FLOATS, INTEGERS, Value

TEXT = "Hello, wirelab"
"""The text of the contract `transfer`."""
NUMBER = 1_234
MOMENT = (1_773_480_413, 0)
"""14 March 2026, 09:26:53 UTC."""
DURATION = (3, 500_000_000)
ITEMS = 3
"""Entries of each list and map."""


def make_example(contract: Contract, message: str) -> Value:
    """A value in which every field is present, of a oneof the first, and every list has
    :data:`ITEMS` items. A type within itself is left out."""
    return _make_message(contract, contract.message_by_name[message], ())


def _make_message(contract: Contract, message: Message, outer: tuple[str, ...]) -> Value:
    taken: set[str] = set()
    within = (*outer, message.name)
    value: Value = {}
    for field in message.fields:
        if field.oneof in taken or (field.kind is Kind.MESSAGE and field.type_name in within):
            continue
        if field.oneof:
            taken.add(field.oneof)
        one = _make_one(contract, field, within)
        if field.label is Label.MAP:
            value[field.name] = {_make_key(field, at): one for at in range(_count(field))}
        else:
            value[field.name] = [one] * ITEMS if field.label is Label.REPEATED else one
    return value


def _count(field: Field) -> int:
    return 2 if field.map_key is Kind.BOOL else ITEMS


def _make_key(field: Field, at: int) -> object:
    if field.map_key is Kind.STRING:
        return f"key {at + 1}"
    return bool(at) if field.map_key is Kind.BOOL else at + 1


def _make_one(contract: Contract, field: Field, outer: tuple[str, ...]) -> object:
    if field.kind is Kind.MESSAGE:
        return _make_message(contract, contract.message_by_name[field.type_name], outer)
    if field.kind is Kind.ENUM:
        return contract.enum_by_name[field.type_name].values[-1][1]
    if field.kind in INTEGERS:
        return NUMBER
    if field.kind in FLOATS:
        return NUMBER + 0.5
    plain: dict[Kind, object] = {
        Kind.BOOL: True,
        Kind.STRING: TEXT,
        Kind.BYTES: TEXT.encode(),
        Kind.TIMESTAMP: MOMENT,
        Kind.DURATION: DURATION,
    }
    return plain[field.kind]
