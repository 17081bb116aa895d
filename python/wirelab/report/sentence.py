"""What was found, in a few plain sentences, and only what the intervals allow.

The main finding leads; settings that say the same share a sentence. The ratio of every
single pair stands in the page's table of comparisons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from math import log

from wirelab.counting import counted, of_all, plural
from wirelab.report.contest import Contest, contests
from wirelab.report.label import Names, listed
from wirelab.report.outcome import Kind, Outcome, best_first, outcome
from wirelab.report.quantity import digits, plain, quantity, span
from wirelab.statistics import (
    RATE,
    RESPONSE_P50,
    RESPONSE_P99,
    THRESHOLD,
    Cell,
    Figure,
    Interval,
    cells,
)
from wirelab.trial import Point, Trial
from wirelab.verdicts import client_bound

EACH_MAX = 3
"""Settings of one sentence that are told one by one; beyond, the least and the most."""

REPEATS_FEW = 3
"""Trials of a cell up to which Student's factor (12.7 at two, 4.3 at three) and not the spread
makes an interval wide."""

_NOUN = {
    "rate": "calls per second",
    "response_p50": "median response time",
    "response_p99": "p99 response time",
}
_MORE = {"higher": "more", "lower": "a shorter"}


def sentences(trials: Sequence[Trial], threshold: float = THRESHOLD) -> list[str]:
    """What the run found, how sure it is, and what cannot be told; the main finding first.

    A difference is stated only where the 95 % interval of the ratio excludes 1 by more
    than ``threshold`` and Holm's method upholds it beside the figure's other comparisons;
    what it does not uphold is said to be withdrawn.
    """
    if not any(trial.status == "measured" for trial in trials):
        return ["Nothing can be told: no trial measured anything.", *_failures(trials)]
    names = Names.of(trial.point for trial in trials)
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


def _part(trials: list[Trial], primary: Figure, threshold: float, names: Names) -> list[str]:
    """Sentences on the loads of one kind: the primary figure, then the others in one each."""
    main = contests(trials, primary, threshold)
    if not main:
        return []
    told = _Main(main, names, threshold).told()
    for figure in (RESPONSE_P50, RESPONSE_P99):
        if figure is not primary:
            told.append(_beside(contests(trials, figure, threshold), names))
    return [*told, *_few(main, threshold), _together(main, threshold)]


class _Main:
    """The sentences on the primary figure."""

    def __init__(self, every: list[Contest], names: Names, threshold: float) -> None:
        self.outcomes = [outcome(contest) for contest in every]
        self.names = names
        self.beyond = f" beyond {100.0 * threshold:g} %" if threshold else ""
        self.noun = _NOUN[every[0].figure.name]
        self.settings = len(every)

    def told(self) -> list[str]:
        """Who was ahead where; then where nothing was found, and what is not compared."""
        said: list[str] = []
        kinds: tuple[tuple[Kind, Callable[[list[Outcome]], str]], ...] = (
            ("won", self._won),
            ("level", self._level),
            ("withdrawn", self._withdrawn),
            ("open", self._open),
            ("untold", self._untold),
            ("barred", self._barred),
        )
        for kind, sentence in kinds:
            said += map(sentence, _grouped(self.outcomes, kind))
        return said + self._empty()

    def _won(self, group: list[Outcome]) -> str:
        figure = group[0].contest.figure
        ahead = f"{'made' if figure is RATE else 'had'} {_MORE[figure.better]} {self.noun}"
        return f"{_winner(group, ahead, self.settings, self.names)}."

    def _level(self, group: list[Outcome]) -> str:
        a, b = (self.names.stacks[who] for who in group[0].who)
        return (
            f"No difference{self.beyond} in {self.noun} was found between "
            f"{a} and {b} {self._where(group, 'any of the')}: {_reach(group, a, b)}."
        )

    def _withdrawn(self, group: list[Outcome]) -> str:
        a, b = (self.names.stacks[who] for who in group[0].who)
        each = "each of these" if len(group) > 1 else "this"
        return (
            f"No difference in {self.noun} is claimed between {a} and {b} "
            f"{self._where(group, 'any of the')}: {_reach(group, a, b)}; {each} excludes 1 alone, "
            "but not beside the run's other comparisons (Holm)."
        )

    def _open(self, group: list[Outcome]) -> str:
        said = f"No stack was ahead of all others in {self.noun} {self._where(group, 'any of the')}"
        if len(group) > EACH_MAX:
            return f"{said}."
        return f"{said}: {'; '.join(self._ahead_of_some(found) for found in group)}."

    def _ahead_of_some(self, found: Outcome) -> str:
        """The best estimate, and whom it could not be told apart from."""
        contest = found.contest
        ranked = best_first(list(contest.cells), contest.figure)
        if not ranked:
            return "none has a value"
        best, *others = ranked
        level = [c for c in others if contest.ahead(contest.between(best, c)) is not best]
        extreme = "highest" if contest.figure.better == "higher" else "shortest"
        at = f" at {self.names.settings([contest.point])}" if self.settings > 1 else ""
        rest = f"not told apart from {self._stacks(level)}" if level else "the rest has no value"
        return f"{self._stacks([best])} had the {extreme}{at}, {rest}"

    def _untold(self, group: list[Outcome]) -> str:
        a, b = (self.names.stacks[who] for who in group[0].who)
        reasons = Counter(found.comparison.reason for found in group if found.comparison)
        return (
            f"{a} and {b} cannot be told apart in {self.noun} {self._where(group, 'all')}: "
            f"{reasons.most_common(1)[0][0]}."
        )

    def _barred(self, group: list[Outcome]) -> str:
        limited = [cell for found in group for cell in found.contest.barred]
        if len(limited) > EACH_MAX:
            counts = Counter(self.names.stacks[cell.point.stack] for cell in limited)
            bounds = [f"{name} in {count} of them" for name, count in counts.items()]
        else:
            bounds = [self._bound(cell) for cell in limited]
        return (
            f"No ranking {self._where(group, 'any of the')}: the client was the limit of "
            f"{listed(bounds)}, whose rates are lower bounds."
        )

    def _bound(self, cell: Cell) -> str:
        count = sum(map(client_bound, cell.measured))
        interval = cell.interval(RATE)
        rate = "no call" if interval is None else quantity(interval.estimate, RATE.unit)
        of = len(cell.measured)
        return f"{self._stacks([cell])} (at least {rate}, in {of_all(count, of, 'trial')})"

    def _empty(self) -> list[str]:
        """Stacks without a value, whatever else was found."""
        groups: dict[str, list[Outcome]] = {}
        for found in self.outcomes:
            if found.contest.empty:
                groups.setdefault(self._stacks(found.contest.empty), []).append(found)
        return [
            f"No trial measured {self.noun} of {who} {self._where(group, 'any of the')}."
            for who, group in groups.items()
        ]

    def _stacks(self, every: Sequence[Cell]) -> str:
        return listed([self.names.stacks[cell.point.stack] for cell in every])

    def _where(self, group: Sequence[Outcome], every: str) -> str:
        """``in 2 of 6 settings (...)``; ``every`` says it where these are all settings."""
        shown = self.names.settings(_points(group))
        if self.settings == 1:
            return f"at {shown}"
        if len(group) == self.settings:
            return f"in {every} {len(group)} settings"
        return f"in {len(group)} of {self.settings} settings ({shown})"


def _grouped(outcomes: Sequence[Outcome], kind: Kind) -> list[list[Outcome]]:
    """Outcomes of a kind by the stacks that they are about, the most frequent first."""
    groups: dict[tuple[str, ...], list[Outcome]] = {}
    for found in outcomes:
        if found.kind == kind:
            groups.setdefault(found.who, []).append(found)
    return sorted(groups.values(), key=len, reverse=True)


def _points(group: Sequence[Outcome]) -> list[Point]:
    return [found.contest.point for found in group]


def _winner(group: list[Outcome], ahead: str, settings: int, names: Names) -> str:
    """``a made more calls per second than b in 1 of 6 settings: 1.93 times (...) at ...``."""
    winner, *loser = (names.stacks[who] for who in group[0].who)
    than = loser[0] if loser else "every other stack"
    where = ""
    if settings > 1:
        where = f" in {'all' if len(group) == settings else f'{len(group)} of'} {settings} settings"
    if EACH_MAX < len(group) < settings:
        where += f" ({names.settings(_points(group))})"
    return f"{winner} {ahead} than {than}{where}: {_ratios(group, names)}"


def _ratios(group: Sequence[Outcome], names: Names) -> str:
    """The winner's ratio to the next best, setting by setting, or the least and the most."""
    told = [(found, found.comparison.ratio) for found in group if found.comparison]
    if len(told) <= EACH_MAX:
        return ", ".join(_times(*each, names, first=not place) for place, each in enumerate(told))
    ordered = sorted(told, key=lambda each: abs(log(each[1].estimate)))
    least = _times(*ordered[0], names, first=True)
    return f"from {least} to {_times(*ordered[-1], names, first=False)}"


