"""The page of ``wirelab drive --report``: one run of one load, which has no repeats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wirelab.checks.replies import UNCHECKED, differences
from wirelab.documents.event import GroupOutcome, SlowestCalls, Times
from wirelab.format.counting import failure_text, format_count
from wirelab.format.numbers import digits
from wirelab.format.units import format_bytes, format_seconds
from wirelab.records.conversion import convert
from wirelab.records.group import STREAM_TIMES, RepliesResult
from wirelab.report.charts.distribution import Curves, distribution_picture
from wirelab.report.charts.over_time import Quantity, Strip, draw_over_time
from wirelab.report.charts.stack_style import look
from wirelab.report.curves import Curve, UnreadableHistogram, decode_curve
from wirelab.report.html_page import HtmlPage
from wirelab.report.section import Picture, Section, Table
from wirelab.report.sections import slow_calls

Json = Mapping[str, Any]

SERIES_S = 0.1
"""Length of an entry of the engine's series of calls, seconds."""
PARTS_MAX = 120
"""Points of the rate over time at most."""
ONE_RUN = (
    "This is one run: one measurement of this server, without an interval. `wirelab run` repeats a "
    "measurement on fresh processes and gives an interval for each figure."
)
LOADS = {
    "closed": "closed: callers wait for replies, so a slow server gets fewer calls",
    "open": "open: calls follow a schedule, and response time includes the wait to be sent",
}


def drive_page(target: str, result: Json, group: GroupOutcome, verdicts: Sequence[str]) -> str:
    """The page as HTML. ``result`` is what ``--json`` prints, ``verdicts`` sentences about
    ``--fail-if``."""
    return HtmlPage(
        title=target,
        kind="drive",
        facts=tuple(_facts(result)),
        sections=[section for section in _sections(result, group, verdicts) if section],
    ).html()


def _facts(result: Json) -> Iterator[tuple[str, str]]:
    yield "good calls per second", f"{result['rate_per_s']:,.6g}"
    if planned := result["rate_planned_per_s"]:
        yield "planned", f"{planned:,.6g} calls per second"
    yield "calls", f"{result['calls']:,}, {result['errors']:,} failed"
    yield "window", format_seconds(result["window_s"])
    yield "load", LOADS[result["load"]]
    yield "concurrent calls", f"{result['concurrency']:,.3g} on average"
    yield "connections", f"{result['connections_opened']:,} opened"
    yield "received", format_bytes(result["bytes_received"])
    yield "engine", f"{result['engine']['version']}, {result['engine']['profile']}"


def _sections(result: Json, group: GroupOutcome, verdicts: Sequence[str]) -> Iterator[Section]:
    lead = [ONE_RUN]
    if result["interrupted"]:
        lead.insert(0, "The run was interrupted; the figures cover the part before that.")
    yield Section(
        "Summary", paragraphs=lead, points=(*verdicts, *result["hints"], *result["noise"])
    )
    yield Section("Response time", tables=[_times(result)], figures=list(_pictures(result, group)))
    yield _replies(result)
    if result["streams"]:
        yield _streams(result["streams"], group)
    if result["slowest"] is not None:
        yield slow_calls.section(convert(result["slowest"], SlowestCalls))
    if parts := list(_parts(result)):
        yield Section("Parts of the load", tables=parts)
    if result["clients"]:
        yield Section("Clients", tables=[_clients(result["clients"])])


def _streams(streams: Json, group: GroupOutcome) -> Section:
    """Times of messages, and how gaps are distributed."""
    rows = {time.title: streams[time.key] for time in STREAM_TIMES}
    curves = [
        Curves(label, look(number), [curve])
        for number, (label, name) in enumerate((("gap", "gap"), ("first message", "ttfm")))
        if (curve := _curve(label, group.times.get(name)))
    ]
    drawn = distribution_picture(curves, "Time", "first messages and gaps")
    per_read = streams["messages_per_read"]
    together = "" if per_read is None else f", {per_read:,.3g} per read"
    counts = (
        f"{format_count(streams['messages'], 'message')}, {streams['messages_per_s']:,.4g} per "
        "second"
        f"{together}; {format_bytes(streams['bytes'])}."
    )
    return Section(
        "Streams",
        paragraphs=[counts],
        tables=[_times_table(rows, "Times of messages.")],
        figures=[drawn] if drawn else [],
    )


def _times(result: Json) -> Table:
    """Of all calls, and where some failed of good ones."""
    rows = {"all calls": result["latency_ms"]}
    if result["errors"]:
        rows["good calls"] = result["latency_good_ms"]
    if result["load"] == "open":
        rows["from sending (service time)"] = result["service_time_ms"]
    return _times_table(rows, "Response times.")


