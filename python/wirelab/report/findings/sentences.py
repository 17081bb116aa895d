"""What was found, in a few plain sentences, and only what the intervals allow.

The first answers the question: the main figure's verdict, then the most useful difference in
another figure. Further differences follow, the largest first; then equivalences, then what is
undecided with what would decide it, then what is not compared. The page's table of comparisons has
every pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from wirelab.checks import hosts
from wirelab.checks.load import client_bound
from wirelab.comparisons import outputs
from wirelab.comparisons.findings import DESCRIBED
from wirelab.comparisons.gate import read_gate
from wirelab.explain.effect import noun, priority
from wirelab.format.counting import format_count, format_failures, of_all, plural
from wirelab.format.numbers import digits, sanitize, span
from wirelab.format.units import format_minutes
from wirelab.records.trial import PROXIED, Trial
from wirelab.report.findings.ranking import Ranking, rankings
from wirelab.report.findings.statements import EACH_MAX, Statements
from wirelab.run.manifest import Comparison as Asked
from wirelab.statistics.cell import cells
from wirelab.statistics.comparison import ALPHA
from wirelab.statistics.figure import RATE, RESPONSE_P50, RESPONSE_P99, Figure
from wirelab.statistics.repeats import REPEATS_MAX
from wirelab.statistics.verdict import THRESHOLD
from wirelab.trial.labels import Names

FAILED_LEAD = 0.01
"""Share of failed calls from which on they are reported before anything else."""


def sentences(
    trials: Sequence[Trial], threshold: float = THRESHOLD, asked: Asked | None = None
) -> list[str]:
    """What the run found and how certain it is, the answer first. ``asked`` is the question of
    ``wirelab compare``, which its own rule answers.

    A difference is stated only where the 95 % interval of the ratio excludes 1 by more
    than ``threshold`` and Holm's method confirms it among the figure's comparisons.
    """
    if not any(trial.status == "measured" for trial in trials):
        return ["No trial measured anything, so nothing is compared.", *_failures(trials)]
    made = None if asked is None else read_gate(trials, asked)
    if asked is not None and made is not None:
        found = outputs.sentences(made, asked.names)
        return [*found, *_failures(trials), *_describe_failed_calls(trials)]
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
    failed = [*_failures(trials), *_describe_failed_calls(trials), *_describe_hosts(trials)]
    return [*failed, *found] if _share_of_failures(trials) >= FAILED_LEAD else [*found, *failed]


def _part(trials: list[Trial], primary: Figure, threshold: float, names: Names) -> list[str]:
    """Sentences on the loads of one kind; ``primary`` is the figure that is reported in full."""
    main = rankings(trials, primary, threshold)
    if not main:
        return []
    known = [one for one in DESCRIBED if one not in (primary, RATE) and _is_known(one, trials)]
    first = Statements(main, names, main=True)
    others = [Statements(rankings(trials, f, threshold), names, main=False) for f in known]
    answer = first.answer(threshold)
    # The times of a closed load repeat what its rate shows.
    repeated = (RESPONSE_P50, RESPONSE_P99) if primary is RATE and first.list_decided() else ()
    useful = _most_useful(others, repeated)
    said = {answer, useful}
    every = [first, *others]
    decided = [one for each in every for one in each.list_decided() if one.text not in said]
    return [
        " ".join(filter(None, (answer, useful))),
        *(one.text for one in sorted(decided, key=lambda one: -one.size)),
        *_join(
            f"Equivalent within {100.0 * threshold:g} %",
            [part for each in every for part in each.equivalent()],
        ),
        *_describe_undecided(every, trials),
        *(text for each in every for text in each.not_compared() if text not in said),
        _together(main, threshold),
    ]


def _is_known(figure: Figure, trials: Sequence[Trial]) -> bool:
    """Whether there is anything to say of it; that no trial has a p99 is worth a sentence."""
    return figure.unit == "ns" or any(figure.of(trial) for trial in trials)


def _most_useful(others: Sequence[Statements], repeated: Sequence[Figure]) -> str:
    """The difference in another figure that is of most use, one of ``repeated`` only where there is
    no other; empty where there is none. The choice of the best figure is paid for: the figures'
    least p-values are one family more of Holm's method, and what is stated must be as small as its
    figure's must be."""
    tested = [(p, each) for each in others if (p := each.least_p()) is not None]
    tested.sort(key=lambda one: one[0])
    confirmed = [
        (each.figure in repeated, priority(each.figure), -one.size, one.text)
        for rank, (_, each) in enumerate(tested)
        for one in each.differences()
        if one.p_value * (len(tested) - rank) < ALPHA
    ]
    return min(confirmed)[-1] if confirmed else ""


def _describe_undecided(every: Sequence[Statements], trials: Sequence[Trial]) -> list[str]:
    """One sentence on all figures, and what may decide them."""
    parts = [part for each in every for part in each.describe_undecided()]
    needed = [number for each in every for number in each.list_repeats_needed()]
    if not parts:
        return []
    return [f"Undecided: {'; '.join(parts)}. {_suggest_repeats(needed, trials)}"]


def _suggest_repeats(needed: Sequence[int | None], trials: Sequence[Trial]) -> str:
    """```--repeats 12` (8 more, about 3 min) may decide 2 of 3.``"""
    known = [number for number in needed if number is not None]
    if not known:
        return f"More than {REPEATS_MAX} more repeats would be needed."
    made = max(len(cell.trials) for cell in cells(trials))
    more = max(known)
    seconds = sum(trial.seconds for trial in trials) / made * more
    what = "all of them" if len(needed) > 1 else "it"
    if len(known) < len(needed):
        what = f"{len(known)} of {len(needed)}"
    time = format_minutes(seconds)
    return f"`--repeats {made + more}` ({more} more, about {time}) may decide {what}."


def _join(head: str, parts: Sequence[str]) -> list[str]:
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
        f"{small}. Among all {len(pairs)} comparisons Holm's method confirms {kept} of "
        f"{format_count(alone, 'difference')} in {noun(main[0].figure)}; others do not count."
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


def _share_of_failures(trials: Sequence[Trial]) -> float:
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
    why = f"{format_count(count, 'time')}: {reason}{more}"
    return [f"{of_all(len(failed), len(trials), 'trial')} failed ({why})."]


def _describe_hosts(trials: Sequence[Trial]) -> list[str]:
    """Hosts of a farm that differ from the others."""
    check = hosts.check(trials)
    if check is None or check.outcome != "marked":
        return []
    return [f"The hosts of the farm differ: {check.reason}."]


def _describe_failed_calls(trials: Sequence[Trial]) -> list[str]:
    """How many calls failed, by what happened to them."""
    kinds: Counter[str] = Counter()
    for trial in trials:
        kinds.update(trial.result.errors_by_kind)
    failed = sum(trial.result.errors for trial in trials)
    if not failed:
        return []
    calls = sum(trial.result.calls for trial in trials)
    how = f"{of_all(failed, calls, 'call')} failed: {format_failures(kinds)}."
    where = "Response times of all calls include them with the time until they failed; the tables"
    return [f"{how} {where} also have those of good calls."]
