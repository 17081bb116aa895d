"""The standard contents of a page, section by section."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from wirelab.report.charts import load_panels
from wirelab.report.findings.sentences import sentences
from wirelab.report.section import Section, Table
from wirelab.report.sections import (
    codecs,
    costs,
    first_calls,
    groups,
    links,
    machine,
    packets,
    replies,
    runtime,
    tables,
    tested_findings,
)
from wirelab.report.source import Source
from wirelab.run import finished

_WORDS = """
Response time runs from the moment at which the load wanted the call to the end of its reply;
waiting for a free connection is in it, so a service that stalls cannot hide it. Service time
runs from the first byte written to the end of the reply.

In a closed load a user makes the next call when the last has ended; the rate is a result. In an
open load calls arrive by a schedule whether or not the service keeps up; the rate is given.
Figures of the one are never compared with figures of the other.

Response times of all calls hold failed ones with the time until their error was answered, their
connection ended or they were given up, which is less than a good reply would have taken
(censored). Where calls failed, the times of good calls are shown below them. A wrong answer is a
failed call. Percentiles are shown only where at least 10 samples lie above.

Every figure is computed per trial; a trial is one execution on fresh processes. The estimate is
the geometric mean of the trials, the 95 % interval is Student's t on logarithms (2 to 19 trials)
or the percentile-t bootstrap (20 and more). One trial has no interval.

A comparison is a ratio with its interval: Welch's t on logarithms. It is higher or lower where
the interval excludes 1 by more than the threshold that was declared and Holm's method upholds it
among all comparisons of that figure in the run, for of many comparisons a few find a difference
by chance. It is equivalent where the interval lies within the threshold. All else is undecided.

"About 12 more repeats may decide": with that number in each cell the interval is expected to be
narrow enough to decide, if the ratio stays as it is. The ratio varies too, so the chance is even.

Client-bound: the threads of the engine were busy for more than 90 % of the window and the service
was not. The rate is then a lower bound, drawn hollow and shown with ≥, and no stack is ranked by
it.

CPU per call is the CPU time of the process within the window over the calls of the window, the
engine's without what it spent spinning, with nothing to do.
"""


def before(source: Source) -> list[Section]:
    """Findings and the main picture."""
    intro = (
        "Points are estimates over the trials, bars their 95 % intervals; "
        f"hollow points are lower bounds (client-bound).{_of_all_calls(source)}"
    )
    drawn = load_panels.panels(source, load_panels.SHOWN)
    picture = Section("Rate and response over the load", (intro,), sections=drawn, legend=True)
    found = Section("Findings", points=sentences(source.trials, source.threshold))
    told_first = [Section("Completeness", source.incomplete)] if source.incomplete else []
    return [*told_first, found, *([picture] if drawn else [])]


def _of_all_calls(source: Source) -> str:
    """What response times are of, where that makes a difference."""
    if not any(cell.errors for cell in source.cells):
        return ""
    return " Response times are of all calls, failed ones with the time until they failed."


def after(source: Source) -> list[Section]:
    """Everything else: every figure, every check, and how to repeat the run."""
    every = [
        _cells(source),
        replies.section(source),
        groups.section(source),
        first_calls.section(source),
        _costs(source),
        costs.costs_section(source),
        costs.traffic_section(source),
        codecs.section(source),
        runtime.section(source),
        packets.section(source),
        tested_findings.section(source),
        _comparisons(source),
        _distributions(source),
        _checks(source),
        links.section(source),
        machine.noise_section(source),
        machine.placement_section(source),
        machine.machine_section(source),
        _repeat(source),
        Section("What the words mean", points=_meanings()),
        _raw(source),
    ]
    return [section for section in every if not _is_empty(section)]


def _is_empty(section: Section) -> bool:
    parts: Sequence[object] = (
        *filter(None, (section.verbatim,)),
        *section.figures,
        *section.paragraphs,
        *section.points,
        *section.sections,
    )
    return not parts and not any(table.rows for table in section.tables)


def _meanings() -> list[str]:
    """One item per paragraph of :data:`_WORDS`."""
    paragraphs = _WORDS.strip().split("\n\n")
    return [" ".join(paragraph.split()) for paragraph in paragraphs]


def _cells(source: Source) -> Section:
    intro = (
        "Below each figure is its 95 % interval, in the same unit, where it is wider than the "
        "figure's digits. p50 and p99 are those of the response time, of all calls and of good "
        "ones where some failed; CPU is per call, and ≥ marks a lower bound (client-bound). Too "
        "few trials: the interval of the p99 reaches below the p50; too few calls: a trial has no "
        "p99 with less than 1,000. Marks count the trials that a check marked; the reasons are "
        "under Checks."
    )
    return Section("Every cell", (intro,), tables.cell_tables(source))


def _costs(source: Source) -> Section:
    return Section(
        "CPU per call", sections=load_panels.panels(source, load_panels.COST), legend=True
    )


def _comparisons(source: Source) -> Section:
    """Every pair, and the engine's tax; the tax alone where nothing is compared."""
    table, count = tables.comparison_table(source)
    about = (
        f"Declared threshold: {100.0 * source.threshold:g} %. "
        "A ratio above 1 means that the first is higher."
    )
    paragraphs = [about]
    if len(table.rows) < count:
        folder = shlex.quote(source.folder.resolve().name)
        paragraphs.append(
            f"Of {count:,} comparisons the table has the {len(table.rows):,} of the stack with "
            "the best estimate, in each setting and figure, with the others. All are judged "
            f"together by Holm's method. `wirelab report {folder} --json` prints all of them."
        )
    tax = costs.engine_tax_table((cell.point for cell in source.cells), source.names)
    if not table.rows:
        return Section("The engine's tax", tables=(tax,))
    return Section("Comparisons", paragraphs, (table, tax))


