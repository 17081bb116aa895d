"""Values that differ from a sample and have its sizes: requests of a measurement.

A value keeps what decides its length in any codec: the number of list items and of characters by
their kind, decimal digits, bytes of a varint, whether it is zero. Booleans and enums are chosen at
random, except for a zero of an enum, which has no bytes in Protocol Buffers.
"""

from __future__ import annotations

import math
import random
import re
import string
from bisect import bisect_right
from itertools import cycle, islice
from typing import Any

from wirelab.contracts.codecs import moments, scalars
from wirelab.contracts.schema import Contract, Field, Kind, Label
from wirelab.contracts.values import (
    FLOATS,
    INTEGERS,
    Value,
    complete,
    integer_range,
    map_fields,
    round_to_float,
)
from wirelab.errors import UsageError

_STEPS = sorted(
    {
        *(10**digits for digits in range(1, 20)),  # text
        *(2 ** (7 * count) for count in range(1, 10)),  # varint
        *(2 ** (7 * count - 1) for count in range(1, 10)),  # zigzag, as of every integer in Avro
        *(2**64 - 2 ** (7 * count - 1) for count in range(1, 10)),  # uint64 as Avro's long
        *(1, 24, 32, 128, 256, 2**15, 2**16, 2**31, 2**32, 2**63),  # CBOR and MessagePack
    }
)
"""Where the length of an integer changes in some codec, by its magnitude."""
_NEGATIVE_STEPS = sorted(
    {
        *(10**digits for digits in range(20)),
        *(1 + 2 ** (7 * count - 1) for count in range(1, 10)),
        *(1 + step for step in (24, 32, 128, 256, 2**15, 2**16, 2**31, 2**32)),
    }
)
"""Of negative integers, which begin at -1: -128 has one byte where 127 has."""
_CLASSES = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
_ATTEMPTS = 20
"""For a map's key that no other entry has."""


def vary_sample(contract: Contract, sample: Value, seed: int, count: int) -> list[Value]:
    """Requests of the sample's size; the same seed gives the same requests."""
    whole = complete(contract, contract.request, sample)
    return [_vary(contract, whole, random.Random(f"{seed}/{number}")) for number in range(count)]


def _vary(contract: Contract, sample: Value, rng: random.Random) -> Value:
    return _vary_message(contract, contract.request, sample, rng)


def _vary_message(contract: Contract, message: str, value: Value, rng: random.Random) -> Value:
    def vary_one(field: Field, one: Any) -> Any:
        if field.kind is Kind.MESSAGE:
            return _vary_message(contract, field.type_name, one, rng)
        return _vary_scalar(contract, field, one, rng)

    done = map_fields(contract, message, value, vary_one)
    for field in contract.message_by_name[message].fields:
        if field.map_key is not None and field.name in done:
            done[field.name] = _vary_keys(field.map_key, done[field.name], rng)
    return done


def _vary_keys(kind: Kind, entries: dict[Any, Any], rng: random.Random) -> dict[Any, Any]:
    """Other keys, as many as before."""
    if kind is Kind.BOOL:
        return entries
    done: dict[Any, Any] = {}
    for key, value in entries.items():
        made = (_vary_key(kind, key, rng) for _ in range(_ATTEMPTS))
        chosen = next((one for one in made if one not in done and one not in entries), key)
        done[chosen] = value
    return done


def _vary_key(kind: Kind, key: Any, rng: random.Random) -> Any:
    return vary_text(key, rng) if kind is Kind.STRING else _vary_integer(kind, key, rng)


def _vary_scalar(contract: Contract, field: Field, value: Any, rng: random.Random) -> Any:
    kind = field.kind
    if kind in INTEGERS:
        return _vary_integer(kind, value, rng)
    if kind in FLOATS:
        return _vary_float(kind, value, rng)
    if kind is Kind.STRING:
        return vary_text(value, rng)
    if kind is Kind.BYTES:
        return rng.randbytes(len(value))
    if kind is Kind.BOOL:
        return rng.random() < 0.5
    if kind is Kind.ENUM:
        numbers = {number for _, number in contract.enum_by_name[field.type_name].values}
        return rng.choice(sorted(numbers - {0})) if value else value
    return _vary_moment(kind, value, rng)


