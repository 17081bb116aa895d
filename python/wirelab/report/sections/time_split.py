"""Where each call's time went: its parts, as the engine's stamps and the packets give them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from wirelab.documents.dissection import Operation, Part, Reconciliation, Spent
from wirelab.format.counting import format_count, of_all
from wirelab.format.numbers import NONE, quantity, sanitize
from wirelab.records.trial import Trial
from wirelab.records.wire import CallTimes, TimePart
from wirelab.report.section import Picture, Section, Table
from wirelab.stack.link_names import LOOPBACK
from wirelab.trial.reconciliation import Split, mean_us, split, ways

if TYPE_CHECKING:
    from wirelab.report.source import Source
    from wirelab.statistics.cell import Cell

TABLES_MAX = 24
"""Cells with a table; of all others the trials' own files tell."""
NAMES = {
    "queueing": "queueing",
    "client-write": "client's write",
    "request-on-wire": "request on the wire",
    "request-way": "request's way",
    "server": "server",
    "reply-way": "reply's way",
    "stalls": "stalls",
    "reply-on-wire": "reply on the wire",
    "client-read": "client's read",
    "report": "until the report",
}
# Okabe & Ito 2008: distinguished with every kind of colour blindness; each part is named too.
_COLOURS = (
    *("#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#8C8000"),
    *("#D55E00", "#CC79A7", "#999999", "#000000"),
)
WAY_SHARE_MIN = 0.1
"""From this share of the server's part on, a terminal shows how much of it is the network path."""
HANDSHAKE_SHARE_MAX = 1.1
"""A handshake may take this many times as long as the part that is said to hold it: both vary."""
_WIDTH, _ROW, _BAR, _TOP = 880, 40, 14, 60
_INK = "#1b1b1b"

_ABOUT = (
    "A call's response time runs from its intended start to its end. Queueing is time in the "
    "engine. The client's write lasts until the first packet of the request, the server's part "
    "until the first packet of the reply. The client's read begins with the last packet of the "
    "reply. A stall that the diagnosis found is subtracted from its part. Each part is measured "
    "with its own stamps, not computed from the others; the residual is the contradiction between "
    "stamps."
)
_WAY = (
    "With captures at both ends, the ways of the last request packet and of the first reply packet "
    "are separate parts. With a capture at the client alone, the server's part includes them; with "
    "one at the server alone, the client's parts do."
)


@dataclass(frozen=True)
class _Reconciled:
    """A trial with calls matched with their packets."""

    name: str
    """Of its cell."""
    trial: Trial
    found: CallTimes
    whole: Split


def section(source: Source) -> Section:
    """Empty where no call was matched with its packets; the first trial of each cell."""
    title = "Where a call's time went"
    cells = [
        _Reconciled(_name(source, cell), *found)
        for cell in source.cells
        if (found := _find_reconciled(cell)) is not None
    ]
    if not cells:
        return Section(title)
    left = len(cells) - TABLES_MAX
    more = (f"{left} more are in trials/*/dissection-*.json.",) if left > 0 else ()
    shown = cells[:TABLES_MAX]
    return Section(
        title,
        (_ABOUT, _WAY, *more),
        tables=[_table(one) for one in shown],
        figures=[_picture(shown)],
    )


def lines(found: Reconciliation, width: int = 80) -> Iterator[str]:
    """The same for a terminal, of a dissection."""
    yield f"{'Where each call' + chr(39) + 's time went':<32}" + "".join(
        f"{head:>12}" for head in ("mean", "share", "p50", "p99")
    )
    for operation in found.operations[:8]:
        name = f"{sanitize(operation.name)}, {operation.calls:,} calls"
        for row in _rows(name[:31], operation):
            yield f"{row[0]:<32}" + "".join(f"{figure:>12}" for figure in row[1:])
    if len(found.operations) > 8:
        yield f"… and {len(found.operations) - 8} more operations (--json has them)"
    whole = split(found)
    if ways(found) and whole is not None:
        for row in _rows(f"by both ends, {whole.calls:,} calls"[:31], whole):
            yield f"{row[0]:<32}" + "".join(f"{figure:>12}" for figure in row[1:])
    calls, seen = found.calls, found.exchanges.seen
    yield f"{of_all(calls.matched, calls.logged, 'call')} and of {format_count(seen, 'exchange')}"
    for remark in (*_way(found), *_describe_omissions(found), *_clocks(found), *_unsplit(found)):
        yield f"  {remark}"[:width]


