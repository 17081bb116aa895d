"""The standard contents of a page, section by section."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

from wirelab.report import answer
from wirelab.report.charts import load_panels
from wirelab.report.section import Section, Table
from wirelab.report.sections import (
    codecs,
    comparisons,
    costs,
    first_calls,
    groups,
    links,
    machine,
    packets,
    replies,
    runtime,
    streams,
    tables,
    tested_findings,
)
from wirelab.report.source import Source
from wirelab.run import finished, keeping

_WORDS = """
Response time runs from the intended start of a call to the end of its reply. It includes the wait
for a free connection, so a service that stalls cannot hide the delay. Service time runs from the
first byte written to the end of the reply.

In a closed load, a user makes the next call when the previous one has ended; the rate is a result.
In an open load, calls arrive by a schedule whether or not the service keeps up; the rate is given.
Figures of closed and open loads are never compared with each other.

Response times of all calls include failed calls. A failed call counts with the time until its
error was answered, its connection ended or it was given up. This time is shorter than that of a
good reply would have been (censored). Where calls failed, the times of good calls are shown
below. A wrong answer is a failed call. Percentiles are shown only where at least 10 samples lie
above them.

Every figure is computed per trial; a trial is one execution on fresh processes. The estimate is
the geometric mean of the trials. The 95 % interval is Student's t on logarithms (2 to 19 trials)
or the percentile-t bootstrap (20 and more). One trial has no interval.

A comparison is a ratio with its interval: Welch's t on logarithms. It is higher or lower where
two conditions are met. The interval excludes 1 by more than the declared threshold, and Holm's
method confirms the difference among all comparisons of that figure in the run. Without the second
condition, a few of many comparisons would find a difference by chance. A comparison is equivalent
where the interval lies within the threshold. All others are undecided.

"--repeats 12 may decide": with that number of repeats in each cell, the interval is expected to be
narrow enough to decide, if the ratio stays the same. The ratio varies too, so the chance is even.

The first finding answers the question, and adds the most useful difference in another figure. The
best of several figures is chosen with Holm's method over these figures.

Client-bound: the threads of the engine were busy for more than 90 % of the window and the service
was not. The rate is then a lower bound. It is drawn hollow and shown with ≥, and no stack is
ranked by it.

CPU per call is the CPU time of the process within the window, divided by the calls of the window.
The engine's CPU time excludes the time that it spent spinning with nothing to do.
"""


def list_first_sections(source: Source) -> list[Section]:
    """Findings and the main picture."""
    main = answer.primary(source)
    intro = (
        f"The findings have the picture of {main.title}. Points are estimates over the trials; "
        "bars are their 95 % intervals. Hollow points are lower bounds (client-bound)."
        f"{_of_all_calls(source)}"
    )
    drawn = load_panels.panels(source, [one for one in load_panels.SHOWN if one is not main])
    some = load_panels.tell_left_out(len(load_panels.groups(source)))
    paragraphs = (intro, some) if some else (intro,)
    picture = Section("Rate and response time by load", paragraphs, sections=drawn, legend=True)
    missing, again = source.incomplete, source.repetition
    return [
        *([Section("Completeness", missing)] if missing else []),
        answer.section(source),
        *([Section("Trials measured again", again)] if again else []),
        *([Section("What is left out", [keeping.LEFT_OUT])] if source.is_kept else []),
        *([replace(picture, folded=True)] if drawn else []),
    ]


def _of_all_calls(source: Source) -> str:
    """What response times are of, where that makes a difference."""
    if not any(cell.errors for cell in source.cells):
        return ""
    return " Response times cover all calls; failed calls count with the time until they failed."


def list_further_sections(source: Source) -> list[Section]:
    """Everything else: every figure, every check, and how to repeat the run."""
    every = [
        _cells(source),
        replies.section(source),
        groups.section(source),
        streams.section(source),
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
        machine.hosts_section(source),
        machine.noise_section(source),
        machine.placement_section(source),
        machine.machine_section(source),
        _repeat(source),
        Section("Definitions", points=_meanings()),
        _raw(source),
    ]
    return [replace(section, folded=True) for section in every if not _is_empty(section)]


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
        "Below each figure is its 95 % interval in the same unit, where it is wider than the "
        "figure's digits. p50 and p99 are percentiles of the response time of all calls and, where "
        "some failed, of good calls. CPU is per call, and ≥ marks a lower bound (client-bound). "
        "Too few trials: the interval of the p99 reaches below the p50. Too few calls: a trial "
        "with fewer than 1,000 calls has no p99. Warnings count the trials that a check marked; "
        "Checks has the reasons."
    )
    return Section("Every cell", (intro,), tables.cell_tables(source))


def _costs(source: Source) -> Section:
    drawn = load_panels.panels(source, load_panels.COST)
    some = load_panels.tell_left_out(len(load_panels.groups(source))) if drawn else ""
    return Section("CPU per call", (some,) if some else (), sections=drawn, legend=True)


def _comparisons(source: Source) -> Section:
    """Every pair, and the engine overhead; the overhead alone where nothing is compared."""
    compared = comparisons.comparisons(source)
    tax = costs.engine_tax_table((cell.point for cell in source.cells), source.names)
    if not compared.tables:
        return Section("Engine overhead", tables=(tax,))
    about = (
        f"Declared threshold: {100.0 * source.threshold:g} %. A ratio above 1 means that the first "
        "is higher. Below each ratio are its 95 % interval and the verdict."
    )
    paragraphs = [about]
    if compared.shown < compared.count:
        folder = shlex.quote(source.folder.resolve().name)
        paragraphs.append(
            f"The table has {compared.shown:,} of {compared.count:,} comparisons: in each setting "
            "and figure, those of the stack with the best estimate with each other stack. Holm's "
            f"method covers all comparisons. `wirelab report {folder} --json` prints all of them."
        )
    return Section("Comparisons", paragraphs, (*compared.tables, tax))


def _distributions(source: Source) -> Section:
    figures, lost = load_panels.distributions(source)
    intro = []
    if figures:
        about = "Each curve is one trial, which shows the spread between trials."
        intro.append(f"{about}{_of_all_calls(source)}")
        if some := load_panels.tell_left_out(len(load_panels.settings(source))):
            intro.append(some)
    if lost:
        more = f", and {len(lost) - 1:,} more" if lost[1:] else ""
        intro.append(f"Not shown, because it cannot be read: {lost[0]}{more}.")
    return Section("Response time by percentile", intro, figures=figures, legend=bool(figures))


def _checks(source: Source) -> Section:
    shown = [
        tables.check_summary(source),
        tables.tabulate_failed(source),
        tables.check_details(source),
    ]
    failed = sum(1 for trial in source.trials if trial.status == "failed")
    there = finished.trials_of(source.trials, source.planned)
    intro = [f"{there}, {failed} failed. No measurement is left out."]
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
    return Section("Repeat the run", (intro,), (Table(["command"], commands),))


def _raw(source: Source) -> Section:
    rows = [
        ["manifest.json", "experiment, seed, machine, versions, hashes"],
        ["trials.jsonl", "one line per finished trial with every figure"],
        ["trials/<id>/plan.json", "the engine's plan"],
        ["trials/<id>/result.json", "the engine's result, histograms included"],
        ["trials/<id>/histograms.hlog", "HdrHistogram log, nanoseconds"],
        ["trials/<id>/series.parquet", "runtime metrics, rates and response times over time"],
        ["trials/<id>/service.log, metrics-*.txt", "output of the service"],
    ]
    intro = f"In the run directory {source.folder.resolve().name}:"
    return Section("Raw data", (intro,), (Table(["file", "content"], rows),))
