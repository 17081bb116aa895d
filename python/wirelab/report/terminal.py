"""The table of a run in a terminal of 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from itertools import groupby
from textwrap import fill, wrap

from wirelab.checks.load import client_bound
from wirelab.checks.marks import Mark, figure_marks, percent_text
from wirelab.checks.replies import UNCHECKED, differences, is_unchecked
from wirelab.format.console import Line
from wirelab.format.counting import counted
from wirelab.format.numbers import NONE, digits, estimate, resolution, step
from wirelab.records.group import RepliesResult
from wirelab.records.link import LinkRecord
from wirelab.records.trial import Trial
from wirelab.report.sections import groups, links, tables
from wirelab.report.sections.tables import CALLS_MIN, P50_OF, doubt
from wirelab.statistics.cell import REPEATED_SHARE_MAX, Cell, cells, setting_key
from wirelab.statistics.figure import (
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
NAME_MIN, NAME_MAX = 10, 18
"""Columns of a stack's name before it is folded: at most, and where there is no room."""

_COLUMNS = ("stack", "calls/s", "95 %", "p50", "p99", "client", "service", "err", "trials")

Rows = list[list[str]]


def terminal_table(trials: Sequence[Trial], threshold: float = THRESHOLD) -> list[Line]:
    """One block per setting, one row per stack; below, what the columns mean and what was
    marked. ``threshold``: a share, up to which nothing is marked."""
    names = Names.of(trial.point for trial in trials)
    mixed = len({label.openness(trial.point.load) for trial in trials}) > 1
    blocks = [
        (group, [row for cell in group for row in _rows(cell, names, threshold)])
        for group in (list(g) for _, g in groupby(cells(trials), lambda c: setting_key(c.point)))
    ]
    widths = _widths([row for _, rows in blocks for row in rows])
    lines = [Line(_head(widths), "dim")] if blocks else []
    for place, (group, rows) in enumerate(blocks):
        at = group[0].point
        new = place and label.message(at) != label.message(blocks[place - 1][0][0].point)
        heading = names.setting(at)
        if mixed:
            heading += f" ({label.openness(at.load)} load)"
        lines.append(Line(f"\n{heading}" if new else heading, "bold"))
        lines += [Line(_shown(row, widths)) for row in rows]
        for cell in group:
            shown = groups.background_lines(cell, names.stacks[cell.point.stack])
            lines += [Line(text, "dim") for text in shown]
    return [*lines, Line(""), *_notes(trials, names, mixed, threshold)]


def _widths(rows: Rows) -> list[int]:
    """Of every column over all blocks, so that they stand below each other. A stack's name gives
    way where all other columns are at their widest."""
    columns = list(zip(_COLUMNS, *rows, strict=True))
    found = [max(map(len, column)) for column in columns]
    room = WIDTH - sum(found[1:]) - _gap(found) * (len(found) - 1)
    found[0] = max(min(found[0], NAME_MAX, room), min(found[0], NAME_MIN))
    return found


def _gap(widths: Sequence[int]) -> int:
    """Columns between two columns of the table."""
    name, *others = widths
    whole = min(name, NAME_MAX) + sum(others) + 2 * len(others)
    return 2 if whole <= WIDTH else 1


def _head(widths: Sequence[int]) -> str:
    return _line(_COLUMNS, widths)


def _shown(row: Sequence[str], widths: Sequence[int]) -> str:
    """A row, its stack's name on as many lines as it needs."""
    name, *figures = row
    width = widths[0]
    parts = wrap(_breakable(name, width), width, break_on_hyphens=False) or [""]
    return "\n".join([_line([parts[0], *figures], widths), *parts[1:]])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    gap = " " * _gap(widths)
    shown = [f"{first[0]:<{first[1]}}", *(f"{cell:>{width}}" for cell, width in others)]
    return gap.join(shown).rstrip()


def _breakable(name: str, width: int) -> str:
    """A name whose words too long for a line break after their first ``=``, not in a value."""
    words = name.split(" ")
    return " ".join(word.replace("=", "= ", 1) if len(word) > width else word for word in words)


def _rows(cell: Cell, names: Names, threshold: float) -> Rows:
    """The cell's figures; where calls failed, below them the times of its good calls."""
    marks = figure_marks(cell, threshold)
    first = [
        names.stacks[cell.point.stack],
        *_rate(cell, marks),
        *(_figure(cell, figure, marks) for figure in _OTHERS),
        _errors(cell),
        _trials(cell),
    ]
    if not cell.errors:
        return [first]
    good = [_figure(cell, GOOD_P50, marks), _figure(cell, GOOD_P99, marks)]
    return [first, ["  good calls", "", "", *good, "", "", "", ""]]


def _figure(cell: Cell, figure: Figure, marks: Container[str]) -> str:
    """With ``?`` where it is a p99 of too few trials or calls, and ``*`` where it is marked."""
    interval = cell.shown(figure)
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
    # Two trials can span decades; the report has the figures.
    if high > 100.0 * low:
        return "very wide"
    significant = resolution(interval, divisor)
    if significant is None:
        return ""
    return f"{digits(low / divisor, significant)}-{digits(high / divisor, significant)}{prefix}"


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
    notes.append("calls/s with its 95 % interval (≥: client-bound); p50, p99: response time;")
    failed = "; ✗: failed" if any(trial.status == "failed" for trial in trials) else ""
    notes.append(f"client, service: CPU per call; trials: those measured{failed}.")
    if any(cell.is_often_repeated for cell in cells(trials)):
        notes.append(
            f"!: more than {REPEATED_SHARE_MAX:.0%} of its trials met other work of the machine "
            "and were repeated: its figures need a quieter machine."
        )
    notes += [*_about_times(cells(trials)), *_syn_losses(trials), *_unchecked(trials, names)]
    folded = (
        fill(line, WIDTH, subsequent_indent="  ")
        for line in (*notes, *_marked(cells(trials), threshold))
    )
    return [Line(line, "dim") for line in folded]


def _unchecked(trials: Sequence[Trial], names: Names) -> list[str]:
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
        notes.append(f"p99 {NONE}{also}: a trial had fewer than {CALLS_MIN:,} calls.")
    return notes


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


def _marked(every: Sequence[Cell], threshold: float) -> list[str]:
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
        f"{MARK} {counted(count, 'figure')} may be off by more than half of the interval and "
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
