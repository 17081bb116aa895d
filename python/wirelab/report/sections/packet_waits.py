"""Where all of the time of a capture went: one sentence, a stacked bar, a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import msgspec

from wirelab.documents.dissection import (
    Dissection,
    Elapsed,
    HostElapsed,
    HostWaits,
    Names,
    Wait,
    Waits,
)
from wirelab.format import wrapping
from wirelab.format.counting import format_count
from wirelab.format.numbers import NONE, quantity, sanitize
from wirelab.report.section import Picture, Section, Table

WIDTH = 80
LABELS = {
    "name-resolution": "name resolution",
    "connecting": "connecting",
    "syn-retransmission": "until a SYN was sent again",
    "tls-handshake": "TLS handshake",
    "client-before-request": "client, before its first request",
    "request-transfer": "sending requests",
    "client-stall": "client, paused inside requests",
    "expect-continue": "client, waiting for 100 (Continue)",
    "path": "network path, there and back",
    "server": "server, until its first byte",
    "reply-transfer": "sending replies",
    "server-stall": "server, paused inside replies",
    "window-limited": "waiting for a larger window",
    "window-closed": "closed window, receiver not reading",
    "congestion-limited": "waiting for acknowledgments",
    "nagle-delayed-ack": "Nagle's algorithm, delayed ACK",
    "loss-recovery": "loss recovery",
    "server-unasked": "idle until the server sent unasked",
    "client-between-requests": "client, between requests",
    "before-closing": "idle before closing",
    "closing": "closing",
    "unattributed": "unexplained",
}
"""Every part as a reader knows it."""

HOST_LABELS = {
    "delivery": "on the way to the socket",
    "unread": "not read yet",
    "runnable": "runnable, not running",
    "running": "running",
    "lock": "blocked: lock or another thread",
    "disk": "blocked: disk",
    "network": "blocked: another connection",
    "timer": "blocked: timer",
    "other": "blocked: something else",
    "unknown": "not recorded",
}
"""Every part of the server's time as a reader knows it."""

HOST_COLOURS = {
    "delivery": "#56B4E9",
    "unread": "#E69F00",
    "runnable": "#D55E00",
    "running": "#009E73",
    "lock": "#CC79A7",
    "disk": "#8B5A2B",
    "network": "#0072B2",
    "timer": "#F0E442",
    "other": "#9A9A9A",
    "unknown": "#CFCFCF",
}
"""Of each part of the server's time, after Okabe and Ito (2008)."""

COLOURS = {
    "name-resolution": "#8B5A2B",
    "server": "#D55E00",
    "server-stall": "#E69F00",
    "path": "#0072B2",
    "connecting": "#56B4E9",
    "syn-retransmission": "#7A3E9D",
    "tls-handshake": "#4C6A92",
    "client-before-request": "#B8B8B8",
    "client-between-requests": "#CFCFCF",
    "before-closing": "#DEDEDE",
    "closing": "#9A9A9A",
    "server-unasked": "#C8BFA8",
    "request-transfer": "#2E8B6F",
    "reply-transfer": "#009E73",
    "client-stall": "#8C6D1F",
    "expect-continue": "#B5A642",
    "window-limited": "#CC79A7",
    "window-closed": "#A03070",
    "congestion-limited": "#F0E442",
    "nagle-delayed-ack": "#B22222",
    "loss-recovery": "#6A0D0D",
    "unattributed": "#000000",
}
"""Of each part; the first ones after Okabe and Ito (2008)."""

FILLS = "█▓▒░▞▚▤▥▦▧▨▩"
SHOWN_MIN = 0.005
"""A smaller share has no row of its own in a terminal."""
UNEXPLAINED_MIN = 0.0005
LONG_MIN = 0.05
"""A single wait of this share of all time is named."""
LONGEST = 3


@dataclass(frozen=True)
class Share:
    """A part and its share of all time."""

    part: str
    ms: float
    share: float


def shares(elapsed: Elapsed | HostElapsed) -> list[Share]:
    """The largest part first."""
    if elapsed.elapsed_ms <= 0:
        return []
    made = [Share(part, ms, ms / elapsed.elapsed_ms) for part, ms in elapsed.parts_ms.items()]
    return sorted(made, key=lambda one: -one.ms)


IDLE = ("client-before-request", "client-between-requests", "before-closing", "server-unasked")
"""Parts in which nobody waited for anybody."""
RESOLVING = "name-resolution"


