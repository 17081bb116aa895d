"""Text from outside sources, for a terminal or a page."""

from __future__ import annotations

import json
import unicodedata

from wirelab.records.conversion import FIELD

_UNSAFE = frozenset({"Cc", "Cf", "Cs"})
"""Unicode's categories of control, format and surrogate characters."""

_PROBLEM_MAX = 200
"""Maximum number of characters of a problem with a field."""


def sanitize(text: object) -> str:
    """Text of a service or a file without control characters: no terminal escape, no NUL,
    no mark that turns the direction of writing."""
    return "".join(map(_visible, str(text)))


def _visible(character: str) -> str:
    harmless = character in "\n\t" or unicodedata.category(character) not in _UNSAFE
    return character if harmless else "\ufffd"


def damage(error: Exception) -> str:
    """What is wrong with a document, from what was raised while it was read."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if isinstance(error, json.JSONDecodeError):
        # Where it is one line of a file, the caller names that line with the file.
        line = f"line {error.lineno}, " if "\n" in error.doc.rstrip() else ""
        return f"it is not valid JSON: {error.msg} in {line}column {error.colno}"
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, TypeError):
        return f"it has unexpected keys or types{_problem(str(error))}"
    return sanitize(error)


def _problem(text: str) -> str:
    """``: result.calls: expected `int`, got `str```; empty if the field is not known."""
    problem, found, field = text.partition(FIELD)
    if not found:
        return ""
    named = sanitize(f"{field.strip('`.')}: {problem[:1].lower()}{problem[1:]}")
    return f" ({named if len(named) <= _PROBLEM_MAX else f'{named[: _PROBLEM_MAX - 1]}…'})"
