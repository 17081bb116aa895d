"""What the packets of a capture say: one ``wirelab-engine dissect`` and its document.

The document is ``contracts/process/dissection.schema.json``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wirelab.errors import LabError, UsageError
from wirelab.process import engine_binary
from wirelab.process.children import POLL_S, Child, ProcessOptions, describe_exit
from wirelab.process.interruption import Interruption
from wirelab.trial.record import WireRecord

SECONDS_MAX = 600.0
"""A dissection reads over a million packets per second: so long is a hang."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Look:
    """What to look at."""

    port: int | None = None
    """Only connections to or from that TCP port."""
    timeline: int | None = None
    """The exchange whose packets are shown, from 1; None: one of median latency."""
    flows: int = 16
    """Connections to list."""
    calls: Path | None = None
    """The engine's log of calls, to be compared with the packets."""

    def options(self) -> list[str]:
        """As the engine takes them."""
        given = (("--port", self.port), ("--timeline", self.timeline), ("--calls", self.calls))
        words = [word for name, value in given if value is not None for word in (name, str(value))]
        return [*words, "--flows", str(self.flows)]


def dissect(
    capture: Path,
    look: Look,
    *,
    log: Path,
    interruption: Interruption,
    cores: Sequence[int] = (),
) -> Json:
    """The document of a capture. Raises :class:`UsageError` for a file that cannot be read as
    one, :class:`LabError` where the engine fails, :class:`Interrupted` on request."""
    command = [str(engine_binary.find()), "dissect", str(capture), *look.options()]
    child = Child(command, ProcessOptions(log=log, cores=cores))
    try:
        child.close_input()
        text = _output(child, interruption)
        code = child.end(1.0)
    finally:
        child.kill()
    if code == 2:
        raise _refusal(child.log_tail(6), capture)
    if code != 0:
        raise LabError(
            f"{capture}: the engine ended with {describe_exit(code)} ({child.log_tail()})",
            "run `wirelab-engine dissect` on it by hand",
        )
    return _document(text, capture)


def _refusal(message: str, capture: Path) -> LabError | UsageError:
    """The engine's own words; its remedy speaks of standard input, which it alone reads."""
    if "Usage: " in message:
        return LabError(
            f"{capture}: the engine does not know an option of this front ({message})",
            "are the engine and the front of one version? run `make setup`",
        )
    reason, _, remedy = message.removeprefix("wirelab-engine: ").rpartition("; ")
    if not reason or "standard input" in remedy:
        remedy = "give a capture in the format pcap or pcapng"
    return UsageError(reason or message, remedy)


def _output(child: Child, interruption: Interruption) -> bytes:
    parts: list[bytes] = []
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline:
        interruption.check()
        line = child.line(POLL_S)
        if line == b"":
            break
        if line is not None:
            parts.append(line)
    return b"\n".join(parts)


def _document(text: bytes, capture: Path) -> Json:
    try:
        document = json.loads(text)
        if document["dissection"] == 1:
            return dict(document)
    except (ValueError, TypeError, KeyError):
        pass
    start = text[:200].decode("utf-8", "replace")
    raise LabError(
        f"{capture}: the engine printed {start!r}, which is no dissection",
        "are the engine and the front of one version? run `make setup`",
    )


def brief(document: Json) -> WireRecord:
    """What a trial's record keeps of it: sums and means, findings without their places."""
    exchanges, flows = document["exchanges"], document["flows"]
    total = document["accounting"]["total"]
    shown = {
        "exchanges": exchanges["count"],
        "per_exchange": document["accounting"]["per_exchange"] or {},
        "retransmitted_packets": total["retransmitted"]["packets"],
        "latency_us": exchanges["latency_us"],
        "order": [event for row in document["timeline"] for event in _events(row)],
        "gaps_us": [row["gap_us"]["mean"] for row in document["interarrival"]],
        "writes": exchanges["writes"],
        "connections": exchanges["connections"],
        "flows": {name: flows[name] for name in ("count", "opened", "closed", "reused")},
        "protocols": sorted({named["protocol"] for named in exchanges["by_name"]}),
        "damaged": document["capture"]["damaged"],
        "findings": document["findings"],
    }
    return WireRecord.of(shown)


def _events(packet: Json) -> list[str]:
    """What a packet carries, ``request SETTINGS``; its TCP flags where it opens or closes the
    connection, or carries nothing."""
    direction, flags = packet["direction"], packet["flags"].replace("PSH ", "")
    events = [f"{direction} {layer['layer']}" for layer in packet["layers"]]
    if not events or flags != "ACK":
        events.append(f"{direction} {flags}")
    return events
