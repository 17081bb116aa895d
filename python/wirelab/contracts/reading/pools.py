"""Descriptors of google.protobuf from a FileDescriptorSet that a user gave."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.message import DecodeError

from wirelab.errors import UsageError

BYTES_MAX = 64 * 1024 * 1024
_WELL_KNOWN = "google/protobuf/"
_OF_OTHERS = ("google.protobuf", "google.api", "grpc.reflection", "grpc.health", "grpc.channelz")
"""Packages whose services and messages are not the user's."""
_REMEDY = "give a descriptor set with its imports, as protoc --include_imports writes it"


@dataclass(frozen=True)
class Files:
    """Services and top-level messages, in the order of the files, as descriptors."""

    services: tuple[Any, ...]
    messages: tuple[Any, ...]


def make_pool(descriptors: bytes) -> Files:
    """Raises :class:`UsageError`."""
    if len(descriptors) > BYTES_MAX:
        raise UsageError(f"the descriptor set has more than {BYTES_MAX:,} B", "give a smaller one")
    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(descriptors)
    except DecodeError as error:
        raise UsageError(f"not a descriptor set: {error}", _REMEDY) from None
    known = {file.name: file for file in files.file}
    pool = descriptor_pool.DescriptorPool()
    for name in _order(known):
        try:
            pool.Add(known[name])
        except (TypeError, ValueError) as error:
            raise UsageError(f"{name}: {error!s:.300}", _REMEDY) from None
    made = [pool.FindFileByName(file.name) for file in files.file]
    own = [file for file in made if not file.package.startswith(_OF_OTHERS)]
    return Files(
        tuple(one for file in own for one in file.services_by_name.values()),
        tuple(one for file in own for one in file.message_types_by_name.values()),
    )


def _order(known: dict[str, Any]) -> list[str]:
    """Each file after those that it imports; adds the well-known files that are missing."""
    graph: dict[str, list[str]] = {}
    waiting = list(known)
    while waiting:
        name = waiting.pop()
        if name in graph:
            continue
        if name not in known:
            known[name] = _load(name)
        graph[name] = list(known[name].dependency)
        waiting += graph[name]
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise UsageError(f"files import each other: {', '.join(error.args[1])}") from None


def _load(name: str) -> Any:
    stem = name.removeprefix(_WELL_KNOWN).removesuffix(".proto")
    if name != f"{_WELL_KNOWN}{stem}.proto" or not stem.isidentifier():
        raise UsageError(f"the descriptor set imports {name}, which it does not have", _REMEDY)
    try:
        module = importlib.import_module(f"google.protobuf.{stem}_pb2")
    except ImportError:
        raise UsageError(f"there is no file {name}", _REMEDY) from None
    file = descriptor_pb2.FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(file)
    return file
