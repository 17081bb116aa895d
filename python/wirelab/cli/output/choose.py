"""Runs ``wirelab choose`` and prints its answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab import facts
from wirelab.choose import page
from wirelab.choose.answer import OBJECTIVES, Prices, sentences
from wirelab.choose.changeover import Map, map_links, map_size, require_lists
from wirelab.choose.choosing import Answer, Question, answer, refuse_languages, time_words
from wirelab.choose.ladder import rungs
from wirelab.choose.limits import Limits, find_limits
from wirelab.choose.plan import Conditions
from wirelab.choose.source import Message, read_sample
from wirelab.cli.error_handling import err, fold, out
from wirelab.comparisons.limit import Objective
from wirelab.errors import EXIT_OK, EXIT_UNDECIDED, UsageError
from wirelab.report.section import Section, Table
from wirelab.run.directory import write_whole
from wirelab.run.progress import OnConsole

if TYPE_CHECKING:
    from wirelab.cli.options.choose import CallOptions, MessageOptions, StackOptions
    from wirelab.cli.options.common import DirectoryOptions


def run(
    source: str,
    message: MessageOptions,
    stacks: StackOptions,
    calls: CallOptions,
    directory: DirectoryOptions,
    *,
    as_json: bool,
) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    directory.check()
    languages = _words(stacks.languages)
    refuse_languages(languages)
    sample = read_sample(
        Message(source, message.kind, message.only, message.reply, message.more, message.scale)
    )
    if "size" in calls.maps:
        require_lists(sample)
    objective = Objective.parse(calls.limit, "--limit") if calls.limit is not None else None
    by = calls.by or ("rate" if calls.rate is None else "p50")
    question = Question(
        sample,
        languages,
        stacks.patterns,
        OBJECTIVES[by],
        Conditions(calls.users, calls.rate, calls.link, calls.threshold, calls.seed),
        _compressions(stacks.compression),
        stacks.http2,
        stacks.today or "",
        calls.budget_s,
        Prices(*calls.price),
        calls.share,
    )
    folder = directory.folder("choose")
    err.print(f"folder: {folder}; {time_words(question)}")
    found = answer(question, folder, OnConsole(err))
    maps: tuple[Map, ...] = ()
    limits: Limits | None = None
    document, written = _write(found, maps, limits)
    # The answer is kept, also where what else was asked for cannot be measured.
    if objective is not None:
        limits = find_limits(found, objective, OnConsole(err))
        document, written = _write(found, maps, limits)
    for axis in dict.fromkeys(calls.maps):
        maps = (*maps, MAPS[axis](found, OnConsole(err)))
        document, written = _write(found, maps, limits)
    if as_json:
        print(json.dumps({"directory": str(folder), **document}, indent=1))
    else:
        _print(found, maps, limits, written)
    return EXIT_OK if found.choice.is_decided else EXIT_UNDECIDED


def _write(
    found: Answer, maps: Sequence[Map], limits: Limits | None
) -> tuple[dict[str, object], Path]:
    """The document, and the page that was written next to it. Raises :class:`StorageError`."""
    document = page.to_json(found, maps, limits)
    write_whole(found.folder / "choice.json", json.dumps(document, indent=1) + "\n")
    further = [*page.limit_sections(limits), *page.map_sections(maps), *_facts(found)]
    return document, page.write(found, further)


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def _compressions(text: str) -> tuple[str, ...]:
    from wirelab.choose.candidates import COMPRESSIONS

    found = _words(text)
    for name in found:
        if name not in COMPRESSIONS:
            raise UsageError(f"--compression {name}: unknown", f"use {', '.join(COMPRESSIONS)}")
    return found or ("none",)


MAPS = {"size": map_size, "link": map_links}


def _print(found: Answer, maps: Sequence[Map], limits: Limits | None, written: Path) -> None:
    first, *others = sentences(found.choice)
    out.print(fold(first, out.width), "bold")
    limited = [limits.sentence] if limits else []
    for text in [*others, *page.remarks(found), *limited, *(one.sentence for one in maps)]:
        out.print(fold(f"• {text}", out.width))
    for made in (page.short_table(found), page.sizes(found)):
        out.print()
        for line in table_lines(made):
            out.print(line)
    steps = rungs(found)
    if steps:
        out.print()
        out.print("From today's stack to the recommended one, one change a step:")
        for step in steps:
            out.print(fold(f"• {step.label}: {step.words}", out.width))
    out.print()
    out.print(f"Services, schemas and experiments: {found.folder}")
    out.print(f"Report: {written}")


def table_lines(table: Table) -> Iterator[str]:
    """A table as text: names to the left, numbers to the right."""
    rows = [list(table.columns), *map(list, table.rows)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(table.columns))]
    for row in rows:
        cells = [
            text.rjust(width) if at in table.numeric else text.ljust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
    yield from fold(table.caption, out.width).splitlines()


def _facts(found: Answer) -> Sequence[Section]:
    """Properties of the bindings that differ and are not measured here."""
    bindings = list(dict.fromkeys(row.candidate.binding for row in found.choice.rows))
    if len(bindings) < 2:
        return ()
    by_feature: dict[str, dict[str, str]] = {}
    for fact in facts.facts(bindings):
        if fact.kind == "stated":
            by_feature.setdefault(fact.feature, {})[fact.stack.split("@")[0]] = fact.value
    rows = [
        [feature, *(values.get(one, facts.UNKNOWN) for one in bindings)]
        for feature, values in by_feature.items()
        if len(set(values.values())) > 1
    ]
    title = "What is not measured here"
    text = "Properties that differ; `wirelab facts` has their sources and dates."
    return (Section(title, [text], [Table(["property", *bindings], rows)]),) if rows else ()
