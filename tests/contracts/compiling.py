"""protoc of grpcio-tools: descriptor sets of .proto files."""

from __future__ import annotations

from pathlib import Path

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
