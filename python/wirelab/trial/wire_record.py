"""What a trial's record keeps of its packets."""

from __future__ import annotations

import msgspec

from wirelab.documents.dissection import Finding, Quantiles, Reconciliation
from wirelab.trial.conversion import convert

HELD_BY_PROXY = "held-by-proxy"
"""The cause that is found by the captures on both sides of a proxy (:mod:`wirelab.trial.hops`)."""


class FindingTest(msgspec.Struct, frozen=True):
    """The switch that a finding in packets blames."""

    axis: str
    value: str
    predict: str = ""


class FindingPlace(msgspec.Struct, frozen=True):
    """One occurrence of a finding."""

    packets: tuple[int, ...]
    ms: float


class PacketFinding(msgspec.Struct, frozen=True):
    """One cause of lost time in packets, all its occurrences together."""

    cause: str
    occurrences: int = 0
    exchanges: int = 0
    ms_total: float = 0.0
    ms_median: float | None = None
    words: str = ""
    test: FindingTest | None = None
    """None where the lab has no switch for it."""
    where: tuple[FindingPlace, ...] = ()
    """The longest occurrences; a trial's record keeps none."""

    @classmethod
    def of(cls, finding: Finding) -> PacketFinding:
        """From a dissection."""
        return convert(finding, cls)


class WireConnections(msgspec.Struct, frozen=True):
    """How connections were used, by their packets."""

    used: int = 0
    used_once: int = 0
    unused: int = 0
    exchanges_max: int = 0
    in_flight_max: int = 0
    closed_by_server: int = 0


class WireWrites(msgspec.Struct, frozen=True):
    """Messages that began in one segment, and in several."""

    requests_joined: int = 0
    requests_split: int = 0
    replies_joined: int = 0
    replies_split: int = 0


class TimePart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of the mean response time of calls, which two captures tell from the server's part."""

    phase: str
    """``request-way``, ``server`` or ``reply-way``."""
    mean_us: float
    share: float
    """Part of the sum of all response times, 0 to 1."""
    p50_us: float | None = None
    """None, as the next one: a difference of two means has no percentiles."""
    p99_us: float | None = None


class BothEnds(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The parts of which the server's part at the client's end consists."""

    parts: tuple[TimePart, ...] = ()
    """The request's way, the server, the reply's way."""
    left_out: str = ""
    """Why they cannot be distinguished; then there are no parts."""


class CallTimes(Reconciliation, frozen=True, kw_only=True):
    """Where the response times of a trial's calls went, by the capture at the client's end and
    what the one at the server's end adds."""

    at_server_us: float | None = None
    """The server's part at the server's end, mean, microseconds."""
    both_ends: BothEnds | None = None
    """None where packets were captured at one end."""


class WireRecord(msgspec.Struct, frozen=True):
    """What the packets of a trial show (:func:`wirelab.trial.dissected.brief`), of the client's
    end where both were captured."""

    exchanges: int = 0
    per_exchange: dict[str, float | None] = {}
    """Means of bytes and packets."""
    retransmitted_packets: int = 0
    latency_us: Quantiles | None = None
    order: tuple[str, ...] = ()
    """What the packets of the shown exchange carry, in their order."""
    gaps_us: tuple[float, ...] = ()
    writes: WireWrites = WireWrites()
    connections: WireConnections = WireConnections()
    flows: dict[str, int] = {}
    protocols: tuple[str, ...] = ()
    damaged: str | None = None
    """What is wrong with the file."""
    findings: tuple[PacketFinding, ...] = ()
    reconciliation: CallTimes | None = None
    """Calls next to their packets (:mod:`wirelab.trial.reconciliation`)."""
    not_reconciled: str = ""
    """Why calls were not logged though packets were captured."""

    @classmethod
    def of(cls, line: object) -> WireRecord:
        """From the journal, whichever version wrote it. Raises :class:`TypeError`."""
        if isinstance(line, dict) and "left_out" in (line.get("reconciliation") or ()):
            # Its place until version 1.
            left_out = line["reconciliation"]["left_out"]
            line = {**line, "reconciliation": None, "not_reconciled": left_out}
        return convert(line, cls)

    def to_json(self) -> dict[str, object]:
        """As the journal holds it."""
        findings = tuple(msgspec.structs.replace(one, where=()) for one in self.findings)
        kept = msgspec.structs.replace(self, findings=findings)
        line: dict[str, object] = msgspec.to_builtins(kept)
        return line

    def finding(self, cause: str) -> PacketFinding | None:
        """The finding of that cause."""
        return next((one for one in self.findings if one.cause == cause), None)
