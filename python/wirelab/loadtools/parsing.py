"""Parses command line options, and numbers with units, of load tools."""

from __future__ import annotations

import getopt
import re
from collections.abc import Collection, Mapping, Sequence

from wirelab.loadtools.tool_report import ALL_CHECKS, Unread

SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}
"""Both code points of the micro sign; ``m`` is a minute, as in wrk and Go."""
EXPANDED = ("$", "`")
"""Begin of a value that a shell replaces."""
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(ns|us|µs|μs|ms|s|m)(?![a-z])")


class Options:
    """Options of one command line; the last occurrence of a name counts. What cannot be read is
    remembered: a default never replaces it."""

    def __init__(self, found: Sequence[tuple[str, str]], broken: str | None = None) -> None:
        """``broken``: why the words could not be separated."""
        self._found = list(found)
        self._broken = broken
        self._unread: dict[str, None] = {}

    @classmethod
    def posix(cls, words: Sequence[str], short: str, long: Sequence[str] = ()) -> Options:
        """By the rules of getopt(3)."""
        try:
            return cls(getopt.gnu_getopt(list(words), short, list(long))[0])
        except getopt.GetoptError as error:
            return cls([], str(error))

    @classmethod
    def loose(cls, words: Sequence[str], flags: Sequence[str]) -> Options:
        """``--name value`` and ``--name=value``; ``flags`` take no value."""
        found: list[tuple[str, str]] = []
        rest = list(words)
        while rest:
            name, equals, value = rest.pop(0).partition("=")
            if not name.startswith("-"):
                continue
            takes = not equals and name not in flags and rest and not rest[0].startswith("--")
            found.append((name, rest.pop(0) if takes else value))
        return cls(found)

    def text(self, *names: str) -> str | None:
        """The value, or None if the option is absent."""
        values = [value for name, value in self._found if name in names]
        return values[-1] if values else None

    def has(self, *names: str) -> bool:
        """Whether the option is present."""
        return self.text(*names) is not None

    def count(self, *names: str, default: int | None = None) -> int | None:
        """A whole number: ``default`` if it is absent, None if it cannot be read."""
        value = self.number(*names, default=default)
        if value is not None and value != int(value):
            self._refuse(names)
            return None
        return None if value is None else int(value)

    def number(self, *names: str, default: float | None = None) -> float | None:
        """A number: ``default`` if it is absent, None if it cannot be read."""
        text = self.text(*names)
        if text is None:
            return None if self._broken else default
        if re.fullmatch(r"\d+(\.\d+)?", text):
            return float(text)
        self._refuse(names)
        return None

    def _refuse(self, names: Sequence[str]) -> None:
        self._unread[self.format_options(*names)[-1]] = None

    def unread(
        self, effects: Mapping[str, tuple[str, ...]], known: Collection[str] | None = None
    ) -> tuple[Unread, ...]:
        """What is not understood: all options after an error, values that could not be read, and
        those whose ``effects`` are not modelled, by name. If ``known`` is given, an option that is
        neither there nor in ``effects`` is not understood either."""
        if self._broken is not None:
            return (Unread(self._broken, ALL_CHECKS),)
        found = [Unread(text, ALL_CHECKS) for text in self._unread]
        for name, value in self._found:
            if name in effects:
                found.append(Unread(f"{name} {value}".strip(), effects[name]))
            elif known is not None and name not in known:
                found.append(Unread(name, ALL_CHECKS))
            elif value.startswith(EXPANDED) and f"{name} {value}" not in self._unread:
                found.append(Unread(f"{name} {value}", ALL_CHECKS))
        return tuple(dict.fromkeys(found))

    def all(self, *names: str) -> list[str]:
        """Every value, in order."""
        return [value for name, value in self._found if name in names]

    def format_options(self, *names: str) -> tuple[str, ...]:
        """The options with these names, as text for people."""
        found = [(name, value) for name, value in self._found if name in names]
        return tuple(f"{name} {value}".strip() for name, value in found)


def product(*factors: int | None) -> int | None:
    """None if one of them is not known."""
    whole = 1
    for factor in factors:
        if factor is None:
            return None
        whole *= factor
    return whole


def closes(headers: Sequence[str]) -> bool:
    """Whether one of the headers closes the connection after the reply."""
    return any(re.fullmatch(r"\s*connection\s*:\s*close\s*", text, re.I) for text in headers)


def seconds(text: str) -> float | None:
    """``1.23ms`` -> 0.00123, ``1m2.5s`` -> 62.5; None if it is not a time."""
    parts = _TIME.findall(text)
    return sum(float(number) * SECONDS[unit] for number, unit in parts) if parts else None


def find_first(pattern: str, text: str) -> str | None:
    """The first group of the first match, line by line."""
    match = re.search(pattern, text, re.M)
    return match[1] if match else None


def number(pattern: str, text: str) -> float | None:
    """The match as a number; thousands separators are allowed."""
    match = find_first(pattern, text)
    return None if match is None else float(match.replace(",", ""))


def whole(pattern: str, text: str) -> int | None:
    """The match as a whole number."""
    match = number(pattern, text)
    return None if match is None else int(match)


def times(named: dict[str, float | None]) -> dict[str, float]:
    """Removes None values."""
    return {name: value for name, value in named.items() if value is not None}
