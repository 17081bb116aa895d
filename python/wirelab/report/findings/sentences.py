"""What was found, in a few plain sentences, and only what the intervals allow.

Differences lead, the largest first; then equivalences, then what is undecided with what would
decide it, then what is not compared. The page's table of comparisons has every pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from wirelab.checks.load import client_bound
from wirelab.format.counting import counted, counted_failures, of_all, plural
from wirelab.format.numbers import digits, sanitize, span
from wirelab.records.trial import PROXIED, Trial
from wirelab.report.findings.ranking import Ranking, rankings
from wirelab.report.findings.statements import EACH_MAX, NOUN, Statements
from wirelab.statistics.cell import cells
from wirelab.statistics.figure import RATE, RESPONSE_P50, RESPONSE_P99, Figure
from wirelab.statistics.verdict import THRESHOLD
from wirelab.trial.labels import Names

FAILED_LEAD = 0.01
"""Share of failed calls from which on they are reported before anything else."""
MAIN_WEIGHT = 1.5
"""The main figure leads unless the logarithm of another difference is larger by this factor:
in a closed load rate and response time are two views of one difference."""


def sentences(trials: Sequence[Trial], threshold: float = THRESHOLD) -> list[str]:
    """What the run found and how certain it is, the largest difference first.

    A difference is stated only where the 95 % interval of the ratio excludes 1 by more
    than ``threshold`` and Holm's method upholds it among the figure's comparisons.
    """
    if not any(trial.status == "measured" for trial in trials):
        return ["No trial measured anything, so nothing is compared.", *_failures(trials)]
    names = Names.of(trial.point for trial in trials)
    closed = [trial for trial in trials if trial.point.load.is_closed]
    opened = [trial for trial in trials if not trial.point.load.is_closed]
    found = _part(closed, RATE, threshold, names) + _part(opened, RESPONSE_P50, threshold, names)
    if not found:
        found = _alone(trials, names)
    if closed and opened:
        found.append(
            "This run has closed and open loads; their figures are never compared with each other."
        )
    if len({trial.point.semantic_class == PROXIED for trial in trials}) > 1:
        found.append(
            "Stacks through a proxy are a semantic class of their own, and are not ranked against "
            "those whose calls go straight to the service."
        )
    failed = [*_failures(trials), *_failed_calls(trials)]
    return [*failed, *found] if _failed_share(trials) >= FAILED_LEAD else [*found, *failed]


def _part(trials: list[Trial], primary: Figure, threshold: float, names: Names) -> list[str]:
    """Sentences on the loads of one kind; ``primary`` is the figure that is reported in full."""
    main = rankings(trials, primary, threshold)
    if not main:
        return []
    others = [figure for figure in (RESPONSE_P50, RESPONSE_P99) if figure is not primary]
    every = [Statements(main, names, main=True)]
    every += [Statements(rankings(trials, f, threshold), names, main=False) for f in others]
    decided = [
        (one.size * (MAIN_WEIGHT if each.main else 1.0), one.text)
        for each in every
        for one in each.decided()
    ]
    return [
        *(text for _, text in sorted(decided, key=lambda each: -each[0])),
        *_joined(
            f"Equivalent within {100.0 * threshold:g} %",
            [part for each in every for part in each.equivalent()],
        ),
        *_joined("Undecided", [part for each in every for part in each.undecided()]),
        *(text for each in every for text in each.not_compared()),
        _together(main, threshold),
    ]


def _joined(head: str, parts: Sequence[str]) -> list[str]:
    """One sentence on all figures, or none."""
    return [f"{head}: {'; '.join(parts)}."] if parts else []


def _together(main: list[Ranking], threshold: float) -> str:
    """What the intervals are, and what does not count."""
    pairs = [
        pair.comparison for ranking in main for pair in ranking.pairs if pair.comparison is not None
    ]
    small = (
        f"Brackets show 95 % intervals; differences of up to {100.0 * threshold:g} % do not count"
        if threshold
        else "Brackets show 95 % intervals"
    )
    kept = sum(1 for comparison in pairs if comparison.found)
    alone = kept + sum(1 for comparison in pairs if comparison.withdrawn)
    if not alone or len(pairs) == 1:
        return f"{small}."
    return (
        f"{small}. Among all {len(pairs)} comparisons Holm's method upholds {kept} of "
        f"{counted(alone, 'difference')} in {NOUN[main[0].figure.name]}; others do not count."
    )


def _alone(trials: Sequence[Trial], names: Names) -> list[str]:
    """No two stacks share a setting: what was measured, and that nothing is compared."""
    found = ["No two stacks share a setting in this run, so none is compared with another."]
    made = [(cell, interval) for cell in cells(trials) if (interval := cell.interval(RATE))]
    if len(made) > EACH_MAX:
        return found
    for cell, interval in made:
        lower = "at least " if any(map(client_bound, cell.measured)) else ""
        bounds = "no interval: one trial"
        if interval.bounds is not None:
            limits = span(interval)
            bounds = f"95 % interval {limits}" if limits else "no spread between trials"
        found.append(
            f"{names.setting(cell.point)}: {names.stacks[cell.point.stack]} made {lower}"
            f"{digits(interval.estimate)} calls/s ({bounds})."
        )
    return found


def _failed_share(trials: Sequence[Trial]) -> float:
    """Of all calls of the windows."""
    calls = sum(trial.result.calls for trial in trials)
    failed = sum(trial.result.errors for trial in trials)
    return failed / calls if calls else 0.0


def _failures(trials: Sequence[Trial]) -> list[str]:
    failed = [trial for trial in trials if trial.status == "failed"]
    if not failed:
        return []
    reasons = Counter(sanitize(trial.reason) for trial in failed)
    reason, count = reasons.most_common(1)[0]
    others = len(reasons) - 1
    more = f", and {others:,} other {plural(others, 'reason')}" if others else ""
    why = f"{counted(count, 'time')}: {reason}{more}"
    return [f"{of_all(len(failed), len(trials), 'trial')} failed ({why})."]


def _failed_calls(trials: Sequence[Trial]) -> list[str]:
    """How many calls failed, by what happened to them."""
    kinds: Counter[str] = Counter()
    for trial in trials:
        kinds.update(trial.result.errors_by_kind)
    failed = sum(trial.result.errors for trial in trials)
    if not failed:
        return []
    calls = sum(trial.result.calls for trial in trials)
    how = f"{of_all(failed, calls, 'call')} failed: {counted_failures(kinds)}."
    where = "Response times of all calls include them with the time until they failed; the tables"
    return [f"{how} {where} also have those of good calls."]
