"""What the size of a message is in each codec, and which message has a size in a codec.

The size that a workload names is that of the operation's variable part: the characters of a text,
the bytes of a file, and for Submit the whole request as Protocol Buffers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from wirelab.contracts.codecs import Codec, encode
from wirelab.contracts.large_messages import SUBMIT_BYTES_MIN, LargeMessage, large_message
from wirelab.contracts.schema import Kind
from wirelab.errors import UsageError
from wirelab.format.units import format_bytes, parse_bytes

CODECS = ("text", *Codec, "cdr")
"""Those of which the size of a message is known before a call, as stack references name them; SOAP
is that of version 1.1."""
OF_CODEC = re.compile(r"(.+?)\s+of\s+([a-z-]+)")
SCANNED = 40
"""Sizes that are tried on both sides of the one that a search ends at: a larger message may have a
smaller encoding where other records fill it up."""
SCANNED_SIZE_MAX = 20_000
"""Largest message of which further sizes are tried, in bytes."""
ROUNDS_MAX = 12


@lru_cache(maxsize=1024)
def measure(operation: str, size: int, codec: str) -> int | None:
    """Bytes of the message that has the size, encoded; None where the codec's are not known, or the
    operation has no such message. Raises :class:`UsageError` for a size that it cannot have."""
    made = large_message(operation, size)
    if made is None or codec not in CODECS:
        return None
    if codec == "text":
        return size if operation == "Hello" else None
    if codec == "cdr":
        return len(_encode_cdr(made))
    return len(encode(made.contract, made.name, made.value, Codec(codec)))


def describe(operation: str, size: int, codecs: Iterable[str]) -> str:
    """``Submit 2 kB is 2,000 B of protobuf and 4,421 B of json``; empty where no codec's size is
    known."""
    found = {codec: measure(operation, size, codec) for codec in dict.fromkeys(codecs)}
    known = [f"{length:,} B of {codec}" for codec, length in found.items() if length is not None]
    if not known:
        return ""
    unknown = [codec for codec, length in found.items() if length is None]
    text = f"{operation} {format_bytes(size)} is {_join(known)}"
    return f"{text}; of {_join(unknown)} only a run shows it" if unknown else text


def sentences(operation: str, size: int, codecs: Iterable[str], asked: str) -> tuple[str, ...]:
    """How the size was chosen where it was ``asked`` for in a codec, and what it is in all."""
    return tuple(
        filter(None, (describe_choice(operation, asked, size), describe(operation, size, codecs)))
    )


def resolve(operation: str, text: str) -> int:
    """The size of the message whose encoding is nearest to ``text``, such as ``2 kB of json``.
    Raises :class:`UsageError` where the operation or the codec has none, and
    :class:`UnitError`."""
    found = OF_CODEC.fullmatch(text.strip())
    if found is None:
        return parse_bytes(text)
    wanted, codec = parse_bytes(found[1]), found[2]
    if codec not in CODECS:
        raise UsageError(
            f"{text!r}: {codec} is not one of {', '.join(CODECS)}", "name one of these"
        )
    if measure(operation, SUBMIT_BYTES_MIN, codec) is None:
        raise UsageError(
            f"{text!r}: {operation} has no message of {codec} whose size can be chosen",
            "give the size alone",
        )
    return _nearest(operation, codec, wanted)


def describe_choice(operation: str, text: str, size: int) -> str:
    """``2 kB of json: the nearest is Submit 905 B, with 1,999 B``; empty for a size without a
    codec."""
    found = OF_CODEC.fullmatch(text.strip())
    if found is None:
        return ""
    length = measure(operation, size, found[2])
    word = "it is" if length == parse_bytes(found[1]) else "the nearest is"
    return f"{text.strip()}: {word} {operation} {format_bytes(size)}, with {length:,} B"


def _nearest(operation: str, codec: str, wanted: int) -> int:
    least = SUBMIT_BYTES_MIN if operation == "Submit" else 0

    def distance(size: int) -> int:
        return abs((measure(operation, size, codec) or 0) - wanted)

    size = max(least, wanted)
    for _ in range(ROUNDS_MAX):
        # The part beyond the size itself is nearly in proportion to it.
        length = measure(operation, size, codec) or 1
        closer = max(least, round(size * wanted / length))
        if distance(closer) >= distance(size):
            break
        size = closer
    if size > SCANNED_SIZE_MAX:
        return size
    tried = range(max(least, size - SCANNED), size + SCANNED + 1)
    return min(tried, key=lambda one: (distance(one), one))


def _encode_cdr(made: LargeMessage) -> bytes:
    """The body as CDR, big-endian, without bounds or padding at its end (CORBA 3.3, part 2, clause
    9.3)."""
    into = bytearray()
    _write_cdr(made, made.name, made.value, into)
    return bytes(into)


def _write_cdr(made: LargeMessage, name: str, value: Mapping[str, object], into: bytearray) -> None:
    for field in made.contract.message_by_name[name].fields:
        one = value[field.name]
        if isinstance(one, int):
            length = 8 if field.kind is Kind.INT64 else 4
            into += bytes(-len(into) % length) + one.to_bytes(length, signed=True)
        elif isinstance(one, str):
            # Length with the final zero.
            content = one.encode() + b"\0"
            into += bytes(-len(into) % 4) + len(content).to_bytes(4) + content
        elif isinstance(one, bytes):
            into += bytes(-len(into) % 4) + len(one).to_bytes(4) + one
        elif isinstance(one, list):
            into += bytes(-len(into) % 4) + len(one).to_bytes(4)
            for item in one:
                _write_cdr(made, field.type_name, item, into)


def _join(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
