"""The table of a run in a terminal of 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from itertools import groupby

from wirelab.checks.load import client_bound
from wirelab.checks.marks import Mark, figure_marks, percent_text
from wirelab.checks.replies import UNCHECKED, differences, is_unchecked
from wirelab.format import wrapping
from wirelab.format.console import Line
from wirelab.format.counting import format_count
from wirelab.format.numbers import NONE, digits, estimate, limits, percent, resolution, step
from wirelab.format.units import format_seconds
from wirelab.records.group import RepliesResult
from wirelab.records.link import LinkRecord
from wirelab.records.trial import Trial
from wirelab.report.sections import groups, links, tables
from wirelab.report.sections.tables import CALLS_MIN, P50_OF, doubt
from wirelab.statistics.calls_needed import SAMPLES_ABOVE, window_for
from wirelab.statistics.cell import REPEATED_SHARE_MAX, Cell, cells, setting_key
from wirelab.statistics.figure import (
    BYTES,
    CLIENT_CPU,
    GOOD_P50,
    GOOD_P99,
    RATE,
    RESPONSE_P50,
    RESPONSE_P99,
    SERVICE_CPU,
    Figure,
)
from wirelab.statistics.interval import Interval
from wirelab.statistics.verdict import THRESHOLD
from wirelab.trial import labels as label
from wirelab.trial.labels import Names

WIDTH = 80
"""Columns that the table needs at most."""
UNCHECKED_SHOWN = 4
"""Lines about replies that were not checked."""
P50_CALLS_MIN = 2 * SAMPLES_ABOVE
"""Calls of a trial from which on ten lie above its median."""
NAME_MIN, NAME_MAX = 10, 18
"""Columns of a stack's name before it is folded: at most, and where there is no room."""

_CLOSED = ("calls/s", "95 %", "p50", "p99")
_OPEN = ("p50", "95 %", "p99")
"""Of a load whose rate is ordered, the figure with an interval is a time."""
_SHARED = ("client", "service", "B/call", "err", "trials")

Rows = list[list[str]]


def terminal_table(trials: Sequence[Trial], threshold: float = THRESHOLD) -> list[Line]:
    """One block per setting, one row per stack; below, what the columns mean and what was
    marked. ``threshold``: a share, up to which nothing is marked."""
    names = Names.of(trial.point for trial in trials)
    mixed = len({label.openness(trial.point.load) for trial in trials}) > 1
    is_open = bool(trials) and not any(trial.point.load.is_closed for trial in trials)
    columns = ("stack", *(_OPEN if is_open else _CLOSED), *_SHARED)
    blocks = [
        (group, [row for cell in group for row in _rows(cell, names, threshold, is_open=is_open)])
        for group in (list(g) for _, g in groupby(cells(trials), lambda c: setting_key(c.point)))
    ]
    widths = _widths(columns, [row for _, rows in blocks for row in rows])
    lines = [Line(_line(columns, widths), "dim")] if blocks else []
    for place, (group, rows) in enumerate(blocks):
        at = group[0].point
        new = place and label.message(at) != label.message(blocks[place - 1][0][0].point)
        heading = names.setting(at)
        if mixed:
            heading += f" ({label.openness(at.load)} load)"
        lines.append(Line(f"\n{heading}" if new else heading, "bold"))
        lines += [Line(_format_row(row, widths)) for row in rows]
        for cell in group:
            shown = groups.background_lines(cell, names.stacks[cell.point.stack])
            lines += [Line(text, "dim") for text in shown]
    return [*lines, Line(""), *_notes(trials, names, mixed, threshold)]


def _widths(heads: Sequence[str], rows: Rows) -> list[int]:
    """Of every column over all blocks, so that they are aligned. A stack's name gives
    way where all other columns are at their widest."""
    columns = list(zip(heads, *rows, strict=True))
    found = [max(map(len, column)) for column in columns]
    room = WIDTH - sum(found[1:]) - _gap(found) * (len(found) - 1)
    found[0] = max(min(found[0], NAME_MAX, room), min(found[0], NAME_MIN))
    return found


def _gap(widths: Sequence[int]) -> int:
    """Columns between two columns of the table."""
    name, *others = widths
    whole = min(name, NAME_MAX) + sum(others) + 2 * len(others)
    return 2 if whole <= WIDTH else 1


