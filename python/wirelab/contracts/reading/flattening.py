"""The types that a method needs, without nesting and without recursion."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from google.protobuf import descriptor_pb2

from wirelab.contracts.documents import DEPTH_MAX
from wirelab.contracts.names import Names, camel_case, snake_case
from wirelab.contracts.reading.recursion import find_components, is_map, measure_depths
from wirelab.contracts.schema import Enum, Field, Kind, Label, Message
from wirelab.contracts.validation import FIELDS_MAX, refuse_fields
from wirelab.errors import UsageError

_FieldProto = descriptor_pb2.FieldDescriptorProto
_KNOWN = {
    "google.protobuf.Timestamp": Kind.TIMESTAMP,
    "google.protobuf.Duration": Kind.DURATION,
}
_ANY = "google.protobuf.Any"
_JSON_OF_ITS_OWN = frozenset(
    f"google.protobuf.{name}"
    for name in (
        *("DoubleValue", "FloatValue", "Int64Value", "UInt64Value", "Int32Value", "UInt32Value"),
        *("BoolValue", "StringValue", "BytesValue", "Struct", "Value", "ListValue", "FieldMask"),
    )
)
"""Messages that Protocol Buffers write otherwise in JSON."""
_FIELD_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_TYPE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_KIND_NAMES = frozenset(map(str, Kind))

_Counts = Mapping[str, int]
"""How often each type of a circle is on the way from the root, by full name."""


class Flattening:
    """Makes the contract's types of descriptors. Raises :class:`UsageError` with a path."""

    def __init__(
        self, roots: Sequence[Any], samples: Sequence[Sequence[Any]], service: str
    ) -> None:
        """``samples`` of each root are messages of google.protobuf; ``service`` is a name that is
        taken."""
        self.messages: list[Message] = []
        self.enums: list[Enum] = []
        self.notes: list[str] = []
        self._names = Names([service])
        self._symbols = {service}
        self._components = find_components(roots)
        self._depths = measure_depths([one for of_root in samples for one in of_root])
        self._made: dict[tuple[str, frozenset[tuple[str, int]]], str] = {}
        self._heights: dict[str, int] = {}
        self._enum_names: dict[str, str] = {}
        self._enum_types: list[tuple[Any, str]] = []
        self._fields = 0
        self.roots: list[str] = []
        for root, of_root in zip(roots, samples, strict=True):
            self._is_sampled = bool(of_root)
            _refuse_any(root, root.name)
            self.roots.append(self._add(root, {}, root.name, 1))
        for descriptor, name in self._enum_types:
            self.enums.append(self._make_enum(descriptor, name))

    def _add(self, descriptor: Any, counts: _Counts, path: str, depth: int) -> str:
        """Name of the message's type, which is made where it is new."""
        if depth > DEPTH_MAX:
            _refuse_depth(path)
        component = self._components.get(descriptor.full_name)
        here = {name: n for name, n in counts.items() if self._components.get(name) == component}
        if component is None:
            here = {}
        else:
            here[descriptor.full_name] = here.get(descriptor.full_name, 0) + 1
        key = (descriptor.full_name, frozenset(here.items()))
        if key in self._made:
            if depth + self._heights[self._made[key]] - 1 > DEPTH_MAX:
                _refuse_depth(path)
            return self._made[key]
        name = self._made[key] = self._take_type_name(descriptor)
        if descriptor.full_name in _JSON_OF_ITS_OWN:
            self.notes.append(f"{path}: {descriptor.full_name} is an ordinary object in JSON here")
        at = len(self.messages)
        self.messages.append(Message(name, ()))
        protos = _list_protos(descriptor)
        names = Names(json_names=[proto.json_name for proto in protos.values()])
        fields, oneofs = [], dict[str, str]()
        self._heights[name] = 1
        for field in sorted(descriptor.fields, key=lambda one: one.number):
            proto = protos[field.number]
            made = self._make_field(field, proto, here, f"{path}.{field.name}", depth, names)
            if made is not None:
                fields.append((field, made))
                height = self._heights.get(made.type_name, 0)
                self._heights[name] = max(self._heights[name], 1 + height)
        self.messages[at] = Message(
            name, tuple(_with_oneof(field, made, names, oneofs) for field, made in fields)
        )
        return name

    def _take_type_name(self, descriptor: Any) -> str:
        prefix = f"{descriptor.file.package}." if descriptor.file.package else ""
        name = descriptor.full_name.removeprefix(prefix).replace(".", "_")
        if not _TYPE_NAME.fullmatch(name) or name in _KIND_NAMES:
            name = camel_case(name)
        taken = self._names.take(name)
        self._symbols.add(taken)
        return taken

    def _make_field(
        self, field: Any, proto: Any, counts: _Counts, path: str, depth: int, names: Names
    ) -> Field | None:
        """None where the recursion ends, and for an Any that no sample has."""
        self._fields += 1
        if self._fields > FIELDS_MAX:
            refuse_fields(path)
        value, map_key = field, None
        if is_map(field):
            value = field.message_type.fields_by_name["value"]
            map_key = _scalar_kind(field.message_type.fields_by_name["key"], path)
        if value.message_type is not None and value.message_type.full_name == _ANY:
            if not self._is_sampled or _ANY in self._depths:
                _refuse_any(value.message_type, path)
            self.notes.append(f"{path}: left out: it is a {_ANY}, and no sample has it")
            return None
        if self._is_too_deep(value, counts):
            self.notes.append(f"{path}: left out: its type is recursive, and no sample is deeper")
            return None
        kind, type_name = self._make_type(value, counts, path, depth)
        label = Label.MAP if map_key is not None else _label(field, proto, kind)
        name = field.name if _FIELD_NAME.fullmatch(field.name) else snake_case(field.name)
        json_name = proto.json_name or field.json_name
        name = names.take(name, json_name)
        return Field(name, json_name, field.number, kind, label, type_name, map_key)

    def _is_too_deep(self, value: Any, counts: _Counts) -> bool:
        if value.message_type is None:
            return False
        name = value.message_type.full_name
        return counts.get(name, 0) >= max(self._depths.get(name, 1), 1)

    def _make_type(self, value: Any, counts: _Counts, path: str, depth: int) -> tuple[Kind, str]:
        if value.enum_type is not None:
            return Kind.ENUM, self._take_enum(value.enum_type)
        if value.message_type is None:
            return _scalar_kind(value, path), ""
        if value.type == _FieldProto.TYPE_GROUP:
            raise UsageError(
                f"{path}: it is a group, which proto3 does not have", "make it a message"
            )
        known = _KNOWN.get(value.message_type.full_name)
        if known is not None:
            return known, ""
        return Kind.MESSAGE, self._add(value.message_type, counts, path, depth + 1)

    def _take_enum(self, descriptor: Any) -> str:
        name = self._enum_names.get(descriptor.full_name)
        if name is None:
            name = self._enum_names[descriptor.full_name] = self._take_type_name(descriptor)
            self._enum_types.append((descriptor, name))
        return name

    def _make_enum(self, descriptor: Any, name: str) -> Enum:
        """With 0 first, and names that no other enum has, because they share a scope."""
        values = sorted(((one.name, one.number) for one in descriptor.values), key=_is_not_zero)
        if values[0][1] != 0:
            values.insert(0, (f"{snake_case(name).upper()}_UNSPECIFIED", 0))
            self.notes.append(f"{name}: it has no value 0, so {values[0][0]} is added")
        made = []
        for value, number in values:
            chosen, count = value, 1
            while chosen in self._symbols:
                chosen = f"{name}_{value}" if count == 1 else f"{name}_{value}_{count}"
                count += 1
            if chosen != value:
                self.notes.append(f"{name}.{value}: another type has the name, so it is {chosen}")
            self._symbols.add(chosen)
            made.append((chosen, number))
        return Enum(name, tuple(made))


