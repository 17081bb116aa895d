"""A reproduction as sections of the report's page, and in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from wirelab.errors import UsageError
from wirelab.explain.cell_selector import Level, level_words
from wirelab.explain.findings_text import capitalize_words
from wirelab.format.counting import format_count
from wirelab.format.numbers import NONE, digits, format_range
from wirelab.format.units import Unit
from wirelab.report.page import render, save, write_page
from wirelab.report.section import Section, Table
from wirelab.report.sections import explanations
from wirelab.report.source import Source
from wirelab.study import winners
from wirelab.study.catalogue import Found
from wirelab.study.claims import NOT_MEASURED, Judgement, Part
from wirelab.study.model import WinnersEntry
from wirelab.study.published import Figure as Printed
from wirelab.study.published_comparison import CONTENDERS_MAX, Line, Pair
from wirelab.study.reproduction import Reproduction, WinnerTable
from wirelab.study.winners import Score, Square

SLOPES = {"slope of rate": (1.0, "1/s per user"), "slope of service time": (1e-3, "µs per user")}
"""Factor and unit in which differences of slopes are shown."""
PUBLISHED_RULES = ("arithmetic", "inverse", "geometric", "least", "most", "slope_a", "slope_b")
LEVELS_MAX = 6
"""Levels that a table lists one by one; beyond, the lowest and the highest."""
OUTCOMES = ("holds", "does not hold", "undecided")


def sections(made: Reproduction) -> tuple[Section, ...]:
    """The study's part of the page."""
    study = made.found.study
    every = [
        Section(
            f"The study {study.name}",
            [f"{study.title}. {study.source}.", study.question, study.confound, _scale(made)],
            points=made.notes,
        ),
        _findings(made.judgements),
        *(_winners(study.winners, made.tables, made.lines) if study.winners else ()),
        *map(explanations.section, made.explanations),
        *_compare_published(made.lines),
        *_not_shown(made.found),
        _not_rerun(made),
    ]
    return tuple(every)


def claims(made: Reproduction) -> dict[str, tuple[str, ...]]:
    """The study's claims by what came of them."""
    return {
        outcome: tuple(
            f"{judged.finding.claim} [{judged.finding.id}]"
            for judged in made.judgements
            if _outcome(judged) == outcome
        )
        for outcome in (*OUTCOMES, NOT_MEASURED)
    }


def _outcome(judged: Judgement) -> str:
    """Its outcome; of a claim whose cells are missing, that."""
    return judged.outcome if judged.is_measured else NOT_MEASURED


def count(made: Reproduction) -> str:
    """How many claims hold, do not, are undecided, and were not measured."""
    return f"{_count(made.judgements)}."


def sentences(made: Reproduction) -> tuple[str, ...]:
    """Sentences in addition to the claims: winners, explanations, notes."""
    said = []
    if made.found.study.winners:
        said += [_tally(made.found.study.winners, table) for table in made.tables]
    for explanation in made.explanations:
        said.append(f"{explanation.ladder.question} ({explanation.ladder.id})")
        said += explanation.sentences
    return (*said, *made.notes)


def first_look(made: Reproduction) -> str:
    """What a first look is and how all is measured; empty for a whole reproduction."""
    if not made.is_quick:
        return ""
    study = made.found.study
    parts = f"{len(made.parts)} of {format_count(len(study.parts), 'part')}"
    findings = f"{len(made.judgements)} of {format_count(len(study.findings), 'finding')}"
    return (
        f"First look: {parts}, with fewer cells and repeats, and {findings}. "
        f"`wirelab reproduce {study.name}` measures all."
    )


def _scale(made: Reproduction) -> str:
    if made.is_quick:
        return first_look(made)
    share = "" if made.scale == 1.0 else f"{made.scale:g} times "
    return (
        f"This run made {share}as many calls as published. Ratios, orders and "
        "shapes are judged. Published absolute figures come from another machine: they are shown "
        "next to the measured ones, but not judged."
    )


