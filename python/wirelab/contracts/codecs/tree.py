"""JSON, CBOR and MessagePack: one tree of maps with text keys, lists and scalars."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

from wirelab.contracts.codecs import moments, scalars
from wirelab.contracts.codecs.codec import Codec
from wirelab.contracts.schema import Contract, Field, Kind, Label
from wirelab.contracts.values import (
    FLOATS,
    INTEGERS,
    Value,
    complete,
    map_fields,
    round_to_float,
)
from wirelab.errors import UsageError

_DIGITS_OF_64_BITS = 21
_ABSENT = object()


def encode(contract: Contract, message: str, value: Value, codec: Codec) -> bytes:
    """Raises :class:`UsageError` with the field's path."""
    tree = to_tree(contract, message, complete(contract, message, value), codec)
    if codec is Codec.JSON:
        text = json.dumps(tree, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode()
    if codec is Codec.CBOR:
        import cbor2

        return cbor2.dumps(tree)
    import msgpack

    return bytes(msgpack.packb(tree))


def decode(contract: Contract, message: str, content: bytes, codec: Codec) -> Value:
    """Raises :class:`UsageError`."""
    try:
        tree = _parse(content, codec)
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        raise UsageError(f"{message}: not {codec}: {error!s:.200}") from None
    return complete(contract, message, from_tree(contract, message, tree, codec))


def _parse(content: bytes, codec: Codec) -> Any:
    if codec is Codec.JSON:
        return json.loads(content.decode())
    if codec is Codec.CBOR:
        import io

        import cbor2

        stream = io.BytesIO(content)
        try:
            tree = cbor2.load(stream)
        except cbor2.CBORError as error:
            raise ValueError(str(error)) from None
        if stream.tell() != len(content):
            raise ValueError("bytes after the message")
        return tree
    import msgpack

    return msgpack.unpackb(content, strict_map_key=True)


def to_tree(
    contract: Contract, message: str, value: Value, codec: Codec, path: str = ""
) -> dict[str, Any]:
    """Of a complete value, with keys in the order of the fields."""
    path = path or message

    def write_one(field: Field, one: Any) -> Any:
        here = f"{path}.{field.name}"
        if field.kind is Kind.MESSAGE:
            return to_tree(contract, field.type_name, one, codec, here)
        with scalars.FieldPath(here):
            return _write_scalar(contract, field, one, codec)

    done = map_fields(contract, message, value, write_one)
    return {
        field.json_name: _write_keys(field, done[field.name])
        for field in contract.message_by_name[message].fields
        if field.name in done
    }


def _write_keys(field: Field, value: Any) -> Any:
    """The value, with a map's keys as texts."""
    if field.map_key is None:
        return value
    return {scalars.write_key(field.map_key, key): one for key, one in value.items()}


def _write_scalar(contract: Contract, field: Field, value: Any, codec: Codec) -> Any:
    kind = field.kind
    if kind is Kind.BYTES:
        return base64.b64encode(value).decode("ascii") if codec is Codec.JSON else value
    if kind is Kind.ENUM:
        return scalars.enum_name(contract, field.type_name, value)
    if kind is Kind.TIMESTAMP:
        return moments.write_timestamp(value)
    if kind is Kind.DURATION:
        return moments.write_duration(value)
    if kind in INTEGERS:
        return scalars.check_integer(kind, value)
    if codec is Codec.JSON and kind in FLOATS:
        if not math.isfinite(value):
            raise UsageError(f"JSON has no {value}", "take a finite number")
        return scalars.shorten(value) if kind is Kind.FLOAT else value
    return value


def from_tree(contract: Contract, message: str, tree: Any, codec: Codec, path: str = "") -> Value:
    """Unknown members are ignored. Raises :class:`UsageError`."""
    path = path or message
    if not isinstance(tree, dict):
        raise UsageError(f"{path}: not an object but {_name(tree)}")

    def read_one(field: Field, one: Any) -> Any:
        here = f"{path}.{field.name}"
        if field.kind is Kind.MESSAGE:
            return from_tree(contract, field.type_name, one, codec, here)
        with scalars.FieldPath(here):
            return _read_scalar(contract, field, one, codec)

    found: Value = {}
    for field in contract.message_by_name[message].fields:
        one = tree.get(field.json_name, _ABSENT)
        # Null is absent, as in the JSON of Protocol Buffers.
        if one is not _ABSENT and not (one is None and codec is Codec.JSON):
            with scalars.FieldPath(f"{path}.{field.name}"):
                found[field.name] = _read_label(field, one)
    done = map_fields(contract, message, found, read_one)
    _check_oneofs(contract, message, done, path)
    return done


def _read_label(field: Field, found: Any) -> Any:
    """A list, a map with keys of its own type, or the one value as it is."""
    if field.label is Label.REPEATED:
        return _expect(found, list)
    if field.map_key is None:
        return found
    return {_read_key(field.map_key, key): one for key, one in _expect(found, dict).items()}


def _check_oneofs(contract: Contract, message: str, value: Value, path: str) -> None:
    seen: dict[str, str] = {}
    for field in contract.message_by_name[message].fields:
        if field.oneof and field.name in value:
            if field.oneof in seen:
                both = f"{seen[field.oneof]} and {field.name}"
                raise UsageError(f"{path}: {both} are both present in the oneof {field.oneof}")
            seen[field.oneof] = field.name


def _read_key(kind: Kind, key: Any) -> Any:
    if not isinstance(key, str):
        raise UsageError(f"a key that is not a text but {_name(key)}")
    return scalars.read_key(kind, key)


def _read_scalar(contract: Contract, field: Field, found: Any, codec: Codec) -> Any:
    kind = field.kind
    if kind in INTEGERS:
        if codec is Codec.JSON and isinstance(found, str) and len(found) < _DIGITS_OF_64_BITS:
            return scalars.read_key(kind, found)
        return scalars.check_integer(kind, found)
    if kind in FLOATS:
        return _read_float(kind, found)
    if kind is Kind.BOOL:
        return _expect(found, bool)
    if kind is Kind.BYTES:
        if codec is Codec.JSON:
            return scalars.read_base64(_expect(found, str))
        return _expect(found, bytes)
    text = _expect(found, str)
    if kind is Kind.ENUM:
        return scalars.enum_number(contract, field.type_name, text)
    if kind is Kind.TIMESTAMP:
        return moments.read_timestamp(text)
    return moments.read_duration(text) if kind is Kind.DURATION else text


def _read_float(kind: Kind, found: Any) -> float:
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise UsageError(f"not a number but {_name(found)}")
    try:
        number = float(found)
    except OverflowError:
        raise UsageError("the number is too large for a double") from None
    return round_to_float(number) if kind is Kind.FLOAT else number


def _expect(found: Any, wanted: type[Any]) -> Any:
    if not isinstance(found, wanted):
        raise UsageError(f"not {_NAMES[wanted]} but {_name(found)}")
    return found


_NAMES = {
    bool: "a bool", int: "an integer", float: "a number", str: "a text", bytes: "bytes",
    dict: "an object", list: "a list", type(None): "null",
}  # fmt: skip


def _name(found: object) -> str:
    return _NAMES.get(type(found), type(found).__name__)