@dataclass(frozen=True)
class Seen:
    """What of a capture decides how much its account can show."""

    one_sided: bool = False
    refused: int = 0
    """Attempts to connect that were refused."""
    unanswered: int = 0
    """Connections whose SYN was never answered."""
    connections: int = 0


def summarize_seen(document: Dissection) -> Seen:
    """Of a dissection."""
    flows = document.flows
    return Seen(bool(document.capture.one_sided), flows.refused, flows.unanswered, flows.count)


def sentence(waits: Waits, about: Seen = Seen()) -> str:
    """Answers "where did the time go?": of all connections and lookups, then of the exchanges
    where connections were idle; empty where nothing happened."""
    words = [_whole(waits, about.one_sided), _of_exchanges(waits)]
    openings = [
        f"{format_count(about.refused, 'connection')} refused." if about.refused else "",
        f"{format_count(about.unanswered, 'attempt')} to connect unanswered."
        if about.unanswered
        else "",
    ]
    failed = about.refused + about.unanswered
    words = [*openings, *words] if 2 * failed >= about.connections else [*words, *openings]
    return " ".join(filter(None, words))


def of_everything(waits: Waits) -> Elapsed:
    """All connections, with the lookups that none of them waited for."""
    whole = waits.connections
    if not waits.lookups_ms:
        return whole
    parts = dict(whole.parts_ms)
    parts[RESOLVING] = parts.get(RESOLVING, 0.0) + waits.lookups_ms
    elapsed_ms = whole.elapsed_ms + waits.lookups_ms
    return msgspec.structs.replace(whole, elapsed_ms=elapsed_ms, parts_ms=parts)


def _whole(waits: Waits, one_sided: bool) -> str:
    whole = of_everything(waits)
    parts = shares(whole)
    if not parts:
        return ""
    places = [f"on {format_count(whole.count, 'connection')}"] if whole.count else []
    if waits.lookups_ms:
        places.append("in lookups of names")
    of = f"Of {_time(whole.elapsed_ms)} {' and '.join(places)}"
    if one_sided and parts[0].part == "unattributed":
        return f"{of}, nothing can be said: only one direction was captured."
    return f"{of}: {largest(parts)}."


def _of_exchanges(waits: Waits) -> str:
    """Of the exchanges alone, where idle connections hide what they spent their time with."""
    of_calls = shares(waits.exchanges)
    idle = sum(one.share for one in shares(waits.connections) if one.part in IDLE)
    if not of_calls or idle < LONG_MIN or of_calls[0].part in IDLE:
        return ""
    exchanges = format_count(waits.exchanges.count, "exchange")
    return f"Of {_time(waits.exchanges.elapsed_ms)} in {exchanges}: {largest(of_calls)}."


def lines(document: Dissection) -> Iterator[str]:
    """For a terminal of 80 columns; nothing where no time passed."""
    yield from account(document.waits, summarize_seen(document))
    yield from lookups(document.names)


def account(waits: Waits, about: Seen = Seen()) -> Iterator[str]:
    """Sentence, bar, table, the longest waits."""
    words = sentence(waits, about)
    if not words:
        return
    yield from wrapping.wrap(words, WIDTH)
    shown = [one for one in shares(of_everything(waits)) if one.share >= SHOWN_MIN]
    if not shown:
        return
    fills = {one.part: FILLS[place % len(FILLS)] for place, one in enumerate(shown)}
    yield _bar(shown, fills)
    yield from _rows(waits, fills)
    yield from host_rows(waits.host)
    yield from _long(waits)
    yield from describe_unexplained(waits)


def host_rows(host: HostWaits | None) -> Iterator[str]:
    """What the server's processes did in its time, where that was recorded."""
    if host is None or not host.server.elapsed_ms:
        return
    yield f"    {'server, by its threads':<37}{'of its time':>18}"
    for part, ms in _host_parts(host.server):
        row = Share(part, ms, ms / host.server.elapsed_ms)
        if row.share >= SHOWN_MIN:
            yield f"    {HOST_LABELS.get(part, part):<37}{_cell(row)}"
    yield from (f"    {note}" for note in _host_notes(host))


def _host_parts(elapsed: HostElapsed) -> list[tuple[str, float]]:
    return sorted(elapsed.parts_ms.items(), key=lambda one: -one[1])