def _rows(name: str, operation: Operation | Split) -> Iterator[list[str]]:
    """The response time, its parts and the residual."""
    calls = operation.calls
    yield _row(name, operation.response, None, calls)
    for part in operation.phases:
        yield _row(f"  {NAMES[part.phase]}", part, part.share, calls)
    yield _row("  residual", operation.residual, None, calls)


def _row(name: str, spent: Spent | Part | TimePart, share: float | None, calls: int) -> list[str]:
    """Percentiles are shown only where at least ten calls lie above them; the ways have none,
    for two captures show the difference of means alone."""
    part = NONE if share is None else f"{100 * share:.1f} %"
    shown = [
        NONE if us is None or calls < least else _us(us)
        for us, least in ((spent.p50_us, 20), (spent.p99_us, 1000))
    ]
    return [name, _us(spent.mean_us), part, *shown]


def _describe_omissions(found: Reconciliation) -> Iterator[str]:
    """What was not laid side by side, and why."""
    calls, exchanges = found.calls, found.exchanges
    for count, words in (
        (calls.unmatched, "calls have no exchange in the capture"),
        (calls.given_up, "calls were not matched because memory was full"),
        (calls.outside, "calls were made before or after the capture"),
        (calls.encrypted, "calls are encrypted: their exchanges are not visible"),
        (calls.unanswered, "calls have no complete reply"),
        (calls.without_port, "calls were not made over TCP"),
        (calls.damaged_lines, "lines of the log are not calls"),
        (exchanges.unmatched + exchanges.given_up, "exchanges have no call in the log"),
    ):
        if count:
            yield f"{count:,} {words}"
    if calls.error:
        yield f"the log is truncated: {sanitize(calls.error)}"


def _clocks(found: Reconciliation) -> Iterator[str]:
    """By how much the clock of the engine can be ahead of that of the packets."""
    bounds = found.clock_us
    if bounds:
        low, high = _us(bounds.low), _us(bounds.high)
        yield f"the engine's clock is ahead of the packets' by {low} to {high}"


def _way(found: Reconciliation) -> Iterator[str]:
    """How much of the server's part is not work of the server: where packets were captured
    at one end, what lies behind that end took as long for the SYN and its answer."""
    took, own = found.handshake_us.to_server, mean_us(found.all, "server")
    if ways(found) or took is None or own is None:
        return
    if WAY_SHARE_MIN * own <= took.p50 <= own * HANDSHAKE_SHARE_MAX:
        yield f"{_us(took.p50)} of the server's part is network round trip (from handshakes)"


def _unsplit(found: Reconciliation) -> Iterator[str]:
    """Why two captures do not tell the ways from the server."""
    ends = found.both_ends if isinstance(found, CallTimes) else None
    if ends and ends.left_out:
        yield f"the ways cannot be separated from the server: {sanitize(ends.left_out)}"


def _us(microseconds: float) -> str:
    size = quantity(abs(microseconds) * 1e3, "ns") if microseconds else "0"
    return f"-{size}" if microseconds < 0 else size


def _name(source: Source, cell: Cell) -> str:
    return f"{source.names.stacks[cell.point.stack]}, {source.names.setting(cell.point)}"


def _find_reconciled(cell: Cell) -> tuple[Trial, CallTimes, Split] | None:
    """The first trial of a cell with calls matched with their packets."""
    for trial in cell.measured:
        found = _read_call_times(trial)
        whole = split(found) if found else None
        if found and whole:
            return trial, found, whole
    return None


def _read_call_times(trial: Trial) -> CallTimes | None:
    return trial.wire.reconciliation if trial.wire else None


