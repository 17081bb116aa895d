"""The slowest calls of a drive, and what the slowest 1 % waited for next to those around the
median: by the client's own clock, without packets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from wirelab.documents.event import CallPhases, CallSum, SlowCall, SlowestCalls
from wirelab.format.counting import counted
from wirelab.format.sanitize import sanitize
from wirelab.format.units import format_seconds
from wirelab.report.section import Section, Table

NOTHING = "No call was sent, so none is the slowest."
TOO_FEW = "There are fewer than 100 calls, too few to compare the slowest 1 % with others."
NO_PACKETS = (
    "These are the client's times: `drive` captures no packets. `wirelab dissect --slowest N` "
    "shows the packets of slow exchanges in a capture."
)
ALIKE = 1.1
"""The slowest 1 % are not compared phase by phase if their mean is less than this times that of
the calls around the median."""
SHOWN_MIN = 0.05
"""Smaller phases of a call are not named, except for the largest."""
PHASES = (
    ("queueing_ns", "waiting to be sent"),
    ("write_ns", "sending"),
    ("wait_ns", "waiting for the first byte"),
    ("read_ns", "receiving"),
)
"""Field of the document, and what a reader knows it as."""

Durations = dict[str, float]
"""Nanoseconds by phase."""


def title(slowest: SlowestCalls) -> str:
    """Begins the list."""
    if not slowest.list:
        return NOTHING
    listed = f"{len(slowest.list)} slowest" if len(slowest.list) > 1 else "slowest"
    return f"the {listed} of {counted(slowest.of, 'call')}"


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
    """What the slowest 1 % waited for, and what those around the median did."""
    if slowest.compared is None:
        if slowest.list:
            yield TOO_FEW
        return
    slow, usual = slowest.compared.slowest, slowest.compared.median
    of_slow, of_usual = _means(slow), _means(usual)
    longer = {name: ns - of_usual[name] for name, ns in of_slow.items() if ns > of_usual[name]}
    means = [sum(times.values()) for times in (of_slow, of_usual)]
    if means[0] <= ALIKE * means[1]:
        yield (
            f"The slowest 1 % ({counted(slow.count, 'call')}) take {_seconds(means[0])} on "
            f"average, and those around the median {_seconds(means[1])}: there is no tail."
        )
        return
    yield (
        f"The slowest 1 % ({counted(slow.count, 'call')}, {_seconds(means[0])} on average): "
        f"{_largest(of_slow)}."
    )
    yield (
        f"Those around the median ({usual.count:,}, {_seconds(means[1])} on average): "
        f"{_largest(of_usual)}."
    )
    yield f"The difference between them: {_largest(longer)}."


def _durations(phases: CallPhases) -> Durations:
    return {name: float(ns) for name, ns in msgspec.structs.asdict(phases).items()}


def _means(calls: CallSum) -> Durations:
    return {name: ns / calls.count for name, ns in _durations(calls.phases).items()}


def _largest(durations: Durations) -> str:
    """``97 % waiting for the first byte (200 ms)``: the phases that make up most of it."""
    whole = sum(durations.values())
    words = dict(PHASES)
    named = sorted(durations.items(), key=lambda one: -one[1])
    kept = [one for place, one in enumerate(named) if not place or one[1] >= SHOWN_MIN * whole]
    return ", ".join(
        f"{100.0 * ns / whole:.0f} % {words[name]} ({_seconds(ns)})" for name, ns in kept if whole
    )


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


def _seconds(ns: float) -> str:
    return format_seconds(ns / 1e9)
