"""Output of ``wirelab facts``."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from itertools import groupby
from pathlib import Path

from wirelab import facts
from wirelab.cli.error_handling import err, out
from wirelab.errors import EXIT_OK
from wirelab.facts import Fact
from wirelab.format import wrapping
from wirelab.format.console import Line
from wirelab.format.counting import format_count
from wirelab.report.html_page import HtmlPage
from wirelab.report.section import Section, Table
from wirelab.run.directory import write_whole

MARKS = {"stated": " ", "measured": "*", "unknown": "?"}


def run(
    stacks: Sequence[str],
    *,
    listed: bool,
    csv_file: Path | None,
    page_file: Path | None,
    as_json: bool,
) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    if listed:
        for stack in facts.stacks():
            out.print(str(stack))
        return EXIT_OK
    found = facts.facts(stacks)
    if csv_file is not None:
        write_whole(csv_file, csv_text(found).encode())
        err.print(f"{csv_file}: {format_count(len(found), 'fact')}")
    if page_file is not None:
        write_whole(page_file, page(found).encode())
        err.print(f"page: {page_file}")
    if as_json:
        print(json.dumps([asdict(fact) for fact in found], indent=1))
    elif csv_file is None and page_file is None:
        for line in _lines(found, out.width):
            out.print(line.text, style=line.style)
    return EXIT_OK


def csv_text(found: Sequence[Fact]) -> str:
    """One line per fact; columns are the fields of :class:`Fact`."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Fact)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(fact) for fact in found)
    return text.getvalue()


def page(found: Sequence[Fact]) -> str:
    """One section per feature, one row per stack; equal cells share a row."""
    sections = [
        Section(
            title=name.capitalize(),
            paragraphs=(about,),
            tables=(
                Table(
                    ("stacks", "fact", "how", "source", "date"),
                    [
                        (", ".join(stacks), fact.value, fact.kind, _source(fact), fact.date)
                        for stacks, fact in facts.group_shared(found, name)
                    ],
                ),
            ),
        )
        for name, about in facts.features()
    ]
    return HtmlPage(
        title="Properties of stacks other than speed",
        kind="facts",
        about="A stated fact names its source and date; a measured fact names its command.",
        sections=sections,
    ).html()


def _source(fact: Fact) -> str:
    return f"{fact.source}, {fact.address}" if fact.address else fact.source


def _lines(found: Sequence[Fact], width: int) -> Iterator[Line]:
    """One block per stack: features on the left, their facts on the right."""
    left = max(len(name) for name, _ in facts.features()) + 2
    sources: dict[str, int] = {}
    for stack, of_stack in groupby(found, key=lambda fact: fact.stack):
        yield Line(stack, "bold")
        for feature, cell in groupby(of_stack, key=lambda fact: fact.feature):
            for place, fact in enumerate(cell):
                mark = ""
                if fact.kind != "unknown":
                    named = f"{fact.source}, {fact.date}. {fact.address}"
                    mark = f" [{sources.setdefault(named, len(sources) + 1)}]"
                start = f"  {feature if place == 0 else '':<{left}}"
                text = f"{MARKS[fact.kind]} {fact.value}{mark}"
                yield Line(_fill(text, width, start, " " * (left + 4)))
        yield Line("")
    yield Line(
        "* measured with wirelab; ? unknown, no source was read; others are stated in:", "dim"
    )
    for named, number in sources.items():
        yield Line(_fill(f"[{number}] {named}", width, "", "    "), "dim")


def _fill(text: str, width: int, first: str, others: str) -> str:
    """Wraps between words; addresses are not broken."""
    lines = wrapping.wrap(
        text, width, initial_indent=first, subsequent_indent=others, break_long_words=False
    )
    return "\n".join(lines)
