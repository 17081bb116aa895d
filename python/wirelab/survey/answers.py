"""Reads the answers of participants from CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import UsageError
from wirelab.survey.questionnaire import ANSWER_MAX, questionnaire

FILE_BYTES_MAX = 10 << 20
SECONDS_MAX = 24 * 3600
SOLVED, GIVEN_UP = "solved", "given up"
PARTS = ("part1", "part2")


class BadAnswers(UsageError):
    """A file of answers cannot be used; the message contains file and line."""


@dataclass(frozen=True)
class PartOutcome:
    """Result of one part of a task."""

    solved: bool
    seconds: float
    """From reading the steps to the end, whether solved or given up."""


@dataclass(frozen=True)
class TaskAnswers:
    """One participant on one library: a line of the CSV."""

    participant: int
    occupation: str
    task: str
    position: int
    """1 for the first task, 2 for the second."""
    parts: tuple[PartOutcome, ...]
    answers: tuple[int, ...]
    """0 to 4 per item, as given, not reversed."""

    @property
    def points(self) -> tuple[int, ...]:
        """0 to 4 per item; higher is better for the library."""
        items = questionnaire().items
        return tuple(item.points(one) for item, one in zip(items, self.answers, strict=True))

    @property
    def solved(self) -> bool:
        """Whether all parts were solved."""
        return all(part.solved for part in self.parts)

    @property
    def seconds(self) -> float:
        """Total time of all parts."""
        return sum(part.seconds for part in self.parts)


@dataclass(frozen=True)
class Participant:
    """Both tasks of one participant."""

    number: int
    tasks: Mapping[str, TaskAnswers]
    first: str
    """The task that the participant did first."""


@dataclass(frozen=True)
class Answers:
    """All answers that were read."""

    complete: tuple[Participant, ...]
    incomplete: tuple[TaskAnswers, ...]
    """Participants with only one task, who are left out."""


def columns() -> tuple[str, ...]:
    """Columns of the CSV."""
    parts = [name for part in PARTS for name in (part, f"{part}_s")]
    items = [f"q{place}" for place in range(1, len(questionnaire().items) + 1)]
    return ("participant", "occupation", "task", "position", *parts, *items)


def read_answers(files: Sequence[Path]) -> Answers:
    """The answers of all files together. Raises :class:`BadAnswers`."""
    found: dict[int, dict[str, tuple[str, TaskAnswers]]] = {}
    for file in files:
        for where, row in _rows(file):
            read = _task_answers(row, where)
            tasks = found.setdefault(read.participant, {})
            if read.task in tasks:
                raise BadAnswers(
                    f"{where}: participant {read.participant} has two lines for {read.task}",
                    f"the other is {tasks[read.task][0]}; give each participant a unique number",
                )
            tasks[read.task] = where, read
    complete: list[Participant] = []
    incomplete: list[TaskAnswers] = []
    for number, lines in sorted(found.items()):
        tasks_read = {name: read for name, (_, read) in lines.items()}
        if len(tasks_read) < len(questionnaire().tasks):
            incomplete += tasks_read.values()
            continue
        if sorted(read.position for read in tasks_read.values()) != [1, 2]:
            where = next(iter(lines.values()))[0]
            raise BadAnswers(f"{where}: participant {number} has two tasks at the same position")
        first = next(name for name, read in tasks_read.items() if read.position == 1)
        complete.append(Participant(number, tasks_read, first))
    return Answers(tuple(complete), tuple(incomplete))


def _rows(file: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Every line with its location, e.g. ``answers.csv, line 3``."""
    try:
        if file.stat().st_size > FILE_BYTES_MAX:
            raise BadAnswers(f"{file}: more than {FILE_BYTES_MAX >> 20} MiB")
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadAnswers(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadAnswers(f"{file} is not UTF-8 text: byte {error.start}") from error
    reader = csv.DictReader(text.splitlines(), strict=True)
    try:
        if missing := [name for name in columns() if name not in (reader.fieldnames or ())]:
            raise BadAnswers(
                f"{file}, line 1: the column {missing[0]} is missing",
                f"the columns are {','.join(columns())}",
            )
        for row in reader:
            where = f"{file}, line {reader.line_num}"
            if None in row or None in row.values():
                raise BadAnswers(f"{where}: the line does not have the columns of line 1")
            yield where, row
    except csv.Error as error:
        raise BadAnswers(f"{file}, line {reader.line_num}: {error}") from error


def _task_answers(row: Mapping[str, str], where: str) -> TaskAnswers:
    asked = questionnaire()
    items = range(1, len(asked.items) + 1)
    return TaskAnswers(
        participant=_whole(row, "participant", (1, 10**6), where),
        occupation=_one_of(row, "occupation", asked.occupations, where),
        task=_one_of(row, "task", asked.names, where),
        position=_whole(row, "position", (1, len(asked.tasks)), where),
        parts=tuple(
            PartOutcome(
                _one_of(row, part, (SOLVED, GIVEN_UP), where) == SOLVED,
                _whole(row, f"{part}_s", (0, SECONDS_MAX), where),
            )
            for part in PARTS
        ),
        answers=tuple(_whole(row, f"q{place}", (0, ANSWER_MAX), where) for place in items),
    )


def _whole(row: Mapping[str, str], name: str, limits: tuple[int, int], where: str) -> int:
    low, high = limits
    text = row[name].strip()
    if text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high:
        return int(text)
    raise BadAnswers(f"{where}: {name}: {row[name]!r} is not a whole number from {low} to {high}")


def _one_of(row: Mapping[str, str], name: str, legal: Sequence[str], where: str) -> str:
    if (text := row[name].strip()) in legal:
        return text
    raise BadAnswers(f"{where}: {name}: {row[name]!r} is none of {', '.join(legal)}")
