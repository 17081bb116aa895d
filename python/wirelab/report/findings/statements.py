"""What was found in one figure: who was ahead, who is equivalent, what is undecided and what
would decide it, and what is not compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import log
from typing import Literal

from wirelab.checks.load import client_bound
from wirelab.explain.effect import (
    article,
    capitalize_first,
    choose_conjunction,
    choose_wording,
    effect,
    noun,
    side,
    verb,
)
from wirelab.format.counting import format_count, of_all
from wirelab.format.numbers import quantity, ratio_limits
from wirelab.records.trial import Point
from wirelab.report.findings.ranking import Pair, Ranking
from wirelab.statistics.cell import Cell
from wirelab.statistics.comparison import Comparison
from wirelab.statistics.figure import RATE, RESPONSE_P99, Figure
from wirelab.statistics.interval import Interval
from wirelab.trial.labels import Names, join_words

EACH_MAX = 3
"""Settings of one sentence that are named one by one; beyond, the least and the most."""


@dataclass(frozen=True)
class Decided:
    """A difference in words, and its size as a logarithm, which orders sentences."""

    size: float
    text: str
    p_value: float = 0.0
    """The largest of what it states, adjusted among the figure's comparisons."""


class Statements:
    """What was found in one figure. Whole sentences on differences and on what is not
    compared; on the others the part of a sentence that all figures share. ``main``: the
    figure's settings are named, and the sizes of what is undecided."""

    def __init__(self, every: Sequence[Ranking], names: Names, *, main: bool) -> None:
        self.outcomes = [outcome(ranking) for ranking in every]
        self.figure: Figure = every[0].figure
        self.noun = noun(self.figure)
        if self.figure.unit == "ns" and any(cell.errors for one in every for cell in one.cells):
            self.noun += " of all calls"
        self.words = choose_wording(self.figure)
        self.verb = verb(self.figure)
        self.article = article(self.figure)
        self.names = names
        self.main = main

    def answer(self, threshold: float) -> str:
        """The sentence that answers which stack is ahead in this figure."""
        decided = max(self.list_decided(), key=lambda one: one.size, default=None)
        if decided is not None:
            return decided.text
        level, unknown = self._of_kinds("equivalent", "tied"), self._of_kinds("undecided", "open")
        if not level and not unknown:
            return next(iter(self.not_compared()), "")
        head = capitalize_first(self.noun)
        within = f"equivalent within {100.0 * threshold:g} %"
        if level and unknown:
            of = len(self.outcomes)
            return (
                f"{head}: {within} in {len(level)} of {of} settings, undecided in {len(unknown)}."
            )
        verdict = "undecided" if unknown else within
        if unknown and all(found.kind == "open" for found in unknown):
            verdict += f" which stack {self._most()}"
        return f"{head}: {verdict}{self._ratios(level or unknown, threshold)}."

    def _of_kinds(self, *kinds: Kind) -> list[Outcome]:
        return [found for found in self.outcomes if found.kind in kinds]

    def _ratios(self, group: Sequence[Outcome], threshold: float) -> str:
        """`` (grpc over rest 0.860 to 1.10)``, the least and the most of several settings; empty
        where they have several pairs or no intervals."""
        where = f" in all {len(group)} settings" if len(group) > 1 else ""
        found = [found.comparison for found in group if len(found.ranking.pairs) == 1]
        ratios = [comparison.ratio for comparison in found if comparison is not None]
        if len(ratios) < len(group) or not all(ratio.bounds for ratio in ratios):
            return where
        first, second = (self.names.stacks[who] for who in group[0].who)
        ends = list(chain.from_iterable(ratio.bounds or () for ratio in ratios))
        limits = ratio_limits(min(ends), max(ends), threshold)
        return f"{where} ({first} over {second} {limits})"

    def list_decided(self) -> list[Decided]:
        """Differences; where no stack is ahead, the largest of the main figure."""
        won = list(map(self._describe_lead, self._group("won")))
        return self.differences() if self.main else won

    def differences(self) -> list[Decided]:
        """The same, with the largest of any figure."""
        largest = self._largest()
        return [*map(self._describe_lead, self._group("won")), *([largest] if largest else [])]

    def list_repeats_needed(self) -> list[int | None]:
        """Of the settings whose best is undecided: how many more repeats may decide each; None
        where no sensible number does."""
        return [found.further_repeats for found in self._of_kinds("undecided", "open")]

    def least_p(self) -> float | None:
        """The least p-value, adjusted among the figure's comparisons; None without any."""
        every = [pair.comparison for one in self.outcomes for pair in one.ranking.pairs]
        known = [one.p_holm for one in every if one is not None and one.p_holm is not None]
        return min(known, default=None)

    def equivalent(self) -> list[str]:
        """``calls per second of a and b in 2 of 6 settings, 0.40 % fewer to 1.2 % more``."""
        level = [f"{self._about(group)}{self._reach(group)}" for group in self._group("equivalent")]
        return level + [
            f"{self._of(group)}, ahead of all others, {self._describe_settings(group)}".rstrip(", ")
            for group in self._group("tied")
        ]

    def describe_undecided(self) -> list[str]:
        """``calls per second of a and b in 4 of 6 settings, 51 % fewer to 79 % more``."""
        pairs = [
            f"{self._about(group)}{self._reach(group)}{self._explain(group)}"
            for group in self._group("undecided")
        ]
        return pairs + [self._open(group) for group in self._group("open")]

    def not_compared(self) -> list[str]:
        """Sentences."""
        if self.main:
            return [*map(self._describe_barred, self._group("barred")), *self._empty()]
        lacking = [found for found in self.outcomes if any(map(_has_rate, found.ranking.empty))]
        if not lacking:
            return []
        where = "" if len(self.outcomes) == 1 else f" {self._describe_settings(lacking)}"
        few = "; it needs 1,000 calls per trial" if self.figure is RESPONSE_P99 else ""
        return [f"Not every stack has {self.article}{self.noun}{where}{few}."]

    def _group(self, kind: Kind) -> list[list[Outcome]]:
        """Outcomes of a kind by the stacks that they are about, the most frequent first."""
        groups: dict[tuple[str, ...], list[Outcome]] = {}
        for found in self.outcomes:
            if found.kind == kind:
                groups.setdefault(found.who, []).append(found)
        return sorted(groups.values(), key=len, reverse=True)

    def _describe_lead(self, group: list[Outcome]) -> Decided:
        found = [(one, one.comparison.ratio) for one in group if one.comparison]
        found.sort(key=lambda each: -abs(log(each[1].estimate)))
        winner, *loser = (self.names.stacks[who] for who in group[0].who)
        against = loser[0] if loser else "every other stack"
        if len(found) == 1 and loser:
            where = f"at {self.names.settings([found[0][0].ranking.point])}"
            text = f"{winner} {self.verb} {self._size(found[0][1])} {against} {where}"
        else:
            better = self.words.up if self.figure.better == "higher" else self.words.down
            more = f"{self.article}{better}"
            settings = f" {self._describe_settings(group)}" if len(self.outcomes) > 1 else ""
            ahead = f"{self.verb} {more} {self.noun} than {against}{settings}"
            text = f"{winner} {ahead}: {self._each(found)}"
        p = max((one.comparison.p_holm or 0.0 for one in group if one.comparison), default=0.0)
        return Decided(abs(log(found[0][1].estimate)), f"{text}.", p)

    def _size(self, ratio: Interval) -> str:
        """``93 % more calls per second (81 % to 106 %) than``, ``a 36 % shorter ... than``."""
        return f"{self.article}{effect(ratio, self.words, self.noun)} {choose_conjunction(ratio)}"

    def _each(self, found: Sequence[tuple[Outcome, Interval]]) -> str:
        """The winner's ratio to the next best, setting by setting, or the most and the least."""
        if len(found) <= EACH_MAX:
            return ", ".join(self._describe_place(*each) for each in found)
        return f"from {self._describe_place(*found[0])} to {self._describe_place(*found[-1])}"

    def _describe_place(self, found: Outcome, ratio: Interval) -> str:
        next_best = ""
        if len(found.who) == 1 and found.next is not None:
            stack = self.names.stacks[found.next.point.stack]
            next_best = f" {choose_conjunction(ratio)} the next, {stack},"
        where = self.names.settings([found.ranking.point])
        return f"{effect(ratio, self.words)}{next_best} at {where}"

    def _largest(self) -> Decided | None:
        """The largest difference where no stack is ahead of all others."""
        found = [
            (ahead, pair, pair.comparison, one.ranking.point)
            for one in self.outcomes
            if one.kind in ("open", "tied")
            for pair in one.ranking.pairs
            if pair.comparison is not None and (ahead := one.ranking.ahead(pair)) is not None
        ]
        if not found:
            return None
        best = max(found, key=lambda each: abs(log(each[2].ratio.estimate)))
        ahead, pair, comparison, point = best
        behind = pair.second if ahead is pair.first else pair.first
        ratio = (comparison if ahead is pair.first else comparison.invert()).ratio
        text = f"{self._stacks([ahead])} {self.verb} {self._size(ratio)} {self._stacks([behind])}"
        of = f", the largest of {len(found)} such differences" if len(found) > 1 else ""
        where = self.names.settings([point])
        size, p = abs(log(ratio.estimate)), comparison.p_holm or 0.0
        return Decided(size, f"{text} at {where}{of}.", p)

    def _most(self) -> str:
        """``made the most``, ``had the shortest``."""
        superlative = {"more": "most", "fewer": "fewest", "shorter": "shortest", "less": "least"}
        better = self.words.up if self.figure.better == "higher" else self.words.down
        return f"{self.verb} the {superlative[better]}"

    def _open(self, group: list[Outcome]) -> str:
        which = " ".join(
            filter(
                None, (f"which stack {self._most()} {self.noun}", self._describe_settings(group))
            )
        )
        if self.main and len(group) <= EACH_MAX:
            return f"{which}: {', '.join(map(self._ahead_of_some, group))}"
        return f"{which}{self._explain(group)}"

    def _ahead_of_some(self, found: Outcome) -> str:
        """The best estimate, and what it is equivalent to or undecided against."""
        ranking = found.ranking
        ranked = ranking.best_first
        if not ranked:
            return "none has a value"
        best, *others = ranked
        at = f" at {self.names.settings([ranking.point])}" if len(self.outcomes) > 1 else ""
        parts = [f"{self._stacks([best])} had the best estimate{at}"]
        verdicts = [(c, ranking.find_pair(best, c).comparison) for c in others]
        for word, verdict in (("equivalent to", "equivalent"), ("undecided against", "undecided")):
            same = [c for c, one in verdicts if one is not None and one.verdict == verdict]
            parts += [f"{word} {self._stacks(same)}"] if same else []
        return f"{', '.join(parts)}{self._explain([found])}" if found.rivals else ", ".join(parts)

    def _explain(self, group: Sequence[Outcome]) -> str:
        """Why several settings are undecided, in brackets, where that is not the width of the
        intervals alone."""
        rivals = [comparison for found in group for comparison in found.rivals]
        if not rivals:
            return " (a stack has no value)"
        if all(comparison.ratio.bounds is None for comparison in rivals):
            return f" ({rivals[0].reason})" if self.main else " (no interval)"
        withdrawn = [comparison for comparison in rivals if comparison.withdrawn]
        if not withdrawn:
            return ""
        if len(rivals) == 1:
            return f" ({withdrawn[0].reason})"
        return f" (Holm's method does not confirm {format_count(len(withdrawn), 'difference')})"

    def _describe_barred(self, group: list[Outcome]) -> str:
        limited = [cell for found in group for cell in found.ranking.barred]
        if len(limited) > EACH_MAX:
            counts = Counter(self.names.stacks[cell.point.stack] for cell in limited)
            bounds = [f"{name} in {count} of them" for name, count in counts.items()]
        else:
            bounds = [self._describe_bound(cell) for cell in limited]
        return (
            f"No ranking {self._describe_settings(group)}: the client was the limit of "
            f"{join_words(bounds)}, whose rates are lower bounds."
        )

    def _describe_bound(self, cell: Cell) -> str:
        count = sum(map(client_bound, cell.measured))
        interval = cell.interval(RATE)
        rate = "no call" if interval is None else quantity(interval.estimate, RATE.unit)
        of = len(cell.measured)
        return f"{self._stacks([cell])} (at least {rate}, in {of_all(count, of, 'trial')})"

    def _empty(self) -> list[str]:
        """Stacks without a value, whatever else was found."""
        groups: dict[str, list[Outcome]] = {}
        for found in self.outcomes:
            if found.ranking.empty:
                groups.setdefault(self._stacks(found.ranking.empty), []).append(found)
        return [
            f"No trial measured {self.noun} of {who} {self._describe_settings(group)}."
            for who, group in groups.items()
        ]

    def _about(self, group: Sequence[Outcome]) -> str:
        return " ".join(filter(None, (self._of(group), self._describe_settings(group))))

    def _of(self, group: Sequence[Outcome]) -> str:
        """The figure and its stacks; these are left out where the run has no others and the
        main figure has named them."""
        who = [self.names.stacks[stack] for stack in group[0].who]
        is_named = not self.main and len(self.names.stacks) == len(who)
        return self.noun if is_named else f"{self.noun} of {join_words(who)}"

    def _stacks(self, every: Sequence[Cell]) -> str:
        return join_words([self.names.stacks[cell.point.stack] for cell in every])

    def _describe_settings(self, group: Sequence[Outcome]) -> str:
        """``in 2 of 6 settings (...)``; empty for the only setting, once it has been named."""
        points: list[Point] = [found.ranking.point for found in group]
        if len(self.outcomes) == 1:
            return f"at {self.names.settings(points)}" if self.main else ""
        if len(group) == len(self.outcomes):
            return f"in all {len(group)} settings"
        named = f" ({self.names.settings(points)})" if self.main else ""
        return f"in {len(group)} of {len(self.outcomes)} settings{named}"

    def _reach(self, group: Sequence[Outcome]) -> str:
        """The first over the second with its interval, or how far several intervals reach."""
        pairs = [pair for found in group for pair in found.ranking.pairs]
        ratios = [pair.comparison.ratio for pair in pairs if pair.comparison]
        if not self.main or not all(ratio.bounds for ratio in ratios):
            return ""
        if len(ratios) == 1:
            return f", the first {effect(ratios[0], self.words)}"
        ends = list(chain.from_iterable(ratio.bounds or () for ratio in ratios))
        return f", {side(min(ends), self.words)} to {side(max(ends), self.words)}"