def _format_row(row: Sequence[str], widths: Sequence[int]) -> str:
    """A row, its stack's name on as many lines as it needs."""
    name, *figures = row
    first, *others = wrapping.fold_name(name, widths[0])
    return "\n".join([_line([first, *figures], widths), *others])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    gap = " " * _gap(widths)
    shown = [f"{first[0]:<{first[1]}}", *(f"{cell:>{width}}" for cell, width in others)]
    return gap.join(shown).rstrip()


def _rows(cell: Cell, names: Names, threshold: float, *, is_open: bool) -> Rows:
    """The cell's figures; where calls failed, below them the times of its good calls."""
    marks = figure_marks(cell, threshold)
    name = names.stacks[cell.point.stack]
    rest = [
        *(_figure(cell, figure, marks) for figure in (CLIENT_CPU, SERVICE_CPU)),
        f"{_bytes(cell)}{MARK if BYTES.name in marks else ''}",
        _errors(cell),
        _trials(cell),
    ]
    rows = [[name, *_times(cell, RESPONSE_P50, RESPONSE_P99, marks, is_open=is_open), *rest]]
    if not is_open:
        rows[0][1:1] = _rate(cell, marks)
    if cell.errors:
        good = list(_times(cell, GOOD_P50, GOOD_P99, marks, is_open=is_open))
        gap = [] if is_open else ["", ""]
        rows.append(["good calls", *gap, *good, *([""] * len(_SHARED))])
    return rows


def _times(
    cell: Cell, median: Figure, tail: Figure, marks: Container[str], *, is_open: bool
) -> list[str]:
    """The median, in an open load with its limits, and the p99."""
    shown = limits(cell.interval(median), median.unit, "-") if is_open else ""
    return [
        _figure(cell, median, marks),
        *([shown] if is_open else []),
        _figure(cell, tail, marks),
    ]


def _bytes(cell: Cell) -> str:
    """``345`` or ``3.45k``."""
    interval = cell.interval(BYTES)
    if interval is None:
        return NONE
    divisor, name = step(interval.estimate, "B")
    return f"{digits(interval.estimate / divisor)}{name.removesuffix('B')}"


def _figure(cell: Cell, figure: Figure, marks: Container[str]) -> str:
    """With ``?`` where it is a p99 of too few trials or calls, and ``*`` where it is marked."""
    interval = cell.interval_to_show(figure)
    lacks = "?" if cell.interval(figure) and doubt(cell, figure) else ""
    return f"{estimate(interval, figure.unit)}{lacks}{MARK if figure.name in marks else ''}"


def _rate(cell: Cell, marks: Container[str]) -> tuple[str, str]:
    """``≥12.3k`` and ``11.9-12.7k``."""
    interval = cell.interval(RATE)
    if interval is None:
        return NONE, NONE
    divisor, name = step(interval.estimate, "1/s")
    prefix = name.removesuffix("/s")
    bound = "≥" if any(map(client_bound, cell.measured)) else ""
    mark = MARK if RATE.name in marks else ""
    shown = f"{bound}{digits(interval.estimate / divisor)}{prefix}{mark}"
    return shown, _limits(interval, divisor, prefix)


def _limits(interval: Interval, divisor: float, prefix: str) -> str:
    if interval.bounds is None:
        return NONE
    low, high = interval.bounds
    # Two trials can span decades, and then no digit of a limit is certain.
    if high > 100.0 * low:
        return f"{_rough(low)}-{_rough(high)}"
    significant = resolution(interval, divisor)
    if significant is None:
        return ""
    return f"{digits(low / divisor, significant)}-{digits(high / divisor, significant)}{prefix}"


def _rough(rate: float) -> str:
    """``8M``, with its own prefix."""
    divisor, name = step(rate, "1/s")
    return f"{digits(rate / divisor, 1)}{name.removesuffix('/s')}"


def _errors(cell: Cell) -> str:
    return str(cell.errors) if cell.errors < 10_000 else f"{cell.errors / 1e3:,.0f}k"


def _trials(cell: Cell) -> str:
    shown = f"{len(cell.measured)}{'!' if cell.is_often_repeated else ''}"
    return f"{shown} {len(cell.failed)}✗" if cell.failed else shown