def _times(found: Outcome, ratio: Interval, names: Names, *, first: bool) -> str:
    of = ""
    if len(found.who) == 1 and found.next is not None:
        of = f" that of the next, {names.stacks[found.next.point.stack]},"
    level = "95 % interval " if first else ""
    where = names.settings([found.contest.point])
    return f"{digits(ratio.estimate)} times{of} ({level}{span(ratio)}) at {where}"


def _reach(group: Sequence[Outcome], a: str, b: str) -> str:
    """The ratio of one stack's figure to the other's with its interval, or how far the
    intervals of several reach."""
    ratios = [found.comparison.ratio for found in group if found.comparison]
    if len(ratios) == 1:
        return f"{a} over {b} {digits(ratios[0].estimate)}, 95 % interval {span(ratios[0])}"
    ends = list(chain.from_iterable(ratio.bounds or () for ratio in ratios))
    return f"{a} over {b} within {digits(min(ends))} to {digits(max(ends))} (95 % intervals)"


def _beside(every: list[Contest], names: Names) -> str:
    """A further figure in one sentence."""
    outcomes = [outcome(contest) for contest in every]
    told = [_winner(group, "shorter", len(every), names) for group in _grouped(outcomes, "won")]
    words: dict[Kind, str] = {
        "level": "no difference found",
        "withdrawn": "no difference upheld",
        "open": "no stack ahead of all others",
        "untold": "cannot be told",
        "empty": "cannot be told",
        "barred": "not ranked",
    }
    rest = Counter(words[found.kind] for found in outcomes if found.kind != "won")
    if len(every) == 1:
        told += list(rest)
    else:
        several = [f"{word} in {count}" for word, count in rest.items()]
        if several:
            told.append(", ".join(several) + ("" if told else f" of {len(every)} settings"))
    noun = _NOUN[every[0].figure.name]
    return f"{noun[0].upper()}{noun[1:]}: {'; '.join(told)}."


