"""A tool's own times beside those of the packets."""

from __future__ import annotations

from dataclasses import dataclass

from wirelab.documents.dissection import Dissection, Quantiles
from wirelab.loadtools.tool_report import ToolReport

OFF = 0.10
"""Allowed distance of a tool's figure from the packets', as a share of the packets'."""
OFF_S = 50e-6
"""Less than this is not told apart: a tool reads its clock some system calls away."""
ABOVE_MIN = 10
"""A percentile stands only where so many samples lie above it."""
NAMES = ("mean", "p50", "p90", "p99")
_SHARES = {"p50": 0.5, "p90": 0.1, "p99": 0.01}


@dataclass(frozen=True)
class Pair:
    """One figure twice, in seconds."""

    name: str
    tool_s: float
    wire_s: float
    """From the request's first byte to the reply's last, and connecting where the tool's
    figure has it."""
    differs: bool

    @property
    def ratio(self) -> float | None:
        """The tool's over the packets'."""
        return self.tool_s / self.wire_s if self.wire_s else None


def wire_times(document: Dissection) -> dict[str, float]:
    """The packets' latencies in seconds, where enough samples stand behind them."""
    known, mean_us = document.exchanges.latency_us, document.load.latency_mean_us
    if known is None or mean_us is None:
        return {}
    return {"mean": mean_us / 1e6} | {
        name: _us(known, name) / 1e6
        for name, share in _SHARES.items()
        if known.n * share >= ABOVE_MIN
    }


def _us(times: Quantiles, name: str) -> float:
    return {"p50": times.p50, "p90": times.p90, "p99": times.p99}[name]


def connect_s(document: Dissection, name: str = "p50") -> float | None:
    """From SYN to request, where most requests need a connection of their own."""
    exchanges, connect = document.exchanges, document.load.connect_us
    if connect is None or exchanges.connections.used_once * 2 < exchanges.count:
        return None
    # Means are not kept; connecting scatters upwards, so that its median is less than its mean.
    return _us(connect, "p50" if name == "mean" else name) / 1e6


def pairs(report: ToolReport, document: Dissection) -> list[Pair]:
    """Every figure that both have."""
    return [
        _pair(name, report, wire, connect_s(document, name) if report.has_connect else None)
        for name, wire in wire_times(document).items()
        if name in report.latency_s
    ]


def _pair(name: str, report: ToolReport, wire: float, connect: float | None) -> Pair:
    """A percentile of a sum is at most about the sum of the percentiles, and at least the
    larger of them: between the two nothing is off."""
    tool, most = report.latency_s[name], wire + (connect or 0.0)
    least = max(wire, connect or 0.0)
    allowed = max(OFF * most, OFF_S, report.resolution_s)
    return Pair(name, tool, most, not least - allowed <= tool <= most + allowed)
