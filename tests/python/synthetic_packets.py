"""Dissections as the engine writes them, made from known numbers: nothing here was captured."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from tests.python.synthetic_run import REST, World, point, trial
from wirelab.checks import load as verdicts
from wirelab.documents.dissection import Dissection, Finding
from wirelab.records.link import CaptureRecord, LinkRecord
from wirelab.records.trial import Trial
from wirelab.records.wire import PacketFinding
from wirelab.stack.reference import Stack
from wirelab.trial import dissected as document

Json = dict[str, Any]

S = 10**9


def _rung(packet: int, at_us: float, direction: str, flags: str, **more: Any) -> Json:
    rung: Json = {"packet": packet, "at_us": at_us, "gap_us": 20.0, "direction": direction}
    rung |= {"flags": flags, "bytes": 0, "header_bytes": 66, "layers": [], "note": ""}
    return {**rung, "phase": "exchange", **more}


TIMELINE = [
    _rung(1, 0.0, "request", "SYN", phase="set-up"),
    _rung(2, 20.0, "reply", "SYN ACK", phase="set-up"),
    _rung(4, 60.0, "request", "PSH ACK", bytes=90, layers=[{"layer": "HTTP head", "bytes": 90}]),
    _rung(5, 41_060.0, "reply", "PSH ACK", bytes=64, gap_us=41_000.0, note="waited for an ACK"),
]
FINDING: Json = {
    "cause": "nagle-delayed-ack",
    "occurrences": 1000,
    "exchanges": 1000,
    "ms_total": 41_000.0,
    "ms_median": 41.0,
    "share_of_latency": 0.9,
    "where": [{"flow": 1, "exchange": 3, "packets": [4, 5], "ms": 41.0}],
    "words": "In 1000 of 2000 exchanges the second write waited for an acknowledgment.",
    "test": {
        "axis": "server.nagle",
        "value": "off",
        "predict": "41 ms less in each second call",
        "ms_least": 0.0,
    },
}
NO_SWITCH: Json = {
    **FINDING,
    "cause": "server-think-time",
    "exchanges": 1,
    "ms_total": 2051.015,
    "words": "In 1 of 2000 exchanges the server thought.",
    "test": None,
    "where": [],
}


def latency_bins(*quantiles: float, count: int = 2000) -> list[Json]:
    """Single latencies whose least, p50, p90, p99 and maximum these are, microseconds; between
    them they grow evenly."""
    at = np.interp(np.arange(1, count + 1) / count, (0.0, 0.5, 0.9, 0.99, 1.0), quantiles)
    return [{"us": float(us), "count": 1} for us in at]


_CLASSES = ("ack", "all", "data", "fin", "pure_tcp", "retransmitted", "rst", "syn")
_COUNTS = ("bytes", "ip_bytes", "ip_header_bytes", "link_header_bytes", "packets", "payload_bytes")
_CLASS = dict.fromkeys((*_COUNTS, "tcp_header_bytes"), 0)
_PAYLOAD = ("encrypted", "message", "overhead", "retransmitted", "unknown", "unread")
_DIRECTION: Json = {
    **dict.fromkeys(_CLASSES, _CLASS),
    "retransmitted": {**_CLASS, "packets": 1, "bytes": 90},
    "payload": {**{f"{name}_bytes": 0 for name in _PAYLOAD}, "overhead": {}},
    "units": {},
}
DISSECTION: Json = {
    "dissection": 1,
    "file": "capture.pcapng",
    "capture": {
        "packets": 4000,
        "bytes": 600_000,
        "tcp_packets": 4000,
        "other_packets": 0,
        "seconds": 2.0,
        "link_types": ["ethernet"],
        "truncated": 0,
        "drops": 0,
        "damaged": None,
    },
    "flows": {
        "one_sided": {"requests": 0, "replies": 0},
        "count": 1,
        "opened": 1,
        "closed": 1,
        "reused": 1,
        "list": [
            {
                "flow": 1,
                "client": "127.0.0.1:40000",
                "server": "127.0.0.1:80",
                "protocol": "http1",
                "packets": 4000,
                "bytes": 600_000,
                "exchanges": 2000,
                "retransmissions": 1,
                "rtt_us": 20.0,
                "opening": "syn",
                "closing": "orderly",
            }
        ],
    },
    "accounting": {
        "request": _DIRECTION,
        "reply": _DIRECTION,
        "total": _DIRECTION,
        "per_exchange": {
            "packets": 2.0,
            "bytes": 300.0,
            "ip_bytes": 272.0,
            "payload_bytes": 154.0,
            "pure_tcp_packets": 0.1,
            "pure_tcp_ip_bytes": 5.2,
            "data_packets": 1.9,
            "data_ip_bytes": 266.8,
            "message_bytes": 14.0,
            "overhead_bytes": 140.0,
        },
    },
    "exchanges": {
        "count": 2000,
        "by_name": [
            {
                "protocol": "http1",
                "name": "GET /transfer/hello",
                "count": 2000,
                "status": {"200": 2000},
                "latency_us": {"p50": 100.0, "p90": 200.0, "p99": 400.0, "max": 900.0, "n": 2000},
                "request_message_bytes": 0.0,
                "request_overhead_bytes": 90.0,
                "reply_message_bytes": 14.0,
                "reply_overhead_bytes": 50.0,
            }
        ],
        "endings": {"framed": 2000},
        "unpaired": {"requests": 0, "replies": 0},
        "latency_us": {"p50": 100.0, "p90": 200.0, "p99": 400.0, "max": 900.0, "n": 2000},
        "latency_bins": latency_bins(60.0, 100.0, 200.0, 400.0, 900.0),
        "writes": {
            "requests_joined": 2000,
            "requests_split": 0,
            "replies_joined": 2000,
            "replies_split": 0,
        },
        "connections": {
            "used": 1,
            "used_once": 0,
            "unused": 0,
            "closed_by_server": 0,
            "exchanges_max": 2000,
            "in_flight_max": 1,
        },
    },
    "load": {
        "requests": 2000,
        "first_at_ns": 10 * S,
        "seconds": 2.0,
        "per_s": 1000.0,
        "gap_us": {"mean": 1000.0, "deviation": 800.0, "variation": 0.8},
        "latency_mean_us": 120.0,
        "connections_open_max": 1,
        "concurrency": {"mean": 0.9, "median": 1, "max": 1, "idle_share": 0.1, "full_share": 0.9},
        "pause_waiting": {"us": 900.0, "packet": 77},
        "pause_resting": None,
        "turnaround_us": None,
        "coupling": {"correlation": 0.7, "n": 1900},
        "connect_us": {"p50": 60.0, "p90": 90.0, "p99": 99.0, "max": 99.0, "n": 1},
    },
    "findings": [FINDING, NO_SWITCH],
    "timeline": TIMELINE,
    "timeline_of": {
        "flow": 1,
        "exchange": 3,
        "protocol": "http1",
        "name": "GET /transfer/hello",
        "chosen": "median",
        "latency_us": 41_000.0,
        "omitted": 1,
    },
    "interarrival_of": {"exchanges": 1000, "of": 2000, "shapes": 2, "not_followed": 0},
    "interarrival": [
        {
            "position": 1,
            "direction": "request",
            "flags": "PSH ACK",
            "bytes_median": 90,
            "gap_us": {"mean": 40.0, "deviation": 4.0, "n": 1000},
            "gap_histogram": [{"from_us": 36.0, "n": 500}, {"from_us": 44.0, "n": 500}],
        }
    ],
    "reconciliation": None,
}


def change_dissection(**changes: Any) -> Json:
    """The dissection as JSON with changes by dotted path, dots written as two underscores."""
    content = deepcopy(DISSECTION)
    for path, value in changes.items():
        *folders, name = path.split("__")
        place = content
        for folder in folders:
            place = place[folder]
        place[name] = deepcopy(value)
    return content


def make_dissection(**changes: Any) -> Dissection:
    """The same as its model."""
    return msgspec.convert(change_dissection(**changes), Dissection)


def findings(*found: Json) -> list[PacketFinding]:
    """Findings of a dissection."""
    return [PacketFinding.of(msgspec.convert(one, Finding)) for one in found]


def capture_trial(stack: str = REST, order: int = 0, **changes: Any) -> Trial:
    """A trial over a link with its packets; ``changes`` of link and captures."""
    at = replace(point(stack), axes=Stack.parse(stack).axes, link="wlan")
    link = LinkRecord.of(
        {
            "driver": "emulator",
            "congestion": {"client": "cubic", "server": "cubic"},
            "nominal": {"rtt_ms": 2.5, "loss_percent": 0.0, "rate_kbit": {}},
            "measured": {"rtt_ms": {"p50": 2.6, "mean": 2.6}},
            "lateness_us": {"p99": 40.0},
            "cpu_window_s": 0.2,
            "device_drops": changes.get("device_drops", {"forward": 0, "backward": 0}),
        }
    )
    taken = CaptureRecord(4000, 600_000, changes.get("drops", 0), file="capture-client.pcapng")
    measured = trial(at, order, order, World())
    made = replace(
        measured,
        result=replace(measured.result, bytes_sent=90 * 2000, bytes_received=150_064 * 2000),
        link=link,
        captures={"client": taken},
        wire=document.brief(make_dissection()),
        checks=(),
    )
    return replace(made, checks=verdicts.check(made))
