"""The first screen: one sentence, how sure and how valid it is, one picture."""

from __future__ import annotations

from collections.abc import Iterator

from wirelab.checks.load import BOUND, client_bound
from wirelab.checks.marks import figure_marks
from wirelab.comparisons.gate import KNOWN
from wirelab.explain.effect import noun
from wirelab.format.counting import format_count, of_all
from wirelab.records.trial import Trial
from wirelab.report.charts import load_panels
from wirelab.report.findings.ranking import rankings
from wirelab.report.findings.sentences import sentences
from wirelab.report.section import Badge, Picture, Section
from wirelab.report.source import Source
from wirelab.statistics.comparison import TRIALS_MIN
from wirelab.statistics.figure import RATE, RESPONSE_P50, Figure


def section(source: Source) -> Section:
    """The findings, the first of them as the answer."""
    found = sentences(source.trials, source.threshold, source.asked)
    return Section(
        "Findings",
        figures=_pictures(source),
        points=found[1:],
        lead=found[0],
        badges=list(_badges(source)),
        legend=bool(source.legend),
        explorer=True,
    )


def primary(source: Source) -> Figure:
    """The figure that a comparison asked for; else the one that the load leaves to be measured:
    the rate of a closed load, or the median response time."""
    if source.asked is not None and source.asked.figure in KNOWN:
        return KNOWN[source.asked.figure]
    closed = any(trial.point.load.is_closed for trial in source.trials)
    return RATE if closed or not source.trials else RESPONSE_P50


def _pictures(source: Source) -> list[Picture]:
    """Static ones of the main figure, which are nowhere else on the page."""
    drawn = load_panels.panels(source, (primary(source),))
    return list(drawn[0].figures) if drawn else []


def _badges(source: Source) -> Iterator[Badge]:
    measured = [trial for trial in source.trials if trial.status == "measured"]
    if source.incomplete:
        yield Badge("bad", "The run is not complete", "completeness")
    if source.repeated:
        again = f"{format_count(len(source.repeated), 'trial')} measured again"
        yield Badge("warn", again, "trials-measured-again")
    if not measured:
        yield Badge("bad", "No trial measured anything", "checks")
        return
    yield _repeats(source)
    yield from _count_decided(source)
    yield _trials(source, measured)
    yield _calls(measured)
    if any(check.name == BOUND for trial in measured for check in trial.checks):
        yield _client(measured)
    yield _checks(source)


def _repeats(source: Source) -> Badge:
    """How many trials an estimate has."""
    fewest = min((len(cell.measured) for cell in source.cells if cell.measured), default=0)
    same = len({len(cell.measured) for cell in source.cells}) == 1
    words = f"{format_count(fewest, 'trial')} {'' if same else 'or more '}per setting"
    if fewest >= TRIALS_MIN:
        return Badge("good", words, "every-cell")
    lack = "no intervals" if fewest == 1 else "very wide intervals"
    return Badge("warn", f"{words}: {lack}", "every-cell")


def _count_decided(source: Source) -> Iterator[Badge]:
    """How many comparisons of the main figure have a verdict."""
    figure = primary(source)
    trials = source.trials
    if source.asked is None:
        trials = tuple(t for t in trials if t.point.load.is_closed == (figure is RATE))
    found = rankings(trials, figure, source.threshold, source.asked)
    pairs = [pair for ranking in found for pair in ranking.pairs]
    if not pairs:
        return
    decided = sum(1 for p in pairs if p.comparison and p.comparison.verdict != "undecided")
    words = f"{of_all(decided, len(pairs), 'comparison')} decided ({noun(figure)})"
    yield Badge("good" if decided == len(pairs) else "warn", words, "comparisons")


def _trials(source: Source, measured: list[Trial]) -> Badge:
    failed = sum(1 for trial in source.trials if trial.status == "failed")
    if failed:
        return Badge("bad", f"{of_all(failed, len(source.trials), 'trial')} failed", "checks")
    return Badge("good", f"No trial failed (of {len(measured):,})", "checks")


def _calls(measured: list[Trial]) -> Badge:
    failed = sum(trial.result.errors for trial in measured)
    calls = sum(trial.result.calls for trial in measured)
    if failed:
        return Badge("bad", f"{of_all(failed, calls, 'call')} failed", "every-cell")
    return Badge("good", f"No call failed (of {calls:,})", "every-cell")


def _client(measured: list[Trial]) -> Badge:
    """A client that was the limit measures itself."""
    limited = sum(1 for trial in measured if client_bound(trial))
    if limited:
        of = of_all(limited, len(measured), "trial")
        return Badge("warn", f"The client was the limit in {of}", "checks")
    return Badge("good", "The client was not the limit", "checks")


def _checks(source: Source) -> Badge:
    """How many figures a check marked."""
    found = [figure_marks(cell, source.threshold) for cell in source.cells]
    marked = sum(map(len, found))
    if marked:
        every = sum(
            1
            for cell in source.cells
            for figure in cell.figures
            if any(figure.of(trial) is not None for trial in cell.measured)
        )
        return Badge("warn", f"{of_all(marked, every, 'figure')} marked", "every-cell")
    return Badge("good", "No check marked a figure", "checks")
