"""The part of a trial's record about its packets."""

from __future__ import annotations

import msgspec

from wirelab.documents.dissection import Finding, Quantiles, Reconciliation
from wirelab.records.conversion import convert

HELD_BY_PROXY = "held-by-proxy"
"""The cause that is found by the captures on both sides of a proxy (:mod:`wirelab.trial.hops`)."""


class FindingTest(msgspec.Struct, frozen=True):
    """The setting that a finding in packets blames."""

    axis: str
    value: str
    predict: str = ""
    ms_least: float | None = None
    """The least that it saves, in all; None for all of the finding's time."""


class FindingPlace(msgspec.Struct, frozen=True):
    """One occurrence of a finding."""

    packets: tuple[int, ...]
    ms: float


class PacketFinding(msgspec.Struct, frozen=True):
    """One cause of lost time in packets, with all its occurrences."""

    cause: str
    occurrences: int = 0
    exchanges: int = 0
    ms_total: float = 0.0
    ms_median: float | None = None
    words: str = ""
    test: FindingTest | None = None
    """None if wirelab has no setting for it."""
    where: tuple[FindingPlace, ...] = ()
    """The longest occurrences; empty in a trial's record."""

    @classmethod
    def of(cls, finding: Finding) -> PacketFinding:
        """From a dissection."""
        return convert(finding, cls)


class WireConnections(msgspec.Struct, frozen=True):
    """Use of connections, according to their packets."""

    used: int = 0
    used_once: int = 0
    unused: int = 0
    exchanges_max: int = 0
    in_flight_max: int = 0
    closed_by_server: int = 0


class WireWrites(msgspec.Struct, frozen=True):
    """Messages whose first part is in one segment, and in several."""

    requests_joined: int = 0
    requests_split: int = 0
    replies_joined: int = 0
    replies_split: int = 0


class TimePart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of the mean response time of calls that two captures separate from the server's
    part."""

    phase: str
    """``request-way``, ``server`` or ``reply-way``."""
    mean_us: float
    share: float
    """Share of the sum of all response times, 0 to 1."""
    p50_us: float | None = None
    """None, like the next one: a difference of two means has no percentiles."""
    p99_us: float | None = None


class BothEnds(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Parts of the server's part as seen at the client's end."""

    parts: tuple[TimePart, ...] = ()
    """The request's way, the server, the reply's way."""
    left_out: str = ""
    """Why they cannot be distinguished; then there are no parts."""


class CallTimes(Reconciliation, frozen=True, kw_only=True):
    """Parts of the response times of a trial's calls, from the capture at the client's end,
    completed by that at the server's end."""

    at_server_us: float | None = None
    """Mean of the server's part at the server's end, microseconds."""
    both_ends: BothEnds | None = None
    """None if packets were captured at one end."""


class WireRecord(msgspec.Struct, frozen=True):
    """Summary of a trial's packets (:func:`wirelab.trial.dissected.brief`), at the client's end if
    both ends were captured."""

    exchanges: int = 0
    per_exchange: dict[str, float | None] = {}
    """Means of bytes and packets."""
    retransmitted_packets: int = 0
    latency_us: Quantiles | None = None
    order: tuple[str, ...] = ()
    """Contents of the packets of the shown exchange, in order."""
    gaps_us: tuple[float, ...] = ()
    writes: WireWrites = WireWrites()
    connections: WireConnections = WireConnections()
    flows: dict[str, int] = {}
    protocols: tuple[str, ...] = ()
    damaged: str | None = None
    """Damage of the file."""
    findings: tuple[PacketFinding, ...] = ()
    reconciliation: CallTimes | None = None
    """Calls matched with their packets (:mod:`wirelab.trial.reconciliation`)."""
    not_reconciled: str = ""
    """Why calls were not logged although packets were captured."""

    @classmethod
    def of(cls, line: object) -> WireRecord:
        """From the journal of any version. Raises :class:`TypeError`."""
        if isinstance(line, dict) and "left_out" in (line.get("reconciliation") or ()):
            # The location until version 1.
            left_out = line["reconciliation"]["left_out"]
            line = {**line, "reconciliation": None, "not_reconciled": left_out}
        return convert(line, cls)

    def to_json(self) -> dict[str, object]:
        """As stored in the journal."""
        findings = tuple(msgspec.structs.replace(one, where=()) for one in self.findings)
        kept = msgspec.structs.replace(self, findings=findings)
        line: dict[str, object] = msgspec.to_builtins(kept)
        return line

    def finding(self, cause: str) -> PacketFinding | None:
        """The finding of that cause."""
        return next((one for one in self.findings if one.cause == cause), None)
