"""Checks whether a tool's figures can be trusted: one check per possible error, each with its
evidence. A check that does not apply is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wirelab.documents.dissection import Dissection
from wirelab.format.counting import format_count, plural
from wirelab.format.numbers import digits, percent, quantity
from wirelab.loadtools.tool_report import ToolOptions, ToolReport
from wirelab.process import metrics
from wirelab.process.children import describe_exit
from wirelab.records.trial import Check
from wirelab.wrap import comparison, traffic, window
from wirelab.wrap.comparison import Pair
from wirelab.wrap.kind import Kind
from wirelab.wrap.session import Measured

COUNT_OFF = 0.005
"""Share of the requests by which the number of connections may differ, where each has its own."""
SATURATED = 0.90
"""Load of the tool's cores, or of one core by one thread, from which the tool is the limit."""
MACHINE_FULL = 0.95
"""Load of all CPUs from which processes wait for a core."""
RATE_HELD = 0.97
"""Minimum share of a declared rate."""
JUDGED_MIN_S = 0.4
"""Shorter loads have too few samples of CPU time."""
DUE_MAX = 20
"""Number of calls due in one pause from which they count as omitted."""
PAUSE_MIN_S = 0.02
"""Shorter pauses are attributed to the scheduler."""
HTTP = ("http1", "http2")


@dataclass(frozen=True)
class Case:
    """Everything that the checks need."""

    measured: Measured
    options: ToolOptions | None
    report: ToolReport | None
    kind: Kind
    pairs: list[Pair]
    not_compared: str | None = None
    """Why the figures of a known tool are not compared."""

    @property
    def document(self) -> Dissection:
        return self.measured.document

    @property
    def users(self) -> int | None:
        """The requests in flight at most, by its options."""
        return None if self.options is None else self.options.users

    @property
    def exchanges(self) -> int:
        return self.document.exchanges.count


@dataclass(frozen=True)
class Verdict:
    """Whether the figures can be trusted."""

    trusted: bool | None
    """None: there are no figures to check."""
    words: str


def judge(case: Case) -> list[Check]:
    """All checks that apply."""
    found = (check(case) for check in _applicable(case))
    return replace_unread([check for check in found if check is not None], case.options)


def _applicable(case: Case) -> tuple[Callable[[Case], Check | None], ...]:
    if case.exchanges:
        return _CHECKS
    return _ENCRYPTED if traffic.is_encrypted(case.document) else _FIRST


def replace_unread(found: Sequence[Check], options: ToolOptions | None) -> list[Check]:
    """The checks, of which those that depend on a part of the command line that is not understood
    are replaced by that reason."""
    reasons: dict[str, list[str]] = {}
    for part in options.unread if options else ():
        for name in part.checks:
            reasons.setdefault(name, []).append(part.text)
    unread = {
        name: Check.unmeasurable(name, f"left out, because {', '.join(texts)} is not understood")
        for name, texts in reasons.items()
    }
    seen = [unread.pop(check.name, check) for check in found]
    return [*seen, *unread.values()]


def _check_end(case: Case) -> Check | None:
    ran = case.measured.ran
    if ran.how == "timeout":
        return Check("end", "marked", f"--timeout ended it after {quantity(ran.seconds, 's')}")
    if ran.how == "interrupted":
        return Check("end", "marked", f"it was interrupted after {quantity(ran.seconds, 's')}")
    if ran.how == "stopped":
        return Check("end", "marked", f"wirelab ended it: {case.measured.stopped}")
    if ran.ended.code != 0:
        return Check("end", "marked", f"it ended with {describe_exit(ran.ended.code)}")
    if ran.left:
        left = f"it left {format_count(len(ran.left), 'process')} behind, which wirelab ended"
        return Check("end", "marked", f"{left}: {', '.join(ran.left)}")
    return Check("end", "ok", "exit code 0")


def _capture(case: Case) -> Check | None:
    drops = case.measured.capture.drops
    damaged = case.document.capture.damaged
    if damaged:
        return Check("capture", "marked", f"the capture is damaged: {damaged}")
    packets = format_count(case.measured.capture.packets, "packet")
    if others := case.measured.others:
        count, whose = format_count(others.connections, "connection"), ", ".join(others.processes)
        packets = f"{packets} (without {count} of other processes: {whose})"
    if drops:
        return Check(
            "capture", "marked", f"{format_count(drops, 'packet')} lost, {packets} captured"
        )
    return Check("capture", "ok", f"{packets}, none lost")


