"""What a generator leaves: a folder of sources that builds by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

STACKS = (
    ("rest", "json"),
    ("rest", "protobuf"),
    ("rest", "xml"),
    ("rest", "cbor"),
    ("rest", "msgpack"),
    ("rest", "avro"),
    ("soap", "soap-literal"),
    ("grpc", "protobuf"),
)
"""Bindings and codecs that every generated service serves."""


@dataclass(frozen=True)
class Project:
    """The sources of one generated service."""

    language: str
    folder: Path
    build: tuple[str, ...]
    """Command that builds it, run in the folder."""
    start: tuple[str, ...]
    """Program and first arguments that start it, with absolute paths."""
    build_seconds: float
    """Usual time of its first build on two quiet cores."""
    libraries: Mapping[str, str]
    """Version of each library on the path of a call, by name."""
    is_dynamic: bool = False
    """Whether the service walks descriptors in place of generated types, and is not built."""
