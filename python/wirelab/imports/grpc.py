"""Services of Protobuf: a .proto, a descriptor set, or a server with reflection. The engine reads
them; what it prints becomes operations here."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from wirelab.errors import EngineRefused, LabError, UsageError
from wirelab.imports.operation import Imported, LeftOut, Operation, slug
from wirelab.imports.proto_files import copy_files
from wirelab.process import engine_binary
from wirelab.stack import targets

DESCRIBE_S_MAX = 60.0
"""Seconds for the engine, which waits less for a server."""
OF_SERVERS = ("grpc.reflection.", "grpc.health.", "grpc.channelz.")
"""Services that servers have besides their own."""
SET_END = ".binpb"
"""Of the descriptor set of a server, as buf names them."""


class _Method(msgspec.Struct):
    name: str
    streams: bool
    example: Any
    left_out: list[str] = []
    """Full names of fields of the example without a value."""


class _Service(msgspec.Struct):
    name: str
    methods: list[_Method]


class _Description(msgspec.Struct):
    services: list[_Service]
    descriptor_set: str | None = None


class _Fault(msgspec.Struct):
    message: str
    remedy: str


class _Answer(msgspec.Struct):
    described: _Description | None = None
    error: _Fault | None = None


def read(source: str, include: tuple[str, ...], *, any_target: bool) -> Imported:
    """The methods with one request of a file or a server. Raises :class:`UsageError`."""
    if Path(source).exists() or re.search(r"\.(proto|binpb|pb|protoset|desc)$", source):
        return _of_file(source, include)
    return _of_server(source, any_target)


def read_descriptors(source: str, include: tuple[str, ...] = ()) -> bytes:
    """The FileDescriptorSet of a .proto (or descriptor set) and its imports. Raises
    :class:`UsageError`."""
    description = _describe_file(source, include, "--descriptors")
    if description.descriptor_set is None:
        raise EngineRefused(
            "`wirelab-engine describe --descriptors` printed no descriptor set",
            "are the engine and the front of one version? run `make setup`",
        )
    return base64.b64decode(description.descriptor_set)


def _describe_file(source: str, include: tuple[str, ...], *options: str) -> _Description:
    with tempfile.TemporaryDirectory(prefix="wirelab-import-") as folder:
        copies = copy_files(source, include, Path(folder))
        folders = [f"--import={one}" for one in copies.folders]
        try:
            return _describe([str(copies.file), *folders, *options])
        except UsageError as error:
            raise UsageError(copies.name_originals(error.message), error.remedy) from None


def _of_file(source: str, include: tuple[str, ...]) -> Imported:
    description = _describe_file(source, include)
    found, left_out = _operations(description, "")
    service: dict[str, Any] = {"proto": source}
    if include:
        service["include"] = list(include)
    return Imported(Path(source).stem, f"Protobuf, {source}", found, left_out, {"grpc": service})


def _of_server(source: str, any_target: bool) -> Imported:
    url = source if "://" in source else f"grpc://{source}"
    if urlsplit(url).scheme != "grpc":
        raise UsageError(
            f"{source}: reflection is asked for without TLS",
            "write HOST:PORT, or name a .proto or a descriptor set: wirelab import grpc FILE",
        )
    server = targets.parse(f"{url.rstrip('/')}/any.Service/Method")
    assert isinstance(server, targets.Server)  # it has ://
    if not server.local and not any_target:
        raise UsageError(f"{source} is not on this machine", "give --any-target to ask it")
    description = _describe([f"--reflect={server.address}"])
    found, left_out = _operations(description, f"grpc://{server.authority}")
    files = {SET_END: base64.b64decode(description.descriptor_set or "")}
    return Imported(
        found[0].request["grpc"].partition("/")[0].rpartition(".")[2] if found else source,
        f"reflection of {source}",
        *(found, left_out, {"grpc": {"proto": SET_END}}, files),
    )


def _describe(arguments: list[str]) -> _Description:
    command = [str(engine_binary.find()), "describe", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=DESCRIBE_S_MAX, check=False, env=dict(os.environ)
        )
    except subprocess.TimeoutExpired:
        raise LabError(f"the engine did not describe it in {DESCRIBE_S_MAX:.0f} s") from None
    try:
        answer = msgspec.json.decode(done.stdout, type=_Answer)
    except msgspec.MsgspecError as error:
        raise EngineRefused(
            f"`wirelab-engine describe` printed no answer: {error}",
            "are the engine and the front of one version? run `make setup`",
        ) from None
    if answer.described is not None:
        return answer.described
    fault = answer.error or _Fault("the engine gave no reason", "")
    raise UsageError(fault.message, fault.remedy)


def _operations(
    description: _Description, origin: str
) -> tuple[tuple[Operation, ...], tuple[LeftOut, ...]]:
    found, left_out = [], []
    for service in description.services:
        if service.name.startswith(OF_SERVERS):
            left_out.append(LeftOut(service.name, "it belongs to servers, not to this service"))
            continue
        for method in service.methods:
            path = f"{service.name}/{method.name}"
            if method.streams:
                left_out.append(LeftOut(path, "the client sends a stream, which is not measured"))
                continue
            request = {"grpc": path, "json": method.example}
            notes = tuple(f"field {name} has no value: write one" for name in method.left_out)
            found.append(Operation(slug(method.name), request, origin, notes))
    return tuple(found), tuple(left_out)