def _has_rate(cell: Cell) -> bool:
    return cell.interval(RATE) is not None


Kind = Literal["won", "equivalent", "tied", "undecided", "open", "empty", "barred"]


@dataclass(frozen=True)
class Outcome:
    """A ranking, and what it came to.

    ``won``: one stack is ahead of each other one. ``equivalent``: every pair is. ``tied``: the
    best of more than two is equivalent to some and ahead of all the others. ``undecided``: two
    stacks of which none is ahead, and which are not equivalent. ``open``: more than two, the
    best undecided against another. ``empty``: at most one has a value. ``barred``: client-bound.
    """

    kind: Kind
    ranking: Ranking
    who: tuple[str, ...] = ()
    """References of the stacks it is about: winner and loser, the winner alone where there
    are more than two, those that are equivalent or tied, or the undecided pair."""
    comparison: Comparison | None = None
    """First over second; winner over the next best."""
    next: Cell | None = None
    """The best of the others, by its estimate."""

    @property
    def further_repeats(self) -> int | None:
        """After how many the best may be decided against each other one; None where no
        sensible number does."""
        numbers = [comparison.further_repeats for comparison in self.rivals]
        known = [number for number in numbers if number is not None]
        return max(known) if known and len(known) == len(numbers) else None

    @property
    def rivals(self) -> list[Comparison]:
        """The undecided comparisons of the best, by its estimate, with the others."""
        ranked = self.ranking.best_first
        found = [self.ranking.find_pair(ranked[0], cell).comparison for cell in ranked[1:]]
        return [one for one in found if one is not None and one.verdict == "undecided"]


