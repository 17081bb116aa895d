"""What the log of a server says about a tool's report, check by check.

Only checks of which the log knows the answer are judged. A tool's figure is right if it agrees with
the log within the tolerance that `wirelab wrap` has, plus the lateness of the server's event loop.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Json = dict[str, Any]

COUNT_OFF = 0.005
LATENCY_OFF = 0.10
LATENCY_OFF_S = 1e-3
"""A server in Python wakes up late, and its log does not contain the way to the tool."""
RANKS_OFF = 0.005
"""Share by which the rank of a percentile may differ: at a step both sides are right."""
CHECKS = ("requests", "errors", "latency")


@dataclass(frozen=True)
class Log:
    """The requests that a server received."""

    requests: int
    bad: int
    """Answered with an error, or not at all."""
    connections: int
    latency_s: Mapping[str, tuple[float, float]]
    """The values between which a tool's figure may be."""


def read(file: Path) -> Log:
    """A log of :mod:`bench.judge.server`."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    connections = len({row[0] for row in rows})
    statuses = [row[3] for row in rows]
    took = np.array([row[2] for row in rows if row[3] is not None])
    if not len(took):
        return Log(len(rows), len(rows), connections, {})
    quantiles = {f"p{n}": _find_range(took, n / 100) for n in (50, 90, 95, 99)}
    mean_s = float(took.mean())
    bad = sum(status is None or status >= 400 for status in statuses)
    return Log(len(rows), bad, connections, {"mean": (mean_s, mean_s), **quantiles})


def _find_range(took: Any, share: float) -> tuple[float, float]:
    low, high = np.quantile(took, [share - RANKS_OFF, share + RANKS_OFF])
    return float(low), float(high)


def judge(report: Json | None, log: Log, in_flight: int) -> dict[str, bool]:
    """By check: whether the tool's report is right."""
    if report is None:
        return {}
    right: dict[str, bool] = {}
    if report.get("requests") is not None:
        # Those that a tool calls unanswered may never have been sent.
        allowed = max(COUNT_OFF * log.requests, in_flight)
        most = report["requests"] + report.get("unanswered", 0)
        right["requests"] = report["requests"] - allowed <= log.requests <= most + allowed
    if report.get("failed") is not None:
        right["errors"] = report["failed"] >= log.bad - in_flight
    pairs = [
        (value, log.latency_s[name])
        for name, value in report.get("latency_s", {}).items()
        if name in log.latency_s
    ]
    # The log does not contain the time to connect.
    is_comparable = not report["has_connect"] or log.connections * 2 < log.requests
    if pairs and is_comparable:
        right["latency"] = all(
            low - _find_tolerance(low, report) <= tool <= high + _find_tolerance(high, report)
            for tool, (low, high) in pairs
        )
    return right


def _find_tolerance(own_s: float, report: Json) -> float:
    resolution_s: float = report["resolution_s"]
    return max(LATENCY_OFF * own_s, LATENCY_OFF_S, resolution_s)
