"""Known gaps: what a service is known to answer otherwise, with the reason, as data.

A gap is no pass: the matrix shows it. A gap that is not found any more is a failure too, so
that the file cannot grow old.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, model_validator

from wirelab import checkout
from wirelab.errors import StackError
from wirelab.experiment import yaml_model as typed_documents
from wirelab.identity.examining import Finding
from wirelab.stack import manifests
from wirelab.stack.reference import Stack

FILE = "services/gaps.yaml"
"""In the checkout."""


@cache
def _catalogue() -> manifests.Catalogue:
    """Of this process: every gap of the file is checked against the same manifests."""
    return manifests.load()


class Gap(BaseModel):
    """One thing that a service does otherwise."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    services: tuple[str, ...]
    """``binding@language``, each with the axes that the gap needs, if any."""
    contract: Literal["transfer", "charging", "calendar", "records", "petclinic"]
    section: Literal["operations", "errors", "limits", "vectors", "money", "concurrency"]
    finding: str
    """Name of the finding."""
    reason: str

    @model_validator(mode="after")
    def _of_services_that_there_are(self) -> Gap:
        """Or a mistyped gap would stand in the file for good."""
        catalogue = _catalogue()
        for service in self.services:
            try:
                catalogue.manifest(Stack.parse(service), self.contract)
            except StackError as error:
                raise ValueError(f"{error.message}. {error.remedy}") from None
        return self

    def concerns(self, stack: Stack, contract: str, section: str) -> bool:
        """True when it is about that section of that service."""
        if (contract, section) != (self.contract, self.section):
            return False
        return any(_fits(stack, service) for service in self.services)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True)
class Gaps:
    """All known gaps."""

    known: tuple[Gap, ...] = ()

    def of(self, stack: Stack, contract: str, section: str) -> tuple[Gap, ...]:
        """Those of one section of one service."""
        return tuple(gap for gap in self.known if gap.concerns(stack, contract, section))


def load(path: Path | None = None) -> Gaps:
    """Reads the file. Raises :class:`ExperimentError` with all its problems."""
    file = path if path is not None else checkout.root() / FILE
    return Gaps(typed_documents.load(file, _File, "a list of known gaps").gaps)


def unknown(gaps: Iterable[Gap], findings: Iterable[Finding]) -> list[Finding]:
    """Findings that no gap names."""
    names = {gap.finding for gap in gaps}
    return [finding for finding in findings if finding.name not in names]


def closed(gaps: Iterable[Gap], findings: Iterable[Finding]) -> list[Gap]:
    """Gaps that nothing was found of."""
    names = {finding.name for finding in findings}
    return [gap for gap in gaps if gap.finding not in names]


def _fits(stack: Stack, service: str) -> bool:
    """True when the stack is that service, with the axes that it names."""
    name, _, query = service.partition("?")
    axes = stack.axes
    named = [part.partition("=") for part in filter(None, query.split("&"))]
    same = name == f"{axes['binding']}@{axes['language']}"
    return same and all(axes.get(axis) == value for axis, _, value in named)
