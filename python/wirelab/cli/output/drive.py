"""How `wirelab drive` tells a person what came out, in 80 columns."""

from __future__ import annotations

from typing import Any

from wirelab.checks.replies import UNCHECKED, differences
from wirelab.cli.error_handling import folded, out
from wirelab.format.counting import counted, failure_text
from wirelab.format.sanitize import sanitize
from wirelab.format.units import format_bytes, format_seconds
from wirelab.trial.conversion import convert
from wirelab.trial.record import FileTables, RepliesResult

Json = dict[str, Any]

WIDTH = 80
"""Columns, also where a terminal has more."""
EXAMPLES_MAX = 3
"""Failures that are shown in words, of each kind."""
COUNTS_APART = 0.01
"""Share by which calls and rate may differ without a word."""
FAILED_TIMES = (
    "all calls: a failed one counts with the time until its error was answered, its connection "
    "ended or its time was up"
)
NOTES = {
    "closed": "closed load: callers wait for replies, so a slow server is asked less often;\n"
    "  its times say nothing about a server under a given rate (--rate).",
    "open": "open load: response time counts from when a call was due, queueing included;\n"
    "  service time only from when it was sent. Schedule lag is the engine's own\n"
    "  lateness. Never compare with a closed load.",
}


def show(target: str, result: Json) -> None:
    """Prints the result, hints last."""
    out.print(target, style="bold")
    _show_amount(result)
    _show_errors(result)
    if not result["ok"]:
        _say("  no call succeeded")
    _show_replies(result.get("replies"))
    _show_response_times("response time", result)
    if result["ok"] and result["load"] == "open":
        good = ", good calls" if result["errors"] else ""
        _show_times(f"service time{good}", result["service_time_ms"])
        _show_times("schedule lag", _without(result["schedule_lag_ms"], "mean"))
    if result["errors"]:
        _say(f"  {FAILED_TIMES}", "dim")
    if result["sequences"]:
        _show_sequences(result["sequences"])
    for operation in result["operations"]:
        _show_part(operation["operation"], [], operation)
    for number, stage in enumerate(result["stages"], 1):
        _show_stage(number, stage)
    if result["bursts"]:
        _show_bursts(result["bursts"])
    _show_client(result)
    _say(f"  {NOTES[result['load']]}", "dim")
    for hint in result["hints"]:
        _say(f"! {hint}", "yellow")


def _say(text: str, style: str = "") -> None:
    out.print(folded(text, min(out.width, WIDTH)), style)


def _show_amount(result: Json) -> None:
    planned = result["rate_planned_per_s"]
    planned_text = f" (asked for {planned:,.6g})" if planned else ""
    seconds = format_seconds(result["window_s"])
    if result["interrupted"]:
        _say(f"  interrupted after {seconds}; up to then:", "yellow")
    calls = counted(result["calls"], "call")
    _say(f"  {calls} in {seconds}, {result['errors']:,} failed")
    _say(f"  {result['rate_per_s']:,.6g} good calls/s{planned_text}")
    ended, good = result["ended_in_window"], result["rate_per_s"] * result["window_s"]
    if abs(good - result["ok"]) > COUNTS_APART * max(result["ok"], 1):
        _say(
            f"  {ended:,} calls ended within the window, and the rate is of the good ones among "
            f"them; {result['calls']:,} began in it"
        )


def _show_errors(result: Json) -> None:
    """Every kind with its count, and what was different about its failures."""
    for kind, count in result["errors_by_kind"].items():
        if not count:
            continue
        _say(f"    {kind}: {count:,} {failure_text(kind, result['timeout_s'])}", "red")
        words = [
            example.removeprefix(f"{kind}: ")
            for example in dict.fromkeys(result["error_examples"])
            if example.startswith(f"{kind}: ")
        ]
        for example in words[:EXAMPLES_MAX]:
            _say(f"      e.g. {sanitize(example)}", "red")
    if result["errors_by_kind"].get("timeout") and not result["ok"]:
        _say(f"    received in the meantime: {format_bytes(result['bytes_received'])}", "red")


