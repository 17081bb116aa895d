"""Proofs: which binary has passed which examination. Kept in ``.cache/proofs``."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from wirelab import checkout
from wirelab.identity.verdict import Verdict
from wirelab.process.services import Program
from wirelab.stack.reference import Stack
from wirelab.trial.record import now

Json = dict[str, Any]


class Proofs:
    """Passed examinations, found again by what was examined and by whom."""

    def __init__(self, engine_sha256: str, folder: Path | None = None) -> None:
        """``engine_sha256``: another engine examines otherwise, and its proofs do not count."""
        self.engine_sha256 = engine_sha256
        self._folder = folder if folder is not None else checkout.root() / ".cache" / "proofs"

    def find(self, program: Program, stack: Stack, contract: str) -> Json | None:
        """The proof that this binary passed at this identity point; None: there is none."""
        try:
            text = self._path(program.sha256, stack, contract).read_text(encoding="utf-8")
            return dict(json.loads(text))
        except (OSError, ValueError):
            return None

    def keep(self, verdict: Verdict) -> Json:
        """Writes down that an examination was passed. The caller has seen that it was."""
        examination = verdict.examination
        proof = {
            "verified": now(),
            "stack": examination.stack,
            "contract": examination.contract,
            "sha256": examination.sha256,
            "engine_sha256": examination.engine_sha256,
            "deep": examination.deep,
            "calls": {cell.section: cell.calls for cell in verdict.cells},
            "gaps": [f"{gap.finding}: {gap.reason}" for cell in verdict.cells for gap in cell.gaps],
        }
        stack = Stack.parse(examination.stack)
        path = self._path(examination.sha256, stack, examination.contract)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two runs may prove the same at the same time: each writes a whole file.
        unfinished = path.with_name(f"{path.name}.{os.getpid()}")
        unfinished.write_text(json.dumps(proof, indent=1) + "\n", encoding="utf-8")
        unfinished.replace(path)
        return proof

    def _path(self, sha256: str, stack: Stack, contract: str) -> Path:
        examined = json.dumps([sha256, self.engine_sha256, str(stack), contract])
        return self._folder / f"{hashlib.sha256(examined.encode()).hexdigest()[:32]}.json"
