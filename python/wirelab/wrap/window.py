"""Compares the rate and duration that a tool prints with the time in which packets show load."""

from __future__ import annotations

from wirelab.documents.dissection import Dissection
from wirelab.format.numbers import digits, quantity
from wirelab.loadtools.tool_report import ToolReport
from wirelab.records.trial import Check
from wirelab.wrap.session import Measured

OFF = 0.05
"""Allowed relative difference of a rate or a duration."""
OFF_S = 0.05
"""Allowed difference of a duration: threads of a tool begin and end one after the other."""
IDLE_SHARE = 0.10
"""Share of a tool's duration that may pass without a request before its end."""
IDLE_S = 0.1
"""The same in seconds."""
PERIODS = 2
"""A request is due within this multiple of a usual latency, or of the mean gap between requests."""


def count_answered(document: Dissection) -> int:
    """Requests with a whole reply."""
    return document.exchanges.count - count_unanswered(document)


def count_unanswered(document: Dissection) -> int:
    """Requests whose connection, or the capture, ended before their reply did."""
    endings = document.exchanges.endings
    return endings.get("broken", 0) + endings.get("unseen", 0)


def rate_period_s(report: ToolReport) -> float | None:
    """The time over which the tool calculates its rate."""
    if report.seconds is None and report.requests and report.rate_per_s:
        return report.requests / report.rate_per_s
    return report.seconds


def check_duration(measured: Measured, report: ToolReport) -> Check | None:
    """A tool's duration is at least the time with load, and at most that of its process."""
    if report.seconds is None:
        return None
    least, most = measured.document.load.seconds, measured.ran.seconds
    reason = (
        f"{quantity(report.seconds, 's')} in its report; load for {quantity(least, 's')} in the "
        f"packets, {quantity(most, 's')} from start to exit"
    )
    right = least * (1 - OFF) - OFF_S <= report.seconds <= most * (1 + OFF) + OFF_S
    return Check.judge("duration", right, reason)


def check_rate(measured: Measured, report: ToolReport) -> Check | None:
    """A tool's rate is between that over the life of its process and that over the time with
    load."""
    said, load_s = report.rate_per_s, measured.document.load.seconds
    if said is None or load_s <= 0.0:
        return None
    count = measured.document.exchanges.count
    most = count / load_s
    least = count_answered(measured.document) / max(measured.ran.seconds, load_s)
    reason = f"{digits(said)}/s in its report, {digits(most)}/s in the packets"
    right = least * (1 - OFF) <= said <= most * (1 + OFF)
    return Check.judge("rate", right, reason)


def check_end(measured: Measured, report: ToolReport, requested: int | None) -> Check | None:
    """Whether requests began until the end of the time that the rate counts. They stop where the
    server has died, and where all users wait for a frozen one. A tool that sent all of its
    ``requested`` requests only waits for the last reply, at most as long as the slowest took."""
    load, whole_s = measured.document.load, rate_period_s(report)
    known = measured.document.exchanges.latency_us
    if whole_s is None or load.first_at_ns is None:
        return None
    idle_s = max(0.0, whole_s - load.seconds)
    usual_s = max(known.p90 / 1e6 if known else 0.0, 1.0 / load.per_s if load.per_s else 0.0)
    is_complete = requested is not None and count_answered(measured.document) >= requested
    last_s = known.max / 1e6 + IDLE_S if known and is_complete else 0.0
    allowed = max(IDLE_SHARE * whole_s, IDLE_S, PERIODS * usual_s, last_s)
    reason = (
        f"the last request began {quantity(idle_s, 's')} before the end of the "
        f"{quantity(whole_s, 's')} that its rate and duration count"
    )
    return Check.judge("end of the load", idle_s <= allowed, reason)
