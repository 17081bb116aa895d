"""The printed figures of the studies (``studies/published.csv``)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import UsageError

COLUMNS = (
    "study",
    "experiment",
    "stack",
    "language",
    "operation",
    "payload",
    "load",
    "link",
    "metric",
    "statistic",
    "value",
    "unit",
    "source",
    "note",
)


@dataclass(frozen=True)
class Figure:
    """One printed figure of a study, with the place where it is printed."""

    study: str
    experiment: str
    stack: str
    """The study's own name of what was measured."""
    language: str
    operation: str
    payload: str
    load: dict[str, str]
    link: str
    metric: str
    statistic: str
    value: float
    unit: str
    source: str
    note: str
    """Doubts about the figure, and what was recomputed from it."""
    line: int
    """Line of the file."""

    @property
    def doubtful(self) -> bool:
        """True where the printed figure cannot be right."""
        return any(word in self.note for word in ("exceeds", "not reachable"))


def read(path: Path, study: str | None = None) -> tuple[Figure, ...]:
    """All figures, or those of one study. Raises :class:`UsageError` naming the line."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        header = next(rows, [])
        if tuple(header) != COLUMNS:
            raise UsageError(
                f"{path}:1: columns are {header}", f"they must be {', '.join(COLUMNS)}"
            )
        figures = [_figure(path, rows.line_num, row) for row in rows]
    return tuple(figure for figure in figures if study in (None, figure.study))


def select(figures: Iterable[Figure], **values: str) -> tuple[Figure, ...]:
    """The figures whose columns have these values (``load`` is left to the caller)."""
    return tuple(
        figure for figure in figures if all(getattr(figure, k) == v for k, v in values.items())
    )


def _figure(path: Path, line: int, row: Sequence[str]) -> Figure:
    if len(row) != len(COLUMNS):
        raise UsageError(f"{path}:{line}: {len(row)} fields", f"a row has {len(COLUMNS)}")
    cells = dict(zip(COLUMNS, row, strict=True))
    try:
        value = float(cells["value"])
    except ValueError:
        raise UsageError(
            f"{path}:{line}: value {cells['value']!r} is not a number",
            "leave out a figure that was not printed",
        ) from None
    words = {name: cells[name] for name in COLUMNS if name not in ("load", "value")}
    return Figure(**words, load=_load(cells["load"]), value=value, line=line)


def _load(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.split(";") if part)
    return {key.strip(): value.strip() for key, _, value in pairs}
