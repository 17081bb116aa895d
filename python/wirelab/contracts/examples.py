"""A value for a contract whose user gave no sample."""

from __future__ import annotations

from typing import Any

from wirelab.contracts.schema import Contract, Field, Kind, Label
from wirelab.contracts.values import FLOATS, INTEGERS, MOMENTS, Value, complete, has_presence

ITEMS = 2
"""Of a list."""
VALUES_MAX = 10_000
"""Fields that are set; further messages and lists are left out."""


def make_example(contract: Contract, message: str) -> Value:
    """Every field is set: lists have two items, maps one entry, oneofs their first member."""
    return complete(contract, message, _Making(contract).make(message))


class _Making:
    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._left = VALUES_MAX

    def make(self, message: str) -> Value:
        done: Value = {}
        chosen = set[str]()
        for field in self._contract.message_by_name[message].fields:
            can_be_absent = has_presence(field) or field.label in (Label.REPEATED, Label.MAP)
            if field.oneof in chosen or (can_be_absent and self._left <= 0):
                continue
            if field.oneof:
                chosen.add(field.oneof)
            self._left -= 1
            done[field.name] = self._make_field(field)
        return done

    def _make_field(self, field: Field) -> Any:
        if field.map_key is not None:
            return {_scalar(field.map_key, field.name): self._make_one(field)}
        if field.label is Label.REPEATED:
            return [self._make_one(field) for _ in range(ITEMS)]
        return self._make_one(field)

    def _make_one(self, field: Field) -> Any:
        if field.kind is Kind.MESSAGE:
            return self.make(field.type_name)
        if field.kind is Kind.ENUM:
            values = self._contract.enum_by_name[field.type_name].values
            return values[min(1, len(values) - 1)][1]
        return _scalar(field.kind, field.name)


def _scalar(kind: Kind, name: str) -> Any:
    if kind is Kind.BOOL:
        return True
    if kind in INTEGERS:
        return 42
    if kind in FLOATS:
        return 42.5
    if kind in MOMENTS:
        return (1_700_000_000, 123_000_000) if kind is Kind.TIMESTAMP else (3, 500_000_000)
    return name if kind is Kind.STRING else name.encode()
