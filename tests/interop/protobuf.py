"""Google's protobuf for Python, with the committed .proto files: no generated code."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

from tests.interop.golden import CONTRACTS

Json = dict[str, Any]
NAMES = ("transfer", "charging", "calendar")


@cache
def _classes() -> dict[str, Any]:
    """Full name of a message -> its class; protoc is the one of grpcio-tools."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "contracts.pb"
        command = [sys.executable, "-W", "ignore", "-m", "grpc_tools.protoc", f"-I{CONTRACTS}"]
        sources = [f"{name}.proto" for name in NAMES]
        subprocess.run([*command, f"--descriptor_set_out={out}", *sources], check=True)
        files = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return dict(message_factory.GetMessageClassesForFiles([f.name for f in files.file], pool))


def encode(contract: str, message: str, value: Json) -> bytes:
    """The message in the JSON mapping as protobuf."""
    made = json_format.ParseDict(value, _classes()[f"wirelab.{contract}.v1.{message}"]())
    return bytes(made.SerializeToString())


def decode(contract: str, message: str, data: bytes) -> Json:
    """The reverse, every field written."""
    read = _classes()[f"wirelab.{contract}.v1.{message}"].FromString(data)
    value = json_format.MessageToDict(
        read, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return dict(_numbers(value, read.DESCRIPTOR))


def _numbers(value: Json, descriptor: Any) -> Json:
    """Google's JSON mapping writes 64-bit integers as strings, ours as numbers."""
    for field in descriptor.fields:
        if field.message_type is not None:
            for item in value[field.name] if field.is_repeated else [value[field.name]]:
                _numbers(item, field.message_type)
        elif field.cpp_type == field.CPPTYPE_INT64:
            value[field.name] = json.loads(value[field.name])
    return value


def encode_bytes(contract: str, message: str, field: str, data: bytes) -> bytes:
    """A message of one field of bytes, without the detour through base64."""
    made = _classes()[f"wirelab.{contract}.v1.{message}"](**{field: data})
    return bytes(made.SerializeToString())


def decode_bytes(contract: str, message: str, field: str, encoded: bytes) -> bytes:
    """The reverse."""
    return bytes(getattr(_classes()[f"wirelab.{contract}.v1.{message}"].FromString(encoded), field))


def descriptor(contract: str, message: str) -> Any:
    """Google's descriptor of a message, for its fields in the order of their numbers."""
    return _classes()[f"wirelab.{contract}.v1.{message}"].DESCRIPTOR