def _count(judgements: Sequence[Judgement]) -> str:
    measured = [judged for judged in judgements if judged.is_measured]
    counts = [sum(j.outcome == outcome for j in measured) for outcome in OUTCOMES]
    missing = len(judgements) - len(measured)
    rest = f"; {missing} {'was' if missing == 1 else 'were'} not measured" if missing else ""
    return (
        f"Of {format_count(len(measured), 'finding')} tested {counts[0]} hold, {counts[1]} do not, "
        f"and {counts[2]} are undecided{rest}"
    )


def _findings(judgements: Sequence[Judgement]) -> Section:
    text = (
        f"{_count(judgements)}. A claim holds when it does at every level, each at 95 %. It does "
        "not hold when one level contradicts it at 95 % for all levels together. A claim about "
        "some level holds when one level confirms it at 95 % for all levels together, and does not "
        "hold when every level contradicts it. Otherwise a claim is undecided, and the verdict "
        "names what may decide it. Where the client was the limit, a rate is a lower bound and its "
        "ratio has an open end."
    )
    rows = [
        (_verdict(j), f"{j.finding.claim} ({j.finding.source})", _describe_levels(j))
        for j in judgements
    ]
    columns = ("Verdict", "Claim and source", "Measured, 95 % interval")
    return Section(
        "Findings of the study", [text], [Table(columns, rows), *_tabulate_crossings(judgements)]
    )


def _verdict(judgement: Judgement) -> str:
    """The outcome, and what may decide an undecided one."""
    if _outcome(judgement) != "undecided":
        return _outcome(judgement)
    more = dict.fromkeys(part.decided_by for part in judgement.parts if part.decided_by)
    return ": ".join(filter(None, (judgement.outcome, "; ".join(more))))


def _describe_levels(judgement: Judgement) -> str:
    finding, parts = judgement.finding, judgement.parts
    shown = parts if len(parts) <= LEVELS_MAX else _extremes(parts)
    levels = "; ".join(_level(part, finding.unit) for part in shown)
    if len(shown) < len(parts):
        levels = f"lowest and highest of {len(parts)}: {levels}"
    if all(part.interval is None for part in parts) and not finding.order:
        return levels
    return f"{levels}; claimed {finding.expected}"


def _extremes(parts: Sequence[Part]) -> list[Part]:
    """The lowest and the highest, and what was not measured."""
    known = sorted(
        ((part.interval.estimate, place) for place, part in enumerate(parts) if part.interval)
    )
    ends = [parts[known[0][1]], parts[known[-1][1]]] if known else []
    return ends + [part for part in parts if part.interval is None]


def _tabulate_crossings(judgements: Sequence[Judgement]) -> list[Table]:
    """The ratios along the way of every crossing."""
    tables = []
    for judged in judgements:
        rows = [
            (
                part.where,
                *(format_range(s.interval) if s.interval else s.reason for s in part.steps),
            )
            for part in judged.parts
            if part.steps
        ]
        if rows:
            first = judged.parts[0]
            steps = [
                {k: v for k, v in s.level.items() if k not in first.level} for s in first.steps
            ]
            columns = ("Level", *map(level_words, steps))
            tables.append(Table(columns, rows, f"Ratio at each step: {judged.finding.claim}"))
    return tables


def _describe_step(level: Level, part: Part) -> str:
    """What a step's level adds to its part's."""
    return level_words({name: value for name, value in level.items() if name not in part.level})


def _level(part: Part, unit: Unit) -> str:
    said = part.reason if part.interval is None else format_range(part.interval, unit)
    return f"{part.where}: {said}" if part.level else said


def _winners(
    entry: WinnersEntry, tables: Sequence[WinnerTable], lines: Sequence[Line]
) -> list[Section]:
    ratio = f"{entry.contenders['a']} is better by"
    parts = [
        Section(
            capitalize_words(table.pair.label),
            [_tally(entry, table)],
            [
                Table(
                    ("Test", "Property", "Published", "Here", "Verdict", f"{ratio}, rule by rule"),
                    [_square(entry, square) for square in table.squares],
                )
            ],
        )
        for table in tables
    ]
    text = (
        "The study named a winner per test and property. It used an average over the levels, of a "
        "kind that it did not state, and trend lines judged by eye. Here, the ratio per level is "
        "averaged in three ways, and slopes are fitted by least squares. A square holds only when "
        "it does by every rule. Slopes are differences of slopes, positive where the first scales "
        "better."
    )
    parts.append(_apply_rules_to_published(entry, lines))
    return [Section("Table of winners", [text], sections=parts)]


