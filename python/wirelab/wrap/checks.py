"""Whether a tool's figures can be trusted: one check per way in which they could mislead, each
with its evidence. A check that does not apply is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wirelab.documents.dissection import Dissection
from wirelab.format.counting import counted, plural
from wirelab.format.numbers import digits, quantity
from wirelab.loadtools.tool_report import ToolOptions, ToolReport
from wirelab.process import metrics
from wirelab.process.children import describe_exit
from wirelab.trial.record import Check
from wirelab.wrap import comparison
from wirelab.wrap.arrivals import Kind
from wirelab.wrap.comparison import Pair
from wirelab.wrap.session import Measured

SATURATED = 0.90
"""Share of its cores, or of one core by one thread, from which on a tool is the limit."""
MACHINE_FULL = 0.95
"""Share of all CPU time from which on processes wait for a core."""
RATE_HELD = 0.97
"""Least share of a declared rate."""
COUNT_OFF = 0.005
"""Allowed distance between the requests that a tool counts and those in the packets."""
DUE_MAX = 20
"""More calls than these that were due in one pause were omitted."""
PAUSE_MIN_S = 0.02
"""Shorter pauses are the scheduler's."""
HTTP = ("http1", "http2")


@dataclass(frozen=True)
class Case:
    """All that is judged."""

    measured: Measured
    options: ToolOptions | None
    report: ToolReport | None
    kind: Kind
    pairs: list[Pair]

    @property
    def document(self) -> Dissection:
        return self.measured.document

    @property
    def exchanges(self) -> int:
        return self.document.exchanges.count


@dataclass(frozen=True)
class Verdict:
    """Whether a tool's figures can be trusted."""

    trusted: bool | None
    """None: there are none to be judged."""
    words: str


def judge(case: Case) -> list[Check]:
    """Every check that applies."""
    found = (check(case) for check in (_CHECKS if case.exchanges else _FIRST))
    return [check for check in found if check is not None]


def _ended(case: Case) -> Check | None:
    ran = case.measured.ran
    if ran.how == "timeout":
        return Check("end", "marked", f"it was ended after {quantity(ran.seconds, 's')}: --timeout")
    if ran.how == "interrupted":
        return Check("end", "marked", f"it was interrupted after {quantity(ran.seconds, 's')}")
    if ran.how == "stopped":
        return Check("end", "marked", f"the lab ended it: {case.measured.stopped}")
    if ran.ended.code != 0:
        return Check("end", "marked", f"it ended with {describe_exit(ran.ended.code)}")
    if ran.left:
        return Check("end", "marked", f"it left {counted(ran.left, 'process')} behind (ended)")
    return Check("end", "ok", "exit code 0")


def _capture(case: Case) -> Check | None:
    drops = case.measured.capture.drops
    damaged = case.document.capture.damaged
    if damaged:
        return Check("capture", "marked", f"the capture is damaged: {damaged}")
    packets = counted(case.measured.capture.packets, "packet")
    if drops:
        return Check("capture", "marked", f"{counted(drops, 'packet')} lost beside {packets}")
    return Check("capture", "ok", f"{packets}, none lost")


def _link(case: Case) -> Check | None:
    """Packets that a device of the link dropped, which no profile had asked to be lost."""
    drops = case.measured.link.device_drops if case.measured.link else None
    if not drops:
        return None
    text = ", ".join(f"{way} {count:,}" for way, count in drops.items())
    return Check.judged("link", not any(drops.values()), f"dropped by its devices: {text}")


def _seen(case: Case) -> Check | None:
    if case.exchanges:
        return None
    flows = counted(case.document.flows.count, "connection")
    port = case.measured.port
    if not case.document.capture.tcp_packets:
        where = case.measured.capture.interface
        return Check("traffic", "marked", f"no packet of port {port} was seen on {where}")
    names = {flow.protocol for flow in case.document.flows.list}
    if "tls" in names:
        return Check("traffic", "marked", f"{flows} of TLS: requests are encrypted")
    return Check("traffic", "marked", f"no request was recognised on {flows}")


def _counted(case: Case) -> Check | None:
    if case.report is None or case.report.requests is None:
        return None
    seen, said = case.exchanges, case.report.requests
    concurrency = case.document.load.concurrency
    allowed = max(COUNT_OFF * seen, concurrency.max if concurrency else 0)
    reason = f"it counts {said:,}, the packets {seen:,}"
    return Check.judged("requests", abs(seen - said) <= allowed, reason)


