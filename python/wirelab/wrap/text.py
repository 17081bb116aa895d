"""The result of a wrapped command as text, in 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirelab.format import wrapping
from wirelab.format.counting import format_count
from wirelab.format.numbers import NONE, digits, percent, quantity, sanitize
from wirelab.process.children import describe_exit
from wirelab.records.trial import Check
from wirelab.report.sections import packet_findings, packet_tls
from wirelab.report.sections.packet_findings import Standing
from wirelab.wrap import target, traffic
from wirelab.wrap.comparison import NAMES, wire_times
from wirelab.wrap.result import Result

WIDTH = 80
MARKS = {"ok": "+", "marked": "!", "not-measurable": "?"}
NOT_TESTED = Standing(
    remedy="Packets alone do not prove a cause, and wirelab cannot change options of a third-party "
    "tool. Run it again with one option changed, or use --serve with the change in REF.",
)
"""Verdict of all findings: nothing of a third-party tool is tested by a change."""
KINDS = {
    "closed": "closed (each request waits for a reply)",
    "constant": "open, constant rate",
    "poisson": "open, Poisson",
    "bursts": "in bursts, open or closed not decided",
    "undecided": "not decided",
}


def lines(result: Result) -> Iterator[str]:
    """The verdict first, then its evidence."""
    yield from _wrap(f"wrapped: {target.as_typed(result.measured.command)}", "  ")
    yield ""
    yield from _wrap(result.verdict.words)
    for check in sort_marked_first(result.checks):
        yield from _wrap(f"{MARKS[check.outcome]} {check.name}: {check.reason}", "  ")
    yield ""
    yield from _wire(result)
    yield from _times(result)
    if result.wire.exchanges:
        yield ""
        yield from packet_findings.lines(result.wire.findings, NOT_TESTED)
    yield ""
    for name, words in list_circumstances(result):
        yield from _wrap(f"{name}: {words}", "  ")


def sort_marked_first(checks: Sequence[Check]) -> list[Check]:
    """The checks that are marked, then those that could not be made, then the others."""
    order = ("marked", "not-measurable", "ok")
    return sorted(checks, key=lambda check: order.index(check.outcome))


def list_compared_times(result: Result) -> dict[str, float]:
    """Latencies of the packets in seconds: of a figure that was compared, the one that it was
    compared with. p95 is only of a tool that reports it."""
    reported = result.report.latency_s if result.report else {}
    return {
        name: time_s
        for name, time_s in wire_times(result.measured.document).items()
        if name != "p95" or name in reported
    } | {pair.name: pair.wire_s for pair in result.compared}


def _wrap(text: str, indent: str = "") -> list[str]:
    return wrapping.wrap(sanitize(text), WIDTH, subsequent_indent=indent) or [""]


def _wire(result: Result) -> Iterator[str]:
    document, load = result.measured.document, result.measured.document.load
    used, flows, count = document.exchanges.connections, document.flows, document.exchanges.count
    yield "On the wire"
    refused = (
        f"; the server refused {format_count(flows.refused, 'attempt')}" if flows.refused else ""
    )
    mean = count / used.used if used.used else 0.0
    rows = [
        (
            "connections",
            (
                f"{flows.opened:,} opened, {used.used:,} used, {flows.reused:,} for more than one "
                f"request; {load.connections_open_max:,} open at the same time"
                f"{refused}"
            ),
        ),
        (
            "requests",
            (
                (
                    f"{count:,} ({digits(mean)} per connection, {used.exchanges_max:,} "
                    f"at most); {result.statuses()}"
                )
                if count or not traffic.is_encrypted(document)
                else "encrypted"
            ),
        ),
        ("load", f"{KINDS[result.kind.name]}: {result.kind.reason}"),
    ]
    concurrency = load.concurrency
    if concurrency:
        rows.append(
            (
                "concurrency",
                (
                    f"{concurrency.mean:.2f} on average, {concurrency.max} at most, none "
                    f"in flight {percent(concurrency.idle_share)} of the time"
                ),
            )
        )
    if load.per_s is not None:
        rows.append(("arrivals", f"{digits(load.per_s)}/s over {quantity(load.seconds, 's')}"))
    for name, words in rows:
        yield from _wrap(f"  {name:<12} {words}", " " * 15)


def _times(result: Result) -> Iterator[str]:
    wire = list_compared_times(result)
    if not wire:
        return
    reported = result.report.latency_s if result.report else {}
    yield ""
    yield f"{'Latency':<15}{'packets':>12}{sanitize(result.tool_name):>12}"
    for name in NAMES:
        if name in wire or name in reported:
            own = quantity(reported[name], "s") if name in reported else NONE
            seen = quantity(wire[name], "s") if name in wire else NONE
            yield f"  {name:<13}{seen:>12}{own:>12}"
    if result.report and result.report.correction:
        yield from _wrap(f"  {result.report.correction}", "  ")
    connect = result.measured.document.load.connect_us
    if connect:
        seen = quantity(connect.p50 * 1e3, "ns")
        yield f"  {'SYN to request':<13}{seen:>11}   (p50 of {connect.n:,})"


def list_circumstances(result: Result) -> Iterator[tuple[str, str]]:
    """Facts besides the packets, by name: tool, service, server, TLS, link."""
    tool = result.tool
    busy = "" if tool.cpu_cores is None else f", {tool.cpu_cores:.2f} cores under load"
    yield (
        "tool",
        (
            f"{describe_exit(tool.exit_code)} after {quantity(tool.seconds, 's')}, "
            f"{quantity(tool.cpu_s, 's')} CPU{busy}, {format_count(tool.threads_max, 'thread')}"
        ),
    )
    service, server, link = result.measured.service, result.server_cpu_cores, result.measured.link
    if service:
        unverified = service.proof.unverified
        proof = f"NOT verified: {unverified}" if unverified else "verified"
        yield "service", f"{service.stack}, {proof}"
    if server is not None:
        yield "server", f"{server:.2f} cores under load"
    capture = result.measured.capture
    if capture.cpu_s is not None and tool.seconds:
        cost = capture.cpu_s + result.measured.watching_cpu_s
        yield (
            "wirelab",
            (
                f"{quantity(cost, 's')} CPU for the capture and for watching "
                f"({cost / tool.seconds:.2f} cores), included in what is busy"
            ),
        )
    tls = packet_tls.decryption(result.measured.document, result.keylog)
    if tls:
        yield "TLS", tls
    if link:
        rtt = link.rtt_ms()
        measured = "" if rtt is None else f", round trip {quantity(rtt * 1e6, 'ns')} measured"
        yield "link", f"{link.name} by {link.driver_text()}{measured}"
