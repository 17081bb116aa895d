"""Load tools that are described by data: one file each in ``wirelab/data/tools``.

A file names the tool's options and the patterns of its summary, with units and the definition of
its percentiles. Patterns are regular expressions, matched line by line; their first group is the
value.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from wirelab import installation
from wirelab.loadtools.parsing import Options, closes, seconds
from wirelab.loadtools.tool_report import (
    OPTION_CHECKS,
    PercentileDefinition,
    ToolOptions,
    ToolReport,
    Unread,
)

FOLDER = Path(installation.__file__).parent / "data" / "tools"
Patterns = tuple[str, ...]


class Amount(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A number that options determine."""

    names: tuple[str, ...] = ()
    default: float | None = None
    unless: tuple[str, ...] = ()
    """It does not apply if one of these options is given."""

    def read(self, options: Options) -> float | None:
        """None if it does not apply, or cannot be read."""
        given = options.number(*self.names, default=self.default)
        return None if self.unless and options.has(*self.unless) else given


class OptionsFormat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of a command line; :class:`ToolOptions` explains the first five."""

    users: Amount = Amount()
    connections: Amount | None = None
    """None: as many as users."""
    in_flight: Amount = Amount()
    requests: Amount = Amount()
    rate: Amount = Amount()
    is_rate_per_user: bool = False
    closes: tuple[str, ...] = ()
    """Options by which every request uses a new connection."""
    headers: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """Options without a value."""
    values: tuple[str, ...] = ()
    """Further options with a value, which no check depends on."""
    effects: dict[str, tuple[str, ...]] = {}
    """Options that are not modelled, and the checks that depend on each."""
    script: str | None = None
    """The script that decides what users do, if there always is one."""


class ReportFormat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Patterns of a summary."""

    recognised: str
    """A line that every summary has."""
    rank: PercentileDefinition
    percentile: str
    """How the tool defines a percentile, in words."""
    requests: tuple[Patterns, ...]
    """Alternatives; of the first that has a match, the matches are added."""
    failed: Patterns
    """Their matches are added; none is 0."""
    latency: dict[Literal["mean", "p50", "p90", "p95", "p99", "max"], str]
    unit: str = "s"
    """Of a latency that is printed without one."""
    rate: str | None = None
    seconds: str | None = None
    is_last: bool = False
    """Whether only the last match of a pattern counts, because summaries are repeated."""
    resolution_s: float = 0.0
    has_connect: bool = False
    figure: str = "latency"


class ToolFormat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file."""

    name: str
    source: str
    """Where the tool is published."""
    options: OptionsFormat
    report: ReportFormat
    ignored: tuple[str, ...] = ()
    """First words of commands of the tool that make no load."""


class DescribedTool:
    """One tool."""

    def __init__(self, format_: ToolFormat) -> None:
        self.name = format_.name
        self.ignored = format_.ignored
        self.format = format_

    def read_options(self, words: list[str], output: str) -> ToolOptions:
        """By the file."""
        known = self.format.options
        options = Options.loose(words, (*known.flags, *known.closes))
        users, rate = known.users.read(options), known.rate.read(options)
        connections = known.connections.read(options) if known.connections else users
        in_flight = known.in_flight.read(options)
        amounts = (known.users, known.connections, known.in_flight, known.requests, known.rate)
        names = [name for amount in amounts if amount is not None for name in amount.names]
        is_closing = options.has(*known.closes) or closes(options.all(*known.headers))
        if known.is_rate_per_user:
            rate = rate * users if rate and users else None
        requests = known.requests.read(options)
        every = (*names, *known.flags, *known.closes, *known.values, *known.headers)
        unless = [name for amount in amounts if amount is not None for name in amount.unless]
        unread = options.unread(known.effects, (*every, *unless))
        script = () if known.script is None else (Unread(known.script, OPTION_CHECKS),)
        return ToolOptions(
            connections=_whole(connections),
            users=_whole(None if users is None else users * (in_flight or 1.0)),
            in_flight=_whole(in_flight),
            reuse=not is_closing,
            rate=rate or None,
            requests=_whole(requests),
            options=options.format_options(*names, *known.closes),
            unread=(*script, *unread),
        )

    def read_report(self, output: str) -> ToolReport | None:
        """By the file; None if a summary or its number of requests is missing."""
        known = self.format.report
        if not re.search(known.recognised, output, re.M):
            return None
        counts = (self._add(patterns, output) for patterns in known.requests)
        requests = next((count for count in counts if count is not None), None)
        latency = {name: self._time(pattern, output) for name, pattern in known.latency.items()}
        return ToolReport(
            requests=requests,
            failed=self._add(known.failed, output) or 0,
            rate_per_s=self._number(known.rate, output),
            seconds=self._time(known.seconds, output),
            latency_s={name: value for name, value in latency.items() if value is not None},
            percentile=known.rank,
            resolution_s=known.resolution_s,
            has_connect=known.has_connect,
            figure=known.figure,
        )

    def _matches(self, pattern: str, output: str) -> list[str]:
        found = [match[1] for match in re.finditer(pattern, output, re.M)]
        return found[-1:] if self.format.report.is_last else found

    def _add(self, patterns: Patterns, output: str) -> int | None:
        found = [match for pattern in patterns for match in self._matches(pattern, output)]
        return sum(int(match.replace(",", "")) for match in found) if found else None

    def _number(self, pattern: str | None, output: str) -> float | None:
        found = self._matches(pattern, output) if pattern else []
        return float(found[-1].replace(",", "")) if found else None

    def _time(self, pattern: str | None, output: str) -> float | None:
        found = self._matches(pattern, output) if pattern else []
        if not found:
            return None
        text = found[-1].replace(",", "")
        is_bare = re.fullmatch(r"[\d.]+", text) is not None
        return seconds(f"{text}{self.format.report.unit}" if is_bare else text)


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


@lru_cache(maxsize=1)
def load_tools() -> tuple[DescribedTool, ...]:
    """Every described tool, by name."""
    files = sorted(FOLDER.glob("*.toml"))
    return tuple(
        DescribedTool(msgspec.toml.decode(file.read_bytes(), type=ToolFormat)) for file in files
    )
