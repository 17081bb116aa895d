"""The user's message, read from a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from wirelab.choose.samples import Sample, scale
from wirelab.contracts import inference
from wirelab.contracts.examples import make_example
from wirelab.contracts.proto_text import write_proto
from wirelab.contracts.reading import from_descriptors
from wirelab.contracts.source import Source
from wirelab.contracts.values import clamp
from wirelab.errors import UsageError
from wirelab.format.untrusted import read_bounded
from wirelab.imports import reading
from wirelab.imports.grpc import read_descriptors
from wirelab.imports.operation import NAMES_MAX, Operation

BYTES_MAX = 16 * 1024 * 1024
"""Of a document."""


@dataclass(frozen=True)
class Message:
    """Where the message is, as the user says it."""

    source: str
    kind: str | None = None
    """One of :data:`KINDS`; None: a JSON document or a .proto."""
    only: str | None = None
    """Shell pattern of the request of a document with several."""
    reply: Path | None = None
    more: tuple[Path, ...] = ()
    """Further samples of the request."""
    scale: int = 1
    """How many times the items of lists are repeated."""


PROTO = (".proto", ".binpb")
"""Endings of files that describe messages of Protocol Buffers."""
KINDS = ("openapi", "har", "postman", "curl")


def read_sample(message: Message) -> Sample:
    """The contract of a message, and a sample of its request and reply. Raises
    :class:`UsageError`."""
    replies = [] if message.reply is None else [_read(message.reply)]
    more = [_read(file) for file in message.more]
    file = Path(message.source)
    if message.kind is None and file.suffix in PROTO:
        descriptors = read_descriptors(message.source)
        found = from_descriptors(descriptors, message.only or "", requests=more, replies=replies)
        return _sample(found, f"Taken from {file.name}.", message.scale)
    if message.kind is not None:
        name, first = _import_request(message.kind, message.source, message.only)
    elif message.only is not None:
        raise UsageError("--only goes with --from or a .proto", "leave it out")
    else:
        name, first = file.stem, _read(file)
    found = inference.infer([first, *more], name, replies)
    return _sample(found, f"Inferred from {file.name}; edit it and give it again.", message.scale)


def _import_request(kind: str, source: str, only: str | None) -> tuple[str, bytes]:
    """Name and JSON content of the one request of a document. Raises :class:`UsageError`."""
    imported = reading.read(kind, source, (), only, reading.Allowed(False, False)).choose(only)
    found = {one.name: content for one in imported.operations if (content := _json_content(one))}
    if len(found) == 1:
        return next(iter(found.items()))
    if not found:
        problem = f"{imported.source}: no request has a JSON body"
        raise UsageError(problem, "give a JSON document of the message itself")
    names = ", ".join(list(found)[:NAMES_MAX])
    raise UsageError(
        f"{imported.source}: {len(found)} requests have a JSON body: {names}",
        "choose one with --only NAME",
    )


def _json_content(operation: Operation) -> bytes | None:
    """The body of a request, where it is a JSON object."""
    request = operation.request
    content: object = request.get("json")
    if content is None:
        try:
            content = json.loads(str(request.get("body", "")))
        except ValueError:
            return None
    return json.dumps(content).encode() if isinstance(content, dict) and content else None


def _sample(found: Source, origin: str, factor: int) -> Sample:
    contract = found.contract
    request, reply = (
        samples[0] if samples else clamp(contract, name, make_example(contract, name))
        for name, samples in ((contract.request, found.requests), (contract.reply, found.replies))
    )
    text = write_proto(contract, "\n".join([origin, *found.notes]))
    sample = Sample(contract, text, request, reply)
    return sample if factor == 1 else scale(sample, factor)


def _read(file: Path) -> bytes:
    try:
        return read_bounded(file, BYTES_MAX)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}", "name a file that can be read") from error
    except ValueError as error:
        raise UsageError(f"{file}: {error}", "give a document of at most 16 MiB") from error