def _host_notes(host: HostWaits) -> Iterator[str]:
    """What the record lacks."""
    if host.drops is None:
        yield "The record of the host breaks off before its end."
    elif host.drops:
        yield (
            f"The kernel dropped {format_count(host.drops, 'record')} of the host: parts may be "
            "wrong."
        )
    if host.left_out:
        yield f"{format_count(host.left_out, 'time')} of the server were too many to be divided."


def lookups(names: Names) -> Iterator[str]:
    """How long name servers took to answer, where the capture has queries."""
    if not names.queries:
        return
    words = f"DNS: {format_count(names.queries, 'query')}"
    if names.median_ms is not None:
        words += f", answers after {_time(names.median_ms)} (median)"
    if names.slowest:
        slowest = names.slowest[0]
        before, behind = slowest.packets
        words += (
            f", the slowest {_time(slowest.ms)} for {sanitize(slowest.name)} "
            f"(packets {before}–{behind})"
        )
    rest = ((names.repeated, "sent again"), (names.failed, "failed"))
    words += "".join(f", {count} {what}" for count, what in rest if count)
    unanswered = names.queries - names.repeated - names.answered
    words += f", {unanswered} without an answer." if unanswered > 0 else "."
    yield from wrapping.wrap(words, WIDTH, subsequent_indent="  ")


def describe_unexplained(waits: Waits) -> Iterator[str]:
    """What no part explains, with its longest gaps."""
    whole = waits.connections
    left = whole.parts_ms.get("unattributed", 0.0)
    if whole.elapsed_ms <= 0 or left / whole.elapsed_ms < UNEXPLAINED_MIN:
        return
    gaps = ", ".join(_place(wait) for wait in waits.unattributed[:LONGEST])
    words = f"{_time(left)} of {_time(whole.elapsed_ms)} unexplained"
    yield from wrapping.wrap(
        f"{words}; longest gaps: {gaps}." if gaps else f"{words}.",
        WIDTH,
        subsequent_indent="  ",
    )


def _bar(shown: Sequence[Share], fills: dict[str, str]) -> str:
    room = WIDTH - 2
    edges = [0.0]
    for one in shown:
        edges.append(edges[-1] + one.share)
    cells = [round(edge * room) for edge in edges]
    return "  " + "".join(
        fills[one.part] * (cells[place + 1] - cells[place]) for place, one in enumerate(shown)
    )


def _rows(waits: Waits, fills: dict[str, str]) -> Iterator[str]:
    of_calls = {one.part: one for one in shares(waits.exchanges)}
    of_connections = {one.part: one for one in shares(of_everything(waits))}
    parts = [*of_connections, *(part for part in of_calls if part not in of_connections)]
    head = f"    {'':<37}{'connections':>18}"
    yield head + (f"{'exchanges':>18}" if of_calls else "")
    for part in parts:
        cells = [of_connections.get(part)]
        if of_calls:
            cells.append(of_calls.get(part))
        if all(one is None or one.share < SHOWN_MIN for one in cells):
            continue
        row = f"  {fills.get(part, ' ')} {LABELS.get(part, part):<37}"
        yield row + "".join(_cell(one) for one in cells)


def _cell(one: Share | None) -> str:
    if one is None:
        return f"{NONE:>18}"
    return f"{_time(one.ms):>11}{_percent(one.share):>7}"


def _long(waits: Waits) -> Iterator[str]:
    whole = waits.connections.elapsed_ms
    named = [
        wait
        for wait in waits.longest
        if wait.ms >= LONG_MIN * whole and wait.part != "unattributed"
    ][:LONGEST]
    if named:
        words = "; ".join(f"{LABELS.get(wait.part, wait.part)} {_place(wait)}" for wait in named)
        yield from wrapping.wrap(f"Longest: {words}.", WIDTH, subsequent_indent="  ")


def _place(wait: Wait) -> str:
    before, behind = wait.packets
    return f"packets {before}–{behind} ({_time(wait.ms)})"


def largest(parts: Sequence[Share]) -> str:
    """The parts that make up most of it: ``97 % server, until its first byte (5.00 ms)``."""
    named: list[str] = []
    covered = 0.0
    for one in parts[:3]:
        if named and one.share < LONG_MIN:
            break
        named.append(f"{_percent(one.share)} {LABELS.get(one.part, one.part)} ({_time(one.ms)})")
        covered += one.share
    return ", ".join(named)


def _time(ms: float) -> str:
    return quantity(ms * 1e6, "ns") if ms else "0"


def _percent(share: float) -> str:
    percent = 100.0 * share
    return f"{percent:.0f} %" if percent >= 1 or percent == 0 else f"{percent:.1f} %"


