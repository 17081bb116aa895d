"""Findings of an examination, by section."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One difference between service and model."""

    name: str
    call: str
    expected: str
    found: str


@dataclass(frozen=True)
class Exam:
    """One section: ``operations``, ``errors``, ``limits``, ``vectors``, ``money``,
    ``concurrency`` or ``outages``."""

    section: str
    calls: int
    findings: tuple[Finding, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Examination:
    """All sections of one service, contract and stack."""

    stack: str
    """Reference of the identity point."""
    contract: str
    sha256: str
    """SHA-256 of the service's binary."""
    engine_sha256: str
    deep: bool
    seed: int
    seconds: float
    exams: tuple[Exam, ...] = ()
    failure: str = ""
    """Why there are no sections, or not all: the service did not start, or stopped answering."""
