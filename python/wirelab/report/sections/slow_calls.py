"""The slowest calls of a drive, and what the slowest 1 % waited for next to those around the
median: by the client's own clock, without packets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from wirelab.documents.event import CallPhases, CallSum, SlowCall, SlowestCalls
from wirelab.format.numbers import percent
from wirelab.format.sanitize import sanitize
from wirelab.format.units import format_seconds
from wirelab.report.section import Section, Table
from wirelab.report.sections.tail import Mean, Parts, Wording

NOTHING = "No call was sent, so none is the slowest."
NO_PACKETS = (
    "These are the client's times: `drive` captures no packets. `wirelab dissect --slowest N` "
    "shows the packets of slow exchanges in a capture."
)
SHOWN_MIN = 0.05
"""Smaller phases of a call are not named, except for the largest."""
PHASES = (
    ("queueing_ns", "waiting to be sent"),
    ("write_ns", "sending"),
    ("wait_ns", "waiting for the first byte"),
    ("read_ns", "receiving"),
)
"""Field of the document, and what a reader knows it as."""


def title(slowest: SlowestCalls) -> str:
    """Begins the list."""
    if not slowest.list:
        return NOTHING
    return WORDING.title(len(slowest.list), slowest.of)


def rows(slowest: SlowestCalls) -> Iterator[str]:
    """One sentence for each slow call."""
    for one in slowest.list:
        failed = ", failed" if one.failed else ""
        yield (
            f"{_seconds(one.response_ns)}{failed}: {_place(one)}, due after "
            f"{_seconds(one.intended_ns)}; {_largest(_durations(one.phases))}"
        )


def _place(one: SlowCall) -> str:
    on = f"port {one.port}" if one.port else f"connection {one.connection}"
    return f"call {one.ordinal + 1:,} from {on}"


def sentences(slowest: SlowestCalls) -> Iterator[str]:
    """How the slowest 1 % differ from those around the median."""
    if slowest.compared is not None:
        yield from WORDING.compare(_mean(slowest.compared.slowest), _mean(slowest.compared.median))
    elif slowest.list:
        yield WORDING.too_few()


def _durations(phases: CallPhases) -> dict[str, float]:
    return {name: float(ns) for name, ns in msgspec.structs.asdict(phases).items()}


def _mean(calls: CallSum) -> Mean:
    """Of one call, nanoseconds."""
    parts = {name: ns / calls.count for name, ns in _durations(calls.phases).items()}
    return Mean(calls.count, parts)


def _largest(durations: Parts) -> str:
    """``97 % waiting for the first byte (200 ms)``: the phases that make up most of it."""
    whole = sum(durations.values())
    words = dict(PHASES)
    named = sorted(durations.items(), key=lambda one: -one[1])
    kept = [one for place, one in enumerate(named) if not place or one[1] >= SHOWN_MIN * whole]
    return ", ".join(
        f"{percent(ns / whole)} {words[name]} ({_seconds(ns)})" for name, ns in kept if whole
    )


def _seconds(ns: float) -> str:
    return format_seconds(ns / 1e9)


WORDING = Wording("call", _seconds, _largest)


def section(slowest: SlowestCalls) -> Section:
    """For the page of a drive."""
    if not slowest.list:
        return Section("Slowest calls", (NOTHING,))
    return Section("Slowest calls", [*sentences(slowest), NO_PACKETS], [_list_table(slowest.list)])


def _list_table(slowest: Sequence[SlowCall]) -> Table:
    rows = [
        (
            _seconds(one.response_ns),
            _seconds(one.intended_ns),
            str(one.port or one.connection),
            f"{one.ordinal + 1:,}",
            sanitize(one.operation),
            *_phase_cells(one.phases),
            "failed" if one.failed else "",
        )
        for one in slowest
    ]
    columns = ("took", "due after", "port", "call", "operation", *(name for _, name in PHASES), "")
    caption = (
        "The slowest calls: when each was due after the opening of the window, the local port of "
        "its connection, which call of the connection it was, and its phases."
    )
    return Table(columns, rows, caption, (0, 1, 2, 3, 5, 6, 7, 8))


def _phase_cells(phases: CallPhases) -> list[str]:
    durations = _durations(phases)
    return [_seconds(durations[name]) for name, _ in PHASES]
