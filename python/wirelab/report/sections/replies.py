"""Replies of services that are not of the lab: what was expected of them, and what came."""

from __future__ import annotations

from wirelab.checks.replies import UNCHECKED, differences, expectation
from wirelab.format.sanitize import sanitize
from wirelab.report.section import Section, Table
from wirelab.report.source import Source
from wirelab.stack.external import LANGUAGE
from wirelab.statistics.cell import Cell

EXAMPLES_MAX = 10
"""Failed replies that are shown of each cell."""
_ABOUT = (
    "Services of your own have no contract. A reply that does not meet the expectations of the "
    "experiment is an error. Where nothing is expected, only the differences between good replies "
    "are known."
)
_COLUMNS = ("stack", "message and load", "expected", "good replies", "failed")
_FAILED = ("stack", "message and load", "the first failed calls")


def section(source: Source) -> Section:
    """Empty where all services are of the lab."""
    own = [cell for cell in source.cells if cell.measured and cell.point.axes.language == LANGUAGE]
    if not own:
        return Section("Replies")
    failed = [[*_place(source, cell), text] for cell in own for text in _examples(cell)]
    tables = [Table(_COLUMNS, [_row(source, cell) for cell in own], numeric=(4,))]
    if failed:
        tables.append(Table(_FAILED, failed))
    return Section("Replies", (_ABOUT,), tables)


def _place(source: Source, cell: Cell) -> list[str]:
    return [source.names.stacks[cell.point.stack], source.names.setting(cell.point)]


def _row(source: Source, cell: Cell) -> list[str]:
    expected = expectation(cell.measured[0])
    ok = sum(trial.result.ok for trial in cell.measured)
    if expected:
        good = f"{ok:,} as expected"
    else:
        replies = [trial.result.replies for trial in cell.measured if trial.result.replies]
        good = f"{UNCHECKED}: {differences(replies)}"
    return [*_place(source, cell), ", ".join(expected) or "nothing", good, f"{cell.errors:,}"]


def _examples(cell: Cell) -> list[str]:
    """Without repetitions, in the order of the trials."""
    texts = (text for trial in cell.measured for text in trial.result.error_examples)
    return [sanitize(text) for text in list(dict.fromkeys(texts))[:EXAMPLES_MAX]]