def _errors(case: Case) -> Check | None:
    bad = bad_replies(case.document)
    if case.report is None or case.report.failed is None:
        return None
    in_report = counted(case.report.failed, "failure")
    bad_ones = f"{bad:,} bad {plural(bad, 'reply')}"
    reason = f"{bad_ones} in the packets, {in_report} in its report"
    if not bad and not case.report.failed:
        return Check("errors", "ok", "none in the packets, none in its report")
    return Check.judged("errors", bad <= case.report.failed, reason)


def bad_replies(document: Dissection) -> int:
    """Replies with a status of failure, and requests whose reply broke off, beyond those that
    were under way when the command ended."""
    bad = 0
    for named in document.exchanges.by_name:
        bad += sum(n for s, n in named.status.items() if _is_bad(named.protocol, s))
    broken = document.exchanges.endings.get("broken", 0)
    concurrency = document.load.concurrency
    return bad + max(0, broken - (concurrency.max if concurrency else 0))


def _is_bad(protocol: str, status: str) -> bool:
    first, _, second = status.partition("/")
    if protocol not in HTTP or not first.isdecimal():
        return False
    return int(first) >= 400 or second not in ("", "0")


def _connections(case: Case) -> Check | None:
    used = case.document.exchanges.connections
    words = (
        f"{counted(case.exchanges, 'request')} on {counted(used.used, 'connection')}, "
        f"at most {used.exchanges_max:,} on one"
    )
    options = case.options
    if options is None or options.reuse is None:
        return None
    given = ", ".join(options.options) or "its defaults"
    if not options.reuse:
        right = used.exchanges_max <= 1
        return Check.judged("connections", right, f"{words}; asked for: one each ({given})")
    if options.connections is None:
        return Check.judged("connections", used.used_once < used.used, words)
    right = used.used <= options.connections
    requested = f"asked for: {options.connections:,}, kept ({given})"
    if case.exchanges >= 2 * options.connections and options.rate is None:
        right = right and used.used == options.connections
    return Check.judged("connections", right, f"{words}; {requested}")


def _in_flight(case: Case) -> Check | None:
    if case.options is None or case.options.in_flight is None:
        return None
    seen = case.document.exchanges.connections.in_flight_max
    allowed = case.options.in_flight
    reason = f"at most {seen} under way on one connection, {allowed} asked for"
    return Check.judged("in flight", seen <= allowed, reason)


def _concurrency(case: Case) -> Check | None:
    concurrency = case.document.load.concurrency
    if case.options is None or case.options.users is None or concurrency is None:
        return None
    users, most = case.options.users, concurrency.max
    reason = f"{counted(users, 'user')} asked for; {concurrency.mean:.1f} requests under way "
    reason = f"{reason}in the mean, {most} at most"
    needed = 0 if case.options.rate or case.exchanges < 4 * users else users / 2
    return Check.judged("concurrency", needed <= most <= users, reason)


def _arrivals(case: Case) -> Check | None:
    """Whether a declared rate was kept while replies were late (coordinated omission)."""
    load, rate = case.document.load, case.options.rate if case.options else None
    if rate is None:
        return _closed(case)
    held = (load.per_s or 0.0) / rate
    pause = load.pause_waiting
    due = pause.us / 1e6 * rate if pause else 0.0
    if pause and due > DUE_MAX and pause.us / 1e6 > PAUSE_MIN_S:
        reason = (
            f"coordinated omission: for {quantity(pause.us * 1e3, 'ns')} before packet "
            f"{pause.packet:,} no request began while replies were outstanding, although "
            f"{due:,.0f} were due at {digits(rate)}/s"
        )
        return Check("arrivals", "marked", reason)
    reason = f"{digits(load.per_s or 0.0)} requests/s of {digits(rate)}/s asked for"
    if held < RATE_HELD:
        return Check("arrivals", "marked", f"{reason}: the tool did not hold its rate")
    return Check("arrivals", "ok", reason)


