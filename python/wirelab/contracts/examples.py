"""Values for a contract of which its user gave no sample."""

from __future__ import annotations

from wirelab.contracts.schema import Contract, Field, Kind, Label, Message
from wirelab.contracts.values import FLOATS, INTEGERS, Value, has_presence

TEXT = "Hello, wirelab"
"""The text of the contract `transfer`."""
NUMBER = 1_234
MOMENT = (1_773_480_413, 0)
"""14 March 2026, 09:26:53 UTC."""
DURATION = (3, 500_000_000)
ITEMS = 3
"""Entries of each list and map."""


VALUES_MAX = 10_000
"""Fields that are set, with each item's own: types that have each other twice would double the
message at each level. Further lists, and fields that can be absent, are left out."""


def make_example(contract: Contract, message: str) -> Value:
    """A value in which every field is present, of a oneof the first, and every list has
    :data:`ITEMS` items. A type within itself is left out."""
    return _Making(contract).make(contract.message_by_name[message], (), 1)


class _Making:
    """An example, while it is made."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._left = VALUES_MAX

    def make(self, message: Message, outer: tuple[str, ...], times: int) -> Value:
        """A message that occurs that many times in the whole."""
        taken: set[str] = set()
        within = (*outer, message.name)
        value: Value = {}
        for field in message.fields:
            if field.oneof in taken or (field.kind is Kind.MESSAGE and field.type_name in within):
                continue
            can_be_absent = has_presence(field) or field.label in (Label.REPEATED, Label.MAP)
            if can_be_absent and self._left < times:
                continue
            if field.oneof:
                taken.add(field.oneof)
            value[field.name] = self._make_field(field, within, times)
        return value

    def _make_field(self, field: Field, outer: tuple[str, ...], times: int) -> object:
        many = field.label in (Label.REPEATED, Label.MAP)
        times *= ITEMS if many else 1
        self._left -= times
        one: object
        if field.kind is Kind.MESSAGE:
            one = self.make(self._contract.message_by_name[field.type_name], outer, times)
        else:
            one = _make_scalar(self._contract, field)
        if field.label is Label.MAP:
            return {_make_key(field, at): one for at in range(_count(field))}
        return [one] * ITEMS if field.label is Label.REPEATED else one


def _count(field: Field) -> int:
    return 2 if field.map_key is Kind.BOOL else ITEMS


def _make_key(field: Field, at: int) -> object:
    if field.map_key is Kind.STRING:
        return f"key {at + 1}"
    return bool(at) if field.map_key is Kind.BOOL else at + 1


def _make_scalar(contract: Contract, field: Field) -> object:
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
