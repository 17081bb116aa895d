"""Load that a third-party tool's options request, and figures that it reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

OPTION_CHECKS = ("connections", "in flight", "concurrency", "arrivals")
"""Names of the checks of `wirelab wrap` that depend on options."""
REPORT_CHECKS = ("requests", "errors", "latency")
"""Names of those that need the tool to report on the same requests that the packets contain."""
ALL_CHECKS = (*OPTION_CHECKS, *REPORT_CHECKS)


PercentileDefinition = Literal["nearest", "next", "interpolated", "weibull", "estimated"]
"""Which rank of n sorted values a percentile p is. ``nearest``: p n, rounded to a whole rank.
``next``: the rank behind p n, rounded down. ``interpolated``: between the two ranks around
1 + p (n - 1). ``weibull``: between those around p (n + 1) (type 6 of Hyndman and Fan 1996).
``estimated``: by a t-digest."""
SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
"""Of the percentiles, by their names."""


def nearest_rank(share: float, count: int) -> int:
    """The least rank up to which that share of all values is."""
    # 0.99 * 1000 is slightly more than 990 in floating point.
    return math.ceil(round(share * count, 6))


@dataclass(frozen=True)
class Unread:
    """A part of a command line that is not understood."""

    text: str
    """What it is, as in "-c $USERS"."""
    checks: tuple[str, ...]
    """Names of the checks that depend on it, which are left out."""


@dataclass(frozen=True)
class ToolOptions:
    """Load that a tool's options request; None: not specified, or not understood."""

    connections: int | None = None
    """Number of open connections."""
    users: int | None = None
    """Maximum number of requests in flight."""
    in_flight: int | None = None
    """Maximum number of requests in flight on one connection."""
    reuse: bool | None = None
    """Whether a connection carries more than one request."""
    rate: float | None = None
    """Requests per second to start, independent of replies."""
    requests: int | None = None
    options: tuple[str, ...] = ()
    """The options that specify this, as written."""
    unread: tuple[Unread, ...] = ()
    """What is not understood."""


@dataclass(frozen=True)
class ToolReport:
    """Figures that a tool printed; times in seconds, None if it prints none."""

    requests: int | None = None
    """Calls that it counts as ended, successful or not."""
    unanswered: int = 0
    """Further calls that it abandoned without a reply; times do not include them."""
    failed: int | None = None
    """Calls of both kinds that it counts as failed."""
    rate_per_s: float | None = None
    seconds: float | None = None
    latency_s: Mapping[str, float] = field(default_factory=dict)
    """By name: ``mean``, ``p50``, ``p90``, ``p95``, ``p99``, ``max``."""
    percentile: PercentileDefinition = "nearest"
    resolution_s: float = 0.0
    """Resolution of the printed times."""
    has_connect: bool = False
    """Whether a latency includes connecting, if the request needs a new connection."""
    correction: str = ""
    """How the tool changes the latencies that it measured, as a sentence without its period."""
    figure: str = "latency"
    """The tool's name for its latency."""


class ToolAdapter(Protocol):
    """One supported tool."""

    name: str

    def read_options(self, words: list[str], output: str) -> ToolOptions:
        """The load that its command line requests; ``words`` are the arguments after the
        program."""

    def read_report(self, output: str) -> ToolReport | None:
        """Figures in its output; None if the output is not a report."""
