"""Verifies services, one after the other, and keeps the proofs of those that passed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from wirelab.errors import UsageError
from wirelab.identity import gaps as known
from wirelab.identity.examining import examine
from wirelab.identity.gaps import Gaps
from wirelab.identity.point import identity_stack, points
from wirelab.identity.proofs import Proofs
from wirelab.identity.verdict import Verdict, judge
from wirelab.process import engine_binary
from wirelab.process.digests import binary_digest
from wirelab.process.interruption import Interruption
from wirelab.process.services import Programs
from wirelab.stack import manifests
from wirelab.stack.reference import Stack
from wirelab.stack.suggestions import did_you_mean

Json = dict[str, Any]
Point = tuple[Stack, str]
"""An identity point and a contract."""

CONTRACTS = ("transfer", "charging", "calendar", "records", "petclinic")


def chosen(references: Sequence[str], contract: str | None = None) -> list[Point]:
    """The points that the references name, all of them when there are none. Raises
    :class:`StackError`, :class:`UsageError`."""
    if contract is not None and contract not in CONTRACTS:
        raise UsageError(f"there is no contract {contract!r}", did_you_mean(contract, CONTRACTS))
    catalogue = manifests.load()
    if not references:
        return [point for point in points(catalogue) if contract in (None, point[1])]
    return [point for ref in references for point in _named(ref, contract, catalogue)]


def _named(reference: str, contract: str | None, catalogue: manifests.Catalogue) -> Iterator[Point]:
    stack = Stack.parse(reference)
    manifest = catalogue.by_language.get(stack.axes["language"])
    wanted = CONTRACTS if contract is None else (contract,)
    served = [one for one in wanted if manifest and manifest.refusal(stack, one) is None]
    if not served:
        # It raises, and says why.
        catalogue.manifest(stack, wanted[0])
    yield from ((identity_stack(stack), one) for one in served)


class Verifier:
    """Examines services, and keeps the proofs of those that passed."""

    def __init__(self, programs: Programs, interruption: Interruption) -> None:
        self._programs = programs
        self._interruption = interruption
        self.proofs = Proofs(binary_digest(engine_binary.find()))

    @cached_property
    def _gaps(self) -> Gaps:
        """Read when something is examined: most runs find every proof that they need."""
        return known.load()

    def verify(self, stack: Stack, contract: str, *, deep: bool = False) -> Verdict:
        """Examines one identity point. Raises :class:`BuildError`, :class:`Interrupted`."""
        program = self._programs.program(stack, self._interruption, contract)
        examination = examine(
            program,
            stack,
            contract,
            interruption=self._interruption,
            engine_sha256=self.proofs.engine_sha256,
            deep=deep,
        )
        verdict = judge(examination, self._gaps)
        if verdict.passed:
            self.proofs.keep(verdict)
        return verdict

    def kept(self, point: Stack, contract: str) -> Json | None:
        """The proof of an identity point from before; None: there is none."""
        program = self._programs.program(point, self._interruption, contract)
        return self.proofs.find(program, point, contract)

    def proof(self, point: Stack, contract: str) -> Json | Verdict:
        """A proof made now; else the verdict that says why there is none."""
        verdict = self.verify(point, contract)
        return self.kept(point, contract) or verdict


def verify(
    chosen_points: Iterable[Point],
    *,
    deep: bool = False,
    on_verdict: Callable[[Verdict], None] = lambda _: None,
) -> Iterator[Verdict]:
    """Examines every point. Raises :class:`BuildError`, :class:`Interrupted`."""
    with Interruption() as interruption:
        verifier = Verifier(Programs(manifests.load()), interruption)
        for stack, contract in chosen_points:
            interruption.check()
            verdict = verifier.verify(stack, contract, deep=deep)
            on_verdict(verdict)
            yield verdict
