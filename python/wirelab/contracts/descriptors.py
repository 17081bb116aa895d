"""A contract as descriptors of Protocol Buffers, and the message types of google.protobuf."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf import duration_pb2 as duration
from google.protobuf import timestamp_pb2 as timestamp

from wirelab.contracts.names import entry_name
from wirelab.contracts.schema import Contract, Enum, Field, Kind, Label, Message

_FieldProto = descriptor_pb2.FieldDescriptorProto
_WELL_KNOWN = {
    Kind.TIMESTAMP: (".google.protobuf.Timestamp", timestamp.DESCRIPTOR),
    Kind.DURATION: (".google.protobuf.Duration", duration.DESCRIPTOR),
}


def file_name(contract: Contract) -> str:
    """Path of the contract's .proto: ``wirelab/order/v1/order.proto``."""
    return f"{contract.package.replace('.', '/')}/{contract.service.lower()}.proto"


def descriptor_set(contract: Contract) -> bytes:
    """A serialised FileDescriptorSet: the contract's file after the files that it imports."""
    files = descriptor_pb2.FileDescriptorSet()
    for _, known in _imports(contract):
        known.CopyToProto(files.file.add())
    files.file.append(file_descriptor(contract))
    return bytes(files.SerializeToString(deterministic=True))


def file_descriptor(contract: Contract) -> Any:
    """The contract's FileDescriptorProto, as protoc makes it of its .proto."""
    file = descriptor_pb2.FileDescriptorProto(
        name=file_name(contract), package=contract.package, syntax="proto3"
    )
    file.dependency.extend(known.name for _, known in _imports(contract))
    for message in contract.messages:
        _add_message(file.message_type.add(), contract, message)
    for enum in contract.enums:
        _add_enum(file.enum_type.add(), enum)
    service = file.service.add(name=contract.service)
    service.method.add(
        name=contract.method,
        input_type=f".{contract.package}.{contract.request}",
        output_type=f".{contract.package}.{contract.reply}",
    )
    return file


def _imports(contract: Contract) -> list[tuple[Kind, Any]]:
    kinds = {field.kind for message in contract.messages for field in message.fields}
    return [(kind, _WELL_KNOWN[kind][1]) for kind in sorted(kinds & _WELL_KNOWN.keys())]


def _add_enum(into: Any, enum: Enum) -> None:
    into.name = enum.name
    for name, number in enum.values:
        into.value.add(name=name, number=number)
    if len({number for _, number in enum.values}) < len(enum.values):
        into.options.allow_alias = True


def _add_message(into: Any, contract: Contract, message: Message) -> None:
    into.name = message.name
    oneofs = list(dict.fromkeys(field.oneof for field in message.fields if field.oneof))
    for name in oneofs:
        into.oneof_decl.add(name=name)
    for field in message.fields:
        _add_field(into, contract, message, field, oneofs)


def _add_field(
    into: Any, contract: Contract, message: Message, field: Field, oneofs: list[str]
) -> None:
    made = into.field.add(name=field.name, number=field.number, json_name=field.json_name)
    many = field.label in (Label.REPEATED, Label.MAP)
    made.label = _FieldProto.LABEL_REPEATED if many else _FieldProto.LABEL_OPTIONAL
    if field.label is Label.MAP:
        assert field.map_key is not None
        entry = into.nested_type.add(name=entry_name(field.name))
        entry.options.map_entry = True
        _set_type(entry.field.add(name="key", number=1, json_name="key"), contract, field.map_key)
        value = entry.field.add(name="value", number=2, json_name="value")
        _set_type(value, contract, field.kind, field.type_name)
        for part in entry.field:
            part.label = _FieldProto.LABEL_OPTIONAL
        made.type = _FieldProto.TYPE_MESSAGE
        made.type_name = f".{contract.package}.{message.name}.{entry.name}"
        return
    _set_type(made, contract, field.kind, field.type_name)
    if field.oneof:
        made.oneof_index = oneofs.index(field.oneof)
    elif field.label is Label.OPTIONAL:
        made.proto3_optional = True
        made.oneof_index = len(into.oneof_decl)
        into.oneof_decl.add(name=f"_{field.name}")


def _set_type(made: Any, contract: Contract, kind: Kind, type_name: str = "") -> None:
    if kind in _WELL_KNOWN:
        made.type = _FieldProto.TYPE_MESSAGE
        made.type_name = _WELL_KNOWN[kind][0]
        return
    made.type = _FieldProto.Type.Value(f"TYPE_{kind.upper()}")
    if kind in (Kind.MESSAGE, Kind.ENUM):
        made.type_name = f".{contract.package}.{type_name}"


@lru_cache(maxsize=8)
def message_types(contract: Contract) -> dict[str, type[Any]]:
    """Types of google.protobuf by the messages' names."""
    pool = descriptor_pool.DescriptorPool()
    files = descriptor_pb2.FileDescriptorSet.FromString(descriptor_set(contract))
    for file in files.file:
        pool.Add(file)
    return {
        message.name: message_factory.GetMessageClass(
            pool.FindMessageTypeByName(f"{contract.package}.{message.name}")
        )
        for message in contract.messages
    }