def _link(case: Case) -> Check | None:
    """Packets that a device of the link dropped although no profile specified it."""
    drops = case.measured.link.device_drops if case.measured.link else None
    if not drops:
        return None
    text = ", ".join(f"{way} {count:,}" for way, count in drops.items())
    return Check.judge("link", not any(drops.values()), f"dropped by its devices: {text}")


def _check_traffic(case: Case) -> Check | None:
    """Why no request was found."""
    if case.exchanges:
        return None
    if traffic.is_encrypted(case.document):
        return Check.unmeasurable("traffic", traffic.explain_encryption(case.measured))
    return Check("traffic", "marked", traffic.explain_silence(case.measured))


def _check_encrypted_connections(case: Case) -> Check | None:
    """Connections, which are seen without the secrets of TLS."""
    options, opened = case.options, case.document.flows.opened
    if options is None or options.reuse is None:
        return None
    given = ", ".join(options.options) or "its defaults"
    if options.reuse:
        if options.connections is None:
            return None
        reason = (
            f"{format_count(opened, 'connection')} opened; requested: {options.connections:,}, "
        )
        right = opened <= options.connections
        return Check.judge("connections", right, f"{reason}persistent ({given})")
    requests = case.report.requests if case.report else None
    if requests is None:
        return None
    reported = format_count(requests, "request")
    reason = f"{format_count(opened, 'connection')} opened for {reported} of its report"
    right = abs(opened - requests) <= max(COUNT_OFF * requests, options.connections or 0)
    return Check.judge("connections", right, f"{reason}; requested: one per request ({given})")


def _check_requests(case: Case) -> Check | None:
    if case.report is None or case.report.requests is None:
        return None
    seen, said = case.exchanges, case.report.requests
    answered = window.count_answered(case.document)
    # The last replies may be unread when it stops.
    unread = _users(case.document, case.users)
    reason = f"{said:,} in its report, {seen:,} in the packets"
    if answered != seen:
        reason = f"{reason}, {answered:,} with a whole reply"
    return Check.judge("requests", answered - unread <= said <= seen + unread, reason)


def _users(document: Dissection, users: int | None) -> int:
    """How many requests were in flight at most. Where options do not say it, packets do."""
    concurrency = document.load.concurrency
    seen = concurrency.max if concurrency else 0
    return seen if users is None else min(users, seen)


def _check_refused(case: Case) -> Check | None:
    refused, report = case.document.flows.refused, case.report
    if not refused or report is None or report.failed is None:
        return None
    in_report = format_count(report.failed, "failure")
    reason = f"{refused:,} refused in the packets, {in_report} in its report"
    return Check.judge("connects", refused <= report.failed, reason)


def _duration(case: Case) -> Check | None:
    return None if case.report is None else window.check_duration(case.measured, case.report)


def _rate(case: Case) -> Check | None:
    return None if case.report is None else window.check_rate(case.measured, case.report)


def _load_end(case: Case) -> Check | None:
    if case.report is None:
        return None
    requested = case.options.requests if case.options else None
    return window.check_end(case.measured, case.report, requested)


def _errors(case: Case) -> Check | None:
    bad = bad_replies(case.document, case.options)
    if case.report is None or case.report.failed is None:
        return None
    in_report = format_count(case.report.failed, "failure")
    bad_ones = f"{bad:,} bad {plural(bad, 'reply')}"
    reason = f"{bad_ones} in the packets, {in_report} in its report"
    if not bad and not case.report.failed:
        return Check("errors", "ok", "none in the packets, none in its report")
    return Check.judge("errors", bad <= case.report.failed, reason)


def bad_replies(document: Dissection, options: ToolOptions | None = None) -> int:
    """Replies with an error status, and requests with an incomplete reply, except as many as may be
    in flight when the command ends: none where its options say how many requests it makes."""
    bad = 0
    for named in document.exchanges.by_name:
        bad += sum(n for s, n in named.status.items() if _is_bad(named.protocol, s))
    broken = document.exchanges.endings.get("broken", 0)
    return bad + max(0, broken - _limit_in_flight_at_end(document, options))


def _limit_in_flight_at_end(document: Dissection, options: ToolOptions | None) -> int:
    """Maximum number of requests in flight when the command ends."""
    if options is not None and options.requests is not None:
        return 0
    return _users(document, options.users if options else None)


def _is_bad(protocol: str, status: str) -> bool:
    first, _, second = status.partition("/")
    if protocol not in HTTP or not first.isdecimal():
        return False
    return int(first) >= 400 or second not in ("", "0")


