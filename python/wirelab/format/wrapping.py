"""Lines of a terminal: text is folded between words, but never between a number and its unit."""

from __future__ import annotations

import re
import textwrap

NO_BREAK = "\N{NO-BREAK SPACE}"
_UNIT = re.compile(
    r"(?<=\d) (?=(?:%|ns|µs|ms|s|min|h|d|B|kB|MB|GB|TB|KiB|MiB|GiB|k?bit/s|Mbit/s|Gbit/s|MB/s"
    r"|calls/s|k?/s)(?![\w/]))"
)
"""The space between a number and a unit of :mod:`wirelab.format.units`."""


def wrap(
    text: str,
    width: int,
    *,
    initial_indent: str = "",
    subsequent_indent: str = "",
    break_long_words: bool = True,
) -> list[str]:
    """The text in lines of at most ``width`` columns; without text no line. Hyphens end no line."""
    lines = textwrap.wrap(
        _UNIT.sub(NO_BREAK, text),
        width,
        initial_indent=initial_indent,
        subsequent_indent=subsequent_indent,
        break_long_words=break_long_words,
        break_on_hyphens=False,
    )
    return [line.replace(NO_BREAK, " ") for line in lines]


def fold_name(name: str, width: int) -> list[str]:
    """The name of a stack in lines of at most ``width`` columns, whole: where a word is too long
    for a line, it breaks after its first ``=``, not in a value."""
    words = name.split(" ")
    spaced = (word.replace("=", "= ", 1) if len(word) > width else word for word in words)
    return wrap(" ".join(spaced), width) or [""]


def fold_row(name: str, width: int, rest: str) -> list[str]:
    """A row of a table: ``rest`` is on the first line of the name."""
    first, *others = fold_name(name, width)
    return [f"{first:<{width}}{rest}".rstrip(), *others]
