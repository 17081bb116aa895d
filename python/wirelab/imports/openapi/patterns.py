"""Text that a regular expression of a schema matches."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import rstr

STEPS_MAX = 5_000
"""Parts of one text: an expression of 30 characters can repeat itself a million times."""
PATTERN_MAX = 500
"""Characters of an expression."""
SEED = 1


class _TooLong(Exception):
    """The expression needs a longer text."""


class _Text(rstr.Rstr):
    """With as few repetitions as asked, and the same text each time."""

    def __init__(self, repeats: int) -> None:
        super().__init__(random.Random(SEED))
        self._repeats = repeats
        self._steps = 0

    def _handle_state(self, state: Any) -> Any:
        self._steps += 1
        if self._steps > STEPS_MAX:
            raise _TooLong
        return super()._handle_state(state)

    def _handle_repeat(self, start_range: int, end_range: int, value: str) -> str:
        times = min(max(int(start_range), self._repeats), int(end_range))
        return super()._handle_repeat(times, times, value)

    def _handle_in(self, value: Any) -> Any:
        """One of a class, in their order; a set has none that is the same in each process."""
        found = [one for part in value for one in self._handle_state(part)]
        if found[0] is False:
            found = [chr(code) for code in range(0x20, 0x7F) if chr(code) not in found[1:]]
        visible = [one for one in found if one.isalnum() and one.isascii()]
        return self._random.choice(visible or found)


@lru_cache(maxsize=1_000)
def text_of(pattern: str, least: int, most: int | None) -> str | None:
    """A text of that length which the expression matches; None where none is found."""
    if len(pattern) > PATTERN_MAX:
        return None
    for repeats in dict.fromkeys((1, least, 0, 2, most or 1, least // 2)):
        text = _attempt(pattern, repeats)
        if text is not None and least <= len(text) <= (len(text) if most is None else most):
            return text
    return None


def _attempt(pattern: str, repeats: int) -> str | None:
    make: Callable[[str], str] = _Text(repeats).xeger
    try:
        text = make(pattern)
        return text if re.search(pattern, text) and text.isprintable() else None
    except (_TooLong, RecursionError, OverflowError):
        return None
    except (re.error, KeyError, IndexError, ValueError, TypeError):
        return None  # an expression of ECMA 262 that Python or the library does not know
