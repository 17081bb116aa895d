"""The document of a dissection (``contracts/process/dissection.schema.json``): as stored in a run,
as printed, and the part that a trial's record contains."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from wirelab.documents.dissection import Dissection, Rung
from wirelab.errors import RunDirectoryError
from wirelab.format.sanitize import damage
from wirelab.format.untrusted import read_bounded
from wirelab.records.conversion import convert
from wirelab.records.wire import PacketFinding, WireConnections, WireRecord, WireWrites

BYTES_MAX = 32_000_000
"""Maximum size of a stored document."""


def text(documents: Dissection | Sequence[Dissection]) -> str:
    """As JSON for output and files."""
    return msgspec.json.format(msgspec.json.encode(documents), indent=1).decode()


def read(file: Path) -> Dissection:
    """Reads a document stored by any version. Raises :class:`RunDirectoryError` if it is not a
    dissection."""
    try:
        content = msgspec.json.decode(read_bounded(file, BYTES_MAX), type=dict[str, Any])
        return msgspec.convert(_complete(content), Dissection)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise RunDirectoryError(
            f"{file} is not a dissection: {damage(error)}",
            "dissect its capture again: `wirelab dissect RUN`",
        ) from error


def _complete(content: dict[str, Any]) -> dict[str, Any]:
    """Adds keys that older engines did not write."""
    content["flows"].setdefault("one_sided", {"requests": 0, "replies": 0})
    content["exchanges"].setdefault("unpaired", {"requests": 0, "replies": 0})
    for position in content["interarrival"]:
        position.setdefault("gap_histogram", [])
    return content


def brief(document: Dissection) -> WireRecord:
    """The part that a trial's record contains: sums and means, findings without locations."""
    exchanges, flows = document.exchanges, document.flows
    mean = document.accounting.per_exchange
    return WireRecord(
        exchanges=exchanges.count,
        per_exchange=msgspec.structs.asdict(mean) if mean else {},
        retransmitted_packets=document.accounting.total.retransmitted.packets,
        latency_us=exchanges.latency_us,
        order=tuple(event for packet in document.timeline for event in _events(packet)),
        gaps_us=tuple(position.gap_us.mean for position in document.interarrival),
        writes=convert(exchanges.writes, WireWrites),
        connections=convert(exchanges.connections, WireConnections),
        flows={
            "count": flows.count,
            "opened": flows.opened,
            "closed": flows.closed,
            "reused": flows.reused,
        },
        protocols=tuple(sorted({named.protocol for named in exchanges.by_name})),
        damaged=document.capture.damaged,
        findings=tuple(map(PacketFinding.of, document.findings)),
    )


def _events(packet: Rung) -> list[str]:
    """Contents of a packet, e.g. ``request SETTINGS``; also its TCP flags if it opens or closes the
    connection, or has no contents."""
    flags = packet.flags.replace("PSH ", "")
    events = [f"{packet.direction} {layer.layer}" for layer in packet.layers]
    if not events or flags != "ACK":
        events.append(f"{packet.direction} {flags}")
    return events
