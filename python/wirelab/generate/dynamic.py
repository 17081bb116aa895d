"""The service of a contract on machines without a compiler: wirelab's own service in Rust reads the
contract's descriptors when it starts."""

from __future__ import annotations

from pathlib import Path

from wirelab.contracts.schema import Contract
from wirelab.generate.project import Project

STACKS = (
    ("rest", "json"),
    ("rest", "protobuf"),
    ("rest", "cbor"),
    ("rest", "msgpack"),
    ("grpc", "protobuf"),
)
"""Bindings and codecs that it serves. XML and SOAP need types that are generated, and Avro is read
and written by a schema, not by descriptors."""
DESCRIPTORS = "contract.binpb"
"""A FileDescriptorSet."""


def write_project(
    contract: Contract, proto: str, descriptors: bytes, folder: Path, program: Path
) -> Project:
    """Writes what the program reads into the folder. ``proto`` is the contract's .proto, for the
    reader of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    (folder / DESCRIPTORS).write_bytes(_rename_fields(descriptors))
    (folder / "service.proto").write_text(proto, encoding="utf-8")
    return Project(
        language="rust",
        folder=folder,
        build=(),
        start=(str(program), "contract", str(folder / DESCRIPTORS), contract.grpc_path),
        build_seconds=0.0,
        libraries={},
        is_dynamic=True,
    )


def _rename_fields(descriptors: bytes) -> bytes:
    """With names of fields that cannot be too alike: prost-reflect refuses two that are the same in
    camel case. No format has the names; JSON has ``json_name``."""
    from google.protobuf import descriptor_pb2

    files = descriptor_pb2.FileDescriptorSet.FromString(descriptors)
    for message in files.file[-1].message_type:
        for field in message.field:
            field.name = f"f{field.number}"
        for number, oneof in enumerate(message.oneof_decl):
            oneof.name = f"o{number}"
    return bytes(files.SerializeToString(deterministic=True))
