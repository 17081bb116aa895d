"""What an examination says: passed, passed but for known gaps, or not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from wirelab.identity import gaps as known
from wirelab.identity.examining import Exam, Examination
from wirelab.identity.gaps import Gap, Gaps
from wirelab.stack.reference import Stack

Outcome = Literal["pass", "gap", "FAIL", "none"]


@dataclass(frozen=True)
class Cell:
    """One section of one service."""

    section: str
    outcome: Outcome
    calls: int = 0
    problems: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """A row of the matrix."""

    examination: Examination
    cells: tuple[Cell, ...] = field(default_factory=tuple)

    @property
    def passed(self) -> bool:
        """True when calls were made, and nothing was found but known gaps."""
        failed = any(cell.outcome == "FAIL" for cell in self.cells)
        examined = any(cell.calls for cell in self.cells)
        return not self.examination.failure and not failed and examined

    def reasons(self) -> list[str]:
        """Why it did not pass, a line each."""
        failure = [self.examination.failure] if self.examination.failure else []
        problems = [
            f"{cell.section}: {problem}" for cell in self.cells for problem in cell.problems
        ]
        return failure + problems


def judge(examination: Examination, gaps: Gaps) -> Verdict:
    """Sets each section beside the known gaps."""
    stack = Stack.parse(examination.stack)
    cells = tuple(
        _cell(exam, gaps.of(stack, examination.contract, exam.section))
        for exam in examination.exams
    )
    return Verdict(examination, cells)


def _cell(exam: Exam, gaps: tuple[Gap, ...]) -> Cell:
    found = [
        f"{finding.name}: {finding.call} was to say {finding.expected}, and said {finding.found}"
        for finding in known.unknown(gaps, exam.findings)
    ]
    closed = [
        f"{gap.finding}: passes, though a known gap says that it does not ({gap.reason}); "
        f"take the gap out of {known.FILE}"
        for gap in known.closed(gaps, exam.findings)
    ]
    problems = tuple(found + closed)
    return Cell(
        exam.section, _outcome(exam, gaps, problems), exam.calls, problems, gaps, exam.left_out
    )


def _outcome(exam: Exam, gaps: tuple[Gap, ...], problems: tuple[str, ...]) -> Outcome:
    if problems:
        return "FAIL"
    if gaps:
        return "gap"
    return "pass" if exam.calls else "none"
