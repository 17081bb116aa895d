"""What wrapping a command gave, in 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from wirelab.report.quantity import NONE, digits, plain, quantity
from wirelab.wrapping import target
from wirelab.wrapping.comparison import NAMES, times_of

WIDTH = 80
_MARKS = {"ok": "+", "marked": "!", "not-measurable": "?"}
_KINDS = {
    "closed": "closed (each request waits for a reply)",
    "constant": "open, constant rate",
    "poisson": "open, Poisson",
    "bursts": "open, in bursts",
    "untold": "not told apart",
}

Json = dict[str, Any]


def lines(result: Json) -> Iterator[str]:
    """The verdict first, then what it rests on."""
    yield from _wrapped(f"wrapped: {target.as_typed(result['command'])}", "  ")
    yield ""
    yield from _wrapped(result["verdict"]["words"])
    for check in result["checks"]:
        mark = _MARKS[check["outcome"]]
        yield from _wrapped(f"{mark} {check['name']}: {check['reason']}", "  ")
    yield ""
    yield from _wire(result)
    yield from _times(result)
    yield from _findings(result["wire"])
    yield from _around(result)


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(plain(text), WIDTH, subsequent_indent=indent, break_on_hyphens=False) or [
        ""
    ]


def _wire(result: Json) -> Iterator[str]:
    wire, load = result["wire"], result["load"]
    used, flows = wire["connections"], wire["flows"]
    yield "On the wire"
    mean = wire["exchanges"] / used["used"] if used["used"] else 0.0
    rows = [
        (
            "connections",
            (
                f"{flows['opened']:,} opened, {used['used']:,} used, {flows['reused']:,} for "
                f"several requests; {load['connections_open_max']:,} open at a time"
            ),
        ),
        (
            "requests",
            (
                f"{wire['exchanges']:,} ({digits(mean)} per connection, {used['exchanges_max']:,} "
                f"at most); {_statuses(wire)}"
            ),
        ),
        ("load", f"{_KINDS[load['kind']]}: {load['reason']}"),
    ]
    concurrency = load["concurrency"]
    if concurrency:
        rows.append(
            (
                "concurrency",
                (
                    f"{concurrency['mean']:.2f} in the mean, {concurrency['max']} at most, none "
                    f"under way {concurrency['idle_share']:.0%} of the time"
                ),
            )
        )
    if load["per_s"] is not None:
        rows.append(
            ("arrivals", f"{digits(load['per_s'])}/s over {quantity(load['seconds'], 's')}")
        )
    for name, words in rows:
        yield from _wrapped(f"  {name:<12} {words}", " " * 15)


def _statuses(wire: Json) -> str:
    counts: dict[str, int] = {}
    for named in wire["by_name"]:
        for status, count in named["status"].items():
            counts[status] = counts.get(status, 0) + count
    told = ", ".join(f"{plain(status)}: {n:,}" for status, n in counts.items())
    return f"replies {told}" if told else "no reply"


def _times(result: Json) -> Iterator[str]:
    wire = times_of(result)
    if not wire:
        return
    told = (result["told"] or {}).get("latency_s") or {}
    yield ""
    tool = result["tool"]["name"] or "the tool"
    yield f"{'Latency':<15}{'packets':>12}{plain(tool):>12}"
    for name in NAMES:
        if name in wire or name in told:
            own = quantity(told[name], "s") if name in told else NONE
            seen = quantity(wire[name], "s") if name in wire else NONE
            yield f"  {name:<13}{seen:>12}{own:>12}"
    connect = result["load"]["connect_us"]
    if connect:
        seen = quantity(connect["p50"] * 1e3, "ns")
        yield f"  {'SYN to request':<13}{seen:>11}   (p50 of {connect['n']:,})"


def _findings(wire: Json) -> Iterator[str]:
    if not wire["findings"]:
        return
    yield ""
    yield "What cost time"
    for finding in wire["findings"]:
        total = quantity(finding["ms_total"] * 1e6, "ns")
        yield from _wrapped(
            f"• {finding['cause']}: {finding['exchanges']:,} of {wire['exchanges']:,} exchanges, "
            f"{total} in all. {finding['words']}",
            "  ",
        )


def _around(result: Json) -> Iterator[str]:
    tool = result["tool"]
    cores = tool["cpu_cores"]
    busy = "" if cores is None else f", {cores:.2f} cores under load"
    yield ""
    yield from _wrapped(
        f"tool: exit code {tool['exit_code']} after {quantity(tool['seconds'], 's')}, "
        f"{quantity(tool['cpu_s'], 's')} CPU{busy}, {tool['threads_max']} threads",
        "  ",
    )
    service, server = result["service"], result["server_cpu_cores"]
    if service:
        unverified = service["proof"].get("unverified")
        proof = f"NOT verified: {unverified}" if unverified else "verified"
        yield from _wrapped(f"service: {service['stack']}, {proof}", "  ")
    if server is not None:
        yield f"server: {server:.2f} cores under load"
    if result["link"]:
        rtt = ((result["link"].get("measured") or {}).get("rtt_ms") or {}).get("p50")
        told = "" if rtt is None else f", round trip {quantity(rtt * 1e6, 'ns')} measured"
        yield from _wrapped(
            f"link: {result['link']['name']} by {result['link']['driver']}{told}", "  "
        )