def _connections(case: Case) -> Check | None:
    used = case.document.exchanges.connections
    words = (
        f"{format_count(case.exchanges, 'request')} on {format_count(used.used, 'connection')}, "
        f"at most {used.exchanges_max:,} on one"
    )
    options = case.options
    if options is None or options.reuse is None:
        return None
    given = ", ".join(options.options) or "its defaults"
    if not options.reuse:
        right = used.exchanges_max <= 1
        return Check.judge("connections", right, f"{words}; requested: one per request ({given})")
    if options.connections is None:
        return Check.judge("connections", used.used_once < used.used, words)
    # Each of these may be replaced by another.
    ended, given_up = used.ended_by_server, used.given_up
    if ended:
        words = f"{words}; the server ended {ended:,}"
    if given_up:
        words = f"{words}; {given_up:,} ended by the tool without a reply"
    right = used.used <= options.connections + ended + given_up
    requested = f"requested: {options.connections:,}, persistent ({given})"
    if case.exchanges >= 2 * options.connections and options.rate is None:
        right = right and used.used >= options.connections
    return Check.judge("connections", right, f"{words}; {requested}")


def _check_in_flight(case: Case) -> Check | None:
    if case.options is None or case.options.in_flight is None:
        return None
    seen = case.document.exchanges.connections.in_flight_max
    allowed = case.options.in_flight
    reason = f"at most {seen} in flight on one connection, requested: {allowed}"
    return Check.judge("in flight", seen <= allowed, reason)


def _concurrency(case: Case) -> Check | None:
    concurrency = case.document.load.concurrency
    if case.options is None or case.options.users is None or concurrency is None:
        return None
    users, most = case.options.users, concurrency.max
    reason = f"{format_count(users, 'user')} requested; {concurrency.mean:.1f} requests in flight "
    reason = f"{reason}on average, {most} at most"
    needed = 0 if case.options.rate or case.exchanges < 4 * users else users / 2
    return Check.judge("concurrency", needed <= most <= users, reason)


def _arrivals(case: Case) -> Check | None:
    """Whether a declared rate was kept while replies were late (coordinated omission)."""
    load, rate = case.document.load, case.options.rate if case.options else None
    if rate is None:
        return _check_closed_load(case)
    held = (load.per_s or 0.0) / rate
    pause = load.pause_waiting
    due = pause.us / 1e6 * rate if pause else 0.0
    if pause and due > DUE_MAX and pause.us / 1e6 > PAUSE_MIN_S:
        reason = (
            f"coordinated omission: no request began for {quantity(pause.us * 1e3, 'ns')} before "
            f"packet {pause.packet:,} while replies were outstanding, although "
            f"{due:,.0f} were due at {digits(rate)}/s"
        )
        return Check("arrivals", "marked", reason)
    reason = f"{digits(load.per_s or 0.0)} requests/s, requested: {digits(rate)}/s"
    if held < RATE_HELD:
        return Check("arrivals", "marked", f"{reason}: the tool did not reach its rate")
    return Check("arrivals", "ok", reason)


def _check_closed_load(case: Case) -> Check | None:
    if case.kind.name != "closed":
        return None
    pause = case.document.load.pause_waiting
    longest = quantity(pause.us * 1e3, "ns") if pause else "0"
    return Check(
        "arrivals",
        "ok",
        "a closed load: a user who waits for a reply (up to "
        f"{longest}) sends no request, so its times do not apply to a given rate",
    )


def _latency(case: Case) -> Check | None:
    if case.report is None:
        return None
    if not case.pairs:
        return Check.unmeasurable(
            "latency", "the tool printed no figure that the packets contain too"
        )
    off = [pair for pair in case.pairs if pair.differs]
    worst = max(off or case.pairs, key=lambda pair: abs(pair.tool_s - pair.wire_s))
    step = case.report.resolution_s
    coarse = f" (printed in steps of {quantity(step, 's')})" if step else ""
    reason = (
        f"{worst.name} is {quantity(worst.tool_s, 's')}{coarse} in the report, "
        f"{_format_wire_time(worst)} in the packets"
    )
    late = [pair for pair in case.pairs if pair.undecided]
    if late and not off:
        worst = max(late, key=lambda pair: pair.tool_s - pair.wire_s)
        return Check.unmeasurable(
            "latency",
            f"{worst.name} is {quantity(worst.tool_s, 's')}{coarse} in the report, "
            f"{_format_wire_time(worst)} in the packets: the machine may have added "
            f"{quantity(worst.machine_s, 's')}, since a thread that only slept was as late",
        )
    if not off:
        steps = [pair for pair in case.pairs if pair.wire_range_s and pair is not worst]
        others = [f"{pair.name} is at a step: {_format_wire_time(pair)}" for pair in steps]
        return Check("latency", "ok", "; ".join([reason, *others]))
    correction = f". {case.report.correction}" if case.report.correction else ""
    return Check("latency", "marked", f"{reason}: {_explain(worst)}{correction}")


