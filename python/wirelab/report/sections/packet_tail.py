"""The slowest exchanges of a capture, and what the slowest 1 % did with its time next to those
around the median."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirelab.documents.dissection import Elapsed, Slowest, SlowExchange, TailComparison
from wirelab.format import wrapping
from wirelab.format.numbers import NONE, percent, quantity, sanitize
from wirelab.report.section import Section, Table
from wirelab.report.sections import packet_waits
from wirelab.report.sections.packet_waits import LABELS, WIDTH, shares
from wirelab.report.sections.tail import Mean, Parts, Wording

NOTHING = "No exchange with a whole reply was seen, so none is the slowest."
_INDENT = " " * 30


def lines(slowest: Slowest) -> Iterator[str]:
    """For a terminal of 80 columns."""
    if not slowest.list:
        yield from wrapping.wrap(NOTHING, WIDTH)
        return
    title = WORDING.title(len(slowest.list), slowest.of)
    yield from wrapping.wrap(f"{title.capitalize()} (--timeline N shows one):", WIDTH)
    yield f"{'N':>8} {'began':>9} {'took':>9}  where its time went"
    for one in slowest.list:
        head = f"{one.number:>8} {_time(one.at_ms):>9} {_time(one.time.elapsed_ms):>9}  "
        words = "; ".join(filter(None, (_largest(one.time.parts_ms), _place(one))))
        yield from wrapping.wrap(head + words, WIDTH, subsequent_indent=_INDENT)
    for sentence in sentences(slowest):
        yield from wrapping.wrap(sentence, WIDTH, subsequent_indent="  ")


def _place(one: SlowExchange) -> str:
    before, behind = one.packets
    opening = ", with the opening of its connection" if one.has_opening else ""
    return f"packets {before}–{behind}, {_name(one)}{opening}"


def _name(one: SlowExchange) -> str:
    return sanitize(one.name) or one.protocol


def sentences(slowest: Slowest) -> Iterator[str]:
    """How the slowest 1 % differ from those around the median."""
    if slowest.compared is not None:
        yield from WORDING.compare(_mean(slowest.compared.slowest), _mean(slowest.compared.median))
    elif slowest.list:
        yield WORDING.too_few()


def _largest(parts_ms: Parts) -> str:
    whole = Elapsed(count=1, elapsed_ms=sum(parts_ms.values()), parts_ms=dict(parts_ms))
    return packet_waits.largest(shares(whole))


def _time(ms: float) -> str:
    return quantity(ms * 1e6, "ns") if ms else "0"


WORDING = Wording("exchange", _time, _largest)


def _mean(elapsed: Elapsed) -> Mean:
    """The time of each part of an exchange, milliseconds."""
    parts = {part: ms / elapsed.count for part, ms in elapsed.parts_ms.items()}
    return Mean(elapsed.count, parts)


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
            _largest(one.time.parts_ms),
        )
        for one in slowest
    ]
    columns = ("number", "began", "took", "packets", "connection", "exchange", "its time")
    caption = (
        "The slowest exchanges. `wirelab dissect FILE --timeline NUMBER` shows the packets of one."
    )
    return Table(columns, rows, caption, (0, 1, 2))


def _comparison_table(compared: TailComparison) -> Table:
    slow, usual = _mean(compared.slowest), _mean(compared.median)
    parts = list(dict.fromkeys(part for mean in (slow, usual) for part in _sort_parts(mean)))
    rows = [(LABELS.get(part, part), *_cells(slow, part), *_cells(usual, part)) for part in parts]
    caption = (
        f"Means of the slowest 1 % ({compared.slowest.count:,}) and of the tenth around the median "
        f"({compared.median.count:,}). Exchanges whose times differ by less than "
        f"{percent(compared.resolution, 1)} are added up together."
    )
    columns = ("Part", "slowest 1 %", "share", "around the median", "share of it")
    return Table(columns, rows, caption, (1, 2, 3, 4))


def _sort_parts(mean: Mean) -> list[str]:
    """Its parts, the largest first."""
    return sorted(mean.parts, key=lambda part: -mean.parts[part])


def _cells(mean: Mean, part: str) -> tuple[str, str]:
    if part not in mean.parts:
        return NONE, NONE
    return _time(mean.parts[part]), percent(mean.parts[part] / mean.whole)
