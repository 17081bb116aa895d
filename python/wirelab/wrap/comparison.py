"""Compares a tool's own times with those in the packets.

A percentile is the value of a rank. The tool's rank may differ from that of the packets by its
definition of a percentile, and by calls that only one of both has, at the end of the run. So a
tool's percentile is compared with the values of a range of ranks: where exactly that share of calls
is slow, they lie on both sides of a step.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from wirelab.documents.dissection import Dissection, LatencyBin, Quantiles
from wirelab.loadtools.tool_report import (
    SHARES,
    PercentileDefinition,
    ToolReport,
    nearest_rank,
)
from wirelab.wrap.wake_ups import tail_s

OFF = 0.10
"""Allowed relative difference of a tool's figure from that of the packets."""
OFF_S = 50e-6
"""Smaller differences are ignored: a tool reads its clock some system calls away."""
DELAY_S = 0.02
"""Allowed excess of a tool's maximum: the longest call may also have waited for a core."""
ABOVE_MIN = 10
"""Minimum number of samples above a percentile."""
CENTROIDS = 100
"""Compression of a t-digest: its centroids hold at most 4 q (1 - q) / compression of all values
(Dunning and Ertl 2019)."""
NAMES = ("mean", "p50", "p90", "p95", "p99", "max")


@dataclass(frozen=True)
class Pair:
    """The same figure from both sources, in seconds."""

    name: str
    tool_s: float
    wire_s: float
    """From the request's first byte to the reply's last, plus connecting if the tool's figure
    includes it."""
    differs: bool
    wire_range_s: tuple[float, float] | None = None
    """Of a percentile at a step: the values at the ranks between which the tool's may be."""
    machine_s: float = 0.0
    """By so much the tool's figure may be larger because the machine woke it late."""
    undecided: bool = False
    """It differs, by no more than the machine may have added."""

    @property
    def ratio(self) -> float | None:
        """Ratio of the tool's figure to that of the packets."""
        return self.tool_s / self.wire_s if self.wire_s else None


class Latencies:
    """Times of all requests with a whole reply, in seconds."""

    def __init__(self, bins: Sequence[LatencyBin]) -> None:
        self._s = [one.us / 1e6 for one in bins]
        self._ranks = list(accumulate(one.count for one in bins))
        self._sum_s = sum(one.us / 1e6 * one.count for one in bins)

    @property
    def count(self) -> int:
        return self._ranks[-1] if self._ranks else 0

    @cached_property
    def mean_s(self) -> float:
        """To three digits, as the bins."""
        return self._sum_s / self.count

    def value_at_rank(self, rank: int) -> float:
        """The value of a rank, from 1."""
        return self._s[bisect_left(self._ranks, min(max(rank, 1), self.count))]

    def percentile(self, name: str) -> float:
        """By the nearest rank."""
        return self.value_at_rank(nearest_rank(SHARES[name], self.count))


def tool_ranks(definition: PercentileDefinition, share: float, count: int) -> tuple[int, int]:
    """The first and the last rank whose values determine a tool's percentile."""
    exact = round(share * count, 6)
    if definition == "next":
        return math.floor(exact) + 1, math.floor(exact) + 1
    if definition == "interpolated":
        position = 1 + share * (count - 1)
        return math.floor(position), math.ceil(position)
    if definition == "weibull":
        position = round(share * (count + 1), 6)
        return math.floor(position), math.ceil(position)
    if definition == "estimated":
        off = 4 * share * (1 - share) / CENTROIDS * count
        return math.floor(exact - off), math.ceil(exact + off)
    # Histograms round to the nearest rank in one direction or the other.
    return math.floor(exact), math.ceil(exact)


def wire_times(document: Dissection) -> dict[str, float]:
    """Latencies of the packets in seconds, where there are enough samples."""
    known = Latencies(document.exchanges.latency_bins or ())
    if not known.count:
        return {}
    enough = (name for name, share in SHARES.items() if known.count * (1 - share) >= ABOVE_MIN)
    return (
        {"mean": known.mean_s}
        | {name: known.percentile(name) for name in enough}
        | {"max": known.value_at_rank(known.count)}
    )


