"""The slowest exchanges of a capture, and what the slowest 1 % did with its time next to those
around the median."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from wirelab.documents.dissection import Elapsed, Slowest, SlowExchange, TailComparison
from wirelab.format import wrapping
from wirelab.format.counting import counted
from wirelab.format.numbers import NONE, percent, quantity, sanitize
from wirelab.report.section import Section, Table
from wirelab.report.sections import packet_waits
from wirelab.report.sections.packet_waits import LABELS, WIDTH, shares

NOTHING = "No exchange with a whole reply was seen, so none is the slowest."
TOO_FEW = "There are fewer than 100 exchanges, too few to compare the slowest 1 % with others."
ALIKE = 1.1
"""The slowest 1 % are not compared part by part if their mean is less than this times that of the
exchanges around the median."""
_INDENT = " " * 30


def lines(slowest: Slowest) -> Iterator[str]:
    """For a terminal of 80 columns."""
    if not slowest.list:
        yield from wrapping.wrap(NOTHING, WIDTH)
        return
    yield from wrapping.wrap(_title(slowest), WIDTH)
    yield f"{'N':>8} {'began':>9} {'took':>9}  where its time went"
    for one in slowest.list:
        head = f"{one.number:>8} {_time(one.at_ms):>9} {_time(one.time.elapsed_ms):>9}  "
        words = f"{_largest(one.time)}; {_place(one)}"
        yield from wrapping.wrap(head + words, WIDTH, subsequent_indent=_INDENT)
    for sentence in sentences(slowest):
        yield from wrapping.wrap(sentence, WIDTH, subsequent_indent="  ")


def _title(slowest: Slowest) -> str:
    listed = f"{len(slowest.list)} slowest" if len(slowest.list) > 1 else "slowest"
    return f"The {listed} of {counted(slowest.of, 'exchange')} (--timeline N shows one):"


def _place(one: SlowExchange) -> str:
    before, behind = one.packets
    opening = ", with the opening of its connection" if one.has_opening else ""
    return f"packets {before}–{behind}, {_name(one)}{opening}"


def _name(one: SlowExchange) -> str:
    return sanitize(one.name) or one.protocol


def sentences(slowest: Slowest) -> Iterator[str]:
    """What the slowest 1 % did with its time, what those around the median did, and what makes
    the difference."""
    if slowest.compared is None:
        if slowest.list:
            yield TOO_FEW
        return
    slow, usual = _means(slowest.compared)
    of_slow = _exchanges(slowest.compared.slowest)
    if slow.elapsed_ms <= ALIKE * usual.elapsed_ms:
        yield (
            f"The slowest 1 % ({of_slow}) take {_time(slow.elapsed_ms)} on average, and those "
            f"around the median {_time(usual.elapsed_ms)}: there is no tail."
        )
        return
    of_usual = f"{slowest.compared.median.count:,}"
    yield f"The slowest 1 % ({of_slow}, {_mean(slow)}): {_largest(slow)}."
    yield f"Those around the median ({of_usual}, {_mean(usual)}): {_largest(usual)}."
    yield f"The difference between them: {_largest(_longer(slow, usual))}."


def _largest(elapsed: Elapsed) -> str:
    return packet_waits.largest(shares(elapsed))


def _exchanges(elapsed: Elapsed) -> str:
    return counted(elapsed.count, "exchange")


def _mean(elapsed: Elapsed) -> str:
    return f"{_time(elapsed.elapsed_ms)} on average"


def _means(compared: TailComparison) -> tuple[Elapsed, Elapsed]:
    """Of one of the slowest, and of one of those around the median."""
    return _per_exchange(compared.slowest), _per_exchange(compared.median)


def _per_exchange(elapsed: Elapsed) -> Elapsed:
    return msgspec.structs.replace(
        elapsed,
        count=1,
        elapsed_ms=elapsed.elapsed_ms / elapsed.count,
        parts_ms={part: ms / elapsed.count for part, ms in elapsed.parts_ms.items()},
    )


def _longer(slow: Elapsed, usual: Elapsed) -> Elapsed:
    """The parts that are longer in slow exchanges, by how much."""
    more = {part: ms - usual.parts_ms.get(part, 0.0) for part, ms in slow.parts_ms.items()}
    longer = {part: ms for part, ms in more.items() if ms > 0}
    return msgspec.structs.replace(slow, elapsed_ms=sum(longer.values()), parts_ms=longer)


def section(slowest: Slowest | None) -> Section | None:
    """The same for a page; None if nobody asked for it."""
    if slowest is None:
        return None
    if not slowest.list:
        return Section("Slowest exchanges", (NOTHING,))
    tables = [_list_table(slowest.list)]
    if slowest.compared is not None:
        tables.append(_comparison_table(slowest.compared))
    return Section("Slowest exchanges", list(sentences(slowest)), tables)


def _list_table(slowest: Sequence[SlowExchange]) -> Table:
    rows = [
        (
            str(one.number),
            _time(one.at_ms),
            _time(one.time.elapsed_ms),
            f"{one.packets[0]}–{one.packets[1]}",
            str(one.flow),
            _name(one),
            _largest(one.time),
        )
        for one in slowest
    ]
    columns = ("number", "began", "took", "packets", "connection", "exchange", "its time")
    caption = (
        "The slowest exchanges. `wirelab dissect FILE --timeline NUMBER` shows the packets of one."
    )
    return Table(columns, rows, caption, (0, 1, 2))


def _comparison_table(compared: TailComparison) -> Table:
    slow, usual = _means(compared)
    parts = list(dict.fromkeys(one.part for time in (slow, usual) for one in shares(time)))
    rows = [(LABELS.get(part, part), *_cells(slow, part), *_cells(usual, part)) for part in parts]
    caption = (
        f"Means of the slowest 1 % ({compared.slowest.count:,}) and of the tenth around the median "
        f"({compared.median.count:,}). Exchanges whose times differ by less than "
        f"{percent(compared.resolution, 1)} are added up together."
    )
    columns = ("Part", "slowest 1 %", "share", "around the median", "share of it")
    return Table(columns, rows, caption, (1, 2, 3, 4))


def _cells(elapsed: Elapsed, part: str) -> tuple[str, str]:
    ms = elapsed.parts_ms.get(part)
    if ms is None:
        return NONE, NONE
    return _time(ms), percent(ms / elapsed.elapsed_ms)


def _time(ms: float) -> str:
    return quantity(ms * 1e6, "ns") if ms else "0"
