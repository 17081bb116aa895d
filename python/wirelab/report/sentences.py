"""What was found, in plain sentences, and only what the intervals allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from wirelab.report import label
from wirelab.report.contest import Contest, Pair, contests
from wirelab.report.quantity import digits, plain, span
from wirelab.statistics import (
    RATE,
    RESPONSE_P50,
    RESPONSE_P99,
    THRESHOLD,
    Cell,
    Comparison,
    Figure,
    cells,
)
from wirelab.trial import Trial
from wirelab.verdicts import client_bound

_MORE = {
    "rate": ("made", "times as many calls per second as"),
    "response_p50": ("had a median response time", "times that of"),
    "response_p99": ("had a p99 response time", "times that of"),
}
_NOUN = {
    "rate": "calls per second",
    "response_p50": "median response time",
    "response_p99": "p99 response time",
}


def sentences(trials: Sequence[Trial], threshold: float = THRESHOLD) -> list[str]:
    """What the run found, how sure it is, and what cannot be told; overview first.

    A difference is stated only where the 95 % interval of the ratio excludes 1 by more
    than ``threshold``; how many of them Holm's method upholds together is said beside.
    """
    if not any(trial.status == "measured" for trial in trials):
        return ["Nothing can be told: no trial measured anything.", *_failures(trials)]
    names = label.stacks(trial.point for trial in trials)
    closed = [trial for trial in trials if trial.point.load.get("kind") == "closed"]
    opened = [trial for trial in trials if trial.point.load.get("kind") != "closed"]
    found = _part(closed, RATE, threshold, names) + _part(opened, RESPONSE_P50, threshold, names)
    if not found:
        found = _alone(trials, names)
    if closed and opened:
        found.append(
            "Closed and open loads are both in this run; figures of the one are never "
            "compared with figures of the other."
        )
    return found + _failures(trials)


def _part(
    trials: list[Trial], primary: Figure, threshold: float, names: dict[str, str]
) -> list[str]:
    """Sentences on the loads of one kind: an overview, then one or two per setting."""
    main = contests(trials, primary, threshold)
    if not main:
        return []
    beside = [
        contests(trials, figure, threshold)
        for figure in (RESPONSE_P50, RESPONSE_P99)
        if figure is not primary
    ]
    found = [_overview(main, names, threshold)]
    for index, contest in enumerate(main):
        found.append(_setting(contest, [row[index] for row in beside], names))
    return [*found, _together(main)]


def _overview(main: list[Contest], names: dict[str, str], threshold: float) -> str:
    wins = Counter(names[c.winner.point.stack] for c in main if c.winner is not None)
    barred = sum(1 for contest in main if contest.barred)
    told = [
        f"{name} was ahead of every other stack in {count}" for name, count in sorted(wins.items())
    ]
    left = len(main) - sum(wins.values()) - barred
    if left:
        told.append(f"in {left} no stack was found ahead of all others")
    if barred:
        told.append(f"in {barred} the client was the limit of at least one stack")
    if not wins:
        told.insert(0, "no stack was found to be the fastest in any of them")
    unit = _NOUN[main[0].figure.name]
    where = f"{len(main)} setting{'s' * (len(main) > 1)}"
    limit = f"differences of less than {100.0 * threshold:g} % do not count"
    return f"By {unit}, in {where}: {'; '.join(told)} ({limit})."


def _together(main: list[Contest]) -> str:
    """What is left when all comparisons are judged as one family."""
    pairs = [pair for contest in main for pair in contest.pairs if pair.comparison is not None]
    found = [pair for pair in pairs if pair.leader is not None]
    kept = sum(1 for pair in found if pair.upheld)
    return (
        f"Each comparison stands on its own 95 % interval. Of {len(pairs)} comparisons of "
        f"{_NOUN[main[0].figure.name]}, {len(found)} found a difference, and Holm's method "
        f"upholds {kept} of these for all together."
    )


def _setting(contest: Contest, beside: list[Contest], names: dict[str, str]) -> str:
    where = label.setting(contest.point)
    ranked = [cell for cell in contest.cells if cell not in (*contest.barred, *contest.empty)]
    notes = _left_out(contest, names)
    if len(ranked) < 2:
        return f"{where}: no ranking. {notes}"
    if len(ranked) > 2 or notes:
        return f"{where}: {_ranking(contest, ranked, names)} {notes}".strip()
    pair = contest.pairs[0]
    first = pair.first
    if pair.comparison is not None:
        first, _, _ = _upwards(pair, pair.comparison, contest.figure)
    parts = [_two(contest.figure, pair, names)]
    parts += [_beside(other.figure, other.pairs[0], first, names) for other in beside]
    return f"{where}: {'; '.join(parts)}."


def _left_out(contest: Contest, names: dict[str, str]) -> str:
    """Stacks that take no part in the ranking, and why; empty when all do."""
    told = []
    if contest.empty:
        missing = " and ".join(names[cell.point.stack] for cell in contest.empty)
        told.append(f"No trial of {missing} has this figure.")
    bounds = []
    for cell in contest.barred:
        count = sum(map(client_bound, cell.measured))
        rate = _calls(cell)
        trials = f"{count} of {len(cell.measured)} trials"
        bounds.append(f"{names[cell.point.stack]} at least {rate} ({trials})")
    if bounds:
        told.append(f"Client-bound, so a lower bound and not ranked: {', '.join(bounds)}.")
    return " ".join(told)


def _two(figure: Figure, pair: Pair, names: dict[str, str]) -> str:
    comparison = pair.comparison
    if comparison is None or comparison.verdict == "cannot be told":
        reason = "a side has no value" if comparison is None else comparison.reason
        return f"{_NOUN[figure.name]} cannot be told apart ({reason})"
    first, second, comparison = _upwards(pair, comparison, figure)
    if not comparison.found:
        return (
            f"no difference found in {_NOUN[figure.name]} between "
            f"{names[first.point.stack]} and {names[second.point.stack]} ({_ratio(comparison)})"
        )
    verb, than = _MORE[figure.name]
    interval = comparison.ratio
    return (
        f"{names[first.point.stack]} {verb} {digits(interval.estimate)} {than} "
        f"{names[second.point.stack]} (95 % interval {span(interval)})"
    )


def _upwards(pair: Pair, comparison: Comparison, figure: Figure) -> tuple[Cell, Cell, Comparison]:
    """The pair with the better side first, so that sentences tell who is ahead."""
    if (comparison.ratio.estimate >= 1.0) == (figure.better == "higher"):
        return pair.first, pair.second, comparison
    return pair.second, pair.first, comparison.inverted()


def _beside(figure: Figure, pair: Pair, first: Cell, names: dict[str, str]) -> str:
    """A further figure of the pair, ``first`` over the other."""
    comparison = pair.comparison
    if comparison is None or comparison.verdict == "cannot be told":
        return f"{_NOUN[figure.name]} cannot be told apart"
    if pair.first is not first:
        comparison = comparison.inverted()
    if not comparison.found:
        return f"no difference found in {_NOUN[figure.name]} ({_ratio(comparison)})"
    interval = comparison.ratio
    return (
        f"{names[first.point.stack]}'s {_NOUN[figure.name]} was "
        f"{digits(interval.estimate)} times as long (95 % interval {span(interval)})"
    )


def _ratio(comparison: Comparison) -> str:
    return f"ratio {digits(comparison.ratio.estimate)}, 95 % interval {span(comparison.ratio)}"


def _ranking(contest: Contest, ranked: list[Cell], names: dict[str, str]) -> str:
    """The best estimate among several stacks, and against whom it is really ahead."""
    noun = _NOUN[contest.figure.name]
    sign = -1.0 if contest.figure.better == "higher" else 1.0
    ordered = sorted(ranked, key=lambda cell: sign * _estimate(cell, contest.figure))
    best, others = ordered[0], ordered[1:]
    ahead: list[str] = []
    level: list[str] = []
    for cell in others:
        pair = contest.between(best, cell)
        text = f"{names[cell.point.stack]} ({_times(pair, best)})"
        (ahead if contest.ahead(pair) is best else level).append(text)
    name = names[best.point.stack]
    if not ahead:
        return f"no difference found in {noun} between {name} and {', '.join(level)}."
    extreme = "highest" if contest.figure.better == "higher" else "lowest"
    against = f"{name} had the {extreme} {noun}: a difference was found against {', '.join(ahead)}"
    return f"{against}; none against {', '.join(level)}." if level else f"{against}."


def _calls(cell: Cell) -> str:
    interval = cell.interval(RATE)
    return "no call" if interval is None else f"{digits(interval.estimate)} calls/s"


def _times(pair: Pair, best: Cell) -> str:
    if pair.comparison is None or pair.comparison.verdict == "cannot be told":
        return "cannot be told"
    comparison = pair.comparison if pair.first is best else pair.comparison.inverted()
    return f"{digits(comparison.ratio.estimate)} times, {span(comparison.ratio)}"


def _estimate(cell: Cell, figure: Figure) -> float:
    interval = cell.interval(figure)
    return 0.0 if interval is None else interval.estimate


def _alone(trials: Sequence[Trial], names: dict[str, str]) -> list[str]:
    """No two stacks share a setting: say what was measured, and that nothing is compared."""
    found = ["No two stacks share a setting in this run, so none is compared with another."]
    for cell in cells(trials):
        interval = cell.interval(RATE)
        if interval is None:
            continue
        lower = "at least " if any(map(client_bound, cell.measured)) else ""
        bounds = "no interval: one trial" if interval.bounds is None else _absolute(cell)
        found.append(
            f"{label.setting(cell.point)}: {names[cell.point.stack]} made {lower}"
            f"{_calls(cell)} ({bounds})."
        )
    return found


def _absolute(cell: Cell) -> str:
    interval = cell.interval(RATE)
    low, high = (interval.bounds or (0.0, 0.0)) if interval else (0.0, 0.0)
    return f"95 % interval {digits(low)} to {digits(high)} calls per second"


def _failures(trials: Sequence[Trial]) -> list[str]:
    failed = [trial for trial in trials if trial.status == "failed"]
    if not failed:
        return []
    reasons = Counter(plain(trial.reason) for trial in failed)
    reason, count = reasons.most_common(1)[0]
    more = "" if len(reasons) == 1 else f", and {len(reasons) - 1} other reasons"
    return [f"{len(failed)} of {len(trials)} trials failed ({count} times: {reason}{more})."]
