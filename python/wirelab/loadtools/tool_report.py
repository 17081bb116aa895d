"""What a foreign load tool was asked by its options, and what it says that it found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class ToolOptions:
    """What a tool's options ask for; None: they do not say."""

    connections: int | None = None
    """Kept open at a time."""
    users: int | None = None
    """Requests under way at most."""
    in_flight: int | None = None
    """Requests under way at most on one connection."""
    reuse: bool | None = None
    """Whether a connection carries more than one request."""
    rate: float | None = None
    """Requests per second that are to begin, whatever the replies do."""
    requests: int | None = None
    options: tuple[str, ...] = ()
    """The options that say so, as written."""


@dataclass(frozen=True)
class ToolReport:
    """What a tool printed; times in seconds, None where it prints none."""

    requests: int | None = None
    """Calls that it counts as ended, good or bad."""
    unanswered: int = 0
    """Further ones that it gave up without a reply; no time is of them."""
    failed: int | None = None
    """Of both, that it calls failed."""
    rate_per_s: float | None = None
    seconds: float | None = None
    latency_s: Mapping[str, float] = field(default_factory=dict)
    """By name: ``mean``, ``p50``, ``p90``, ``p99``, ``max``."""
    resolution_s: float = 0.0
    """Times are printed in steps of so much."""
    has_connect: bool = False
    """A latency begins before the connection is there, where the request needs a new one."""
    figure: str = "latency"
    """What the tool calls its latency."""


class ToolAdapter(Protocol):
    """One known tool."""

    name: str

    def read_options(self, words: list[str], output: str) -> ToolOptions:
        """What its command line asks for; ``words`` begin behind the program."""

    def read_report(self, output: str) -> ToolReport | None:
        """What it printed; None where that is not a report."""
