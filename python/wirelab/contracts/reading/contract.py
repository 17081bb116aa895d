"""A contract of one method or message of a descriptor set.

The chosen method's request and reply become the contract's messages, with all types that they
need. Where a message was in another file, package or message, only its name changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf import json_format, message_factory

from wirelab.contracts import documents
from wirelab.contracts.codecs import Codec, decode, encode
from wirelab.contracts.names import Names, camel_case, snake_case
from wirelab.contracts.reading.flattening import Flattening
from wirelab.contracts.reading.pools import make_pool
from wirelab.contracts.schema import Contract
from wirelab.contracts.source import Source
from wirelab.contracts.validation import check_contract
from wirelab.contracts.values import Value, clamp
from wirelab.errors import UsageError

_LISTED_MAX = 20
"""Methods or messages that a remedy names."""


@dataclass(frozen=True)
class _Chosen:
    """What the contract is made of: descriptors of google.protobuf."""

    package: str
    service: str
    method: str
    request: Any
    reply: Any


def from_descriptors(
    descriptors: bytes,
    chosen: str = "",
    *,
    requests: Sequence[str | bytes] = (),
    replies: Sequence[str | bytes] = (),
) -> Source:
    """A contract of one method (``package.Service/Method``, or the method's name) or message of a
    FileDescriptorSet with its imports. ``chosen`` may be empty where there is only one.

    Samples are in the JSON of Protocol Buffers. A recursive type is as deep as in the samples.
    Raises :class:`UsageError` with the path of what a contract cannot have.
    """
    files = make_pool(descriptors)
    found = _choose(files.services, files.messages, chosen)
    parsed = [_parse(text, found.request) for text in requests]
    parsed_replies = [_parse(text, found.reply) for text in replies]
    if not replies and found.request is found.reply:
        parsed_replies = parsed
    flat = Flattening((found.request, found.reply), [parsed, parsed_replies], found.service)
    package = found.package
    if not package:
        package = f"wirelab.{snake_case(found.service)}.v1"
        flat.notes.append(f"{found.service} has no package, so {package} is taken")
    request, reply = flat.roots
    contract = Contract(
        *(package, found.service, found.method, request, reply),
        *(tuple(flat.messages), tuple(flat.enums)),
    )
    check_contract(contract)
    values = tuple(_convert(contract, request, one) for one in parsed)
    answers = tuple(_convert(contract, reply, one) for one in parsed_replies)
    return Source(
        *(contract, values, tuple(clamp(contract, reply, one) for one in answers)),
        notes=tuple(flat.notes),
    )


def list_methods(descriptors: bytes) -> tuple[str, ...]:
    """Methods with one request and one reply, as ``package.Service/Method``."""
    return tuple(
        _path(method)
        for method in _methods(make_pool(descriptors).services)
        if not (method.client_streaming or method.server_streaming)
    )


def _methods(services: Sequence[Any]) -> Iterator[Any]:
    for service in services:
        yield from service.methods


def _path(method: Any) -> str:
    return f"{method.containing_service.full_name}/{method.name}"


def _choose(services: Sequence[Any], messages: Sequence[Any], chosen: str) -> _Chosen:
    methods = list(_methods(services))
    if chosen:
        wanted = chosen.lstrip("/")
        found = [one for one in methods if wanted in _names_of(one)]
        fitting = [one for one in messages if wanted in (one.full_name, one.name)]
    else:
        found = [m for m in methods if not (m.client_streaming or m.server_streaming)]
        fitting = [] if methods else _outermost(messages)
        if not found and len(methods) == 1:
            found = methods
    if len(found) == 1:
        return _take_method(found[0])
    if not found and len(fitting) == 1:
        return _take_message(fitting[0])
    raise UsageError(
        f"the .proto has no method or message {chosen}"
        if chosen and not found and not fitting
        else f"which method or message? {'several fit' if chosen else 'none is named'}",
        _list_choices(found or methods, fitting or list(messages)),
    )


def _names_of(method: Any) -> tuple[str, ...]:
    service = method.containing_service
    return (
        *(method.name, method.full_name, _path(method)),
        *(f"{service.name}/{method.name}", f"{service.name}.{method.name}"),
    )


def _list_choices(methods: Sequence[Any], messages: Sequence[Any]) -> str:
    names = [_path(one) for one in methods] or [one.full_name for one in messages]
    rest = f" and {len(names) - _LISTED_MAX} more" if len(names) > _LISTED_MAX else ""
    return f"name one of {', '.join(names[:_LISTED_MAX])}{rest}" if names else "add a message"


def _outermost(messages: Sequence[Any]) -> list[Any]:
    """Messages that no other message has."""
    used = {
        field.message_type.full_name
        for message in messages
        for field in message.fields
        if field.message_type is not None and field.message_type is not message
    }
    return [one for one in messages if one.full_name not in used]


def _take_method(method: Any) -> _Chosen:
    service = method.containing_service
    if method.client_streaming or method.server_streaming:
        raise UsageError(
            f"{_path(method)}: it streams, and only one request with one reply is measured",
            "choose another method, or name its message",
        )
    return _Chosen(
        *(service.file.package, service.name, method.name, method.input_type, method.output_type)
    )


def _take_message(message: Any) -> _Chosen:
    service = Names([message.name]).take(f"{camel_case(message.name)}Service")
    return _Chosen(message.file.package, service, "Call", message, message)


def _parse(text: str | bytes, descriptor: Any) -> Any:
    document = documents.parse(text, descriptor.name)
    if not isinstance(document, dict):
        raise UsageError(f"{descriptor.name}: the sample is not an object", "correct the sample")
    made = message_factory.GetMessageClass(descriptor)()
    try:
        json_format.ParseDict(document, made)
    except json_format.ParseError as error:
        raise UsageError(f"{descriptor.name}: {error!s:.500}", "correct the sample") from None
    return made


def _convert(contract: Contract, message: str, made: Any) -> Value:
    value = decode(contract, message, made.SerializeToString(), Codec.PROTOBUF)
    # Both refuse what some format cannot represent: infinity, unnamed enum values, NUL.
    encode(contract, message, value, Codec.JSON)
    encode(contract, message, value, Codec.XML)
    return value
