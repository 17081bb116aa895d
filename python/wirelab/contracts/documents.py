"""JSON documents of a user: read strictly, and refused with the place of what cannot be kept."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from wirelab.contracts.codecs.xml import find_forbidden_character
from wirelab.contracts.names import find_json_name_problem
from wirelab.errors import UsageError

BYTES_MAX = 16 * 1024 * 1024
"""Of one document."""
DEPTH_MAX = 50
"""Objects and lists within each other. Readers of Protocol Buffers stop at 100 messages."""
KEY_CHARACTERS_MAX = 1000
_INTEGER_DIGITS_MAX = 20
"""Of 2^64 - 1."""
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class _Problem:
    """In place of a value that JSON or its reader cannot represent."""

    message: str
    remedy: str


def parse(text: str | bytes, name: str) -> Any:
    """One document. Raises :class:`UsageError` with the path of what cannot be kept."""
    if len(text) > BYTES_MAX:
        raise UsageError(
            f"{name}: the document has {len(text):,} B, more than {BYTES_MAX:,}",
            "give a smaller sample of it",
        )
    try:
        decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        document = json.loads(
            decoded,
            object_pairs_hook=_make_object,
            parse_int=_parse_integer,
            parse_float=_parse_float,
            parse_constant=_parse_constant,
        )
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: it is not UTF-8 (byte {error.start})", "save it so") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise UsageError(f"{name}: not JSON: {error.msg} ({place})", "correct it") from None
    except RecursionError:
        refuse_depth(name)
    check(document, name)
    return document


def refuse_depth(path: str) -> NoReturn:
    """Raises :class:`UsageError`."""
    raise UsageError(
        f"{path}: more than {DEPTH_MAX} objects and lists within each other", "flatten the message"
    )


def _make_object(pairs: list[tuple[str, Any]]) -> Any:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    seen = set[str]()
    double = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return _Problem(f"the key {show_key(double)} occurs twice", "remove one of the two")


def _parse_integer(text: str) -> Any:
    if len(text.lstrip("-")) <= _INTEGER_DIGITS_MAX and -(2**63) <= int(text) < 2**64:
        return int(text)
    return _Problem(
        f"the integer {text[:24]}{'…' if len(text) > 24 else ''} has more than 64 bits",
        "write it as a text, or with a fraction if it may be rounded",
    )


def _parse_float(text: str) -> Any:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        return _Problem(f"the number {text[:24]} is too large for a double", "write a smaller one")
    return number


def _parse_constant(text: str) -> Any:
    return _Problem(f"{text} does not exist in JSON", "write a finite number, or null")


def show_key(key: str) -> str:
    """A key as part of a path or a message, shortened, without control characters."""
    short = key if len(key) <= 60 else f"{key[:59]}…"
    return short if _IDENTIFIER.fullmatch(key) and short == key else json.dumps(short)


def add_key(path: str, key: str) -> str:
    """The path of a member: ``order.items`` or ``order["a b"]``."""
    shown = show_key(key)
    return f"{path}.{key}" if shown == key else f"{path}[{shown}]"


def check(document: Any, name: str) -> None:
    """Depth, keys and texts. Raises :class:`UsageError` with the path. Not recursive."""
    waiting = [(document, name, 0)]
    while waiting:
        value, path, depth = waiting.pop()
        if isinstance(value, _Problem):
            raise UsageError(f"{path}: {value.message}", value.remedy)
        if isinstance(value, str):
            check_text(value, path)
        elif isinstance(value, (dict, list)):
            if depth == DEPTH_MAX:
                refuse_depth(path)
            if isinstance(value, dict):
                for key in value:
                    _check_key(key, path)
                items = [(one, add_key(path, key), depth + 1) for key, one in value.items()]
            else:
                items = [(one, f"{path}[{at}]", depth + 1) for at, one in enumerate(value)]
            waiting += reversed(items)


def check_text(text: str, path: str) -> None:
    """Raises :class:`UsageError` for characters that some format cannot represent."""
    forbidden = find_forbidden_character(text)
    if forbidden is not None:
        raise UsageError(
            f"{path}: the text has the character U+{ord(forbidden):04X}, which XML and UTF-8 "
            "readers refuse",
            "leave it out, or write the content in base64",
        )


def _check_key(key: str, path: str) -> None:
    reason = find_json_name_problem(key)
    if len(key) > KEY_CHARACTERS_MAX:
        reason = f"has more than {KEY_CHARACTERS_MAX:,} characters"
    if reason:
        raise UsageError(f"{path}: the key {show_key(key)} {reason}", "give it another name")