def _apply_rules_to_published(entry: WinnersEntry, lines: Sequence[Line]) -> Section:
    """The same rules on the published averages, which have no interval."""
    rows = []
    for metric, test in dict.fromkeys((line.metric, line.operation) for line in lines):
        cells = [line for line in lines if (line.metric, line.operation) == (metric, test)]
        a, b = ([cell.pairs[i].published or 0.0 for cell in cells] for i in (0, 1))
        levels = [float(str(cell.level[entry.vary])) for cell in cells]
        higher = entry.properties.get(metric) == "rate"
        made = winners.score_published(a, b, levels, higher=higher)
        rows.append((test, metric, *(digits(made[name]) for name in PUBLISHED_RULES)))
    text = f"Ratios above 1 mean that {entry.contenders['a']} is better; slopes are per user."
    columns = ("Test", "Metric", "Arithmetic", "Inverse", "Geometric", "Least", "Most")
    slopes = tuple(f"Slope, {entry.contenders[name]}" for name in ("a", "b"))
    table = Table((*columns, *slopes), rows, numeric=tuple(range(2, 9)))
    return Section("The same rules on the published averages", [text], [table])


def _tally(entry: WinnersEntry, table: WinnerTable) -> str:
    count = winners.tally(table.squares)
    published = [square.published for square in table.squares]
    a, b = entry.contenders["a"], entry.contenders["b"]
    holding = sum(square.verdict == "holds" for square in table.squares)
    return (
        f"{capitalize_words(table.pair.label)}: {a} wins {count['a']}, {b} {count['b']}, "
        f"{count['neither']} are undecided (published {published.count('a')} to "
        f"{published.count('b')}); {holding} of "
        f"{len(published)} published winners hold."
    )


def _square(entry: WinnersEntry, square: Square) -> tuple[str, ...]:
    names = {**entry.contenders, "": "undecided"}
    scores = "; ".join(f"{score.rule} {_score(score)}" for score in square.scores)
    prop = next(name for name, figure in entry.properties.items() if figure == square.property)
    return (
        square.test,
        prop,
        names[square.published],
        names[square.winner],
        "\n".join(filter(None, (square.verdict, square.reason))),
        scores,
    )


def _score(score: Score) -> str:
    if score.interval is None:
        return score.reason
    unit = SLOPES.get(score.rule)
    if unit is None or score.interval.bounds is None:
        return format_range(score.interval)
    scale, name = unit
    low, high = (scale * bound for bound in score.interval.bounds)
    return f"{digits(scale * score.interval.estimate)} ({digits(low)} to {digits(high)}) {name}"


def _compare_published(lines: Sequence[Line]) -> list[Section]:
    tables = []
    for metric in dict.fromkeys(line.metric for line in lines):
        rows = [line for line in lines if line.metric == metric]
        if any(len(line.pairs) > CONTENDERS_MAX for line in rows):
            tables.append(_tabulate_stacks(metric, rows))
            continue
        for arms in dict.fromkeys(map(_arms, rows)):
            tables.append(
                _tabulate_contenders(metric, arms, [row for row in rows if _arms(row) == arms])
            )
    return [Section("Published and measured", tables=tables)] if tables else []


def _arms(line: Line) -> tuple[str, ...]:
    return tuple(pair.arm for pair in line.pairs)


def _tabulate_contenders(metric: str, arms: Sequence[str], lines: Sequence[Line]) -> Table:
    """The same stacks next to each other in every row."""
    columns = ["Test", "Load"]
    columns += [word for arm in arms for word in (f"{arm}, published", f"{arm}, measured")]
    caption = (
        f"{metric}, {lines[0].unit}: published average (lowest, highest), measured estimate (95 % "
        "interval); † marks a printed figure that cannot be right; ≥ or ≤ marks a bound, where the "
        "client was the limit"
    )
    if len(arms) == 1:
        return Table(columns, [_cells(line)[:-2] for line in lines], f"{caption}.")
    columns += ["Ratio, published", "Ratio, measured"]
    caption += "; ratios are first over second."
    return Table(columns, [_cells(line) for line in lines], caption)


