"""The part of docs/reference/robustness.md that ``make chaos`` writes."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools import marked_part

PAGE = Path("docs/reference/robustness.md")


@dataclass(frozen=True)
class Result:
    """Of all rounds."""

    date: str
    minutes: float
    seed: int
    tried: Mapping[str, int]
    held: Mapping[str, int]
    lacks: Sequence[str]
    """What was not possible, with the reason."""


def lines(result: Result, problems: Sequence[str]) -> Iterator[str]:
    """The part's lines."""
    rounds, good = sum(result.tried.values()), sum(result.held.values())
    yield (
        f"{result.date}: {rounds} rounds in {result.minutes:g} minutes, {good} held; seed "
        f"{result.seed}, Linux {platform.release()}, {os.cpu_count()} cores."
    )
    yield ""
    yield "| disturbance | tried | held |"
    yield "|---|---|---|"
    for name in sorted(result.tried):
        yield f"| {name} | {result.tried[name]} | {result.held.get(name, 0)} |"
    if result.lacks:
        yield ""
        yield f"Not possible there: {'; '.join(result.lacks)}."
    if problems:
        yield ""
        yield from (f"- {one}" for one in problems)


def write(result: Result, problems: Sequence[str]) -> None:
    """Replaces the part of the page."""
    marked_part.replace_part(PAGE, "chaos", lines(result, problems))