def _list_protos(descriptor: Any) -> dict[int, Any]:
    """FieldDescriptorProto of each field by its number."""
    proto = descriptor_pb2.DescriptorProto()
    descriptor.CopyToProto(proto)
    return {field.number: field for field in proto.field}


def _is_not_zero(value: tuple[str, int]) -> bool:
    return value[1] != 0


def _label(field: Any, proto: Any, kind: Kind) -> Label:
    if proto.label == _FieldProto.LABEL_REPEATED:
        return Label.REPEATED
    if proto.proto3_optional:
        return Label.OPTIONAL
    is_scalar = kind not in (Kind.MESSAGE, Kind.TIMESTAMP, Kind.DURATION)
    is_member = field.containing_oneof is not None
    is_required = proto.label == _FieldProto.LABEL_REQUIRED
    if is_scalar and field.has_presence and not is_member and not is_required:
        return Label.OPTIONAL
    return Label.SINGLE


def _with_oneof(field: Any, made: Field, names: Names, oneofs: dict[str, str]) -> Field:
    """Named after all fields are, because fields and oneofs share a scope."""
    oneof = field.containing_oneof
    if oneof is None or made.label is Label.OPTIONAL:
        return made
    if oneof.name not in oneofs:
        fits = _FIELD_NAME.fullmatch(oneof.name)
        oneofs[oneof.name] = names.take(oneof.name if fits else snake_case(oneof.name))
    return replace(made, oneof=oneofs[oneof.name])


def _scalar_kind(field: Any, path: str) -> Kind:
    name = _FieldProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    try:
        return Kind(name)
    except ValueError:
        raise UsageError(f"{path}: its type {name} is not supported", "change it") from None


def _refuse_any(descriptor: Any, path: str) -> None:
    if descriptor.full_name == _ANY:
        raise UsageError(
            f"{path}: it is a google.protobuf.Any, whose content the .proto does not define",
            "give a sample without it, or write the message that it carries in place of Any",
        )


def _refuse_depth(path: str) -> None:
    raise UsageError(
        f"{path}: more than {DEPTH_MAX} messages within each other", "flatten the message"
    )
