"""What a caller measured of a group in its window. Times are in nanoseconds, rates per second."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from wirelab.records.conversion import convert

Json = dict[str, Any]


@dataclass(frozen=True)
class Times:
    """One distribution of times, in nanoseconds."""

    count: int = 0
    mean_ns: float = 0.0
    min_ns: int | None = 0
    """None: not reported by the caller."""
    max_ns: int = 0
    percentiles_ns: dict[str, int] = field(default_factory=dict)
    """By name (``p50``, ``p99.9``), only those with enough samples above them."""
    hdr: str | None = None
    """The histogram encoded by the engine; None in the journal, see ``histograms.hlog``."""


@dataclass(frozen=True)
class Warmup:
    """Course of the warm-up."""

    seconds: float = 0.0
    calls: int = 0
    stationary: bool | None = None
    """Whether the series was stationary when the window opened; None: the caller has no such
    test."""


@dataclass(frozen=True)
class SequencesResult:
    """Sequences of calls that belong to the window by the arrival of their first call."""

    count: int = 0
    errors: int = 0
    response: Times = field(default_factory=Times)
    response_good: Times | None = None
    """Times of sequences without a failed call; None if all or none of them have one."""


@dataclass(frozen=True)
class OperationResult:
    """Calls of one operation, if the group calls several."""

    operation: str
    calls: int = 0
    ok: int = 0
    errors: int = 0
    errors_by_kind: dict[str, int] = field(default_factory=dict)
    errors_by_code: dict[str, int] = field(default_factory=dict)
    times: dict[str, Times] = field(default_factory=dict)


@dataclass(frozen=True)
class PeriodResult:
    """A stage of a load, or a burst, as far as it is within the window (see
    :class:`wirelab.documents.event.PeriodOutcome`)."""

    start_s: float = 0.0
    """From the start of the window."""
    duration_s: float = 0.0
    """For a burst: from the first planned arrival to the last."""
    calls_planned: float | None = None
    """For open loads."""
    users_planned: float | None = None
    """For closed loads, averaged."""
    calls: int = 0
    errors: int = 0
    sent: int = 0
    """During a stage; for a burst at any time."""
    ended: int = 0
    users: float | None = None
    sent_after_s: float | None = None
    """From its start until the last call was sent."""
    response: Times | None = None


@dataclass(frozen=True)
class ReplyResult:
    """Replies that were equal."""

    status: int = 0
    bytes: int = 0
    hash: str = ""
    count: int = 0


@dataclass(frozen=True)
class RepliesResult:
    """Differences between good replies if no expectation was declared (see
    :class:`wirelab.documents.event.RepliesOutcome`)."""

    count: int = 0
    different: tuple[ReplyResult, ...] = ()
    """The first 16 by status, length and content, most frequent first."""
    others: int = 0
    bytes_min: int = 0
    bytes_max: int = 0
    compared_by_length: int = 0
    """Replies larger than 1 MB."""


@dataclass(frozen=True)
class StreamsResult:
    """Messages of replies that were streams (see
    :class:`wirelab.documents.event.StreamsOutcome`)."""

    messages: int = 0
    items: int = 0
    """Those that gaps are between: of chat completions the ones with a token."""
    bytes: int = 0
    reads: int = 0
    read_messages_max: int = 0
    empty: int = 0
    stopped: int = 0
    """Streams that were ended by the caller, as requested."""
    tokens: int = 0
    counted: int = 0
    messages_per_s: float = 0.0
    items_per_s: float = 0.0
    bytes_per_s: float = 0.0
    tokens_per_s: float = 0.0


@dataclass(frozen=True)
class StreamTime:
    """One kind of times of streams."""

    name: str
    """In ``times`` of a group."""
    title: str
    key: str
    """In the result of a drive."""


STREAM_TIMES = (
    StreamTime("ttfm", "time to first message", "first_message_ms"),
    StreamTime("ttft", "time to first token", "first_token_ms"),
    StreamTime("gap", "gap", "gap_ms"),
    StreamTime("stall", "longest gap of a stream", "longest_gap_ms"),
    StreamTime("tpot", "time per token", "per_token_ms"),
    StreamTime("lateness", "lateness", "lateness_ms"),
    StreamTime("service_late", "sent late by the service", "service_late_ms"),
    StreamTime("delivery", "delivery", "delivery_ms"),
)
"""In the order in which they are shown."""


@dataclass(frozen=True)
class GroupResult:
    """Measurements of a caller in the window, as in the engine's ``groups`` entry (see
    :class:`wirelab.documents.event.GroupOutcome` for each figure).

    None: not recorded by a third-party tool or an older engine. A failed trial has an empty result.
    """

    name: str = "main"
    load: str = ""
    """``closed`` or ``open``."""
    window_s: float = 0.0
    window_start_ns: int | None = None
    calls_planned: int | None = None
    """Calls, or sequences, planned for the window; None: it ended by time."""
    calls: int = 0
    ok: int = 0
    errors: int = 0
    resent: int | None = None
    framing: int | None = None
    ended: int | None = None
    errors_by_kind: dict[str, int] = field(default_factory=dict)
    errors_by_code: dict[str, int] = field(default_factory=dict)
    error_examples: tuple[str, ...] = ()
    rate_per_s: float = 0.0
    rate_planned_per_s: float | None = None
    concurrency: float | None = None
    queue_max: int | None = None
    connections_opened: int | None = None
    connections_peak: int | None = None
    connections_resumed: int | None = None
    websocket_extensions: dict[str, int] | None = None
    connections_failed: int | None = None
    reconnect_pause_s: float | None = None
    bytes_sent: int | None = None
    bytes_received: int | None = None
    messages: int | None = None
    calls_whole_run: int | None = None
    warmup: Warmup = field(default_factory=Warmup)
    times: dict[str, Times] = field(default_factory=dict)
    series: tuple[int, ...] = ()
    cpu_s: float | None = None
    operations: tuple[OperationResult, ...] = ()
    sequences: SequencesResult | None = None
    periods: tuple[PeriodResult, ...] = ()
    """Stages of the load, or bursts; the first 1,000 of the window."""
    replies: RepliesResult | None = None
    """For user-defined services without an expectation."""
    first_calls_ns: tuple[int, ...] | None = None
    """With ``start=cold``: response times of the first 1,000 calls of the engine or a language's
    own client, in planned order; 0: the call failed."""
    streams: StreamsResult | None = None
    """Replies that were streams of messages."""

    @classmethod
    def of(cls, group: object) -> GroupResult:
        """From a ``groups`` entry of an outcome, or a line of the journal. Raises
        :class:`TypeError` if it has another structure."""
        return convert(group, cls)

    def to_json(self) -> Json:
        """As stored in the journal; values that the caller did not record are left out."""
        if self == _EMPTY:
            return {}
        written = {
            name: value
            for name, value in asdict(self).items()
            if value is not None or name in _NULL
        }
        if self.warmup.stationary is None:
            written["warmup"].pop("stationary")
        if not self.periods:
            written.pop("periods")
        for times in _all_times(written):
            if times["hdr"] is None:
                times.pop("hdr")
        return written

    def list_times(self) -> Iterator[tuple[str, Times]]:
        """All times by name: ``response``; ``Reserve.response`` if the group calls several
        operations; ``sequence.response`` if it calls sequences; and also ``response_good`` and
        ``response_failed`` if calls failed."""
        yield from self.times.items()
        for operation in self.operations:
            for name, times in operation.times.items():
                yield f"{operation.operation}.{name}", times
        if self.sequences is not None:
            yield "sequence.response", self.sequences.response
            if self.sequences.response_good is not None:
                yield "sequence.response_good", self.sequences.response_good
        for number, period in enumerate(self.periods, 1):
            if period.response is not None:
                yield f"stage{number}.response", period.response

    def remove_histograms(self) -> GroupResult:
        """For the journal; the histograms are in a separate file."""
        return replace(
            self,
            times=_bare(self.times),
            operations=tuple(replace(one, times=_bare(one.times)) for one in self.operations),
            periods=tuple(
                replace(one, response=one.response and replace(one.response, hdr=None))
                for one in self.periods
            ),
            sequences=self.sequences
            and replace(
                self.sequences,
                response=replace(self.sequences.response, hdr=None),
                response_good=self.sequences.response_good
                and replace(self.sequences.response_good, hdr=None),
            ),
        )


_EMPTY = GroupResult()


_NULL = {"calls_planned", "rate_planned_per_s", "sequences"}
"""Keys that are null if the load does not have the property."""


def _bare(times: Mapping[str, Times]) -> dict[str, Times]:
    return {name: replace(one, hdr=None) for name, one in times.items()}


def _all_times(group: Json) -> Iterator[Json]:
    """All distributions of a group in JSON."""
    yield from group["times"].values()
    for operation in group["operations"]:
        yield from operation["times"].values()
    yield from filter(None, (period["response"] for period in group.get("periods", ())))
    sequences = group.get("sequences") or {}
    yield from filter(None, map(sequences.get, ("response", "response_good")))


def histogram_log(group: GroupResult) -> str:
    """The group's histograms in the HdrHistogram log format, version 1.3, one tagged line each; the
    maximum is in milliseconds, as the format requires."""
    start_s = (group.window_start_ns or 0) / 1e9
    lines = [
        "#[Histogram log format version 1.3]",
        f"#[StartTime: {start_s:.3f} (seconds of CLOCK_MONOTONIC)]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    for name, times in group.list_times():
        if times.hdr:
            extent = f"{start_s:.3f},{group.window_s:.3f},{times.max_ns / 1e6:.3f}"
            lines.append(f"Tag={name},{extent},{times.hdr}")
    return "\n".join(lines) + "\n"
