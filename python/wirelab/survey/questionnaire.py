"""What participants do and answer: the tasks and items of ``kit/tasks.yaml``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

KIT = Path(__file__).parent / "kit"
ANSWER_MAX = 4
"""Points of an item: 0, strongly disagree, to 4, strongly agree."""


@dataclass(frozen=True)
class Part:
    """One half of a task."""

    title: str
    steps: tuple[str, ...]


@dataclass(frozen=True)
class Task:
    """What a participant does with one library."""

    name: str
    title: str
    folder: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Item:
    """A statement, with which participants agree or not."""

    name: str
    """Of its points, in a few words; more points are better whichever way it is asked."""
    text: str
    reversed: bool = False
    """Agreement counts against the library."""

    def points(self, answer: int) -> int:
        """0 to 4, more for a better library."""
        return ANSWER_MAX - answer if self.reversed else answer


@dataclass(frozen=True)
class Questionnaire:
    """Everything that a kit asks."""

    tasks: tuple[Task, ...]
    occupations: tuple[str, ...]
    answers: tuple[str, ...]
    items: tuple[Item, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the tasks."""
        return tuple(task.name for task in self.tasks)

    @property
    def sum_max(self) -> int:
        """The best sum of all items."""
        return ANSWER_MAX * len(self.items)


@cache
def questionnaire() -> Questionnaire:
    """That of the installed package."""
    import yaml

    text = (KIT / "tasks.yaml").read_text(encoding="utf-8")
    return msgspec.convert(yaml.safe_load(text), Questionnaire)