def _us(times: Quantiles, name: str) -> float:
    return {"p50": times.p50, "p90": times.p90, "p99": times.p99, "max": times.max}[name]


def connect_s(document: Dissection, name: str = "p50") -> float | None:
    """From SYN to request, if most requests need a connection of their own. p95 is not
    recorded."""
    exchanges, connect = document.exchanges, document.load.connect_us
    if connect is None or exchanges.connections.used_once * 2 < exchanges.count:
        return None
    # Means are not recorded. Connection times have a long tail, so the median is less than the
    # mean.
    return _us(connect, "p50" if name == "mean" else name) / 1e6


def pairs(report: ToolReport, document: Dissection, late_s: Sequence[float] = ()) -> list[Pair]:
    """Every figure that both sources have; ``late_s`` are wake-ups of this machine meanwhile
    (:mod:`wirelab.wrap.wake_ups`)."""
    known = Latencies(document.exchanges.latency_bins or ())
    edge = count_at_edge(report, document, known.count)
    has_connect = report.has_connect and connect_s(document) is not None
    return [
        _pair(
            *(name, wire, report, known, edge),
            connect_s(document, name) if report.has_connect else None,
            machine_s(name, document, late_s),
        )
        for name, wire in wire_times(document).items()
        if name in report.latency_s and (name != "p95" or not has_connect)
    ]


def machine_s(name: str, document: Dissection, late_s: Sequence[float]) -> float:
    """What late wake-ups may add to a percentile, seconds. One delays all calls that are under way,
    so the share of late calls is at most the share of late wake-ups times the calls under way."""
    if name not in SHARES or not late_s:
        return 0.0
    concurrency = document.load.concurrency
    under_way = max(1.0, concurrency.mean) if concurrency else 1.0
    return tail_s(late_s, 1.0 - (1.0 - SHARES[name]) / under_way)


def count_at_edge(report: ToolReport, document: Dissection, answered: int) -> int:
    """Calls that only one of both may have: replies that the tool did not read when it stopped, or
    that came later than the capture."""
    concurrency = document.load.concurrency
    most = concurrency.max if concurrency else 0
    return most if report.requests is None else min(most, abs(report.requests - answered))


def _pair(
    name: str,
    wire: float,
    report: ToolReport,
    known: Latencies,
    edge: int,
    connect: float | None,
    machine: float,
) -> Pair:
    """A percentile of a sum is between the larger of the percentiles and about their sum: no value
    in that range counts as different."""
    tool, added = report.latency_s[name], connect or 0.0
    low, high = _range(name, report.percentile, known, edge)
    allowed = max(OFF * (low + added), OFF_S, report.resolution_s)
    above = max(OFF * (high + added), OFF_S, report.resolution_s, DELAY_S if name == "max" else 0.0)
    is_step = high - low > max(OFF * low, OFF_S)
    most = high + added + above
    is_late = most < tool <= most + machine
    return Pair(
        name,
        tool,
        wire + added,
        not (max(low, added) - allowed <= tool <= most or is_late),
        (low + added, high + added) if is_step else None,
        machine,
        is_late,
    )


def _range(
    name: str, definition: PercentileDefinition, known: Latencies, edge: int
) -> tuple[float, float]:
    """The values between which a tool's figure may be."""
    if name == "mean":
        return known.mean_s, known.mean_s
    if name == "max":
        # The tool may not have read the longest.
        return known.value_at_rank(known.count - edge), known.value_at_rank(known.count)
    share, count = SHARES[name], known.count
    first, last = tool_ranks(definition, share, count)
    own = nearest_rank(share, count)
    return known.value_at_rank(min(first, own) - edge), known.value_at_rank(max(last, own) + edge)
