"""The outcome of a drive as one flat object, for people and for other programs."""

from __future__ import annotations

from typing import Any

import msgspec

from wirelab.documents import to_json
from wirelab.documents.event import (
    GroupOutcome,
    OperationOutcome,
    Outcome,
    PeriodOutcome,
    Sequences,
    Times,
)
from wirelab.drive.amount import Amount

Json = dict[str, Any]


def summary(outcome: Outcome, amount: Amount) -> Json:
    """The outcome as one flat object; times in milliseconds, none where no call was answered.
    ``latency_ms`` is of all calls, failed ones with the time until they failed,
    ``latency_good_ms`` of good ones: the same where none failed."""
    group, process = outcome.groups[0], outcome.process
    cpu = process.cpu_user_s + process.cpu_system_s
    ended, spin_s = group.ended, process.spin_s
    answered = group.ok or group.errors_by_kind.get("application")
    return {
        "calls": group.calls,
        "ok": group.ok,
        "errors": group.errors,
        "ended_in_window": ended,
        "errors_by_kind": group.errors_by_kind,
        "error_examples": group.error_examples,
        "replies": None if group.replies is None else to_json(group.replies),
        "rate_per_s": group.rate_per_s,
        "rate_planned_per_s": group.rate_planned_per_s,
        "load": group.load,
        "window_s": group.window_s,
        "timeout_s": amount.timeout_s,
        "latency_ms": _milliseconds(group.times.get("response")) if answered else {},
        "latency_good_ms": _milliseconds(
            group.times.get("response_good" if group.errors else "response")
        ),
        "service_time_ms": _milliseconds(group.times.get("service")) if group.ok else {},
        "schedule_lag_ms": _milliseconds(group.times.get("lag")) if group.ok else {},
        "latency_over_time": _over_time(group),
        "sequences": _sequences(group.sequences),
        "operations": [_operation(one) for one in group.operations],
        "stages": [_stage(stage) for stage in group.periods] if amount.stages else [],
        "bursts": [_burst(burst) for burst in group.periods] if amount.bursts else [],
        "client_cpu_s": cpu,
        "client_spin_s": spin_s,
        "client_cpu_us_per_call": max(0.0, cpu - spin_s) / ended * 1e6 if ended else None,
        "client_rss_max_bytes": process.rss_max_bytes,
        "client_file_tables": msgspec.to_builtins(process.file_tables),
        "concurrency": group.concurrency,
        "connections_opened": group.connections_opened,
        "connections_peak": group.connections_peak,
        "bytes_sent": group.bytes_sent,
        "bytes_received": group.bytes_received,
        "queue_max": group.queue_max,
        "interrupted": outcome.interrupted,
        "engine": {"version": outcome.engine, "profile": outcome.profile},
    }


def _sequences(sequences: Sequences | None) -> Json | None:
    if sequences is None:
        return None
    good = sequences.response_good if sequences.errors else sequences.response
    return {
        "count": sequences.count,
        "errors": sequences.errors,
        "latency_ms": _milliseconds(sequences.response),
        "latency_good_ms": _milliseconds(good),
    }


def _over_time(group: GroupOutcome) -> Json:
    """By percentile, each part of the window that has enough calls for it."""
    return {
        name: [
            {
                "start_s": point.start_s,
                "duration_s": point.duration_s,
                "calls": point.calls,
                "ms": point.ns / 1e6,
            }
            for point in points
        ]
        for name, points in group.response_over_time.items()
    }


def _operation(operation: OperationOutcome) -> Json:
    return {
        "operation": operation.operation,
        "calls": operation.calls,
        "errors": operation.errors,
        "errors_by_kind": operation.errors_by_kind,
        "latency_ms": _milliseconds(operation.times.get("response")),
    }


def _stage(stage: PeriodOutcome) -> Json:
    """Planned and reached are users, averaged, or calls per second."""
    closed = stage.users_planned is not None
    lasts = stage.duration_s or 1.0
    return {
        "start_s": stage.start_s,
        "duration_s": stage.duration_s,
        "users_planned": stage.users_planned,
        "users": stage.users,
        "rate_planned_per_s": None if closed else (stage.calls_planned or 0.0) / lasts,
        "rate_sent_per_s": stage.sent / lasts,
        "rate_ended_per_s": stage.ended / lasts,
        "calls": stage.calls,
        "errors": stage.errors,
        "latency_ms": _milliseconds(stage.response),
    }


def _burst(burst: PeriodOutcome) -> Json:
    return {
        "start_s": burst.start_s,
        "calls_planned": burst.calls_planned,
        "sent": burst.sent,
        "sent_after_s": burst.sent_after_s,
        "calls": burst.calls,
        "errors": burst.errors,
    }


def _milliseconds(times: Times | None) -> dict[str, float]:
    if times is None or not times.count:
        return {}
    named = {
        "mean": times.mean_ns / 1e6,
        "min": times.min_ns / 1e6,
        "max": times.max_ns / 1e6,
    }
    return {**named, **{name: ns / 1e6 for name, ns in times.percentiles_ns.items()}}
