"""The score as it is published: a page of the docs whose tables this writes."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from math import ceil, log10
from pathlib import Path
from typing import Any

from bench.ground_truth.captures.corpus import Case
from bench.ground_truth.captures.recipes import MAKERS
from bench.ground_truth.scoring import Score, Tally
from bench.pages import marked_parts
from wirelab.format.counting import format_count
from wirelab.stack.reference import Stack
from wirelab.statistics.distributions import binomial_interval
from wirelab.statistics.interval import Interval

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/diagnosis-truth.md"
CAPTURES_MIN = 60
"""Per cause, of a score that can be published."""

Json = dict[str, Any]


def reason_not_to_publish(options: argparse.Namespace) -> str | None:
    """Why a run with these options cannot be published, with the remedy; None when it can."""
    if options.capture_only:
        return "nothing is compared; leave --capture-only out"
    if set(options.causes) != set(MAKERS) or options.places:
        return "some causes or places are left out; leave --causes and --places out"
    if options.captures is not None and options.captures < CAPTURES_MIN:
        return f"at least {CAPTURES_MIN} captures per cause are needed"
    return None


def publish(total: Score, cases: list[Case], about: Json) -> None:
    """Writes the generated parts of the page.

    Raises:
        ValueError: the page lacks a marker.
    """
    page = PAGE.read_text()
    parts = (
        ("where", _describe_corpus(about, cases)),
        ("score", _score(total)),
        ("corpus", _corpus(cases)),
    )
    for name, lines in parts:
        page = marked_parts.replace_part(page, name, lines)
    PAGE.write_text(page)


def _describe_corpus(about: Json, cases: list[Case]) -> list[str]:
    facts = about["machine"]
    profiles = " and ".join(sorted({case.case["profile"] for case in cases}))
    words = (
        f"Taken on {about['taken'][:10]} at revision {facts['revision']}: {facts['processor']},"
        f" {len(facts['cores'])} cores, Linux {facts['kernel']}; {len(cases)} captures,"
        f" {sum(len(case.exchanges) for case in cases):,} exchanges with ground truth."
        f" Engine and Rust services: {profiles} build."
    )
    return [words]


def _score(total: Score) -> list[str]:
    head = [_row(HEAD), _row(("---",) * len(HEAD))]
    rows = [_row((f"`{cause}`", *cells)) for cause, *cells in table_rows(total)]
    return [*head, *rows, "", f"{_capital(_clean(total))}."]


def _corpus(cases: list[Case]) -> list[str]:
    """Captures by what they were made for, by place and by binding."""
    lines = [_row(("made for", "captures", "places", "bindings")), _row(("---",) * 4)]
    for aim in MAKERS:
        own = [case for case in cases if case.aim == aim]
        where = Counter(str(case.case["place"]["name"]) for case in own)
        bindings = Counter[str](
            Stack.parse(case.case["recipe"]["stack"]).axes.binding for case in own
        )
        lines.append(
            _row((f"`{aim}`", str(len(own)), _format_counts(where), _format_counts(bindings)))
        )
    return lines


def _format_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


AIM = 0.95
"""Least precision and recall of each cause."""
OCCURRENCES_MIN = 150
"""From here on the lower end of the interval must reach the aim, and not only the share."""
ALARMS_MAX = 0.01
"""Most false alarms per exchange of clean captures."""


def table_rows(total: Score) -> Iterator[tuple[str, ...]]:
    """One row for each cause: its name, captures, occurrences, findings that are right and
    false, precision, recall."""
    for cause, tally in total.tallies.items():
        yield (
            cause,
            str(tally.captures),
            str(tally.right + tally.missed),
            str(tally.right),
            str(tally.false),
            str(tally.missed),
            str(tally.either),
            _share(tally.precision),
            _share(tally.recall),
        )


HEAD = (
    "cause",
    "captures",
    "occurrences",
    "found",
    "false",
    "missed",
    "either",
    "precision",
    "recall",
)


def _share(interval: Interval | None) -> str:
    """``0.987 [0.961, 0.998]``."""
    if interval is None:
        return "–"
    places = _places(interval.estimate)
    low, high = (f"{bound:.{places}f}" for bound in interval.bounds or (0.0, 1.0))
    return f"{interval.estimate:.{places}f} [{low}, {high}]"


def _places(share: float) -> int:
    """Decimal places: three, and two significant digits of smaller shares."""
    return 3 if share <= 0.0 else max(3, 1 + ceil(-log10(share)))


def terminal_table(total: Score) -> str:
    """For a terminal."""
    lines = [HEAD, *table_rows(total)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    table = "\n".join(
        "  ".join(
            cell.ljust(width) if column in (0, 7, 8) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
    return f"{table}\n\n{_clean(total)}"


def _clean(total: Score) -> str:
    """False alarms on clean captures, in one sentence."""
    return (
        f"clean: {total.clean_captures} captures, {total.clean_exchanges} exchanges,"
        f" {total.clean_alarms} of them with a false alarm"
        f" ({_share(total.alarms)}), in {format_count(total.clean_captures_alarmed, 'capture')}"
    )


def short_of_aim(total: Score) -> list[str]:
    """What is below its aim, in words."""
    found = [
        f"{cause}: {name} {_share(interval)}, at least {AIM} is asked for"
        for cause, tally in total.tallies.items()
        for name, interval in _shares(tally)
        if interval is not None and _limit_share(name, tally, interval) < AIM
    ]
    found += [f"{cause}: no occurrence" for cause, one in total.tallies.items() if not one.captures]
    if total.alarms is not None and total.alarms.estimate > ALARMS_MAX:
        found.append(f"false alarms on clean captures: {total.alarms.estimate:.3f}")
    return found


def _limit_share(name: str, tally: Tally, interval: Interval) -> float:
    """What counts of a share: a few occurrences cannot bound it. The bound is that of the
    occurrences, because few causes have enough captures for one."""
    if tally.right + tally.missed < OCCURRENCES_MIN:
        return interval.estimate
    wrong = tally.false if name == "precision" else tally.missed
    low = binomial_interval(tally.right, tally.right + wrong).low
    return interval.estimate if low is None else low


def _shares(tally: Tally) -> Iterator[tuple[str, Interval | None]]:
    yield "precision", tally.precision
    yield "recall", tally.recall
