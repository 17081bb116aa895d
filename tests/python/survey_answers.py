"""Answers of simulated participants, whose true opinions are known."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from wirelab.survey.answers import columns
from wirelab.survey.questionnaire import questionnaire

Row = dict[str, object]


def row(participant: int, task: str, position: int, answers: Sequence[int]) -> Row:
    """One participant on one library, everything solved in five minutes."""
    return {
        "participant": participant,
        "occupation": "developer",
        "task": task,
        "position": position,
        "part1": "solved",
        "part1_s": 100,
        "part2": "solved",
        "part2_s": 200,
        **{f"q{place}": answer for place, answer in enumerate(answers, start=1)},
    }


def write(file: Path, rows: Sequence[Row]) -> Path:
    """The rows as the page saves them."""
    lines = [",".join(columns())]
    lines += [",".join(str(one[name]) for name in columns()) for one in rows]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def simulate(
    count: int, agreement: dict[str, float], *, second: float = 0.0, seed: int = 1
) -> list[Row]:
    """Participants who each give a point of every item with the probability of the library.

    The true mean of a sum is then 36 times that. ``second`` is added for the task that comes
    second. Everyone differs from the others by a disposition of their own.
    """
    rng = random.Random(seed)
    rows = []
    for number in range(1, count + 1):
        order = ["http", "grpc"] if number % 2 else ["grpc", "http"]
        disposition = rng.uniform(-0.1, 0.1)
        for position, task in enumerate(order, start=1):
            chance = agreement[task] + disposition + (second if position == 2 else 0.0)
            points = [sum(rng.random() < chance for _ in range(4)) for _ in questionnaire().items]
            items = questionnaire().items
            answers = [item.points(one) for item, one in zip(items, points, strict=True)]
            rows.append(row(number, task, position, answers))
    return rows
