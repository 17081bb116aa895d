"""Scalars as text: keys of maps, content of XML elements."""

from __future__ import annotations

import base64
import binascii
import math
import re
from typing import Any

from wirelab.contracts.codecs import moments
from wirelab.contracts.schema import Contract, Field, Kind
from wirelab.contracts.values import FLOAT_MAX, FLOATS, INTEGERS, integer_range, round_to_float
from wirelab.errors import UsageError

_INTEGER = re.compile(r"[+-]?\d{1,40}", re.ASCII)
_FLOAT = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|INF|-INF|NaN", re.ASCII)


class FieldPath:
    """A context in which errors of a scalar begin with the path of its field."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, UsageError):
            raise UsageError(f"{self._path}: {error.message}", error.remedy) from None


def shorten(number: float) -> float:
    """The double with the fewest decimal digits that is read back as the same float."""
    for digits in range(1, 10):
        short = float(f"{number:.{digits}g}")
        # Some readers refuse a number beyond the greatest float, even if it rounds to it.
        if round_to_float(short) == number and abs(short) <= FLOAT_MAX:
            return short
    return number


def check_integer(kind: Kind, number: Any) -> int:
    """The number, if the kind can represent it. Raises :class:`UsageError`."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise UsageError(f"{number!r:.40} is not an integer")
    if number not in integer_range(kind):
        raise UsageError(f"{str(number)[:40]} is not in the range of {kind}")
    return number


def enum_name(contract: Contract, type_name: str, number: int) -> str:
    """Raises :class:`UsageError` for a number without a name."""
    for name, its_number in contract.enum_by_name[type_name].values:
        if its_number == number:
            return name
    raise UsageError(f"{number} is not a value of the enum {type_name}")


def enum_number(contract: Contract, type_name: str, name: object) -> int:
    """Raises :class:`UsageError` for a name that does not exist."""
    for its_name, number in contract.enum_by_name[type_name].values:
        if its_name == name:
            return number
    raise UsageError(f"{str(name)[:40]!r} is not a value of the enum {type_name}")


def write_key(kind: Kind, key: Any) -> str:
    """A map's key as text."""
    if kind is Kind.BOOL:
        return "true" if key else "false"
    return str(key)


def read_key(kind: Kind, text: str) -> Any:
    """Raises :class:`UsageError`."""
    return text if kind is Kind.STRING else _read_simple(kind, text)


def write_text(contract: Contract, field: Field, value: Any) -> str:
    """A scalar as XML Schema writes it."""
    kind = field.kind
    if kind is Kind.BYTES:
        return base64.b64encode(value).decode("ascii")
    if kind is Kind.ENUM:
        return enum_name(contract, field.type_name, value)
    if kind is Kind.TIMESTAMP:
        return moments.write_timestamp(value)
    if kind is Kind.DURATION:
        return moments.write_duration(value)
    if kind in FLOATS:
        return _write_float(kind, value)
    if kind in INTEGERS:
        return str(check_integer(kind, value))
    return write_key(kind, value)


def _write_float(kind: Kind, value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    return repr(shorten(round_to_float(value)) if kind is Kind.FLOAT else float(value))


def read_text(contract: Contract, field: Field, text: str) -> Any:
    """Raises :class:`UsageError`."""
    kind = field.kind
    if kind is Kind.STRING:
        return text
    text = text.strip(" \t\r\n")
    if kind is Kind.BYTES:
        return read_base64("".join(text.split()))
    if kind is Kind.ENUM:
        return enum_number(contract, field.type_name, text)
    if kind is Kind.TIMESTAMP:
        return moments.read_timestamp(text)
    if kind is Kind.DURATION:
        return moments.read_duration(text)
    return _read_simple(kind, text)


def _read_simple(kind: Kind, text: str) -> Any:
    if kind is Kind.BOOL:
        if text not in ("true", "false", "1", "0"):
            raise UsageError(f"{text[:40]!r} is not a bool")
        return text in ("true", "1")
    if kind in FLOATS:
        if not _FLOAT.fullmatch(text):
            raise UsageError(f"{text[:40]!r} is not a number")
        number = float(text)
        return round_to_float(number) if kind is Kind.FLOAT else number
    if not _INTEGER.fullmatch(text):
        raise UsageError(f"{text[:40]!r} is not an integer")
    return check_integer(kind, int(text))


def read_base64(text: str) -> bytes:
    """Standard base64 with padding. Raises :class:`UsageError`."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise UsageError(f"not base64: {error}") from None