def _format_wire_time(pair: Pair) -> str:
    """In the packets; at a step, the values on both sides of it."""
    if pair.wire_range_s is None:
        return quantity(pair.wire_s, "s")
    low, high = pair.wire_range_s
    return f"{quantity(low, 's')} to {quantity(high, 's')}"


def _explain(pair: Pair) -> str:
    more = pair.tool_s - (pair.wire_range_s[1] if pair.wire_range_s else pair.wire_s)
    if more > 0:
        return (
            f"{quantity(more, 's')} of it are not on the wire: they were spent inside the tool, or "
            "added by its way of counting"
        )
    return "it does not include all of the time on the wire"


def _check_connecting(case: Case) -> Check | None:
    """Time before the start of the reported latency, which every request spends."""
    added = comparison.connect_s(case.document)
    if added is None or case.report is None or case.report.has_connect:
        return None
    wire = comparison.wire_times(case.document).get("p50")
    if wire is None:
        return None
    share = added / (added + wire)
    reason = (
        f"{case.report.figure} excludes connecting: {quantity(added, 's')} from SYN to request "
        f"(median), {percent(share)} of a caller's wait ({quantity(added + wire, 's')})"
    )
    return Check.judge("connecting", share <= comparison.OFF, reason)


def _tool_cpu(case: Case) -> Check | None:
    measured = case.measured
    span = measured.window_ns()
    used = tool_cores(measured)
    if used is None or span is None:
        return Check.unmeasurable(
            "tool's CPU", f"the load lasted less than {quantity(JUDGED_MIN_S, 's')}: not judged"
        )
    usable = min(measured.cores, measured.ran.threads_max())
    thread = measured.ran.busiest_thread(*span)
    busiest = "" if thread is None else f", busiest thread {percent(thread)} of one core"
    reason = f"{used:.2f} of {format_count(usable, 'usable core')}{busiest}"
    free = used <= SATURATED * usable and (thread or 0.0) <= SATURATED
    return Check.judge("tool's CPU", free, reason if free else f"saturated: {reason}")


def tool_cores(measured: Measured) -> float | None:
    """Mean number of cores that the tool used while it sent requests; None if that was too
    short."""
    span = measured.window_ns()
    if span is None or span[1] - span[0] < JUDGED_MIN_S * 1e9:
        return None
    grown = metrics.growth(measured.ran.cpu, *span)
    return None if grown is None else grown / ((span[1] - span[0]) / 1e9)


def _machine(case: Case) -> Check | None:
    busy = case.measured.machine_busy
    if busy is None:
        return None
    reason = (
        f"{percent(busy)} of {format_count(case.measured.cores, 'core')} busy with all processes"
    )
    free = busy <= MACHINE_FULL
    return Check.judge(
        "machine", free, reason if free else f"{reason}: times include waiting for a core"
    )


_FIRST: tuple[Callable[[Case], Check | None], ...] = (_check_end, _capture, _link, _check_traffic)
_ENCRYPTED = (*_FIRST, _check_encrypted_connections, _tool_cpu, _machine)
_CHECKS: tuple[Callable[[Case], Check | None], ...] = (
    *_FIRST,
    *(_check_requests, _errors, _check_refused, _duration, _rate, _load_end),
    *(_connections, _check_in_flight, _concurrency, _arrivals),
    *(_latency, _check_connecting, _tool_cpu, _machine),
)


def verdict(case: Case, checks: Sequence[Check]) -> Verdict:
    """Verdict on the figures."""
    marked = [check.name for check in checks if check.outcome == "marked"]
    if not case.exchanges and traffic.is_encrypted(case.document):
        words = "No request can be read without the secrets of TLS: figures are not compared."
        words = f"{words} Marked: {', '.join(marked)}." if marked else words
        return Verdict(False if marked else None, words)
    if not case.exchanges:
        return Verdict(False, "No verdict: no request was found in the packets.")
    if case.report is None:
        reason = case.not_compared or "The tool printed no known report"
        words = f"{reason}: its figures are not compared."
        return Verdict(None, words)
    if marked:
        return Verdict(
            False, f"Its figures cannot be trusted without correction: {', '.join(marked)}."
        )
    words = "Its figures can be trusted as far as packets show."
    left = [check.name for check in checks if check.outcome == "not-measurable"]
    return Verdict(True, f"{words} Not checked: {', '.join(left)}." if left else words)
