"""The score as it is published: a page of the docs whose tables this writes."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from bench.ground_truth import table
from bench.ground_truth.corpus import Case
from bench.ground_truth.recipes import MAKERS
from bench.ground_truth.scoring import Score
from wirelab.stack.reference import Stack

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/diagnosis-truth.md"
CAPTURES_MIN = 60
"""Per cause, of a score that can be published."""

Json = dict[str, Any]


def lacking(options: argparse.Namespace) -> str | None:
    """Why a run with these options cannot be published, with the remedy; None when it can."""
    if options.capture_only:
        return "nothing is compared; leave --capture-only out"
    if set(options.causes) != set(MAKERS) or options.places:
        return "some causes or places are left out; leave --causes and --places out"
    if options.captures < CAPTURES_MIN:
        return f"at least {CAPTURES_MIN} captures per cause are needed"
    return None


def publish(total: Score, cases: list[Case], about: Json) -> None:
    """Writes the generated parts of the page.

    Raises:
        ValueError: the page lacks a marker.
    """
    page = PAGE.read_text()
    parts = (
        ("where", _where(about, cases)),
        ("score", _score(total)),
        ("corpus", _corpus(cases)),
    )
    for name, lines in parts:
        page = _replaced(page, name, lines)
    PAGE.write_text(page)


def _replaced(page: str, name: str, lines: list[str]) -> str:
    begin, end = f"<!-- {name}: made by bench -->", f"<!-- end of {name} -->"
    before, found, rest = page.partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise ValueError(f"the page has no part {name!r}")
    return "\n".join((before + begin, *lines, end + after))


def _where(about: Json, cases: list[Case]) -> list[str]:
    facts = about["machine"]
    profiles = " and ".join(sorted({case.case["profile"] for case in cases}))
    words = (
        f"Taken on {about['taken'][:10]} at revision {facts['revision']}: {facts['processor']},"
        f" {len(facts['cores'])} cores, Linux {facts['kernel']}; {len(cases)} captures,"
        f" {sum(len(case.exchanges) for case in cases):,} exchanges of known truth."
        f" Engine and Rust services: {profiles} build."
    )
    return [words]


def _score(total: Score) -> list[str]:
    head = [_row(table.HEAD), _row(("---",) * len(table.HEAD))]
    rows = [_row((f"`{cause}`", *cells)) for cause, *cells in table.rows(total)]
    return [*head, *rows, "", f"{_capital(table.clean(total))}."]


def _corpus(cases: list[Case]) -> list[str]:
    """Captures by what they were made for, by place and by binding."""
    lines = [_row(("made for", "captures", "places", "bindings")), _row(("---",) * 4)]
    for aim in MAKERS:
        own = [case for case in cases if case.aim == aim]
        where = Counter(str(case.case["place"]["name"]) for case in own)
        bindings = Counter(
            Stack.parse(case.case["recipe"]["stack"]).axes["binding"] for case in own
        )
        lines.append(_row((f"`{aim}`", str(len(own)), _counted(where), _counted(bindings))))
    return lines


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