def _notes(trials: Sequence[Trial], names: Names, mixed: bool, threshold: float) -> list[Line]:
    """What the columns mean, what holds everywhere, what was marked, and what failed."""
    shared = list(names.everywhere)
    if trials and not mixed:
        shared.insert(0, f"{label.openness(trials[0].point.load)} load")
    notes = [f"In every trial: {', '.join(shared)}."] if shared else []
    is_open = bool(trials) and not any(trial.point.load.is_closed for trial in trials)
    interval = "p50" if is_open else "calls/s"
    bound = "" if is_open else " (≥: client-bound)"
    notes.append(f"{interval} with its 95 % interval{bound}; p50, p99: response time;")
    notes.append("client, service: CPU per call; B/call: bytes sent and received;")
    failed = "; ✗: failed" if any(trial.status == "failed" for trial in trials) else ""
    notes.append(f"trials: those measured{failed}.")
    if any(_is_other_size(trial) for trial in trials):
        notes.append("Sizes of messages are those in Protobuf; B/call is what a stack needs.")
    if any(cell.is_often_repeated for cell in cells(trials)):
        notes.append(
            f"!: more than {percent(REPEATED_SHARE_MAX)} of its trials met other work of the "
            "machine and were repeated: its figures need a quieter machine."
        )
    notes += [*_about_times(cells(trials)), *_explain_missing(cells(trials), names)]
    notes += [*_syn_losses(trials), *_describe_unchecked(trials, names)]
    every = (*notes, *_describe_marks(cells(trials), threshold))
    folded = (wrapping.wrap(line, WIDTH, subsequent_indent="  ") for line in every)
    return [Line("\n".join(lines), "dim") for lines in folded]


def _is_other_size(trial: Trial) -> bool:
    """Whether a message has another size in the stack's codec than its label names."""
    point = trial.point
    sized = point.contract == "transfer" and point.operation not in ("Hello", "HelloBytes")
    return sized and bool(point.bytes) and point.axes.codec not in ("protobuf", "none")


def _describe_unchecked(trials: Sequence[Trial], names: Names) -> list[str]:
    """How replies differed that nothing was expected of, by stack and message."""
    results: dict[tuple[str, str], list[RepliesResult]] = {}
    for trial in filter(is_unchecked, trials):
        if trial.result.replies is not None:
            place = (names.stacks[trial.point.stack], trial.point.operation)
            results.setdefault(place, []).append(trial.result.replies)
    many = len({message for _, message in results}) > 1
    found = [
        f"{f'{stack}, {message}' if many else stack}: {UNCHECKED}: {differences(replies)}."
        for (stack, message), replies in results.items()
    ]
    more = len(found) - UNCHECKED_SHOWN
    return [*found[:UNCHECKED_SHOWN], *([f"{more} more: see Replies in the report."] * (more > 0))]


def _about_times(every: Sequence[Cell]) -> list[str]:
    """What failed calls are in the times, and which p99 is none to rely on."""
    notes = []
    if any(cell.errors for cell in every):
        notes.append(
            "err: failed calls. p50 and p99 include them with the time until they failed; p50 and "
            "p99 of good calls do not."
        )
    lacking = {one.words for cell in every for figure in P50_OF if (one := doubt(cell, figure))}
    if tables.TRIALS in lacking:
        notes.append(f"?: {tables.TRIALS}, {tables.BELOW}.")
    if tables.CALLS in lacking:
        also = "" if tables.TRIALS in lacking else " or ?"
        notes.append(f"p99 {NONE}{also}: {_too_few(every)}.")
    measured = (cell for cell in every if cell.measured)
    if any(cell.interval(RESPONSE_P50) is None for cell in measured):
        notes.append(f"p50 {NONE}: no trial had {P50_CALLS_MIN} calls, so that ten lie above it.")
    return notes


def _explain_missing(every: Sequence[Cell], names: Names) -> list[str]:
    """Why figures other than times are missing, by the fact that is."""
    measured = [cell for cell in every if cell.measured]
    found: dict[str, list[Cell]] = {}
    for cell in measured:
        for column, figure in _COLUMNS.items():
            if cell.interval(figure) is None:
                found.setdefault(f"{column} {NONE}: {_fact(cell, figure)}", []).append(cell)
    return [f"{why}{_of_some(cells, measured, names)}." for why, cells in found.items()]


