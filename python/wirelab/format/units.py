"""Sizes and times as people write them: ``150 kB``, ``20 ms``.

Decimal and binary prefixes are distinguished: 1 kB = 1,000 B, 1 KiB = 1,024 B
(IEC 80000-13). A bare number is refused because its unit is unknown.
"""

from __future__ import annotations

import re
from math import isclose, isinf
from typing import Literal

from wirelab.errors import UnitError

Unit = Literal["1/s", "ns", "s", "B", ""]
"""Unit of a figure; empty: a ratio or a count."""
BYTES = {"B": 1, "kB": 1000, "MB": 1000**2, "KiB": 1024, "MiB": 1024**2}
"""Units of size, in bytes."""
SECONDS = {"µs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
"""Units of time, in seconds. ``us`` is accepted where ``µs`` cannot be typed."""

SIZE_PATTERN = r"^\s*\d+(\.\d+)?\s*(B|kB|MB|KiB|MiB)\s*$"
"""What :func:`parse_bytes` accepts, for the JSON Schema."""
SIZE_OF_CODEC_PATTERN = SIZE_PATTERN.replace(r"\s*$", r"(\s+of\s+[a-z-]+)?\s*$")
"""The same with the codec in which a message has the size: ``2 kB of json``."""
DURATION_PATTERN = r"^\s*\d+(\.\d+)?\s*(µs|us|ms|s|min|h)\s*$"
"""What :func:`parse_seconds` accepts, for the JSON Schema."""


def parse_bytes(text: object) -> int:
    """``"150 kB"`` -> 150000. Raises :class:`UnitError` for fractions of a byte too."""
    number, unit = _split(text, tuple(BYTES), "a size", "14 B, 150 kB, 3 MB or 64 KiB")
    size = number * BYTES[unit]
    # 262466.9 kB is a whole number of bytes; the product of two floats is not exactly one.
    if not isclose(size, round(size), rel_tol=1e-12):
        raise UnitError(f"{text!r} is not a whole number of bytes")
    return round(size)


def parse_seconds(text: object) -> float:
    """``"200 µs"`` -> 0.0002."""
    number, unit = _split(text, tuple(SECONDS), "a time", "200 µs, 50 ms, 2 s, 5 min or 1 h")
    return number * SECONDS[unit]


def format_bytes(size: int) -> str:
    """The shortest exact form: 150000 -> ``150 kB``, 1500 -> ``1.5 kB``, 65536 -> ``65536 B``."""
    for unit in ("MB", "kB"):
        number = size / BYTES[unit]
        if number >= 1 and round(number, 1) == number:
            return f"{number:.12g} {unit}"
    return f"{size} B"


def format_seconds(seconds: float) -> str:
    """A time for people, in three significant figures: ``850 µs``, ``1.2 ms``, ``42 s``, ``3 min
    5 s``. A time that is below zero keeps its sign."""
    if seconds < 0:
        return f"-{format_seconds(-seconds)}"
    if seconds >= 59.95:
        whole = round(seconds)
        return f"{whole // 60} min {whole % 60} s"
    for unit, larger in (("µs", "ms"), ("ms", "s")):
        shown = f"{seconds / SECONDS[unit]:.3g}"
        # Not by the time itself: 999.6 µs are shown as 1 ms.
        if seconds > 0 and float(shown) * SECONDS[unit] < SECONDS[larger] * (1 - 1e-9):
            return f"{shown} {unit}"
    return f"{seconds:.3g} s"


def _split(text: object, units: tuple[str, ...], noun: str, example: str) -> tuple[float, str]:
    if not isinstance(text, str):
        raise UnitError(f"{text!r} has no unit: {noun} is written {example}")
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-zµ]*)\s*", text)
    if not found:
        raise UnitError(f"{text!r} is not {noun}: write {example}")
    if not found[2]:
        raise UnitError(f"{text!r} has no unit: {noun} is written {example}")
    if found[2] not in units:
        raise UnitError(f"{text!r}: unknown unit {found[2]!r}; known units: {', '.join(units)}")
    number = float(found[1])
    if isinf(number):
        raise UnitError(f"{text[:40]!r}… is too large a number")
    return number, found[2]


def format_minutes(seconds: float) -> str:
    """A time for people, without the precision of :func:`format_seconds`: ``80 s``, ``33 min``."""
    return f"{seconds:.0f} s" if seconds < 120.0 else f"{seconds / 60.0:.0f} min"
