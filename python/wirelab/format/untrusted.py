"""Files whose author is unknown, read within limits.

A reader of them must neither wait for a pipe nor take memory for what it refuses afterwards. JSON
is checked for numbers that no measurement gives: the standard library accepts ``NaN``, and
``1e999`` as infinity.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from wirelab.format.sanitize import sanitize

NUMBER_MAX = sys.float_info.max
"""Larger ones are infinite, or cannot be calculated with."""
FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Without O_NONBLOCK, opening a pipe waits for a writer."""
_CHUNK = 1024 * 1024
_SHOWN_MAX = 60
"""Maximum number of characters of a field's name in a message."""


class TooLarge(ValueError):
    """A file, or a line of one, exceeds its limit."""


def open_regular(path: Path) -> BufferedReader:
    """Opens a regular file. Raises :class:`OSError`, and :class:`ValueError` for a pipe, a device
    or a folder."""
    descriptor = os.open(path, FLAGS)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError(f"{path.name} is not a regular file")
    return os.fdopen(descriptor, "rb")


def read_bounded(path: Path, bytes_max: int) -> bytes:
    """The contents of a file. Raises :class:`OSError`, and :class:`ValueError` like
    :func:`open_regular`, and :class:`TooLarge`."""
    return read_open(os.open(path, FLAGS), path.name, bytes_max)


def read_open(descriptor: int, name: str, bytes_max: int) -> bytes:
    """The same for a file that was opened with :data:`FLAGS`, which is closed."""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError(f"{name} is not a regular file")
        content = bytearray()
        while part := os.read(descriptor, min(_CHUNK, bytes_max + 1 - len(content))):
            content += part
            if len(content) > bytes_max:
                raise TooLarge(f"{name} has more than {bytes_max:,} bytes")
        return bytes(content)
    except BlockingIOError:
        # Files of the kernel without an end, such as /proc/kmsg, call themselves regular.
        raise ValueError(f"{name} has no end") from None
    finally:
        os.close(descriptor)


def read_bounded_lines(file: BinaryIO, line_max: int) -> Iterator[bytes]:
    """Each line from the position of the file on, with its end; no other line is in memory. Raises
    :class:`TooLarge` for a line with more than ``line_max`` bytes."""
    while line := file.readline(line_max + 1):
        if len(line) > line_max:
            raise TooLarge(f"it has more than {line_max:,} bytes, the limit of a line")
        yield line


def parse_json(text: bytes | str) -> object:
    """A JSON document whose numbers are finite. Raises
    :class:`ValueError`, which names the field, and :class:`RecursionError`."""
    content: object = json.loads(text, parse_constant=_refuse_constant)
    if (field := field_of(content, lambda number: not abs(number) <= NUMBER_MAX)) is not None:
        raise ValueError(f"{field} is not a finite number")
    return content


def _refuse_constant(name: str) -> object:
    raise ValueError(f"it contains {name}, which is not a number of JSON")


def field_of(
    content: object, is_wrong: Callable[[float], bool], except_in: AbstractSet[str] = frozenset()
) -> str | None:
    """The field of the first number that is wrong, such as ``result.times.response.count``; None
    if there is not one. Objects and lists with a name of ``except_in`` are not searched."""
    path = _path_of(content, is_wrong, except_in)
    return None if path is None else _format_path(path)


Steps = list[str | int]


def _path_of(
    content: object, is_wrong: Callable[[float], bool], except_in: AbstractSet[str]
) -> Steps | None:
    """Names and positions down to the number. Strings, which are most values, cost no call."""
    if isinstance(content, dict):
        inner: Iterable[tuple[str | int, object]] = content.items()
    elif isinstance(content, list):
        inner = enumerate(content)
    else:
        is_number = isinstance(content, int | float) and not isinstance(content, bool)
        return [] if is_number and is_wrong(content) else None  # type: ignore[arg-type]
    for name, value in inner:
        if type(value) is str or value is None or name in except_in:
            continue
        path = _path_of(value, is_wrong, except_in)
        if path is not None:
            return [name, *path]
    return None


def _format_path(path: Steps) -> str:
    parts = (f"[{one}]" if isinstance(one, int) else f".{one}" for one in path)
    text = sanitize("".join(parts)).lstrip(".")
    return (text if len(text) <= _SHOWN_MAX else f"{text[: _SHOWN_MAX - 1]}…") or "the document"
