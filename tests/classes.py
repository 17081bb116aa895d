"""The class of each test: which command runs it, and whether other work may run next to it.

``tests/long.txt`` is the one list. A line has a class and a pattern: a module, a test of it, or
one of its parameters, with ``*`` for any text. As in a .gitignore, the last line that matches
decides. A test that no line matches is ``fast``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

FOLDER = Path(__file__).parent
FILE = FOLDER / "long.txt"


class TestClass(StrEnum):
    """From what runs before every commit to what needs the machine for itself."""

    __test__ = False

    FAST = "fast"
    """In every command."""
    SLOW = "slow"
    """``make check`` leaves it out."""
    LONG = "long"
    """Only ``make test-all`` runs it."""
    ALONE = "alone"
    """It judges a time: only ``make test-all`` runs it, and nothing next to it."""

    @property
    def markers(self) -> list[str]:
        """What ``-m`` selects by."""
        return [] if self is TestClass.FAST else sorted({"slow", str(self)})


@dataclass(frozen=True)
class Entry:
    """A line of the list."""

    line: int
    test_class: TestClass
    pattern: str
    reason: str

    @property
    def module(self) -> str:
        """``python/test_drive``."""
        return self.pattern.partition("::")[0]

    def matches(self, test: str) -> bool:
        """Whether it is about that test, named as ``python/test_drive::test_a[b]``."""
        if "::" not in self.pattern:
            return test.startswith(f"{self.pattern}::")
        wanted = ".*".join(map(re.escape, self.pattern.split("*")))
        parameters = "" if "[" in self.pattern else r"(\[.*\])?"
        return bool(re.fullmatch(wanted + parameters, test, re.DOTALL))


def parse(text: str) -> list[Entry]:
    """The entries of a list. ValueError, with the line, for what is none."""
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = re.fullmatch(r"(\w+) +(\S+)(?:  # (.+))?", line)
        if match is None:
            raise ValueError(f"line {number}: expected 'class pattern  # reason', not {line!r}")
        entries.append(Entry(number, TestClass(match[1]), match[2], match[3] or ""))
    return entries


class Classes:
    """The classes that a list gives."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self._by_module: dict[str, list[Entry]] = {}
        for entry in entries:
            self._by_module.setdefault(entry.module, []).append(entry)

    def entry_of(self, test: str) -> Entry | None:
        """The line that decides about that test."""
        listed = self._by_module.get(test.partition("::")[0], [])
        return next((entry for entry in reversed(listed) if entry.matches(test)), None)

    def class_of(self, test: str) -> TestClass:
        """The class of that test."""
        entry = self.entry_of(test)
        return TestClass.FAST if entry is None else entry.test_class


def load() -> Classes:
    """The classes of this suite."""
    return Classes(parse(FILE.read_text(encoding="utf-8")))
