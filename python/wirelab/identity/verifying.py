"""Verifies services, one after the other, and keeps the proofs of those that passed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from wirelab import engine_binary, manifests
from wirelab.builds import binary_digest
from wirelab.errors import UsageError
from wirelab.identity import gaps as known
from wirelab.identity.examining import examine
from wirelab.identity.point import identity_stack, points
from wirelab.identity.proofs import Proofs
from wirelab.identity.verdict import Verdict, judge
from wirelab.interruption import Interruption
from wirelab.services import Programs
from wirelab.spelling import did_you_mean
from wirelab.stacks import Stack

Point = tuple[Stack, str]
"""An identity point and a contract."""

CONTRACTS = ("transfer", "charging", "calendar")


def chosen(references: Sequence[str], contract: str | None = None) -> list[Point]:
    """The points that the references name, all of them when there are none. Raises
    :class:`StackError`, :class:`UsageError`."""
    if contract is not None and contract not in CONTRACTS:
        raise UsageError(f"there is no contract {contract!r}", did_you_mean(contract, CONTRACTS))
    catalogue = manifests.load()
    found = [point for ref in references for point in _named(ref, catalogue)]
    if not references:
        found = list(points(catalogue))
    return [point for point in found if contract in (None, point[1])]


def _named(reference: str, catalogue: manifests.Catalogue) -> Iterator[Point]:
    stack = Stack.parse(reference)
    binding = stack.axes["binding"]
    for served in catalogue.manifest(stack).serves:
        if served.binding == binding:
            yield from ((identity_stack(stack), contract) for contract in served.contracts)


def verify(
    chosen_points: Iterable[Point],
    *,
    deep: bool = False,
    on_verdict: Callable[[Verdict], None] = lambda _: None,
) -> Iterator[Verdict]:
    """Examines every point. Raises :class:`BuildError`, :class:`Interrupted`."""
    engine_sha256 = binary_digest(engine_binary.find())
    programs, proofs = Programs(manifests.load()), Proofs(engine_sha256)
    gaps = known.load()
    with Interruption() as interruption:
        for stack, contract in chosen_points:
            interruption.check()
            program = programs.program(stack, interruption)
            examination = examine(
                program,
                stack,
                contract,
                interruption=interruption,
                engine_sha256=engine_sha256,
                deep=deep,
            )
            verdict = judge(examination, gaps)
            if verdict.passed:
                proofs.keep(verdict)
            on_verdict(verdict)
            yield verdict