def _show_replies(replies: Json | None) -> None:
    """How replies of somebody's server differed, of which nothing else is known."""
    if replies is not None:
        _say(f"  {UNCHECKED}: {differences([convert(replies, RepliesResult)])}")


def _show_response_times(title: str, result: Json) -> None:
    """Of good calls and of all where some failed, else once."""
    if not result["errors"]:
        _show_times(title, result["latency_ms"])
        return
    _show_times(f"{title}, good calls", result["latency_good_ms"])
    _show_times(f"{title}, all calls", result["latency_ms"])


def _show_times(title: str, times: Json) -> None:
    if times:
        parts = [
            f"{name} {format_seconds(ms / 1e3)}" for name, ms in times.items() if name != "min"
        ]
        _say(f"  {title}: {', '.join(parts)}")


def _without(times: Json, name: str) -> Json:
    return {other: ms for other, ms in times.items() if other != name}


def _show_sequences(sequences: Json) -> None:
    count = counted(sequences["count"], "sequence")
    _say(f"  {count}, {sequences['errors']:,} ended by a failed call")
    _show_response_times("response time of a sequence", sequences)


def _show_part(name: str, words: list[str], part: Json) -> None:
    """An operation or a stage in a line."""
    times = (f"{p} {format_seconds(ms / 1e3)}" for p, ms in _of(part["latency_ms"]))
    counts = [counted(part["calls"], "call"), f"{part['errors']:,} failed"]
    _say(f"  {name}: {', '.join((*words, *counts, *times))}")


def _of(times: Json) -> list[tuple[str, float]]:
    return [(name, times[name]) for name in ("p50", "p99") if name in times]


def _show_stage(number: int, stage: Json) -> None:
    end_s = stage["start_s"] + stage["duration_s"]
    of_users = stage["users_planned"] is not None
    names = ("users_planned", "users") if of_users else ("rate_planned_per_s", "rate_sent_per_s")
    planned, reached = (f"{stage[name]:,.4g}" for name in names)
    unit = "users" if of_users else "calls/s sent"
    _show_part(
        f"stage {number}, {format_seconds(stage['start_s'])} to {format_seconds(end_s)}",
        [f"{reached} of {planned} {unit}"],
        stage,
    )


def _show_bursts(bursts: list[Json]) -> None:
    from statistics import median  # takes longer to load than most results to print

    sent = sum(burst["sent"] for burst in bursts)
    planned = sum(burst["calls_planned"] or 0.0 for burst in bursts)
    took = [burst["sent_after_s"] for burst in bursts if burst["sent_after_s"] is not None]
    words = f"{counted(len(bursts), 'burst')}: {sent:,} of {planned:,.0f} calls sent"
    if took:
        within = f"{format_seconds(median(took))} (median), {format_seconds(max(took))} (longest)"
        words += f", each within {within}"
    failed = sum(burst["errors"] for burst in bursts)
    _say(f"  {words}, {failed:,} failed")


def _show_client(result: Json) -> None:
    per_call = result["client_cpu_us_per_call"]
    cpu = "" if per_call is None else f", {format_seconds(per_call / 1e6)} per call"
    _say(
        f"  client: {format_seconds(result['client_cpu_s'])} CPU{cpu}, "
        f"{format_bytes(result['client_rss_max_bytes'] // 100_000 * 100_000)} memory, "
        f"{counted(result['connections_opened'], 'connection')} opened"
    )
    if tables := result["client_file_tables"]:
        _say(f"  {FileTables(**tables)}")
    spin_s = result["client_spin_s"]
    # Below a hundredth it is not worth the words.
    if spin_s > 0.01 * result["client_cpu_s"]:
        _say(f"  of it {format_seconds(spin_s)} spinning with nothing to do, which no call pays")
