"""Text for people: styled on a terminal, plain elsewhere, with a status that stays in place.

Lines are printed as they are given. Callers fold them (:func:`fold`), because a path or a
command must stay whole to be copied.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from typing import NamedTuple, TextIO

from wirelab.format.sanitize import sanitize

WIDTH = 80
"""Columns where there is no terminal to ask."""

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
}
"""Select Graphic Rendition (ECMA-48, section 8.3.117) by the name of a style."""
_OWN = os.urandom(8).hex()
"""Marks the styles of this process, which text of a file or a service cannot know."""
_STYLED = re.compile(rf"\x1b\[((?:0|{'|'.join(_CODES.values())})m){_OWN}")
_WITHOUT_UNICODE = {
    "µ": "u",
    "×": "x",
    "·": "-",
    "•": "*",
    "–": "-",
    "…": "...",
    "→": "->",
    "−": "-",
    "≤": "<=",
    "≥": ">=",
    "±": "+/-",
    "≈": "~",
    "‹": "<",
    "›": ">",
    "“": '"',
    "”": '"',
}


def _spell(error: UnicodeError) -> tuple[str | bytes, int]:
    """In place of characters that an output cannot have: a result is printed in any case."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    part = error.object[error.start : error.end]
    spelled = "".join(_WITHOUT_UNICODE.get(char, "?") for char in part)
    return spelled, error.end


codecs.register_error("wirelab-spell", _spell)


def accept_any_text() -> None:
    """Lets standard output and standard error take every character, also where their encoding is
    ASCII (``PYTHONIOENCODING``, ``LC_ALL=C``)."""
    for file in (sys.stdout, sys.stderr):
        if isinstance(file, TextIOWrapper) and file.errors == "strict":
            file.reconfigure(errors="wirelab-spell")


class Line(NamedTuple):
    """One or several lines of one style."""

    text: str
    style: str = ""


class Console:
    """Standard output or standard error, whatever it is when something is printed."""

    def __init__(self, *, stderr: bool = False) -> None:
        self._name = "stderr" if stderr else "stdout"
        self._status: list[Line] = []

    @property
    def file(self) -> TextIO:
        """Where it prints."""
        file: TextIO = getattr(sys, self._name)
        return file

    @property
    def is_terminal(self) -> bool:
        """True where lines can be replaced; not on a dumb terminal."""
        return self.file.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def width(self) -> int:
        """Columns: those of the terminal that any of the standard streams is, else 80.
        The variable COLUMNS comes first."""
        named = os.environ.get("COLUMNS", "")
        if named.isdigit() and int(named) > 0:
            return int(named)
        for descriptor in (0, 1, 2):
            try:
                return os.get_terminal_size(descriptor).columns or WIDTH
            except OSError:
                continue
        return WIDTH

    def print(self, text: str = "", style: str = "") -> None:
        """Prints lines, above the status where there is one, without control characters other than
        those of styles. Raises :class:`OSError`."""
        status = self._status
        self._write(self._erase() + _sanitize_styled(self.style(text, style)) + "\n")
        self.status(status)

    def style(self, text: str, style: str) -> str:
        """The text in a style (:data:`_CODES`), for :meth:`print`; plain where there is no
        terminal, or where NO_COLOR is set."""
        code = _CODES.get(style)
        if code is None or os.environ.get("NO_COLOR") or not self.is_terminal:
            return text
        return f"\x1b[{code}m{_OWN}{text}\x1b[0m{_OWN}"

    def status(self, lines: Sequence[Line]) -> None:
        """Replaces the status, which stays below everything that is printed; no lines remove
        it. Nothing happens where there is no terminal."""
        if not self.is_terminal:
            return
        erased = self._erase()
        room = self.width - 1
        self._status = [line._replace(text=sanitize(line.text)[:room]) for line in lines]
        shown = "\n".join(_sanitize_styled(self.style(*line)) for line in self._status)
        if erased or shown:
            self._write(erased + shown)

    def _erase(self) -> str:
        """What removes the status from the terminal (ECMA-48: EL, CUU). It has none then."""
        up = "\x1b[1A\x1b[2K" * (len(self._status) - 1)
        erased = f"\r\x1b[2K{up}" if self._status else ""
        self._status = []
        return erased

    def _write(self, text: str) -> None:
        self.file.write(text)
        self.file.flush()


def _sanitize_styled(text: str) -> str:
    """With the styles of this process and no other control character: files and services of
    others name what is printed."""
    parts = _STYLED.split(text)
    return "".join(f"\x1b[{part}" if at % 2 else sanitize(part) for at, part in enumerate(parts))


class StatusLine:
    """A line or two that move at the bottom of a terminal; nothing elsewhere. Use as a context
    manager: nothing of it stays."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __enter__(self) -> StatusLine:
        return self

    def __exit__(self, *_: object) -> None:
        self._console.status(())

    def show(self, *lines: Line) -> None:
        """Replaces what it shows."""
        self._console.status(lines)


PRINTED_S = 9.5
"""Seconds between two lines of a :class:`Ticker` in a pipe: below 10, because callers report at
intervals of their own."""


class Ticker:
    """What is under way, as one line: on a terminal it is replaced, elsewhere a line is printed
    every 10 s, so that a wait is not silent and a short one prints nothing."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock`` returns seconds."""
        self._console = console
        self._clock = clock
        self._printed: float | None = None

    def show(self, text: str) -> None:
        """Shows the present state; an empty text ends it."""
        if self._console.is_terminal:
            room = self._console.width - 1
            self._console.status([Line(shorten(text, room), "dim")] if text else ())
            return
        now = self._clock()
        if not text:
            self._printed = None
        elif self._printed is None:
            self._printed = now
        elif now - self._printed >= PRINTED_S:
            self._printed = now
            self._console.print(shorten(text, self._console.width))


def shorten(text: str, width: int) -> str:
    """The text in at most ``width`` columns; ``…`` replaces the middle of a longer one, because the
    beginning and the end of a stack reference distinguish it."""
    if len(text) <= width:
        return text
    kept = max(0, width - 1)
    tail = kept // 2
    return f"{text[: kept - tail]}…{text[len(text) - tail :]}"[: max(0, width)]


def fold(text: str, width: int) -> str:
    """Lines of at most ``width`` columns, broken between words alone: paths and commands stay
    whole, to be copied. What a line goes on with is set in by two more columns."""
    return "\n".join(_fold_line(line, width) for line in text.splitlines())


def _fold_line(line: str, width: int) -> str:
    from wirelab.format import wrapping

    indent = line[: len(line) - len(line.lstrip())]
    lines = wrapping.wrap(
        line.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
    )
    return "\n".join(lines)
