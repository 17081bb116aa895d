"""What a trial's record keeps of the proxy between caller and service."""

from __future__ import annotations

from dataclasses import dataclass

from wirelab.records.conversion import write


@dataclass(frozen=True)
class HopTimes:
    """A time that a proxy took, microseconds; below 0: it was sooner done in front."""

    mean_us: float
    p50_us: float
    p99_us: float


@dataclass(frozen=True)
class HopsRecord:
    """What the packets in front of a proxy and behind it show together
    (:class:`wirelab.documents.hops.Hops`)."""

    calls: int = 0
    """In front."""
    matched: int = 0
    """Of them, those that were found behind too: the times are theirs."""
    left_out: str = ""
    """Why nothing was compared, or not all calls."""
    connections_front: int = 0
    connections_back: int = 0
    per_call_front: float | None = None
    """Connections over calls."""
    per_call_back: float | None = None
    added: HopTimes | None = None
    """Latency in front less latency behind."""
    request: HopTimes | None = None
    """Of it, on the request's way."""
    reply: HopTimes | None = None
    """Of it, on the reply's way."""
    first_byte: HopTimes | None = None
    """From a reply's first byte behind to its first byte in front."""


@dataclass(frozen=True)
class ProxyRecord:
    """The proxy between caller and service, and what its processes used, apart from the
    service's."""

    kind: str
    """Value of the axis ``via``."""
    version: str = ""
    configuration: str = ""
    """File in the trial's folder."""
    workers: int = 1
    cpu_s: float | None = None
    """While calls were made, warm-up included."""
    cpu_window_s: float | None = None
    """Within the window."""
    rss_max_bytes: int | None = None
    """Of all its processes; pages that they share count for each."""
    hops: HopsRecord | None = None
    """None where no packets were captured."""

    def to_json(self) -> dict[str, object]:
        """As the journal holds it."""
        return write(self, {"cpu_s", "cpu_window_s"})
