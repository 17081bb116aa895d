"""Runs ``wirelab parse`` and prints its result."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from wirelab.cli.error_handling import err, fold, out
from wirelab.errors import EXIT_FAILED, EXIT_OK, Interrupted
from wirelab.format.console import Line, StatusLine, Ticker
from wirelab.format.counting import format_count
from wirelab.format.numbers import digits, limits, percent, quantity, step
from wirelab.format.sanitize import sanitize
from wirelab.format.units import format_seconds
from wirelab.parse import catalogue, harness, trials
from wirelab.parse import documents as sources
from wirelab.parse.catalogue import Parser
from wirelab.parse.harness import DRIFT_MAX, Windows
from wirelab.parse.results import Row, rows
from wirelab.parse.trials import Plan, Trials
from wirelab.process import machine
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.statistics.interval import Interval

WINDOWS = Windows(warmup_s=2.0, window_s=0.1, blocks=5)
"""The slowest parser needs 0.7 s for the 20,000 parses of the warm-up test."""
QUICK = Windows(warmup_s=0.4, window_s=0.03, blocks=3)
"""Too short for slow parsers to become stable: their warm-up then takes all of its time."""
REPEATS, REPEATS_QUICK = 5, 3
WORDS = {"higher": "faster", "lower": "slower"}
"""Verdicts on a ratio of speeds, in words."""
TITLES = {"xml": "XML", "json": "JSON", "protobuf": "Protobuf", "cbor": "CBOR", "cdr": "CDR"}


@dataclass(frozen=True)
class Request:
    """Options of the command line."""

    files: Sequence[Path]
    languages: Sequence[str]
    parsers: Sequence[str]
    against: str | None
    repeats: int | None
    threshold: float
    seed: int
    quick: bool


def run(request: Request, *, documents: bool, listed: bool, as_json: bool) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    parsers = catalogue.choose_parsers(
        request.languages, request.parsers, xml_only=bool(request.files)
    )
    if listed:
        for parser in parsers:
            out.print(f"{parser!s:<20} {TITLES[parser.format]:<9} {parser.missing or parser.about}")
        return EXIT_OK
    against = catalogue.reference(request.against, parsers)
    plan = Plan(
        tuple(parser for parser in parsers if not parser.missing),
        tuple(sources.files(request.files) if request.files else sources.messages()),
        QUICK if request.quick else WINDOWS,
        request.repeats or (REPEATS_QUICK if request.quick else REPEATS),
        request.seed,
    )
    measured = Trials()
    try:
        _measure(plan, measured)
    except Interrupted:
        if measured.timed:
            _show(parsers, measured, against, request, plan, documents=documents, as_json=as_json)
        raise
    _show(parsers, measured, against, request, plan, documents=documents, as_json=as_json)
    return EXIT_FAILED if measured.failures else EXIT_OK


def _measure(plan: Plan, measured: Trials) -> None:
    with Interruption() as interruption, Scratch() as scratch, StatusLine(err) as status:
        languages = tuple(dict.fromkeys(parser.language for parser in plan.parsers))
        commands = harness.build(languages, interruption, Ticker(err).show)
        count = len(plan.order())
        announced = (
            f"{format_count(len(plan.parsers), 'parser')} on "
            f"{format_count(len(plan.documents), 'document')}, "
            f"{format_count(plan.repeats, 'process')} each: about {format_seconds(plan.seconds())}"
        )
        err.print(fold(announced, err.width), style="dim")
        begun = time.monotonic()

        def progress(number: int, parser: Parser) -> None:
            spent = time.monotonic() - begun
            left = plan.seconds() if not number else spent / number * (count - number)
            text = f"{number + 1} of {count}: {parser}, about {left:.0f} s left"
            status.show(Line(text, "dim"))

        trials.run(plan, commands, scratch.folder, interruption, progress, measured)


def _show(
    parsers: Sequence[Parser],
    measured: Trials,
    against: Parser | None,
    request: Request,
    plan: Plan,
    *,
    documents: bool,
    as_json: bool,
) -> None:
    found = rows(parsers, measured, against, request.threshold)
    if as_json:
        print(json.dumps(_json(found, against, plan), indent=1))
        return
    for line in _lines(found, against, plan):
        out.print(line.text if line.style != "fold" else fold(line.text, out.width))
    if documents:
        for text in _document_lines(found):
            out.print(text)


def _lines(found: Sequence[Row], against: Parser | None, plan: Plan) -> Iterator[Line]:
    heading = f"{'parser':<18}{'mean':>9} {'95 %':<10}{'std':>7}{'first':>8} {'speed':<17}"
    yield Line(f"{heading}verdict".rstrip())
    for form, of_form in groupby(_sort_by_format(found), key=lambda row: row.parser.format):
        yield Line(TITLES[form])
        for row in of_form:
            yield Line(_row_text(row, against))
    yield Line("")
    notes = (
        f"Times of one parse: mean over {format_count(len(plan.documents), 'document')}; "
        "geometric mean "
        "over processes with its interval; std: standard deviation over processes. First: the "
        "first parse of a process, including creation of the parser. Speed: factor relative to "
        f"{against}, with its 95 % interval; verdicts are corrected by Holm's method over all "
        "comparisons."
    )
    yield Line(notes, "fold")
    not_calm = [str(row.parser) for row in found if row.not_calm]
    if not_calm:
        text = f"Not yet stable after warm-up in some processes: {', '.join(not_calm)}."
        yield Line(text, "fold")
    restless = [str(row.parser) for row in found if row.restless]
    if restless:
        text = (
            f"First and last block differ by more than {percent(DRIFT_MAX)} in some processes: "
            f"{', '.join(restless)}."
        )
        yield Line(text, "fold")
    for row in found:
        if row.failures:
            kinds = "; ".join(dict.fromkeys(map(sanitize, row.failures)))
            yield Line(
                f"{row.parser}: {format_count(len(row.failures), 'trial')} failed: {kinds}", "fold"
            )


def _sort_by_format(found: Sequence[Row]) -> list[Row]:
    order = list(TITLES)
    return sorted(found, key=lambda row: order.index(row.parser.format))


def _row_text(row: Row, against: Parser | None) -> str:
    name = f"  {row.parser}"
    if row.parse is None:
        why = row.parser.missing or "failed"
        return f"{name:<18}{'-':>9} {why}"
    divisor, _ = step(row.parse.estimate, "ns")
    std = "-" if row.std is None else digits(row.std / divisor)
    first = "-" if row.first is None else quantity(row.first.estimate, "ns")
    text = (
        f"{name:<18}{quantity(row.parse.estimate, 'ns'):>9} {limits(row.parse, 'ns'):<10}"
        f"{std:>7}{first:>8} "
    )
    if row.comparison is None:
        return f"{text}{'1' if row.parser == against else ''}".rstrip()
    speed = row.comparison.invert()
    shown = f"{digits(speed.ratio.estimate)} {limits(speed.ratio, '')}"
    return f"{text}{shown:<16} {WORDS.get(speed.verdict, speed.verdict)}"


def _document_lines(found: Sequence[Row]) -> Iterator[str]:
    """One block per document, one line per parser."""
    names = list(dict.fromkeys(name for row in found for name, _ in row.documents))
    for name in names:
        yield ""
        yield name
        for row in found:
            interval = dict(row.documents).get(name)
            if interval is not None:
                shown = quantity(interval.estimate, "ns")
                yield f"  {row.parser!s:<18}{shown:>9} {limits(interval, 'ns')}".rstrip()


def _json(found: Sequence[Row], against: Parser | None, plan: Plan) -> dict[str, object]:
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine.describe(),
        "load_average": os.getloadavg()[0],
        "against": None if against is None else str(against),
        "repeats": plan.repeats,
        "seed": plan.seed,
        "windows": asdict(plan.windows),
        "documents": {
            one.name: {form: len(content) for form, content in one.forms.items()}
            for one in plan.documents
        },
        "parsers": [_row_json(row) for row in found],
    }


def _row_json(row: Row) -> dict[str, object]:
    return {
        "parser": row.parser.name,
        "language": row.parser.language,
        "format": row.parser.format,
        "library": row.library,
        "implementation": row.implementation,
        "runtime": row.runtime,
        "missing": row.parser.missing,
        "failures": row.failures,
        "processes": row.processes,
        "not_calm": row.not_calm,
        "restless": row.restless,
        "parse_ns": _interval(row.parse),
        "mean_ns": row.mean,
        "std_ns": row.std,
        "first_ns": _interval(row.first),
        "documents_ns": {name: _interval(interval) for name, interval in row.documents},
        "comparison": None if row.comparison is None else row.comparison.to_json(),
    }


def _interval(interval: Interval | None) -> dict[str, object] | None:
    return None if interval is None else asdict(interval)
