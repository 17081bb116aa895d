"""Recursion in message types: circles of types, and how deep samples are in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from google.protobuf.message import Message as ProtobufMessage


def find_components(roots: Sequence[Any]) -> dict[str, int]:
    """Number of the circle that a type belongs to, by full name; a type that does not contain
    itself is not in it. Kosaraju's algorithm (Sharir 1981), without recursion."""
    edges = _collect(roots)
    reverse: dict[str, list[str]] = {name: [] for name in edges}
    for name, inner in edges.items():
        for one in inner:
            reverse[one].append(name)
    number: dict[str, int] = {}
    for name in reversed(list(_postorder(edges))):
        if name not in number:
            _mark(name, reverse, number)
    members: dict[int, int] = {}
    for component in number.values():
        members[component] = members.get(component, 0) + 1
    return {
        name: component
        for name, component in number.items()
        if members[component] > 1 or name in edges[name]
    }


def _collect(roots: Sequence[Any]) -> dict[str, list[str]]:
    edges: dict[str, list[str]] = {}
    waiting = list(roots)
    while waiting:
        descriptor = waiting.pop()
        if descriptor.full_name not in edges:
            inner = list(list_types(descriptor))
            edges[descriptor.full_name] = [one.full_name for one in inner]
            waiting += inner
    return edges


def _postorder(edges: dict[str, list[str]]) -> Iterator[str]:
    seen = set[str]()
    for start in edges:
        if start in seen:
            continue
        seen.add(start)
        waiting = [(start, iter(edges[start]))]
        while waiting:
            name, inner = waiting[-1]
            following = next((one for one in inner if one not in seen), None)
            if following is None:
                waiting.pop()
                yield name
            else:
                seen.add(following)
                waiting.append((following, iter(edges[following])))


def _mark(start: str, reverse: dict[str, list[str]], number: dict[str, int]) -> None:
    component = len(number)
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in number:
            number[name] = component
            waiting += reverse[name]


def measure_depths(samples: Sequence[Any]) -> dict[str, int]:
    """How often each type occurs on one way into the samples at most, by full name."""
    most: dict[str, int] = {}
    waiting: list[tuple[Any, dict[str, int]]] = [(sample, {}) for sample in samples]
    while waiting:
        message, counts = waiting.pop()
        name = message.DESCRIPTOR.full_name
        counts = {**counts, name: counts.get(name, 0) + 1}
        most[name] = max(most.get(name, 0), counts[name])
        waiting += [(one, counts) for one in _inner(message)]
    return most


def _inner(message: Any) -> Iterator[Any]:
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if is_map(field):
            if field.message_type.fields_by_name["value"].message_type is not None:
                yield from (value[key] for key in value)
        elif isinstance(value, ProtobufMessage):
            yield value
        else:
            yield from value


def is_map(field: Any) -> bool:
    """Whether a field's descriptor is that of a map."""
    message = field.message_type
    return message is not None and bool(message.GetOptions().map_entry)


def list_types(descriptor: Any) -> Iterator[Any]:
    """Message types of a message's fields and of its maps' values."""
    for field in descriptor.fields:
        value = field.message_type.fields_by_name["value"] if is_map(field) else field
        if value.message_type is not None:
            yield value.message_type