def _vary_integer(kind: Kind, value: int, rng: random.Random) -> int:
    """Of the same sign, and the same length in every codec. 0 stays 0."""
    if value == 0:
        return 0
    limits = integer_range(kind)
    steps, greatest = _STEPS, limits[-1]
    if value < 0:
        steps, greatest = _NEGATIVE_STEPS, -limits[0]
    at = bisect_right(steps, abs(value))
    most = min(steps[at] - 1, greatest) if at < len(steps) else greatest
    return rng.randint(steps[at - 1], most) * (1 if value > 0 else -1)


def _vary_float(kind: Kind, value: float, rng: random.Random) -> float:
    """With as many decimal digits; 0 and infinity stay."""
    if value == 0 or not math.isfinite(value):
        return value
    short = scalars.shorten(value) if kind is Kind.FLOAT else value
    mantissa, mark, exponent = repr(short).partition("e")
    # Zeros stay: otherwise a whole number or a short one would change its length.
    digits = (rng.choice("123456789") if char in "123456789" else char for char in mantissa)
    made = float(f"{''.join(digits)}{mark}{exponent}")
    rounded = round_to_float(made) if kind is Kind.FLOAT else made
    return rounded if math.isfinite(rounded) else value


def vary_text(text: str, rng: random.Random) -> str:
    """Digits become digits, ASCII letters letters of the same case; others change places."""
    others = [char for char in text if char.isalpha() and not char.isascii()]
    rng.shuffle(others)
    left = iter(others)
    return "".join(_vary_character(char, left, rng) for char in text)


def _vary_character(char: str, others: Any, rng: random.Random) -> str:
    for characters in _CLASSES:
        if char in characters:
            return rng.choice(characters)
    return str(next(others)) if char.isalpha() else char


def _vary_moment(kind: Kind, value: moments.Moment, rng: random.Random) -> moments.Moment:
    seconds, nanos = value
    made = _vary_integer(Kind.INT64, seconds, rng)
    if kind is Kind.TIMESTAMP:
        made = min(max(made, moments.SECONDS_MIN), moments.SECONDS_MAX)
    else:
        made = min(max(made, -moments.DURATION_S_MAX), moments.DURATION_S_MAX)
    found = re.search(r"0*$", f"{abs(nanos):09d}")
    unit = 10 ** (len(found[0]) // 3 * 3) if found and nanos else 1
    varied_nanos = _vary_integer(Kind.INT32, nanos // unit, rng) * unit
    return made, varied_nanos if abs(varied_nanos) < 10**9 else nanos


def scale_lists(contract: Contract, message: str, value: Value, factor: float) -> Value:
    """The value with ``factor`` times as many items in its outermost lists, repeated in turn; at
    least one. Raises :class:`UsageError` where it has no list with items."""
    done, count = _scale(contract, message, value, factor)
    if count == 0:
        raise UsageError(
            f"{message}: the sample has no list with items, so there is nothing to repeat",
            "give a sample with a list, or one sample for each size",
        )
    return done


def _scale(contract: Contract, message: str, value: Value, factor: float) -> tuple[Value, int]:
    """The value with the items of its outermost lists repeated or cut, and the number of lists."""
    done, count = dict(value), 0
    for field in contract.message_by_name[message].fields:
        found = value.get(field.name)
        if not found:
            continue
        if field.label is Label.REPEATED:
            done[field.name] = list(islice(cycle(found), max(1, round(len(found) * factor))))
            count += 1
        elif field.kind is Kind.MESSAGE and field.label is not Label.MAP:
            done[field.name], inner = _scale(contract, field.type_name, found, factor)
            count += inner
    return done, count
