"""The outcome of a drive as one flat object, for people and for other programs.

`wirelab schema drive` prints its JSON Schema.
"""

from __future__ import annotations

import json

import msgspec

from wirelab.documents.event import (
    FileTables,
    GroupOutcome,
    OperationOutcome,
    Outcome,
    Pauses,
    PeriodOutcome,
    RepliesOutcome,
    Sequences,
    SlowestCalls,
    StreamsOutcome,
    Times,
)
from wirelab.drive.amount import Amount
from wirelab.records.client import ClientRecord

Milliseconds = dict[str, float]
"""By name: ``mean``, ``min``, ``max``, and percentiles."""


class Period(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the window, and a percentile of the calls that ended in it."""

    start_s: float
    duration_s: float
    calls: int
    ms: float


class SequencesResult(msgspec.Struct, frozen=True, kw_only=True):
    """Sequences of calls, each a whole."""

    count: int
    errors: int
    latency_ms: Milliseconds
    latency_good_ms: Milliseconds


class OperationResult(msgspec.Struct, frozen=True, kw_only=True):
    """One operation of a load of several."""

    operation: str
    calls: int
    errors: int
    errors_by_kind: dict[str, int]
    latency_ms: Milliseconds


class StageResult(msgspec.Struct, frozen=True, kw_only=True):
    """One stage. Planned and reached are users, averaged, or calls per second."""

    start_s: float
    duration_s: float
    users_planned: float | None
    users: float | None
    rate_planned_per_s: float | None
    rate_sent_per_s: float
    rate_ended_per_s: float
    calls: int
    errors: int
    latency_ms: Milliseconds


class BurstResult(msgspec.Struct, frozen=True, kw_only=True):
    """One burst."""

    start_s: float
    calls_planned: float | None
    sent: int
    sent_after_s: float | None
    calls: int
    errors: int


class StreamsResult(msgspec.Struct, frozen=True, kw_only=True):
    """Replies that were streams of messages. Of chat completions, gaps are between the events
    with a token; others have every message."""

    messages: int
    """Of the streams that began in the window."""
    with_token: int | None
    """Events with a token; None where it is not a chat completion."""
    bytes: int
    messages_per_s: float
    """That came within the window, whenever their stream began."""
    bytes_per_s: float
    messages_per_read: float | None
    """Of one stream; above 1 where messages came together."""
    read_messages_max: int
    empty: int
    """Good streams without a message."""
    stopped: int
    """Streams that were ended after the given number, size or time."""
    tokens: int
    """Of good streams, as the server counted them."""
    counted: int
    """Good streams whose tokens the server counted."""
    tokens_per_s: float
    chunks_per_s: float | None
    """Events with a token."""
    first_message_ms: Milliseconds
    """From when the stream was due to the last byte of its first message."""
    first_token_ms: Milliseconds
    gap_ms: Milliseconds
    """Between the last bytes of two messages."""
    longest_gap_ms: Milliseconds
    """The longest gap of each stream."""
    message_read_ms: Milliseconds
    """From the first byte of a message to its last."""
    duration_ms: Milliseconds
    """From sending to the end, of good streams."""
    per_token_ms: Milliseconds
    """Per token after the first, of each stream."""
    lateness_ms: Milliseconds
    """Of items of contract stream, from when each was due to its last byte."""
    service_late_ms: Milliseconds
    """The service's part: until it sent the item."""
    delivery_ms: Milliseconds
    """The rest: from when the service sent the item to its last byte."""


class EngineResult(msgspec.Struct, frozen=True, kw_only=True):
    """What made the calls."""

    version: str
    profile: str


class DriveResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a drive measured. Times in milliseconds by name (``mean``, ``min``, ``max``, ``p50``,
    ...); no names where no call was answered, and no percentile of too few calls."""

    calls: int
    """That belong to the window."""
    ok: int
    errors: int
    ended_in_window: int
    """Calls that ended within it, whenever they began; ``rate_per_s`` is of the good ones."""
    errors_by_kind: dict[str, int]
    error_examples: tuple[str, ...]
    """The first ones, ``kind: what was wrong``."""
    replies: RepliesOutcome | None
    """How good replies of a URL differed, of which nothing is expected."""
    rate_per_s: float
    rate_planned_per_s: float | None
    load: str
    """``closed`` or ``open``."""
    window_s: float
    timeout_s: float
    latency_ms: Milliseconds
    """Response times of all calls, failed ones with the time until they failed."""
    latency_good_ms: Milliseconds
    """Of good ones: the same where none failed."""
    service_time_ms: Milliseconds
    """From sending, not from when a call was due."""
    schedule_lag_ms: Milliseconds
    """How late the engine was itself."""
    latency_over_time: dict[str, tuple[Period, ...]]
    """By percentile, each part of the window that has enough calls for it."""
    sequences: SequencesResult | None
    streams: StreamsResult | None = None
    slowest: SlowestCalls | None = None
    """The slowest calls, where they were asked for; times in nanoseconds."""
    operations: tuple[OperationResult, ...]
    stages: tuple[StageResult, ...]
    bursts: tuple[BurstResult, ...]
    client_cpu_s: float
    client_spin_s: float
    """Of it, without anything to do."""
    client_cpu_us_per_call: float | None
    client_rss_max_bytes: int
    client_file_tables: FileTables | None
    client_run_delay_s: float | None
    """For which its threads waited for a core; None where the kernel does not count it."""
    client_pauses: Pauses | None
    """Times at which it did not run."""
    concurrency: float
    """Calls under way, averaged over the window."""
    connections_opened: int
    connections_peak: int
    connections_resumed: int = 0
    """Handshakes of TLS that resumed an earlier session."""
    websocket_extensions: dict[str, int] = msgspec.field(default_factory=dict)
    """Connections that offered permessage-deflate by what the server agreed to; ``none``: it
    declined."""
    connections_failed: int = 0
    """Attempts to connect that failed, and connections that ended without a whole reply."""
    reconnect_pause_s: float = 0.0
    """Pauses before further attempts, in which calls waited."""
    reconnect_delay_s: float = 0.0
    """The longest such pause that was allowed."""
    resent: int = 0
    """Calls that went out again, since the server had not processed them."""
    framing: int = 0
    """Calls whose reply had both transfer-encoding and content-length."""
    bytes_sent: int
    bytes_received: int
    queue_max: int
    """Arrivals that waited for a free place, at most."""
    interrupted: bool
    engine: EngineResult


def summary(outcome: Outcome, amount: Amount) -> DriveResult:
    """The outcome of the first group as one object."""
    group, process = outcome.groups[0], outcome.process
    cpu = process.cpu_user_s + process.cpu_system_s
    ended, spin_s = group.ended, process.spin_s
    answered = group.ok or group.errors_by_kind.get("application")
    return DriveResult(
        calls=group.calls,
        ok=group.ok,
        errors=group.errors,
        ended_in_window=ended,
        errors_by_kind=group.errors_by_kind,
        error_examples=group.error_examples,
        replies=group.replies,
        rate_per_s=group.rate_per_s,
        rate_planned_per_s=group.rate_planned_per_s,
        load=group.load,
        window_s=group.window_s,
        timeout_s=amount.timeout_s,
        latency_ms=_milliseconds(group.times.get("response")) if answered else {},
        latency_good_ms=_milliseconds(
            group.times.get("response_good" if group.errors else "response")
        ),
        service_time_ms=_milliseconds(group.times.get("service")) if group.ok else {},
        schedule_lag_ms=_milliseconds(group.times.get("lag")) if group.ok else {},
        latency_over_time=_list_periods(group),
        sequences=_sequences(group.sequences),
        streams=_streams(group),
        slowest=group.slowest,
        operations=tuple(map(_operation, group.operations)),
        stages=tuple(map(_stage, group.periods)) if amount.stages else (),
        bursts=tuple(map(_burst, group.periods)) if amount.bursts else (),
        client_cpu_s=cpu,
        client_spin_s=spin_s,
        client_cpu_us_per_call=max(0.0, cpu - spin_s) / ended * 1e6 if ended else None,
        client_rss_max_bytes=process.rss_max_bytes,
        client_file_tables=process.file_tables,
        client_run_delay_s=process.run_delay_s,
        client_pauses=process.pauses,
        concurrency=group.concurrency,
        connections_opened=group.connections_opened,
        connections_peak=group.connections_peak,
        connections_resumed=group.connections_resumed or 0,
        websocket_extensions=group.websocket_extensions or {},
        connections_failed=group.connections_failed,
        reconnect_pause_s=group.reconnect_pause_s,
        reconnect_delay_s=amount.reconnect_delay_s,
        resent=group.resent,
        framing=group.framing,
        bytes_sent=group.bytes_sent,
        bytes_received=group.bytes_received,
        queue_max=group.queue_max,
        interrupted=outcome.interrupted,
        engine=EngineResult(version=outcome.engine, profile=outcome.profile),
    )


def _sequences(sequences: Sequences | None) -> SequencesResult | None:
    if sequences is None:
        return None
    good = sequences.response_good if sequences.errors else sequences.response
    return SequencesResult(
        count=sequences.count,
        errors=sequences.errors,
        latency_ms=_milliseconds(sequences.response),
        latency_good_ms=_milliseconds(good),
    )


def _streams(group: GroupOutcome) -> StreamsResult | None:
    streams, times = group.streams, group.times
    if streams is None:
        return None
    is_chat = "ttft" in times

    def to_milliseconds(name: str) -> Milliseconds:
        return _milliseconds(times.get(name))

    return StreamsResult(
        messages=streams.messages,
        with_token=streams.items if is_chat else None,
        bytes=streams.bytes,
        messages_per_s=streams.messages_per_s,
        bytes_per_s=streams.bytes_per_s,
        messages_per_read=_messages_per_read(streams),
        read_messages_max=streams.read_messages_max,
        empty=streams.empty,
        stopped=streams.stopped,
        tokens=streams.tokens,
        counted=streams.counted,
        tokens_per_s=streams.tokens_per_s,
        chunks_per_s=streams.items_per_s if is_chat else None,
        first_message_ms=to_milliseconds("ttfm"),
        first_token_ms=to_milliseconds("ttft"),
        gap_ms=to_milliseconds("gap"),
        longest_gap_ms=to_milliseconds("stall"),
        message_read_ms=to_milliseconds("message_read"),
        duration_ms=to_milliseconds("service") if group.ok else {},
        per_token_ms=to_milliseconds("tpot"),
        lateness_ms=to_milliseconds("lateness"),
        service_late_ms=to_milliseconds("service_late"),
        delivery_ms=to_milliseconds("delivery"),
    )


def _messages_per_read(streams: StreamsOutcome) -> float | None:
    return streams.messages / streams.reads if streams.reads else None


def _list_periods(group: GroupOutcome) -> dict[str, tuple[Period, ...]]:
    return {
        name: tuple(
            Period(
                start_s=point.start_s,
                duration_s=point.duration_s,
                calls=point.calls,
                ms=point.ns / 1e6,
            )
            for point in points
        )
        for name, points in group.response_over_time.items()
    }


def _operation(operation: OperationOutcome) -> OperationResult:
    return OperationResult(
        operation=operation.operation,
        calls=operation.calls,
        errors=operation.errors,
        errors_by_kind=operation.errors_by_kind,
        latency_ms=_milliseconds(operation.times.get("response")),
    )


def _stage(stage: PeriodOutcome) -> StageResult:
    closed = stage.users_planned is not None
    lasts = stage.duration_s or 1.0
    return StageResult(
        start_s=stage.start_s,
        duration_s=stage.duration_s,
        users_planned=stage.users_planned,
        users=stage.users,
        rate_planned_per_s=None if closed else (stage.calls_planned or 0.0) / lasts,
        rate_sent_per_s=stage.sent / lasts,
        rate_ended_per_s=stage.ended / lasts,
        calls=stage.calls,
        errors=stage.errors,
        latency_ms=_milliseconds(stage.response),
    )


def _burst(burst: PeriodOutcome) -> BurstResult:
    return BurstResult(
        start_s=burst.start_s,
        calls_planned=burst.calls_planned,
        sent=burst.sent,
        sent_after_s=burst.sent_after_s,
        calls=burst.calls,
        errors=burst.errors,
    )


def _milliseconds(times: Times | None) -> dict[str, float]:
    if times is None or not times.count:
        return {}
    named = {
        "mean": times.mean_ns / 1e6,
        "min": times.min_ns / 1e6,
        "max": times.max_ns / 1e6,
    }
    return {**named, **{name: ns / 1e6 for name, ns in times.percentiles_ns.items()}}


class ConditionResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one ``--fail-if``."""

    condition: str
    cell: str
    """What was driven."""
    verdict: str
    """``holds``: it is not met; ``does not hold``: it is; ``undecided``."""
    reason: str


class PrintedResult(DriveResult, frozen=True, kw_only=True):
    """What ``wirelab drive --json`` prints."""

    target: str
    clients: tuple[ClientRecord, ...]
    """What each of several clients did; empty where there was one."""
    hints: tuple[str, ...]
    """Sentences about what the result suggests."""
    noise: tuple[str, ...]
    """Sentences about other work of the machine that the result contains."""
    conditions: tuple[ConditionResult, ...]


def schema_text() -> str:
    """The JSON Schema (draft 2020-12) of :class:`PrintedResult`."""
    schema = msgspec.json.schema(PrintedResult)
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return json.dumps(draft, indent=1) + "\n"
