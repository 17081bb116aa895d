"""Compares a tool's own times with those in the packets."""

from __future__ import annotations

from dataclasses import dataclass

from wirelab.documents.dissection import Dissection, Quantiles
from wirelab.loadtools.tool_report import ToolReport

OFF = 0.10
"""Allowed relative difference of a tool's figure from that of the packets."""
OFF_S = 50e-6
"""Smaller differences are ignored: a tool reads its clock some system calls away."""
DELAY_S = 0.02
"""Allowed excess of a tool's maximum: the longest call may also have waited for a core."""
ABOVE_MIN = 10
"""Minimum number of samples above a percentile."""
NAMES = ("mean", "p50", "p90", "p99", "max")
_SHARES = {"p50": 0.5, "p90": 0.1, "p99": 0.01}


@dataclass(frozen=True)
class Pair:
    """The same figure from both sources, in seconds."""

    name: str
    tool_s: float
    wire_s: float
    """From the request's first byte to the reply's last, plus connecting if the tool's figure
    includes it."""
    differs: bool

    @property
    def ratio(self) -> float | None:
        """Ratio of the tool's figure to that of the packets."""
        return self.tool_s / self.wire_s if self.wire_s else None


def wire_times(document: Dissection) -> dict[str, float]:
    """Latencies of the packets in seconds, where there are enough samples."""
    known, mean_us = document.exchanges.latency_us, document.load.latency_mean_us
    if known is None or mean_us is None:
        return {}
    return (
        {"mean": mean_us / 1e6}
        | {
            name: _us(known, name) / 1e6
            for name, share in _SHARES.items()
            if known.n * share >= ABOVE_MIN
        }
        | {"max": known.max / 1e6}
    )


def _us(times: Quantiles, name: str) -> float:
    return {"p50": times.p50, "p90": times.p90, "p99": times.p99, "max": times.max}[name]


def connect_s(document: Dissection, name: str = "p50") -> float | None:
    """From SYN to request, if most requests need a connection of their own."""
    exchanges, connect = document.exchanges, document.load.connect_us
    if connect is None or exchanges.connections.used_once * 2 < exchanges.count:
        return None
    # Means are not recorded. Connection times have a long tail, so the median is less than the
    # mean.
    return _us(connect, "p50" if name == "mean" else name) / 1e6


def pairs(report: ToolReport, document: Dissection, users: int | None = None) -> list[Pair]:
    """Every figure that both sources have. The mean of the packets includes calls without a reply;
    where there are more of them than ``users`` had in flight at the end, it is not compared."""
    broken = document.exchanges.endings.get("broken", 0)
    has_mean = users is None or broken <= users
    return [
        _pair(name, report, wire, connect_s(document, name) if report.has_connect else None)
        for name, wire in wire_times(document).items()
        if name in report.latency_s and (has_mean or name != "mean")
    ]


def _pair(name: str, report: ToolReport, wire: float, connect: float | None) -> Pair:
    """A percentile of a sum is between the larger of the percentiles and about their sum: no value
    in that range counts as different."""
    tool, most = report.latency_s[name], wire + (connect or 0.0)
    least = max(wire, connect or 0.0)
    allowed = max(OFF * most, OFF_S, report.resolution_s)
    above = max(allowed, DELAY_S) if name == "max" else allowed
    return Pair(name, tool, most, not least - allowed <= tool <= most + above)