def _times_table(rows: Mapping[str, Json], caption: str) -> Table:
    shown = {name: times for name, times in rows.items() if times}
    columns = list(dict.fromkeys(column for times in shown.values() for column in times))
    return Table(
        columns=["", *columns],
        rows=[
            [
                name,
                *(format_seconds(times[c] / 1e3) if c in times else "" for c in columns),
            ]
            for name, times in shown.items()
        ],
        caption=caption,
        numeric=range(1, len(columns) + 1),
    )


def _pictures(result: Json, group: GroupOutcome) -> Iterator[Picture]:
    curves = [
        Curves(label, look(number), [curve])
        for number, (label, times) in enumerate(_histograms(group))
        if (curve := _curve(label, times))
    ]
    drawn = distribution_picture(curves, "Response time", "one curve per kind of call")
    if drawn is not None:
        yield drawn
    over_time = draw_over_time(
        [
            Strip("calls/s", [Quantity("good calls", [_rates(group)])]),
            Strip("ms", list(_percentiles(result)), by_factors=True),
        ],
        "Calls and response time",
        result["window_s"],
    )
    if over_time is not None:
        yield over_time


def _histograms(group: GroupOutcome) -> Iterator[tuple[str, Times | None]]:
    if group.errors:
        yield "good", group.times.get("response_good")
    yield "all calls", group.times.get("response")


def _curve(label: str, times: Times | None) -> Curve:
    if times is None or not times.hdr:
        return ()
    try:
        return decode_curve(times.hdr, label)
    except UnreadableHistogram:
        return ()


def _rates(group: GroupOutcome) -> list[tuple[float, float]]:
    """Good calls per second, over parts of equal length; the last one may be cut by the window."""
    whole = int(group.window_s / SERIES_S + 1e-9)
    counts = group.series[:whole]
    together = max(1, -(-len(counts) // PARTS_MAX))
    lasts = together * SERIES_S
    starts = range(0, len(counts) - together + 1, together)
    return [
        ((at + together / 2) * SERIES_S, sum(counts[at : at + together]) / lasts) for at in starts
    ]


def _percentiles(result: Json) -> Iterator[Quantity]:
    for name, points in result["latency_over_time"].items():
        line = [(point["start_s"] + point["duration_s"] / 2, point["ms"]) for point in points]
        yield Quantity(name, [line])


def _replies(result: Json) -> Section:
    points = []
    if result["replies"] is not None:
        points.append(
            f"{UNCHECKED.capitalize()}: {differences([convert(result['replies'], RepliesResult)])}."
        )
    rows = [
        [kind, f"{count:,}", failure_text(kind, result["timeout_s"]), _examples(result, kind)]
        for kind, count in result["errors_by_kind"].items()
        if count
    ]
    if not rows:
        points.append("No call failed.")
        return Section("Replies", points=points)
    failed = format_count(result["errors"], "call")
    table = Table(["kind", "calls", "meaning", "example"], rows, f"{failed} failed.", numeric=[1])
    return Section("Replies", points=points, tables=[table])


def _examples(result: Json, kind: str) -> str:
    found = (text for text in result["error_examples"] if text.startswith(f"{kind}: "))
    return "\n".join(dict.fromkeys(text.removeprefix(f"{kind}: ") for text in found))


def _clients(clients: Sequence[Json]) -> Table:
    """What each of several engines did."""
    rows = []
    for client in clients:
        times = (client["p50_ms"], client["p99_ms"])
        rows.append(
            [
                client["client"],
                client["node"],
                f"{client['calls']:,}",
                f"{client['errors']:,}",
                digits(client["rate_per_s"]),
                *("" if ms is None else format_seconds(ms / 1e3) for ms in times),
                format_seconds(client["cpu_s"]),
            ]
        )
    columns = ["client", "node", "calls", "failed", "good calls/s", "p50", "p99", "CPU"]
    return Table(columns, rows, "By client.", numeric=range(2, len(columns)))


def _parts(result: Json) -> Iterator[Table]:
    for name, key in (("operation", "operations"), ("stage", "stages")):
        if not (parts := result[key]):
            continue
        rows = []
        for number, part in enumerate(parts, 1):
            times = part["latency_ms"]
            shown = [format_seconds(times[p] / 1e3) if p in times else "" for p in ("p50", "p99")]
            label = part.get("operation") or f"{number}, from {format_seconds(part['start_s'])}"
            rows.append([label, f"{part['calls']:,}", f"{part['errors']:,}", *shown])
        columns = [name, "calls", "failed", "p50", "p99"]
        yield Table(columns, rows, f"By {name}.", numeric=range(1, len(columns)))