def section(waits: Waits, about: Seen = Seen()) -> Section | None:
    """The same for a page; None where no time passed."""
    words = sentence(waits, about)
    if not words:
        return None
    rows = []
    of_calls = {one.part: one for one in shares(waits.exchanges)}
    for one in shares(waits.connections):
        call = of_calls.get(one.part)
        rows.append(
            (
                LABELS.get(one.part, one.part),
                _time(call.ms) if call else NONE,
                _percent(call.share) if call else NONE,
                _time(one.ms),
                _percent(one.share),
            )
        )
    table = Table(
        ("Part", "exchanges", "of exchanges", "connections", "of connections"),
        rows,
        "Where the time went: of all exchanges with a whole reply, and of all connections from "
        "their first packet to their last.",
        (1, 2, 3, 4),
    )
    tables = (table, *_host_table(waits.host))
    notes = [words, *describe_unexplained(waits), *(_host_notes(waits.host) if waits.host else ())]
    pictures = [
        draw_stacked_bar(title, elapsed)
        for title, elapsed in (
            ("Time of all exchanges", waits.exchanges),
            ("Time of all connections", waits.connections),
        )
        if elapsed.elapsed_ms > 0
    ]
    if waits.host and waits.host.server.elapsed_ms:
        pictures.append(host_bar("Time of the server", waits.host))
    return Section("Where the time went", notes, tables, pictures)


def _host_table(host: HostWaits | None) -> Iterator[Table]:
    if host is None or not host.server.elapsed_ms:
        return
    think = host.think_time
    rows = [
        (
            HOST_LABELS.get(part, part),
            _time(ms),
            _percent(ms / host.server.elapsed_ms),
            _time(think.parts_ms.get(part, 0.0)) if think.elapsed_ms else NONE,
            _percent(think.parts_ms.get(part, 0.0) / think.elapsed_ms)
            if think.elapsed_ms
            else NONE,
        )
        for part, ms in _host_parts(host.server)
    ]
    yield Table(
        ("Server's threads", "time", "of server", "in server-think-time", "of it"),
        rows,
        "What the server's threads did in its time in exchanges, and in the part of it that is "
        "the finding server-think-time; recorded by the kernel's tracepoints.",
        (1, 2, 3, 4),
    )


_BAR_WIDTH, _BAR_HEIGHT, _ROW = 440, 30, 19


def host_bar(title: str, host: HostWaits) -> Picture:
    """What the server's threads did in its time."""
    return draw_stacked_bar(title, host.server, HOST_LABELS, HOST_COLOURS)


def draw_stacked_bar(
    title: str,
    elapsed: Elapsed | HostElapsed,
    labels: Mapping[str, str] = LABELS,
    colours: Mapping[str, str] = COLOURS,
) -> Picture:
    """One bar from left to right, the largest part first, with a legend below."""
    shown = [one for one in shares(elapsed) if one.share >= SHOWN_MIN]
    height = 26 + _BAR_HEIGHT + 12 + _ROW * len(shown)
    drawn = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_BAR_WIDTH} {height}" '
            'font-family="sans-serif" font-size="13">'
        ),
        (
            f'<text x="0" y="15" fill="currentColor" font-weight="600">{escape(title)}: '
            f"{escape(_time(elapsed.elapsed_ms))}</text>"
        ),
    ]
    left = 0.0
    for one in shown:
        width = one.share * _BAR_WIDTH
        hint = f"{labels.get(one.part, one.part)}: {_time(one.ms)}, {_percent(one.share)}"
        drawn.append(
            f'<rect x="{left:.1f}" y="24" width="{width:.1f}" height="{_BAR_HEIGHT}" '
            f'fill="{colours.get(one.part, "#888888")}"><title>{escape(hint)}</title></rect>'
        )
        left += width
    for place, one in enumerate(shown):
        y = 24 + _BAR_HEIGHT + 20 + place * _ROW
        colour = colours.get(one.part, "#888888")
        label = f"{labels.get(one.part, one.part)}: {_time(one.ms)}, {_percent(one.share)}"
        drawn.append(
            f'<rect x="0" y="{y - 11}" width="12" height="12" fill="{colour}"/>'
            f'<text x="18" y="{y}" fill="currentColor">{escape(label)}</text>'
        )
    words = "; ".join(f"{labels.get(one.part, one.part)} {_percent(one.share)}" for one in shown)
    return Picture("".join([*drawn, "</svg>"]), title, f"{title}: {words}")