def _few(main: Sequence[Contest], threshold: float) -> list[str]:
    """Where pairs lie apart and were measured too seldom to be told apart."""
    apart = [
        pair
        for contest in main
        if not contest.barred
        for pair in contest.pairs
        if pair.comparison is not None
        and not pair.comparison.found
        and pair.comparison.ratio.bounds is not None
        and abs(log(pair.comparison.ratio.estimate)) > log(1.0 + threshold)
    ]
    least = min((len(c.measured) for pair in apart for c in (pair.first, pair.second)), default=0)
    if not 1 < least <= REPEATS_FEW:
        return []
    few = counted(least, "trial")
    told = f"{few} of a cell make wide intervals: more `repeats` may tell apart what is not"
    return [f"{told} told apart here."]


def _together(main: list[Contest], threshold: float) -> str:
    """What does not count, and what is left when all comparisons are judged together."""
    pairs = [pair for contest in main for pair in contest.pairs if pair.comparison is not None]
    found = [pair for pair in pairs if pair.upheld or pair.withdrawn]
    small = f"Differences of up to {100.0 * threshold:g} % do not count."
    if not found or len(pairs) == 1:
        return small
    kept = sum(1 for pair in found if pair.upheld)
    return (
        f"{small} Of {counted(len(found), 'difference')} that a 95 % interval shows on its own, "
        f"Holm's method upholds {kept} among all {len(pairs)} comparisons; only these count."
    )


def _alone(trials: Sequence[Trial], names: Names) -> list[str]:
    """No two stacks share a setting: say what was measured, and that nothing is compared."""
    found = ["No two stacks share a setting in this run, so none is compared with another."]
    made = [(cell, interval) for cell in cells(trials) if (interval := cell.interval(RATE))]
    if len(made) > EACH_MAX:
        return found
    for cell, interval in made:
        lower = "at least " if any(map(client_bound, cell.measured)) else ""
        bounds = "no interval: one trial"
        if interval.bounds is not None:
            bounds = f"95 % interval {span(interval)}"
        found.append(
            f"{names.setting(cell.point)}: {names.stacks[cell.point.stack]} made {lower}"
            f"{digits(interval.estimate)} calls/s ({bounds})."
        )
    return found


def _failures(trials: Sequence[Trial]) -> list[str]:
    failed = [trial for trial in trials if trial.status == "failed"]
    if not failed:
        return []
    reasons = Counter(plain(trial.reason) for trial in failed)
    reason, count = reasons.most_common(1)[0]
    others = len(reasons) - 1
    more = f", and {others:,} other {plural(others, 'reason')}" if others else ""
    told = f"{counted(count, 'time')}: {reason}{more}"
    return [f"{of_all(len(failed), len(trials), 'trial')} failed ({told})."]
