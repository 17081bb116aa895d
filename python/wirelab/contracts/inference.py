"""A contract inferred from JSON samples of a message.

Integers become int64, other numbers double, null and missing members optional fields. What a
contract cannot represent is refused with its path, as in ``order.items[]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from wirelab.contracts import documents
from wirelab.contracts.codecs import Codec
from wirelab.contracts.codecs.tree import from_tree
from wirelab.contracts.names import Names, camel_case, snake_case
from wirelab.contracts.schema import Contract, Field, Kind, Label, Message
from wirelab.contracts.source import Source
from wirelab.contracts.validation import FIELDS_MAX, check_contract, refuse_fields
from wirelab.contracts.values import clamp, complete
from wirelab.errors import UsageError

_KINDS = {
    bool: "a boolean", int: "an integer", float: "a number", str: "a text", dict: "an object",
    list: "a list",
}  # fmt: skip
_SCALARS = {bool: Kind.BOOL, int: Kind.INT64, float: Kind.DOUBLE, str: Kind.STRING}
_TWO_TYPES = "give it one type in all samples"
_EXACT_MAX = 2**53
"""Greatest integer below which a double represents all."""


@dataclass
class _Shape:
    """What was seen at one place of the samples."""

    path: str
    types: set[type] = field(default_factory=set)
    seen: int = 0
    """Values, null included."""
    nulls: int = 0
    objects: int = 0
    least: int = 0
    greatest: int = 0
    members: dict[str, _Shape] = field(default_factory=dict)
    items: _Shape | None = None


def infer(
    requests: Sequence[str | bytes], name: str, replies: Sequence[str | bytes] = ()
) -> Source:
    """A contract that all samples of the request and of the reply fit. The reply is like the
    request where it has no sample. Raises :class:`UsageError` with the path of what does not fit,
    and a remedy."""
    stem = snake_case(name)
    parsed = [documents.parse(text, stem) for text in requests]
    parsed_replies = [documents.parse(text, f"{stem}_reply") for text in replies]
    making = _Making()
    root = making.names.take(camel_case(name))
    service = making.names.take(f"{root}Service")
    reply = making.names.take(f"{root}Reply") if replies else root
    making.add_root(root, stem, parsed)
    if replies:
        making.add_root(reply, f"{stem}_reply", parsed_replies)
    messages = _order(making.messages, [root, reply])
    contract = Contract(f"wirelab.{stem}.v1", service, "Call", root, reply, messages)
    check_contract(contract)
    return Source(
        contract,
        _values(contract, root, parsed),
        tuple(
            clamp(contract, reply, one)
            for one in _values(contract, reply, parsed_replies or parsed)
        ),
        tuple(making.notes),
    )


def _values(contract: Contract, message: str, parsed: list[Any]) -> tuple[dict[str, Any], ...]:
    read = (from_tree(contract, message, one, Codec.JSON) for one in parsed)
    return tuple(complete(contract, message, one) for one in read)


def _order(messages: dict[str, Message], roots: list[str]) -> tuple[Message, ...]:
    """Each message before those of its fields."""
    done: dict[str, Message] = {}
    waiting = roots[::-1]
    while waiting:
        name = waiting.pop()
        if name not in done:
            done[name] = messages[name]
            inner = [one.type_name for one in messages[name].fields if one.type_name]
            waiting += reversed(inner)
    return tuple(done.values())


class _Making:
    """The messages of a contract, while they are made."""

    def __init__(self) -> None:
        self.names = Names()
        self.messages: dict[str, Message] = {}
        self._shared: dict[tuple[str, tuple[Field, ...]], str] = {}
        self.notes: list[str] = []
        self._fields = 0

    def add_root(self, message: str, path: str, samples: list[Any]) -> None:
        """The message of a request or a reply."""
        if not samples:
            raise UsageError(f"{path}: there is no sample", "give a JSON document")
        shape = _Shape(path)
        for sample in samples:
            if not isinstance(sample, dict):
                raise UsageError(
                    f"{path}: the document is not an object but {_describe(type(sample))}",
                    'put it into an object: {"items": …}',
                )
            self._look(shape, sample)
        self.messages[message] = Message(message, self._make_fields(shape))

    def _look(self, shape: _Shape, value: Any) -> None:
        shape.seen += 1
        if value is None:
            shape.nulls += 1
            return
        shape.types.add(type(value))
        if isinstance(value, dict):
            shape.objects += 1
            for key, one in value.items():
                if key not in shape.members:
                    self._fields += 1
                    if self._fields > FIELDS_MAX:
                        refuse_fields(shape.path)
                    shape.members[key] = _Shape(documents.add_key(shape.path, key))
                self._look(shape.members[key], one)
        elif isinstance(value, list):
            shape.items = shape.items or _Shape(f"{shape.path}[]")
            for one in value:
                self._look(shape.items, one)
        elif isinstance(value, int) and not isinstance(value, bool):
            shape.least, shape.greatest = min(shape.least, value), max(shape.greatest, value)

    def _take_message(self, key: str, shape: _Shape) -> str:
        """Name of the message; places with the same key and the same fields share it."""
        fields = self._make_fields(shape)
        base = camel_case(key)
        if (base, fields) not in self._shared:
            name = self._shared[base, fields] = self.names.take(base)
            self.messages[name] = Message(name, fields)
        return self._shared[base, fields]

    def _make_fields(self, shape: _Shape) -> tuple[Field, ...]:
        names = Names(json_names=shape.members)
        return tuple(
            self._make_field(key, number, member, names, is_always=member.seen == shape.objects)
            for number, (key, member) in enumerate(shape.members.items(), start=1)
        )

    def _make_field(
        self, key: str, number: int, shape: _Shape, names: Names, *, is_always: bool
    ) -> Field:
        is_list = list in shape.types
        if is_list and len(shape.types) > 1:
            _refuse_mixture(shape)
        if is_list:
            assert shape.items is not None
            kind, type_name = self._make_item(key, shape.items)
            label = Label.REPEATED
            if shape.nulls or not is_always:
                self.notes.append(f"{shape.path}: a missing list is taken as an empty one")
        else:
            kind, type_name = self._make_kind(key, shape)
            is_single = kind is Kind.MESSAGE or (is_always and not shape.nulls)
            label = Label.SINGLE if is_single else Label.OPTIONAL
        return Field(names.take(snake_case(key), key), key, number, kind, label, type_name)

    def _make_item(self, key: str, items: _Shape) -> tuple[Kind, str]:
        if items.nulls:
            raise UsageError(
                f"{items.path}: the list has a null, which lists of Protocol Buffers cannot have",
                "leave it out, or put each item into an object",
            )
        if list in items.types:
            raise UsageError(
                f"{items.path}: the list has lists, which Protocol Buffers do not have",
                'put each inner list into an object: {"values": […]}',
            )
        if not items.types:
            self.notes.append(f"{items.path}: always empty, taken as a list of texts")
            return Kind.STRING, ""
        return self._make_kind(key, items)

    def _make_kind(self, key: str, shape: _Shape) -> tuple[Kind, str]:
        if not shape.types:
            self.notes.append(f"{shape.path}: always null, taken as an optional text")
            return Kind.STRING, ""
        if shape.types == {int, float}:
            if max(shape.greatest, -shape.least) > _EXACT_MAX:
                raise UsageError(
                    f"{shape.path}: numbers with a fraction, and integers beyond 2^53, which a "
                    "double rounds",
                    "write all of them as integers, or all as texts",
                )
            return Kind.DOUBLE, ""
        if len(shape.types) > 1:
            _refuse_mixture(shape)
        [only] = shape.types
        if only is dict:
            return Kind.MESSAGE, self._take_message(key, shape)
        if only is int and shape.greatest >= 2**63:
            if shape.least < 0:
                raise UsageError(
                    f"{shape.path}: negative integers, and integers of 2^63 and more", _TWO_TYPES
                )
            return Kind.UINT64, ""
        return _SCALARS[only], ""


def _refuse_mixture(shape: _Shape) -> None:
    kinds = sorted(_KINDS[one] for one in shape.types)
    where = "the list has different types" if shape.path.endswith("[]") else "different types"
    raise UsageError(f"{shape.path}: {where}: {' and '.join(kinds)}", _TWO_TYPES)


def _describe(found: type) -> str:
    return _KINDS.get(found, "null")
