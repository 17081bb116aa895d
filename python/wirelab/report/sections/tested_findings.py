"""Findings tested: what was predicted and what was found, on the page and in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from wirelab.format import wrapping
from wirelab.format.counting import format_count
from wirelab.format.numbers import NONE, digits, quantity, sanitize
from wirelab.records.wire import HELD_BY_PROXY
from wirelab.report.section import Section, Table
from wirelab.trial.labels import Names

if TYPE_CHECKING:
    from wirelab.records.trial import Point
    from wirelab.report.source import Source
    from wirelab.run.adaptive.outcome import Joint, Outcome, Tested
    from wirelab.run.adaptive.record import Planned, Spot, Untested
    from wirelab.statistics.interval import Interval

WIDTH = 80

_ABOUT = (
    "The cell of each finding was run again twice, side by side on fresh processes: unchanged, and "
    "with the switch that the finding blames flipped. Predicted is the time per call that the "
    "packets of the run attribute to the cause. Found is how much shorter calls were with the "
    "switch flipped, with the 95 % interval over whole trials. A finding holds where the interval "
    "excludes zero, also by Holm's method among all findings tested. Its prediction is met where "
    "the interval holds a value within {tolerance:g} % of it and the occurrences are gone. Where "
    "packets do not show how much of the time the switch causes, the prediction is a range, such "
    "as “up to 40 ms”."
)
_JOINTLY = (
    "All switches of a cell flipped at once. The interaction is the effect beyond the sum of the "
    "single switches; it is negative where several switches remove the same time."
)
_UNTESTED = "Findings without a test are not proven causes, whatever their cost."


def verdict(source: Source, point: Point, cause: str) -> str:
    """The verdict in a table of findings: ``not tested`` without a test."""
    tested = source.tested.of(point, cause) if source.tested is not None else None
    return tested.verdict if tested is not None else "not tested"


def section(source: Source) -> Section:
    """Empty where nothing was tested."""
    outcome = source.tested
    if outcome is None:
        return Section("Findings tested")
    from wirelab.run.adaptive.outcome import TOLERANCE  # with it the models of experiments

    names = source.names
    columns = ["cell", "cause", "flipped", "predicted", "found", "occurrences", "verdict"]
    rows = [_row(names, one) for one in outcome.tested]
    parts = [
        Section("Switches together", (_JOINTLY,), (_joint_table(names, outcome),)),
        Section("Findings not tested", (_UNTESTED,), (_tabulate_untested(names, outcome),)),
    ]
    return Section(
        "Findings tested",
        (_ABOUT.format(tolerance=100 * TOLERANCE),),
        (Table(columns, rows, "", (3, 4)),),
        sections=[part for part in parts if part.tables[0].rows],
    )


def lines(outcome: Outcome) -> Iterator[str]:
    """For a terminal of 80 columns."""
    names = Names.of(spot.point for spot in _spots(outcome))
    if outcome.tested:
        yield "Findings tested"
        everywhere = ", ".join(names.everywhere)
        yield from _wrap(f"  In every cell: {everywhere}.", "    ") if everywhere else ()
    for one in outcome.tested:
        yield from _block(names, one)
    for joint in outcome.together:
        yield from _joint_lines(names, joint)
    groups = _group(outcome.record.untested)
    if groups:
        yield "Not tested"
    for (cause, reason), left in groups.items():
        share = _share(max(one.claim.share for one in left))
        cells = format_count(len(left), "cell") + (", up to" if len(left) > 1 else ",")
        yield from _wrap(f"• {cause} in {cells} {share} of a call's time: {reason}", "  ")


def _block(names: Names, one: Tested) -> Iterator[str]:
    planned, claim = one.planned, one.planned.claim
    said = f"{planned.change}{_describe_lapses(planned)}: {one.verdict}. {_sentence(one.reason)}"
    yield from _wrap(f"• {claim.cause}, {said}", "  ")
    yield from _wrap("  " + _cell(names, planned.before), "  ")
    rates = one.occurrences
    left = f"; occurrences {digits(rates[0])} → {digits(rates[1])}" if rates else ""
    less = "less to the first byte" if claim.cause == HELD_BY_PROXY else "less per call"
    change = f"{_format_prediction(planned)} {less} ({_of(planned)})"
    yield from _wrap(f"  predicted {change}", "    ")
    yield from _wrap(f"  found     {_format_found(one.found)}{left}", "    ")


def _joint_lines(names: Names, joint: Joint) -> Iterator[str]:
    yield from _wrap(f"• {' and '.join(joint.planned.changes)} together", "  ")
    yield from _wrap("  " + _cell(names, joint.planned.before), "  ")
    yield from _wrap(
        f"  found     {_format_found(joint.found)}; beyond the single switches "
        f"{_format_found(joint.interaction)}",
        "    ",
    )


def _row(names: Names, one: Tested) -> list[str]:
    planned, claim = one.planned, one.planned.claim
    rates = one.occurrences
    return [
        _cell(names, planned.before),
        claim.cause,
        f"{planned.change}\n(was {planned.was}{_describe_lapses(planned)})",
        f"{_format_prediction(planned)}\n{_of(planned)}",
        _ms_interval(one.found, "\n"),
        f"{digits(rates[0])} → {digits(rates[1])}" if rates else NONE,
        f"{one.verdict}\n{one.reason}",
    ]


def _joint_table(names: Names, outcome: Outcome) -> Table:
    rows = [
        [
            _cell(names, joint.planned.before),
            "\n".join(joint.planned.changes),
            _ms_interval(joint.found, "\n"),
            _ms_interval(joint.interaction, "\n"),
        ]
        for joint in outcome.together
    ]
    return Table(["cell", "flipped", "found", "interaction"], rows, "", (2, 3))


def _tabulate_untested(names: Names, outcome: Outcome) -> Table:
    rows = [
        [
            _cell(names, one.before),
            one.claim.cause,
            _ms(one.claim.ms_per_call),
            _share(one.claim.share),
            one.words,
        ]
        for one in outcome.record.untested
    ]
    return Table(["cell", "cause", "per call", "of a call", "why"], rows, "", (2, 3))


def _spots(outcome: Outcome) -> list[Spot]:
    found = [one.planned.before for one in outcome.tested]
    return [*found, *(one.before for one in outcome.record.untested)]


def _group(untested: Iterable[Untested]) -> dict[tuple[str, str], list[Untested]]:
    groups: dict[tuple[str, str], list[Untested]] = {}
    for one in untested:
        groups.setdefault((one.claim.cause, one.words), []).append(one)
    return groups


def _cell(names: Names, spot: Spot) -> str:
    point = spot.point
    return f"{names.stacks.get(spot.stack, sanitize(spot.stack))}, {names.setting(point)}"


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _of(planned: Planned) -> str:
    beside = f", with {' and '.join(planned.beside)}" if planned.beside else ""
    claim = planned.claim
    share = (
        claim.share * planned.ms_predicted / claim.ms_per_call if planned.beside else claim.share
    )
    return f"{_share(share)} of a call{beside}"


def _format_prediction(planned: Planned) -> str:
    most = _ms(planned.ms_predicted)
    if planned.least >= planned.ms_predicted:
        return most
    return f"{_ms(planned.least)} to {most}" if planned.least > 0.0 else f"up to {most}"


def _describe_lapses(planned: Planned) -> str:
    """What the flip takes along: axes that do not exist without it."""
    if not planned.lapses:
        return ""
    return f"; with it {', '.join(f'{name}={value}' for name, value in planned.lapses.items())}"


def _share(share: float) -> str:
    return f"{100 * share:.1f} %"


def _format_found(interval: Interval | None) -> str:
    return _ms_interval(interval, " ")


def _ms_interval(interval: Interval | None, between: str) -> str:
    """``41.5 ms (95 %: 37.1 ms to 45.9 ms)``."""
    if interval is None:
        return NONE
    if interval.bounds is None:
        return f"{_ms(interval.estimate)}{between}(no interval: {interval.reason})"
    low, high = interval.bounds
    return f"{_ms(interval.estimate)}{between}(95 %: {_ms(low)} to {_ms(high)})"


def _ms(value: float) -> str:
    """Milliseconds in the unit that reads best; a time that grew has its minus."""
    if abs(value) < 5e-7:
        return "0 ms"
    return f"{'−' if value < 0 else ''}{quantity(abs(value) * 1e6, 'ns')}"


def _wrap(text: str, indent: str) -> list[str]:
    return wrapping.wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False)
