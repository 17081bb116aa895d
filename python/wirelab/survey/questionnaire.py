"""Tasks and questions for participants: contents of ``kit/tasks.yaml``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

KIT = Path(__file__).parent / "kit"
ANSWER_MAX = 4
"""Points of an item: from 0, strongly disagree, to 4, strongly agree."""


@dataclass(frozen=True)
class Part:
    """One half of a task."""

    title: str
    steps: tuple[str, ...]


@dataclass(frozen=True)
class Task:
    """Task of a participant with one library."""

    name: str
    title: str
    folder: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Item:
    """A statement that participants agree or disagree with."""

    name: str
    """Short name of the item; more points are better regardless of its wording."""
    text: str
    reversed: bool = False
    """Whether agreement counts against the library."""

    def points(self, answer: int) -> int:
        """0 to 4; higher is better for the library."""
        return ANSWER_MAX - answer if self.reversed else answer


@dataclass(frozen=True)
class Questionnaire:
    """Contents of a kit."""

    tasks: tuple[Task, ...]
    occupations: tuple[str, ...]
    answers: tuple[str, ...]
    items: tuple[Item, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tasks."""
        return tuple(task.name for task in self.tasks)

    @property
    def sum_max(self) -> int:
        """The highest possible sum of all items."""
        return ANSWER_MAX * len(self.items)


@cache
def questionnaire() -> Questionnaire:
    """The questionnaire of the installed package."""
    import yaml

    text = (KIT / "tasks.yaml").read_text(encoding="utf-8")
    return msgspec.convert(yaml.safe_load(text), Questionnaire)
