"""Verifies services one after the other, and stores proofs of those that passed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from wirelab import installation
from wirelab.errors import TrialFailed, UsageError
from wirelab.format.console import WIDTH, shorten
from wirelab.identity import verdict as known
from wirelab.identity.examining import examine
from wirelab.identity.point import identity_stack, points
from wirelab.identity.verdict import Gaps, Verdict, judge
from wirelab.process import engine_binary, proxies
from wirelab.process.build_progress import OnBuild, ignore
from wirelab.process.engine_binary import binary_digest
from wirelab.process.interruption import Interruption
from wirelab.process.services import Program, Programs
from wirelab.records.service import IdentityRecord
from wirelab.records.trial import now
from wirelab.stack import manifests
from wirelab.stack.operations import CONTRACTS
from wirelab.stack.reference import Stack
from wirelab.stack.suggestions import did_you_mean

Point = tuple[Stack, str]
"""An identity point and a contract."""


def choose_points(references: Sequence[str], contract: str | None = None) -> list[Point]:
    """The points of the given references, or all points. Raises
    :class:`StackError`, :class:`UsageError`."""
    if contract is not None and contract not in CONTRACTS:
        raise UsageError(f"unknown contract {contract!r}", did_you_mean(contract, CONTRACTS))
    catalogue = manifests.load()
    if not references:
        return [point for point in points(catalogue) if contract in (None, point[1])]
    return [point for ref in references for point in _find_points(ref, contract, catalogue)]


def _find_points(
    reference: str, contract: str | None, catalogue: manifests.Catalogue
) -> Iterator[Point]:
    stack = Stack.parse(reference)
    manifest = catalogue.by_language.get(stack.axes.language)
    contracts = CONTRACTS if contract is None else (contract,)
    served = [one for one in contracts if manifest and manifest.refusal(stack, one) is None]
    if not served:
        # Raises the error with the reason.
        catalogue.manifest(stack, contracts[0])
    yield from ((identity_stack(stack), one) for one in served)


class Verifier:
    """Examines services, and stores proofs of those that passed."""

    def __init__(
        self,
        programs: Programs,
        interruption: Interruption,
        *,
        postgres: str = "",
        ready_timeout_s: float | None = None,
    ) -> None:
        """``postgres`` is the URL of a running server for ``store=postgres``; ``ready_timeout_s``
        is that of :class:`wirelab.process.children.ProcessOptions`."""
        self._postgres = postgres
        self._ready_timeout_s = ready_timeout_s
        self._programs = programs
        self._interruption = interruption
        self.proofs = Proofs(binary_digest(engine_binary.find()))

    @cached_property
    def _gaps(self) -> Gaps:
        """Loaded on first use: most runs find all proofs that they need."""
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
            url=self._postgres,
            ready_timeout_s=self._ready_timeout_s,
        )
        verdict = judge(examination, self._gaps)
        if verdict.passed:
            self.proofs.keep(verdict)
        return verdict

    def find_proof(self, point: Stack, contract: str) -> IdentityRecord | None:
        """A stored proof of an identity point; None if there is none."""
        program = self._programs.program(point, self._interruption, contract)
        return self.proofs.find(program, point, contract)

    def proof(self, point: Stack, contract: str) -> IdentityRecord | Verdict:
        """A new proof, or the verdict that explains why there is none."""
        verdict = self.verify(point, contract)
        return self.find_proof(point, contract) or verdict


def verify(
    chosen_points: Iterable[Point],
    *,
    deep: bool = False,
    postgres: str = "",
    ready_timeout_s: float | None = None,
    on_verdict: Callable[[Verdict], None] = lambda _: None,
    on_build: OnBuild = ignore,
) -> Iterator[Verdict]:
    """Examines every point. Raises :class:`BuildError`, :class:`Interrupted`."""
    with Interruption() as interruption:
        verifier = Verifier(
            Programs(manifests.load(), on_build),
            interruption,
            postgres=postgres,
            ready_timeout_s=ready_timeout_s,
        )
        for stack, contract in chosen_points:
            interruption.check()
            verdict = verifier.verify(stack, contract, deep=deep)
            on_verdict(verdict)
            yield verdict


class Proofs:
    """Stored proofs of passed examinations, by examined binary and engine."""

    def __init__(self, engine_sha256: str, folder: Path | None = None) -> None:
        """``engine_sha256``: another engine examines differently, so its proofs do not count."""
        self.engine_sha256 = engine_sha256
        self._folder = folder if folder is not None else installation.cache() / "proofs"

    def find(self, program: Program, stack: Stack, contract: str) -> IdentityRecord | None:
        """The proof that this binary passed at this identity point; None if there is none."""
        try:
            kept = self._path(program.sha256, stack, contract).read_bytes()
            return msgspec.json.decode(kept, type=IdentityRecord)
        except (OSError, ValueError):  # msgspec's errors are ValueErrors
            return None

    def keep(self, verdict: Verdict) -> IdentityRecord:
        """Stores a passed examination. The caller has checked that it passed."""
        examination = verdict.examination
        gaps = (gap for cell in verdict.cells for gap in cell.gaps)
        proof = IdentityRecord(
            verified=now(),
            stack=examination.stack,
            contract=examination.contract,
            sha256=examination.sha256,
            engine_sha256=examination.engine_sha256,
            deep=examination.deep,
            calls={cell.section: cell.calls for cell in verdict.cells},
            gaps=tuple(f"{gap.finding}: {gap.reason}" for gap in gaps),
        )
        stack = Stack.parse(examination.stack)
        path = self._path(examination.sha256, stack, examination.contract)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two runs may store the same proof at the same time: each writes the file atomically.
        unfinished = path.with_name(f"{path.name}.{os.getpid()}")
        unfinished.write_text(json.dumps(proof.to_json(), indent=1) + "\n", encoding="utf-8")
        unfinished.replace(path)
        return proof

    def _path(self, sha256: str, stack: Stack, contract: str) -> Path:
        parts = [sha256, self.engine_sha256, str(stack), contract]
        # Another version of a proxy may answer otherwise.
        proxy = proxies.find_installed(stack.axes)
        parts += [proxy.version] if proxy else []
        examined = json.dumps(parts)
        return self._folder / f"{hashlib.sha256(examined.encode()).hexdigest()[:32]}.json"


class Admission:
    """The proofs of one run, each found or made once."""

    def __init__(
        self,
        programs: Programs,
        interruption: Interruption,
        *,
        unverified: bool = False,
        postgres: str = "",
        ready_timeout_s: float | None = None,
    ) -> None:
        """With ``unverified``, a service without a proof is measured anyway, and its trials are
        marked."""
        self._verifier = Verifier(
            programs, interruption, postgres=postgres, ready_timeout_s=ready_timeout_s
        )
        self._unverified = unverified
        self._known: dict[tuple[Stack, str], IdentityRecord | Verdict] = {}

    def prepare(self, stack: Stack, contract: str, note: Callable[[str], None]) -> None:
        """Finds or makes the proof of a stack; if there is none, :meth:`of` reports it. Raises
        :class:`BuildError`, :class:`Interrupted`."""
        point = identity_stack(stack), contract
        if point in self._known:
            return
        kept = self._verifier.find_proof(*point)
        if kept is None:
            end = f", contract {contract}"
            start = "verifying "
            note(f"{start}{shorten(str(point[0]), WIDTH - len(start) - len(end))}{end}")
        self._known[point] = kept or self._verifier.proof(*point)

    def of(self, stack: Stack, contract: str) -> IdentityRecord:
        """The proof to store with a trial. Raises :class:`TrialFailed` if there is none and a proof
        is required."""
        self.prepare(stack, contract, lambda _: None)
        known = self._known[identity_stack(stack), contract]
        if not isinstance(known, Verdict):
            return known
        reasons = known.reasons() or ["no section could be examined"]
        said = f"{reasons[0]}" + (f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else "")
        if self._unverified:
            return IdentityRecord(unverified=said)
        raise TrialFailed(
            f"the service is not verified: {said}; `wirelab verify '{identity_stack(stack)}'` "
            "prints everything, --unverified measures it anyway"
        )
