"""docs/reference/all-stacks.md from a run of experiments/all-stacks.yaml.

``python -m tools.all_stacks_page RUN``: two tables, one per load, of every stack and message.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tools import marked_part
from wirelab.run import directory as run_directory
from wirelab.run import finished as finished_run
from wirelab.statistics.cell import Cell, cells
from wirelab.statistics.figure import CLIENT_CPU, RATE, RESPONSE_P50, SERVICE_CPU, Figure

PAGE = Path("docs/reference/all-stacks.md")
BEGIN = "<!-- all stacks: made by tools/all_stacks_page.py -->"
END = "<!-- end of all stacks -->"
NOTHING = "–"


def _number(value: float) -> str:
    """Three significant digits."""
    digits = max(0, 2 - math.floor(math.log10(value))) if value else 0
    return f"{value:,.{digits}f}"


def format_cell(
    cell: Cell | None, figure: Figure, factor: float, with_interval: bool = True
) -> str:
    """A figure of a cell times ``factor``, by default with its 95 % interval; a dash without."""
    interval = cell.interval(figure) if cell else None
    if interval is None:
        return NOTHING
    middle = _number(interval.estimate * factor)
    if not with_interval or interval.low is None or interval.high is None:
        return middle
    return f"{middle} [{_number(interval.low * factor)} … {_number(interval.high * factor)}]"


def _message(cell: Cell) -> str:
    point = cell.point
    size = {200: " 200 B", 150_000: " 150 kB"}
    return point.operation + (size.get(point.bytes, "") if point.operation == "Submit" else "")


def notes(cell: Cell) -> str:
    """What failed or is marked in a cell; empty where nothing did."""
    marked = sum(any(c.outcome == "marked" for c in trial.checks) for trial in cell.trials)
    found = [f"{len(cell.failed)} failed"] if cell.failed else []
    found += [f"{cell.errors} calls failed"] if cell.errors else []
    found += [f"{marked} of {len(cell.trials)} marked"] if marked else []
    return ", ".join(found)


def _row(cell: Cell, columns: Iterable[tuple[Figure, float, bool]]) -> str:
    figures = [format_cell(cell, *column) for column in columns]
    return f"| `{cell.point.stack}` | {' | '.join(figures)} | {notes(cell)} |"


def _tables(found: list[Cell], users: int, lead: tuple[str, Figure, float]) -> list[str]:
    title, figure, factor = lead
    columns = [(figure, factor, True), (CLIENT_CPU, 1e6, False), (SERVICE_CPU, 1e6, False)]
    lines = []
    chosen = [cell for cell in found if cell.point.load.users == users]
    for message in dict.fromkeys(map(_message, chosen)):
        rows = [cell for cell in chosen if _message(cell) == message]
        rows.sort(key=_order(figure))
        lines += [
            "",
            f"### {message}, {users} {'user' if users == 1 else 'users'}",
            "",
            f"| stack | {title} | client CPU, µs | service CPU, µs | trials |",
            "|---|---|---|---|---|",
            *(_row(cell, columns) for cell in rows),
        ]
    return lines


def _order(figure: Figure) -> Callable[[Cell], float]:
    sign = 1.0 if figure.better == "lower" else -1.0

    def key(cell: Cell) -> float:
        interval = cell.interval(figure)
        return math.inf if interval is None else sign * interval.estimate

    return key


def page(text: str, folder: Path) -> str:
    """The page with its tables made from a run. Raises :class:`ValueError` where it lacks a
    marker."""
    return marked_part.replace(text, BEGIN, END, _lines(folder))


def _lines(folder: Path) -> Iterator[str]:
    found = list(cells(finished_run.read(folder).trials))
    machine = run_directory.read_manifest(folder).machine
    trials = sum(len(cell.trials) for cell in found)
    days = sorted({trial.started[:10] for cell in found for trial in cell.trials})
    yield (
        f"{trials:,} trials of {days[0]} to {days[-1]} on {machine['cpu']}, "
        f"{machine['cores']} cores, Linux {machine['kernel']}."
    )
    yield from _tables(found, 1, ("response p50, µs", RESPONSE_P50, 1e-3))
    yield from _tables(found, 50, ("calls per second", RATE, 1.0))


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), Path(sys.argv[1])), encoding="utf-8")
