"""Who may be measured: services that have proven to do the same as all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wirelab.errors import TrialFailed
from wirelab.identity.point import identity_stack
from wirelab.identity.verdict import Verdict
from wirelab.identity.verifying import Verifier
from wirelab.process.interruption import Interruption
from wirelab.process.services import Programs
from wirelab.stack.reference import Stack

Json = dict[str, Any]


class Admission:
    """The proofs of one run, each looked for or made once."""

    def __init__(
        self, programs: Programs, interruption: Interruption, *, unverified: bool = False
    ) -> None:
        """With ``unverified`` a service without a proof is measured all the same, and its
        trials are marked."""
        self._verifier = Verifier(programs, interruption)
        self._unverified = unverified
        self._known: dict[tuple[Stack, str], Json | Verdict] = {}

    def prepare(self, stack: Stack, contract: str, note: Callable[[str], None]) -> None:
        """Finds or makes the proof of a stack. Raises :class:`BuildError`,
        :class:`Interrupted`; that there is none is told by :meth:`of`."""
        point = identity_stack(stack), contract
        if point in self._known:
            return
        kept = self._verifier.kept(*point)
        if kept is None:
            note(f"verifying {point[0]}, contract {contract}")
        self._known[point] = kept or self._verifier.proof(*point)

    def of(self, stack: Stack, contract: str) -> Json:
        """The proof that travels with a trial. Raises :class:`TrialFailed` where there is
        none and none is not enough."""
        self.prepare(stack, contract, lambda _: None)
        known = self._known[identity_stack(stack), contract]
        if not isinstance(known, Verdict):
            return known
        reasons = known.reasons() or ["nothing could be examined"]
        said = f"{reasons[0]}" + (f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else "")
        if self._unverified:
            return {"unverified": said}
        raise TrialFailed(
            f"the service is not verified: {said}; `wirelab verify '{identity_stack(stack)}'` "
            "says all, --unverified measures all the same"
        )
