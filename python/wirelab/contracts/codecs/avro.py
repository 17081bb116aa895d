"""Avro's binary encoding (Apache Avro 1.12, *Binary Encoding*), by the schema of `avro_schema`."""

from __future__ import annotations

import struct
from typing import Any

from wirelab.contracts.codecs import scalars
from wirelab.contracts.schema import Contract, Field, Kind, Label
from wirelab.contracts.values import (
    INTEGERS,
    MOMENTS,
    UNSIGNED_64,
    Value,
    complete,
    has_presence,
    integer_range,
)
from wirelab.errors import UsageError

EMPTY_ITEMS_MAX = 1_000_000
"""Items of a message's lists that have no bytes: their number alone would fill the memory."""
_FLOATS = {Kind.FLOAT: "<f", Kind.DOUBLE: "<d"}


def encode(contract: Contract, message: str, value: Value) -> bytes:
    """Lists and maps as one block without its length. Raises :class:`UsageError` with the field's
    path."""
    into = bytearray()
    _write_message(contract, message, complete(contract, message, value), into, message)
    return bytes(into)


def decode(contract: Contract, message: str, content: bytes) -> Value:
    """Raises :class:`UsageError` with the field's path."""
    reader = _Reader(contract, content)
    try:
        value = reader.read_message(message, message)
    except RecursionError:
        raise UsageError(f"{message}: not avro: nested too deeply") from None
    if reader.at != len(content):
        raise UsageError(f"{message}: not avro: bytes after the message")
    return complete(contract, message, value)


def _write_message(
    contract: Contract, message: str, value: Value, into: bytearray, path: str
) -> None:
    for field in contract.message_by_name[message].fields:
        here = f"{path}.{field.name}"
        if field.name not in value:
            _write_long(0, into)
            continue
        found = value[field.name]
        if field.label in (Label.REPEATED, Label.MAP):
            _write_block(contract, field, found, into, here)
            continue
        if has_presence(field):
            _write_long(1, into)
        _write_one(contract, field, found, into, here)


def _write_block(contract: Contract, field: Field, found: Any, into: bytearray, path: str) -> None:
    """One block of all items, none for an empty list, and the end."""
    if found:
        _write_long(len(found), into)
    for one in found:
        if field.map_key is not None:
            _write_bytes(scalars.write_key(field.map_key, one), into, path)
            one = found[one]
        _write_one(contract, field, one, into, path)
    _write_long(0, into)


def _write_one(contract: Contract, field: Field, one: Any, into: bytearray, path: str) -> None:
    kind = field.kind
    if kind is Kind.MESSAGE:
        _write_message(contract, field.type_name, one, into, path)
        return
    if kind in (Kind.STRING, Kind.BYTES):
        _write_bytes(one, into, path)
        return
    with scalars.FieldPath(path):
        if kind in MOMENTS:
            seconds, nanos = one
            _write_long(scalars.check_integer(Kind.INT64, seconds), into)
            _write_long(scalars.check_integer(Kind.INT32, nanos), into)
        elif kind is Kind.ENUM:
            scalars.enum_name(contract, field.type_name, one)
            _write_long(_numbers(contract, field).index(one), into)
        elif kind in INTEGERS:
            number = scalars.check_integer(kind, one)
            is_beyond = kind in UNSIGNED_64 and number >= 2**63
            _write_long(number - 2**64 if is_beyond else number, into)
        elif kind is Kind.BOOL:
            into.append(1 if one else 0)
        else:
            into += struct.pack(_FLOATS[kind], one)


def _write_bytes(value: str | bytes, into: bytearray, path: str) -> None:
    try:
        content = value.encode() if isinstance(value, str) else value
    except UnicodeEncodeError as error:
        raise UsageError(f"{path}: {error}") from None
    _write_long(len(content), into)
    into += content


def _write_long(number: int, into: bytearray) -> None:
    """Zigzag, seven bits a byte, the least significant first."""
    zigzag = number << 1 ^ number >> 63
    while zigzag > 0x7F:
        into.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    into.append(zigzag)


def _numbers(contract: Contract, field: Field) -> list[int]:
    """Of an enum, in the order of its symbols."""
    return [*contract.enum_by_name[field.type_name].name_by_number]


