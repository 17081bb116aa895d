"""What a compiler of Protocol Buffers sends to its plugins, made from descriptors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf import descriptor_pb2
from google.protobuf.compiler import plugin_pb2

from wirelab.contracts.names import entry_name, fold
from wirelab.contracts.schema import Contract

Rename = Callable[..., str]
"""(type) or (type, field or oneof) -> name in the descriptors."""


def make_request(contract: Contract, descriptors: bytes, rename: Rename, package: str) -> bytes:
    """A serialised CodeGeneratorRequest for the contract's file, for plugins of Go. Types, fields
    and values of enums get names that do not collide; names are not part of the bytes of a
    message."""
    files = descriptor_pb2.FileDescriptorSet.FromString(descriptors)
    request = plugin_pb2.CodeGeneratorRequest(proto_file=files.file)
    own = rename_file(request.proto_file, contract, rename)
    request.file_to_generate.append(own.name)
    request.parameter = f"paths=source_relative,M{own.name}={package}"
    return bytes(request.SerializeToString(deterministic=True))


def rename_file(files: Any, contract: Contract, rename: Rename) -> Any:
    """Renames in the contract's file, and returns its descriptor."""
    (own,) = (file for file in files if file.package == contract.package)
    own.ClearField("source_code_info")
    for message in own.message_type:
        _rename_message(message, contract, rename)
    _rename_enums(own.enum_type, rename)
    for method in own.service[0].method:
        method.input_type = _rename_type_path(method.input_type, contract, rename)
        method.output_type = _rename_type_path(method.output_type, contract, rename)
    return own


def _rename_type_path(path: str, contract: Contract, rename: Rename) -> str:
    """The path of a type; those of other packages stay."""
    prefix = f".{contract.package}."
    if not path.startswith(prefix):
        return path
    name, *entry = path.removeprefix(prefix).split(".")
    return prefix + ".".join([rename(name), *entry])


def _rename_type(field: Any, contract: Contract, rename: Rename) -> None:
    if field.type_name:
        field.type_name = _rename_type_path(field.type_name, contract, rename)


def _rename_message(message: Any, contract: Contract, rename: Rename) -> None:
    name = message.name
    message.name = rename(name)
    for field in message.field:
        original = field.name
        field.name = rename(name, original)
        field.ClearField("json_name")
        _rename_type(field, contract, rename)
        if field.proto3_optional:
            message.oneof_decl[field.oneof_index].name = f"_{field.name}"
    synthetic = {field.oneof_index for field in message.field if field.proto3_optional}
    for index, oneof in enumerate(message.oneof_decl):
        if index not in synthetic:
            oneof.name = rename(name, oneof.name)
    _rename_entries(message, contract, rename)


def _rename_entries(message: Any, contract: Contract, rename: Rename) -> None:
    """The entries of maps must be named after their fields."""
    for entry in message.nested_type:
        path = f".{contract.package}.{message.name}.{entry.name}"
        (field,) = (field for field in message.field if field.type_name == path)
        entry.name = entry_name(field.name)
        field.type_name = f".{contract.package}.{message.name}.{entry.name}"
        for part in entry.field:
            _rename_type(part, contract, rename)


def _rename_enums(enums: Any, rename: Rename) -> None:
    """Values get names of their own where protoc-gen-go's constants or protoc's rules collide."""
    values = [value for enum in enums for value in enum.value]
    folded = {fold(value.name) for value in values}
    collide = len(folded) < len(values) or bool(folded & {"name", "value"})
    for enum in enums:
        enum.name = rename(enum.name)
        prefix = fold(enum.name)
        short = {fold(value.name).removeprefix(prefix) for value in enum.value}
        if collide or len(short) < len(enum.value):
            for index, value in enumerate(enum.value):
                value.name = f"{enum.name}_V{index}"