_COLUMNS = {"calls/s": RATE, "client": CLIENT_CPU, "service": SERVICE_CPU, "B/call": BYTES}


def _fact(cell: Cell, figure: Figure) -> str:
    """The fact that a figure lacks."""
    if figure is RATE:
        return "no call succeeded"
    if not any(trial.count_ended() for trial in cell.measured):
        return "no call ended in a window"
    if figure is CLIENT_CPU:
        return "no CPU time of the client was recorded"
    if figure is SERVICE_CPU:
        return "no CPU time of the service was recorded"
    return "the client counted no bytes"


def _of_some(cells: Sequence[Cell], every: Sequence[Cell], names: Names) -> str:
    """The stacks, unless all lack it."""
    if len(cells) == len(every):
        return ""
    return f", with {', '.join(dict.fromkeys(names.stacks[cell.point.stack] for cell in cells))}"


def _too_few(every: Sequence[Cell]) -> str:
    """``958 of 1,000 calls in a trial; a window of 11 s has them``."""
    trials = [t for cell in every if doubt(cell, RESPONSE_P99) for t in cell.measured]
    fewest = min((t for t in trials if t.result.calls), key=lambda t: t.result.calls, default=None)
    if fewest is None or fewest.result.calls >= CALLS_MIN:
        return f"a trial had fewer than {CALLS_MIN:,} calls"
    calls = fewest.result.calls
    seconds = window_for(calls, fewest.result.window_s, CALLS_MIN)
    window = f"a window of {format_seconds(seconds)} has them"
    return f"{calls:,} of {CALLS_MIN:,} calls in a trial; {window}"


def _syn_losses(trials: Sequence[Trial]) -> list[str]:
    """What links lose that no probe before a trial can show."""
    by_link: dict[str, list[LinkRecord]] = {}
    for trial in trials:
        by_link.setdefault(trial.point.link, []).append(trial.link)
    losses = ((name, links.syn_losses(of_one)) for name, of_one in by_link.items())
    return [f"SYNs lost by link {name}: {', '.join(ways)}." for name, ways in losses if ways]


MARK = "*"
"""After a figure that a check marked."""
_OTHERS = (RESPONSE_P50, RESPONSE_P99, CLIENT_CPU, SERVICE_CPU)
_SHOWN = (RATE, *_OTHERS, GOOD_P50, GOOD_P99)
_MEANS = {
    "engine backlog": "replies waited for the engine",
    "kept up": "fewer calls ended than arrived, and response times grow with the window",
    "window": "closed by its time limit (max) before it had all its calls",
    "warm-up": "the window's end differs from its beginning",
}
"""What frequent marks mean."""


def _describe_marks(every: Sequence[Cell], threshold: float) -> list[str]:
    """Every check that marked a shown figure, with the figures and the largest amount."""
    found: dict[str, list[tuple[str, Mark]]] = {}
    count = 0
    for cell in every:
        marks = figure_marks(cell, threshold)
        for figure in _SHOWN:
            count += figure.name in marks
            for mark in marks.get(figure.name, ()):
                found.setdefault(mark.check, []).append((figure.title, mark))
    if not found:
        return []
    heading = (
        f"{MARK} {format_count(count, 'figure')} may be off by more than half of the interval and "
        f"{100 * threshold:.3g} %; Checks in the report has the reasons:"
    )
    return [heading, *(f"  {_words(name, marks)}." for name, marks in found.items())]


def _words(check: str, marks: Sequence[tuple[str, Mark]]) -> str:
    """``engine backlog (replies waited for the engine): response p99 28, by up to 31 %``."""
    titles = Counter(title for title, _ in marks)
    shown = ", ".join(f"{title} {count}" for title, count in titles.items())
    biases = [mark.bias for _, mark in marks]
    known = [bias for bias in biases if bias is not None]
    amount = (
        f"by up to {percent_text(max(known))}"
        if len(known) == len(biases)
        else "by an unknown amount"
    )
    why = f" ({_MEANS[check]})" if check in _MEANS else ""
    return f"{check}{why}: {shown}, {amount}"
