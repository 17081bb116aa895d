"""The dissections of all captures of a trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from wirelab.process.interruption import Interruption
from wirelab.records.host import HostRecord
from wirelab.records.link import CaptureRecord, Side
from wirelab.records.wire import WireRecord
from wirelab.trial import dissected, dissection, reconciliation, secrets
from wirelab.trial.dissection import Look
from wirelab.trial.reconciliation import CallLog


@dataclass(frozen=True)
class TakenPackets:
    """The captures of a trial, and what its service's threads did meanwhile."""

    folder: Path
    captures: Mapping[Side, CaptureRecord]
    host: HostRecord | None
    keylog: Path
    """Secrets of TLS that the caller wrote; may be missing. Captures hold them afterwards."""
    is_direct: bool
    """Whether calls go to the service without a proxy."""

    def dissect(self, log: CallLog, interruption: Interruption) -> WireRecord | None:
        """Dissects every capture, and stores the document next to it; None without captures. Moves
        the secrets into the captures, so the key log is gone afterwards.
        ``log`` is that of the caller's calls. Raises as :func:`dissection.dissect`."""
        documents = []
        for side, captured in self.captures.items():
            secrets.embed(self.folder / captured.file, self.keylog)
            document = dissection.dissect(
                self.folder / captured.file,
                self._look(side, log),
                log=self.folder / f"dissection-{side}.log",
                interruption=interruption,
            )
            text = dissected.text(document) + "\n"
            (self.folder / f"dissection-{side}.json").write_text(text, encoding="utf-8")
            # Behind a proxy are calls of the proxy, none of the caller.
            if side != "upstream":
                documents.append(document)
        self.keylog.unlink(missing_ok=True)
        if not documents:
            return None
        return msgspec.structs.replace(
            dissected.brief(documents[0]),
            reconciliation=None if log.left_out else reconciliation.summarize(documents),
            not_reconciled=log.left_out,
        )

    def _look(self, side: Side, log: CallLog) -> Look:
        # The service has the connections behind a proxy, if there is one.
        is_of_service = self.is_direct or side == "upstream"
        records = self.folder / self.host.file if self.host and is_of_service else None
        return Look(calls=None if side == "upstream" else log.path, host=records)