class _Reader:
    """Reads a message's bytes. What it makes is in proportion to them."""

    def __init__(self, contract: Contract, content: bytes) -> None:
        self._contract = contract
        self._content = content
        self.at = 0
        self._empty_left = EMPTY_ITEMS_MAX

    def read_message(self, message: str, path: str) -> Value:
        done: Value = {}
        oneofs = dict[str, str]()
        for field in self._contract.message_by_name[message].fields:
            here = f"{path}.{field.name}"
            if field.label in (Label.REPEATED, Label.MAP):
                done[field.name] = self._read_blocks(field, here)
                continue
            if has_presence(field) and not self._read_branch(here):
                continue
            if field.oneof in oneofs:
                both = f"{oneofs[field.oneof]} and {field.name}"
                raise UsageError(f"{path}: {both} are both present in the oneof {field.oneof}")
            if field.oneof:
                oneofs[field.oneof] = field.name
            done[field.name] = self._read_one(field, here)
        return done

    def _read_branch(self, path: str) -> bool:
        """Whether the value of a union with null is present."""
        branch = self._read_long(path)
        if branch not in (0, 1):
            raise UsageError(f"{path}: not avro: the union has no branch {branch}")
        return branch == 1

    def _read_blocks(self, field: Field, path: str) -> Any:
        items: list[Any] = []
        entries: dict[Any, Any] = {}
        while count := self._read_long(path):
            if count < 0:
                self._read_long(path)  # The block's length in bytes.
            for _ in range(abs(count)):
                begun = self.at
                if field.map_key is not None:
                    key = self._read_key(field.map_key, path)
                    entries[key] = self._read_one(field, path)
                else:
                    items.append(self._read_one(field, path))
                if self.at == begun:
                    self._count_empty(path)
        return items if field.map_key is None else entries

    def _count_empty(self, path: str) -> None:
        self._empty_left -= 1
        if self._empty_left < 0:
            raise UsageError(f"{path}: not avro: more than {EMPTY_ITEMS_MAX:,} items without bytes")

    def _read_key(self, kind: Kind, path: str) -> Any:
        text = self._read_text(path)
        with scalars.FieldPath(path):
            return scalars.read_key(kind, text)

    def _read_one(self, field: Field, path: str) -> Any:
        kind = field.kind
        if kind is Kind.MESSAGE:
            return self.read_message(field.type_name, path)
        if kind is Kind.STRING:
            return self._read_text(path)
        if kind is Kind.BYTES:
            return self._take(self._read_long(path), path)
        if kind is Kind.BOOL:
            return self._read_bool(path)
        if kind in MOMENTS:
            return self._read_integer(Kind.INT64, path), self._read_integer(Kind.INT32, path)
        if kind is Kind.ENUM:
            return self._read_enum(field, path)
        if kind in INTEGERS:
            return self._read_integer(kind, path)
        form = _FLOATS[kind]
        return struct.unpack(form, self._take(struct.calcsize(form), path))[0]

    def _read_bool(self, path: str) -> bool:
        byte = self._take(1, path)[0]
        if byte > 1:
            raise UsageError(f"{path}: not avro: a boolean is neither 0 nor 1")
        return byte == 1

    def _read_integer(self, kind: Kind, path: str) -> int:
        number = self._read_long(path)
        if kind in UNSIGNED_64:
            return number % 2**64
        if number not in integer_range(kind):
            raise UsageError(f"{path}: {number} is not in the range of {kind}")
        return number

    def _read_enum(self, field: Field, path: str) -> int:
        numbers = _numbers(self._contract, field)
        index = self._read_long(path)
        if not 0 <= index < len(numbers):
            raise UsageError(f"{path}: not avro: the enum has no symbol {index}")
        return numbers[index]

    def _read_text(self, path: str) -> str:
        content = self._take(self._read_long(path), path)
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise UsageError(f"{path}: not avro: {error}") from None

    def _take(self, count: int, path: str) -> bytes:
        if not 0 <= count <= len(self._content) - self.at:
            raise UsageError(f"{path}: not avro: {count} bytes where the message ends")
        self.at += count
        return self._content[self.at - count : self.at]

    def _read_long(self, path: str) -> int:
        zigzag = 0
        for shift in range(0, 64, 7):
            byte = self._take(1, path)[0]
            zigzag |= (byte & 0x7F) << shift
            if byte < 0x80:
                if zigzag >= 2**64:
                    break
                return zigzag >> 1 ^ -(zigzag & 1)
        raise UsageError(f"{path}: not avro: a number of more than 64 bits")