def _table(shown: _Reconciled) -> Table:
    found, whole, calls = shown.found, shown.whole, shown.found.calls
    rows = [[row[0].strip(), *row[1:]] for row in _rows("response", whole)]
    way = None if ways(found) else round_trip(shown.trial)
    if way is not None:
        us, how = way
        share = us / max(whole.response.mean_us, 1e-9)
        words = f"of which round trip, {how}"
        row = [words, _us(us), f"{100 * share:.1f} %", NONE, NONE]
        rows.insert(_place_of_way(whole, us), row)
    caption = [f"{shown.name}: {calls.matched:,} of {calls.logged:,} calls"]
    caption += [*_describe_omissions(found), *_clocks(found), *_unsplit(found)]
    return Table(["part", "mean", "share", "p50", "p99"], rows, "; ".join(caption), (1, 2, 3, 4))


def _place_of_way(whole: Split, us: float) -> int:
    """Below the server's row where that part holds it, else below all parts."""
    for place, part in enumerate(whole.phases):
        if part.phase == "server" and part.mean_us * HANDSHAKE_SHARE_MAX >= us:
            return 2 + place
    return 1 + len(whole.phases)


def round_trip(trial: Trial) -> tuple[float, str] | None:
    """How much of the mean response time packets were on their way to the server and back,
    in microseconds, and how that is known; None where nothing shows it."""
    found = _read_call_times(trial)
    own = mean_us(found.all, "server") if found else None
    if found and own is not None and found.at_server_us is not None:
        return own - found.at_server_us, "from the captures at both ends"
    if trial.point.link == LOOPBACK:
        return None
    measured_ms = trial.link.rtt_ms()
    if measured_ms is not None:
        return 1e3 * measured_ms, "as measured before the trial"
    handshakes = found.handshake_us if found else None
    if handshakes and handshakes.to_server and handshakes.to_client:
        both = handshakes.to_server.p50 + handshakes.to_client.p50
        return both, "from the handshakes"
    return None


def _picture(cells: Sequence[_Reconciled]) -> Picture:
    """A bar per cell, of the shares of its mean response time."""
    height = _TOP + _ROW * len(cells)
    drawn = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
            'font-family="sans-serif" font-size="12">'
        ),
        *_legend(),
    ]
    for place, one in enumerate(cells):
        drawn += _bar(one.name, one.whole, _TOP + _ROW * place)
    caption = "Shares of the mean response time, first trial of each cell"
    alt = "; ".join(f"{one.name}: {_shares(one.whole)}" for one in cells)
    return Picture("".join([*drawn, "</svg>"]), caption, alt, wide=True)


def _shares(whole: Split) -> str:
    return ", ".join(
        f"{NAMES[part.phase]} {100 * part.share:.0f} %"
        for part in whole.phases
        if part.share >= 0.005
    )


def _legend() -> Iterator[str]:
    step = _WIDTH // 4
    for place, (name, colour) in enumerate(zip(NAMES.values(), _COLOURS, strict=True)):
        x, y = step * (place % 4), 12 + 16 * (place // 4)
        yield f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{colour}"/>'
        yield f'<text x="{x + 18}" y="{y}" fill="{_INK}">{escape(name, quote=False)}</text>'


def _bar(name: str, whole: Split, top: int) -> Iterator[str]:
    label = f"{name}: {_us(whole.response.mean_us)}"
    yield f'<text x="0" y="{top + 12}" fill="{_INK}">{escape(label, quote=False)}</text>'
    total = sum(part.share for part in whole.phases) or 1.0
    colours, x = dict(zip(NAMES, _COLOURS, strict=True)), 0.0
    for part in whole.phases:
        width = _WIDTH * part.share / total
        words = f"{NAMES[part.phase]}: {_us(part.mean_us)}, {100 * part.share:.1f} %"
        yield (
            f'<rect x="{x:.2f}" y="{top + 18}" width="{width:.2f}" height="{_BAR}" '
            f'fill="{colours[part.phase]}"><title>{escape(words, quote=False)}</title></rect>'
        )
        x += width
