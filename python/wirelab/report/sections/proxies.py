"""What proxies add to calls, by the packets in front of them and behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from wirelab.format.numbers import DASH, NONE, digits, sanitize
from wirelab.records.proxy import HopsRecord, HopTimes
from wirelab.report.section import Section, Table
from wirelab.report.source import Source
from wirelab.statistics.cell import Cell

_ABOUT = (
    "Packets between caller and proxy next to those between proxy and service, of all calls, "
    "warm-up included. Added is the latency in front less the latency behind; it is the sum of "
    "the request's way and the reply's, in the mean. First byte: from a reply's first byte behind "
    "to its first in front. With fewer connections per call behind than in front the proxy pools "
    "them, with more it multiplies them. Least and most over the trials."
)
_COLUMNS = (
    *("stack", "added, mean µs", "added, p50 µs", "request, mean µs", "reply, mean µs"),
    *("first byte, p50 µs", "connections per call in front", "behind"),
)


def section(source: Source) -> Section:
    """Empty where no trial captured at a proxy."""
    cells = [(cell, found) for cell in source.cells if (found := _list_hops(cell))]
    if not cells:
        return Section("Through a proxy")
    rows = [_row(source, cell, found) for cell, found in cells]
    table = Table(_COLUMNS, rows, "Time added by proxies", tuple(range(1, len(_COLUMNS))))
    doubts = dict.fromkeys(one.left_out for _, found in cells for one in found if one.left_out)
    notes = tuple(f"{sanitize(doubt)}." for doubt in doubts)
    return Section("Through a proxy", (_ABOUT, *notes), [table])


def _list_hops(cell: Cell) -> list[HopsRecord]:
    proxies = (trial.proxy for trial in cell.measured)
    return [proxy.hops for proxy in proxies if proxy is not None and proxy.hops is not None]


def _row(source: Source, cell: Cell, found: list[HopsRecord]) -> list[str]:
    name = f"{source.names.stacks[cell.point.stack]}, {source.names.setting(cell.point)}"
    return [
        name,
        *(_times(found, lambda one: one.added)),
        _mean(found, lambda one: one.request),
        _mean(found, lambda one: one.reply),
        _times(found, lambda one: one.first_byte)[1],
        _range(one.per_call_front for one in found),
        _range(one.per_call_back for one in found),
    ]


def _times(found: list[HopsRecord], of: Callable[[HopsRecord], HopTimes | None]) -> tuple[str, str]:
    """Mean and median."""
    known = [time for one in found if (time := of(one)) is not None]
    return _range(time.mean_us for time in known), _range(time.p50_us for time in known)


def _mean(found: list[HopsRecord], of: Callable[[HopsRecord], HopTimes | None]) -> str:
    return _times(found, of)[0]


def _range(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return NONE
    return DASH.join(dict.fromkeys((digits(min(known)), digits(max(known)))))