def _tabulate_stacks(metric: str, lines: Sequence[Line]) -> Table:
    """One stack a row, for studies that compared many."""
    rows = [
        (
            pair.arm,
            line.operation,
            level_words(line.level),
            _format_published(pair),
            _here(line, pair),
        )
        for line in lines
        for pair in line.pairs
    ]
    about = f"{metric}, {lines[0].unit}: published figure, measured estimate (95 % interval)."
    return Table(["Stack", "Test", "Load", "Published", "Measured"], rows, about)


def _cells(line: Line) -> tuple[str, ...]:
    words = [word for pair in line.pairs for word in (_format_published(pair), _here(line, pair))]
    published = NONE if line.published_ratio is None else digits(line.published_ratio)
    measured = NONE if line.measured_ratio is None else format_range(line.measured_ratio)
    level = level_words(line.level) if line.level else NONE
    return (line.operation, level, *words, published, measured)


def _format_published(pair: Pair) -> str:
    if pair.published is None:
        return NONE
    ends = ", ".join(NONE if end is None else f"{end:,g}" for end in (pair.least, pair.most))
    ends = "" if pair.least is None and pair.most is None else f" ({ends})"
    return f"{pair.published:,g}{ends}{' †' if pair.doubtful else ''}"


def _here(line: Line, pair: Pair) -> str:
    if pair.measured is None:
        return NONE
    sign = ("≥ " if "/" in line.unit else "≤ ") if pair.bound else ""
    if pair.measured.bounds is None:
        return f"{sign}{digits(pair.measured.estimate)}"
    return f"{sign}{format_range(pair.measured)}"


def _not_shown(found: Found) -> list[Section]:
    """The published figures that have no measured one next to them, by the reason."""
    study = found.study
    rows: dict[str, list[Printed]] = {}
    for row in found.published:
        if not any(entry.takes(row) for entry in study.published):
            reason = next((e.reason for e in study.not_shown if e.takes(row)), "no reason given")
            rows.setdefault(reason, []).append(row)
    if not rows:
        return []
    table = Table(
        ("Figures", "Experiments", "Metrics", "Why not"),
        [
            (
                str(len(printed)),
                ", ".join(dict.fromkeys(row.experiment for row in printed)),
                ", ".join(dict.fromkeys(row.metric for row in printed)),
                reason,
            )
            for reason, printed in rows.items()
        ],
    )
    return [Section("Published figures without a measured one", tables=[table])]


def _not_rerun(made: Reproduction) -> Section:
    rows = [(entry.claim, entry.source, entry.reason) for entry in made.found.study.not_rerun]
    return Section("Claims not tested", (), [Table(("Claim", "Source", "Why not"), rows)])


__all__ = ["claims", "count", "first_look", "sentences", "write"]


def write(made: Reproduction) -> Path:
    """The study's page belongs to its first part that was run, and shows all its figures; the other
    parts have pages of their own in their run directories. Raises
    :class:`StorageError`."""
    page = html(made)
    for run in made.runs.values():
        write_page(run.folder)
    return save(made.folder, page)


def html(made: Reproduction) -> str:
    """The study's page as text. Raises :class:`UsageError` if no part was run."""
    if not made.runs:
        raise UsageError(
            f"{made.folder} holds no part of {made.found.study.name} yet",
            f"`wirelab reproduce {made.found.study.name} --out {made.folder}` continues it",
        )
    main = _set_title(Source.read(next(iter(made.runs.values())).folder), made)
    return render(main, first=sections(made))


def _set_title(main: Source, made: Reproduction) -> Source:
    """The first part under the study's name and question."""
    study = made.found.study
    experiment = {**main.manifest.experiment, "name": study.name, "about": study.question}
    return replace(main, manifest=msgspec.structs.replace(main.manifest, experiment=experiment))
