"""Levels: the properties at which a claim or a ladder is looked at, one combination each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from wirelab.format.units import format_bytes

Level = Mapping[str, Any]
"""Properties of cells, ``{"users": 10, "bytes": 14}``."""


def levels(each: Mapping[str, Sequence[Any]]) -> tuple[Level, ...]:
    """``{users: [1, 10], bytes: [14]}`` -> every combination; one empty level of nothing."""
    names = list(each)
    return tuple(dict(zip(names, values, strict=True)) for values in product(*each.values()))


def level_words(level: Level) -> str:
    """``150 kB, 10 users``; ``there`` where nothing is named."""
    return ", ".join(_words(name, value) for name, value in level.items()) or "there"


def _words(name: str, value: Any) -> str:
    if name == "bytes":
        return format_bytes(value) if isinstance(value, int) else str(value)
    if name == "users":
        return f"{value:g} {'user' if value == 1 else 'users'}"
    return f"{value} calls/s" if name == "rate" else f"{name} {value}"
