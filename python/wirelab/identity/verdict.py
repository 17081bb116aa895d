"""Verdict on an examination: passed, passed except for known gaps, or failed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, model_validator

from wirelab import installation
from wirelab.errors import StackError
from wirelab.experiment import yaml_model as typed_documents
from wirelab.identity.finding import Exam, Examination, Finding
from wirelab.stack import manifests
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
        """True if calls were made, and all findings are known gaps."""
        failed = any(cell.outcome == "FAIL" for cell in self.cells)
        examined = any(cell.calls for cell in self.cells)
        return not self.examination.failure and not failed and examined

    def reasons(self) -> list[str]:
        """Reasons why it did not pass, one line each."""
        failure = [self.examination.failure] if self.examination.failure else []
        problems = [
            f"{cell.section}: {problem}" for cell in self.cells for problem in cell.problems
        ]
        return failure + problems


def judge(examination: Examination, gaps: Gaps) -> Verdict:
    """Compares each section with the known gaps."""
    stack = Stack.parse(examination.stack)
    cells = tuple(
        _cell(exam, gaps.of(stack, examination.contract, exam.section))
        for exam in examination.exams
    )
    return Verdict(examination, cells)


def _cell(exam: Exam, gaps: tuple[Gap, ...]) -> Cell:
    found = [
        f"{finding.name}: {finding.call}: expected {finding.expected}, found {finding.found}"
        for finding in unknown_findings(gaps, exam.findings)
    ]
    closed = [
        f"{gap.finding}: passes, although it is listed as a known gap ({gap.reason}); "
        f"remove the gap from services/{FILE}"
        for gap in find_closed_gaps(gaps, exam.findings)
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


FILE = "gaps.yaml"
"""Name in the folder of the services."""


@cache
def _catalogue() -> manifests.Catalogue:
    """Manifests, loaded once per process to check all gaps of the file."""
    return manifests.load()


class Gap(BaseModel):
    """One known difference of a service."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    services: tuple[str, ...]
    """``binding@language``, each with the axes that the gap needs, if any."""
    contract: Literal["transfer", "charging", "calendar", "records", "petclinic", "stream"]
    section: Literal["operations", "errors", "limits", "vectors", "money", "concurrency", "outages"]
    finding: str
    """Name of the finding."""
    reason: str

    @model_validator(mode="after")
    def _of_services_that_there_are(self) -> Gap:
        """Validates the references, because a mistyped gap would never be noticed."""
        catalogue = _catalogue()
        for service in self.services:
            try:
                catalogue.manifest(Stack.parse(service), self.contract)
            except StackError as error:
                raise ValueError(f"{error.message}. {error.remedy}") from None
        return self

    def concerns(self, stack: Stack, contract: str, section: str) -> bool:
        """True if it applies to that section of that service."""
        if (contract, section) != (self.contract, self.section):
            return False
        return any(stack.fits(service) for service in self.services)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True)
class Gaps:
    """All known gaps."""

    known: tuple[Gap, ...] = ()

    def of(self, stack: Stack, contract: str, section: str) -> tuple[Gap, ...]:
        """Gaps of one section of one service."""
        return tuple(gap for gap in self.known if gap.concerns(stack, contract, section))


def load(path: Path | None = None) -> Gaps:
    """Reads the file. Raises :class:`ExperimentError` with all its problems."""
    file = path if path is not None else installation.folder("services") / FILE
    return Gaps(typed_documents.load(file, _File, "a list of known gaps").gaps)


def unknown_findings(gaps: Iterable[Gap], findings: Iterable[Finding]) -> list[Finding]:
    """Findings that are not known gaps."""
    names = {gap.finding for gap in gaps}
    return [finding for finding in findings if finding.name not in names]


def find_closed_gaps(gaps: Iterable[Gap], findings: Iterable[Finding]) -> list[Gap]:
    """Gaps without a finding."""
    names = {finding.name for finding in findings}
    return [gap for gap in gaps if gap.finding not in names]