def _closed(case: Case) -> Check | None:
    if case.kind.name != "closed":
        return None
    pause = case.document.load.pause_waiting
    longest = quantity(pause.us * 1e3, "ns") if pause else "0"
    return Check(
        "arrivals",
        "ok",
        "a closed load: whoever waits for a reply asks no more (for "
        f"{longest} at the longest), so that its times say nothing about a given rate",
    )


def _latency(case: Case) -> Check | None:
    if case.report is None:
        return None
    if not case.pairs:
        return Check.unmeasurable("latency", "no figure is printed that the packets have too")
    off = [pair for pair in case.pairs if pair.differs]
    worst = max(off or case.pairs, key=lambda pair: abs(pair.tool_s - pair.wire_s))
    step = case.report.resolution_s
    coarse = f" (printed in steps of {quantity(step, 's')})" if step else ""
    reason = (
        f"{worst.name} {quantity(worst.tool_s, 's')}{coarse} by the tool, "
        f"{quantity(worst.wire_s, 's')} by the packets"
    )
    if not off:
        return Check("latency", "ok", reason)
    return Check("latency", "marked", f"{reason}: {_why(worst)}")


def _why(pair: Pair) -> str:
    more = pair.tool_s - pair.wire_s
    if more > 0:
        return (
            f"{quantity(more, 's')} of it are not on the wire: the tool spent them, or its way of "
            "counting adds them"
        )
    return "it leaves out a part of the time on the wire"


def _connecting(case: Case) -> Check | None:
    """Time that every request spends before its figure begins."""
    added = comparison.connect_s(case.document)
    if added is None or case.report is None or case.report.has_connect:
        return None
    wire = comparison.wire_times(case.document).get("p50")
    if wire is None:
        return None
    share = added / (added + wire)
    reason = (
        f"{case.report.figure} leaves connecting out: {quantity(added, 's')} from SYN to request "
        f"in the median, {share:.0%} of what a caller waits ({quantity(added + wire, 's')})"
    )
    return Check.judged("connecting", share <= comparison.OFF, reason)


def _tool_cpu(case: Case) -> Check | None:
    measured = case.measured
    window = measured.window_ns()
    used = tool_cores(measured)
    if used is None or window is None:
        return Check.unmeasurable("tool's CPU", "the load was too short to be watched")
    usable = min(measured.cores, measured.ran.threads_max())
    thread = measured.ran.busiest_thread(*window)
    busiest = "" if thread is None else f", its busiest thread {thread:.0%} of one"
    reason = f"{used:.2f} of {counted(usable, 'core')} that it could use{busiest}"
    free = used <= SATURATED * usable and (thread or 0.0) <= SATURATED
    return Check.judged("tool's CPU", free, reason if free else f"saturated: {reason}")


def tool_cores(measured: Measured) -> float | None:
    """Cores that the tool kept busy while it sent requests; None where that was too short."""
    window = measured.window_ns()
    if window is None or window[1] <= window[0]:
        return None
    grown = metrics.growth(measured.ran.cpu, *window)
    return None if grown is None else grown / ((window[1] - window[0]) / 1e9)


def _machine(case: Case) -> Check | None:
    busy = case.measured.machine_busy
    if busy is None:
        return None
    reason = f"{busy:.0%} of {counted(case.measured.cores, 'core')} busy, all processes together"
    free = busy <= MACHINE_FULL
    return Check.judged(
        "machine", free, reason if free else f"{reason}: times include waiting for a core"
    )


_FIRST: tuple[Callable[[Case], Check | None], ...] = (_ended, _capture, _link, _seen)
_CHECKS: tuple[Callable[[Case], Check | None], ...] = (
    *_FIRST,
    *(_counted, _errors, _connections, _in_flight, _concurrency, _arrivals),
    *(_latency, _connecting, _tool_cpu, _machine),
)


def verdict(case: Case, checks: Sequence[Check]) -> Verdict:
    """Whether the figures can be trusted."""
    marked = [check.name for check in checks if check.outcome == "marked"]
    if not case.exchanges:
        return Verdict(False, "Nothing can be said: no request was seen in the packets.")
    if case.report is None:
        words = "The tool printed no report that is understood: its figures are not compared."
        return Verdict(None, words)
    if marked:
        return Verdict(False, f"Not to be trusted as they stand: {', '.join(marked)}.")
    return Verdict(True, "Its figures can be trusted, as far as the packets tell.")
