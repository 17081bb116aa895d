"""Text of somebody else, for a terminal or a page."""

from __future__ import annotations

import unicodedata

_UNSAFE = frozenset({"Cc", "Cf", "Cs"})
"""Unicode's categories of control, format and surrogate characters."""


def plain(text: object) -> str:
    """Text of a service or a file without control characters: no terminal escape, no NUL,
    no mark that turns the direction of writing."""
    return "".join(map(_visible, str(text)))


def _visible(character: str) -> str:
    harmless = character in "\n\t" or unicodedata.category(character) not in _UNSAFE
    return character if harmless else "\ufffd"