def outcome(ranking: Ranking) -> Outcome:
    """Classifies a ranking."""
    if ranking.barred:
        return Outcome("barred", ranking)
    if ranking.winner is not None:
        return _outcome_won(ranking, ranking.winner)
    who = tuple(cell.point.stack for cell in ranking.cells)
    found = [pair.comparison for pair in ranking.pairs]
    if all(comparison and comparison.verdict == "equivalent" for comparison in found):
        return Outcome("equivalent", ranking, who, found[0])
    if not any(found):
        return Outcome("empty", ranking, who)
    return (
        _outcome_of_many(ranking)
        if len(ranking.cells) > 2
        else Outcome("undecided", ranking, who, found[0])
    )


def _outcome_of_many(ranking: Ranking) -> Outcome:
    """Of more than two stacks, none ahead of all others and not all equivalent."""
    ranked = ranking.best_first
    if len(ranked) < len(ranking.cells):
        return Outcome("open", ranking)
    pairs = {id(cell): ranking.find_pair(ranked[0], cell).comparison for cell in ranked[1:]}
    if any(one is None or one.verdict == "undecided" for one in pairs.values()):
        return Outcome("open", ranking)
    level = [c for c in ranked[1:] if (one := pairs[id(c)]) and one.verdict == "equivalent"]
    who = sorted(cell.point.stack for cell in (ranked[0], *level))
    return Outcome("tied", ranking, tuple(who))


def _outcome_won(ranking: Ranking, winner: Cell) -> Outcome:
    others = [cell for cell in ranking.cells if cell is not winner]
    best = next(cell for cell in ranking.best_first if cell is not winner)
    who = (winner, *(others if len(others) == 1 else ()))
    ahead = _outcome_over(ranking.find_pair(winner, best), winner)
    return Outcome("won", ranking, tuple(cell.point.stack for cell in who), ahead, best)


def _outcome_over(pair: Pair, first: Cell) -> Comparison | None:
    if pair.comparison is None or pair.first is first:
        return pair.comparison
    return pair.comparison.invert()