def _distributions(source: Source) -> Section:
    figures, lost = load_panels.distributions(source)
    intro = []
    if figures:
        about = "One curve per trial, so that the spread between trials shows."
        intro.append(f"{about}{_of_all_calls(source)}")
    if lost:
        more = f", and {len(lost) - 1:,} more" if lost[1:] else ""
        intro.append(f"Not shown, because it cannot be read: {lost[0]}{more}.")
    return Section("Response time by percentile", intro, figures=figures, legend=bool(figures))


def _checks(source: Source) -> Section:
    shown = [
        tables.check_summary(source),
        tables.failed_table(source),
        tables.check_details(source),
    ]
    failed = sum(1 for trial in source.trials if trial.status == "failed")
    there = finished.trials_of(source.trials, source.planned)
    intro = [f"{there}, {failed} failed. Nothing that was measured is left out."]
    if not shown[2].rows:
        intro.append("Every check of every measured trial is ok.")
    return Section("Checks", intro, [table for table in shown if table.rows])


def _repeat(source: Source) -> Section:
    folder = shlex.quote(source.folder.resolve().name)
    commands = [[f"wirelab run {folder}/experiment.yaml --out NEW"], [f"wirelab report {folder}"]]
    intro = (
        f"The order of the trials follows from seed {source.manifest.seed_text}. Figures "
        "differ from machine to machine; only ratios within one run count."
    )
    return Section("How to repeat it", (intro,), (Table(["command"], commands),))


def _raw(source: Source) -> Section:
    rows = [
        ["manifest.json", "experiment, seed, machine, versions, hashes"],
        ["trials.jsonl", "one line per finished trial with every figure"],
        ["trials/<id>/plan.json", "the engine's plan"],
        ["trials/<id>/result.json", "what it answered, histograms included"],
        ["trials/<id>/histograms.hlog", "HdrHistogram log, nanoseconds"],
        ["trials/<id>/series.parquet", "runtime metrics, rates and response times over time"],
        ["trials/<id>/service.log, metrics-*.txt", "what the service said"],
    ]
    intro = f"In the run directory {source.folder.resolve().name}:"
    return Section("Raw data", (intro,), (Table(["file", "content"], rows),))
