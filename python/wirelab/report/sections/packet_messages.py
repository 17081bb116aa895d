"""Messages inside streams: how many, the times between them, and where these went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirelab.documents.dissection import MessageGroupSum, Messages, SlowMessage
from wirelab.format import wrapping
from wirelab.format.counting import format_count
from wirelab.format.numbers import NONE, percent, quantity
from wirelab.report.section import Section, Table
from wirelab.report.sections import packet_waits
from wirelab.report.sections.packet_waits import WIDTH, shares

NOTHING = (
    "No message inside a stream was seen: no server-sent events, WebSocket, streams of gRPC or "
    "Connect, nor lines of JSON. Of other protocols it is not known where messages end."
)
FRAMINGS = {
    "sse": "server-sent events",
    "websocket": "WebSocket",
    "grpc": "gRPC",
    "connect": "Connect",
    "ndjson": "lines of JSON",
}
"""Every framing as a reader knows it."""
_SENDERS = {"request": "client", "reply": "server"}
_INDENT = " " * 30
_P99_MIN = 1000
"""With fewer gaps, fewer than ten lie above the 99th percentile."""


def lines(messages: Messages) -> Iterator[str]:
    """For a terminal of 80 columns."""
    if not messages.count:
        yield from wrapping.wrap(NOTHING, WIDTH)
        return
    yield f"{'messages in streams':<31}{'count':>9}{'gap p50':>10}{'p99':>10}{'max':>10}"
    for group in messages.groups:
        p50, p99, most = _gaps(group)
        yield f"{_title(group):<31}{group.count:>9,}{p50:>10}{p99:>10}{most:>10}"
        yield from wrapping.wrap(
            _describe_place(group), WIDTH, initial_indent="  ", subsequent_indent="  "
        )
    yield from _slowest(messages.slowest, messages.count)


def _slowest(slowest: Sequence[SlowMessage], of: int) -> Iterator[str]:
    if not slowest:
        return
    longest = f"{len(slowest)} longest times" if len(slowest) > 1 else "longest time"
    yield from wrapping.wrap(f"The {longest} before one of {format_count(of, 'message')}:", WIDTH)
    yield f"{'N':>8} {'came':>9} {'after':>9}  where that time went"
    for one in slowest:
        head = f"{one.number:>8} {_time(one.at_ms):>9} {_time(one.time.elapsed_ms):>9}  "
        words = "; ".join(filter(None, (_parts(one), _describe_proxy(one.proxy_ms), _place(one))))
        yield from wrapping.wrap(head + words, WIDTH, subsequent_indent=_INDENT)


def _title(group: MessageGroupSum) -> str:
    return f"{FRAMINGS.get(group.framing, group.framing)} of the {_SENDERS[group.direction]}"


def _gaps(group: MessageGroupSum) -> tuple[str, str, str]:
    """Median, p99 and maximum; p99 only where at least ten gaps lie above it."""
    gap = group.gap_us
    if gap is None:
        return NONE, NONE, NONE
    p50, p99, most = (_time(us / 1e3) for us in (gap.p50, gap.p99, gap.max))
    return p50, p99 if gap.n >= _P99_MIN else NONE, most


def _describe_place(group: MessageGroupSum) -> str:
    """Where the time before the messages of a group went."""
    waited = packet_waits.largest(shares(group.time))
    streams = f"in {format_count(group.streams, 'stream')}" if group.streams else "in streams"
    words = f"{streams}, {quantity(group.bytes, 'B')}"
    if group.compressed:
        words += f" on the wire, {group.compressed:,} of them compressed"
    if waited:
        words += f"; before them: {waited}"
    if group.forwarded:
        words += (
            f"; {group.forwarded:,} also seen behind a proxy, which held them "
            f"{_time(group.proxy_ms)} in all"
        )
    return words


def _parts(one: SlowMessage) -> str:
    return packet_waits.largest(shares(one.time))


def _describe_proxy(proxy_ms: float | None) -> str:
    return f"of it {_time(proxy_ms)} in a proxy" if proxy_ms else ""


def _place(one: SlowMessage) -> str:
    first, last = one.packets
    packets = f"packet {last}" if first == last else f"packets {first}–{last}"
    stream = f", stream {one.stream}" if one.stream else ""
    return f"{packets}, connection {one.flow}{stream}, {one.bytes:,} B of the {_sender(one)}"


def _sender(one: SlowMessage) -> str:
    return _SENDERS[one.direction]


def _time(ms: float) -> str:
    return quantity(ms * 1e6, "ns") if ms else "0"


def section(messages: Messages | None) -> Section | None:
    """The same for a page; None if nobody asked for it."""
    if messages is None:
        return None
    title = "Messages inside streams"
    if not messages.count:
        return Section(title, (NOTHING,))
    tables = [_group_table(messages.groups)]
    if messages.slowest:
        tables.append(_slowest_table(messages.slowest))
    return Section(title, (), tables)


def _group_table(groups: Sequence[MessageGroupSum]) -> Table:
    rows = [
        (
            _title(group),
            f"{group.count:,}",
            f"{group.streams:,}",
            *_gaps(group),
            packet_waits.largest(shares(group.time)) or NONE,
            _share_in_proxy(group),
        )
        for group in groups
    ]
    columns = ("messages", "count", "streams", "gap p50", "p99", "max", "time", "in a proxy")
    caption = (
        "A gap is the time between two messages of a stream, from when on each could be read. "
        "Its time is divided as the account of the connection has it."
    )
    return Table(columns, rows, caption, (1, 2, 3, 4, 5))


def _share_in_proxy(group: MessageGroupSum) -> str:
    if not group.forwarded or not group.time.elapsed_ms:
        return NONE
    return percent(group.proxy_ms / group.time.elapsed_ms, 1)


def _slowest_table(slowest: Sequence[SlowMessage]) -> Table:
    rows = [
        (
            str(one.number),
            _time(one.at_ms),
            _time(one.time.elapsed_ms),
            f"{one.packets[0]}–{one.packets[1]}",
            str(one.flow),
            FRAMINGS.get(one.framing, one.framing),
            _sender(one),
            "; ".join(filter(None, (_parts(one), _describe_proxy(one.proxy_ms)))),
        )
        for one in slowest
    ]
    columns = ("number", "came", "after", "packets", "connection", "framing", "of the", "its time")
    caption = "The messages that came longest after the one before them in their stream."
    return Table(columns, rows, caption, (0, 1, 2))
