"""protoc of grpcio-tools: descriptor sets of .proto files, and their types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from grpc_tools import protoc

WELL_KNOWN = Path(protoc.__file__).parent / "_proto"


def compile_protos(folder: Path, texts: dict[str, str]) -> bytes:
    """The FileDescriptorSet with imports of the first file; all are written into the folder."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    out = folder / "set.binpb"
    options = [f"-I{folder}", f"-I{WELL_KNOWN}", "--include_imports", f"--descriptor_set_out={out}"]
    assert protoc.main(["protoc", *options, next(iter(texts))]) == 0, "protoc refuses the file"
    return out.read_bytes()


def message_types(described: bytes) -> dict[str, Any]:
    """Types of google.protobuf of all outermost messages in a descriptor set, by full name."""
    pool = descriptor_pool.DescriptorPool()
    files = descriptor_pb2.FileDescriptorSet.FromString(described).file
    for file in files:
        pool.Add(file)
    return {
        message.full_name: message_factory.GetMessageClass(message)
        for file in files
        for message in pool.FindFileByName(file.name).message_types_by_name.values()
    }
