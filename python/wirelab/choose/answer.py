"""The answer: which stack to take, by how much, and what it costs. Pure functions over trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from types import MappingProxyType

from wirelab.choose.candidates import Candidate
from wirelab.explain import figures
from wirelab.explain.figures import phrase
from wirelab.explain.findings_text import capitalize_words
from wirelab.format.counting import format_count
from wirelab.format.numbers import format_range, quantity
from wirelab.records.trial import Trial
from wirelab.report.findings.ranking import Ranking, rankings
from wirelab.statistics.cell import Cell, cells
from wirelab.statistics.comparison import Comparison, family
from wirelab.statistics.figure import (
    BYTES,
    CLIENT_CPU,
    RATE,
    RESPONSE_P50,
    RESPONSE_P99,
    SERVICE_CPU,
    Figure,
)
from wirelab.statistics.interval import Interval
from wirelab.statistics.verdict import verdict

CALLS = 1e6
"""Calls that a price is given for."""
GIGABYTE = 1e9
OBJECTIVES = MappingProxyType(
    {
        "p50": RESPONSE_P50,
        "p99": RESPONSE_P99,
        "rate": RATE,
        "cpu": SERVICE_CPU,
        "bytes": BYTES,
    }
)
"""What a stack may be chosen by."""


@dataclass(frozen=True)
class Prices:
    """What a user pays, in one currency."""

    core_hour: float = 0.0
    gigabyte: float = 0.0

    @property
    def is_known(self) -> bool:
        """Whether there is any price."""
        return bool(self.core_hour or self.gigabyte)

    def cost_per_million(self, cpu_s: float | None, bytes_per_call: float | None) -> float | None:
        """Cost of a million calls: the service's CPU, and the bytes in both directions; None where
        a figure with a price is not known."""
        parts = ((self.core_hour, cpu_s, 3600.0), (self.gigabyte, bytes_per_call, GIGABYTE))
        if any(price and amount is None for price, amount, _ in parts):
            return None
        return CALLS * sum(price * (amount or 0.0) / unit for price, amount, unit in parts)


@dataclass(frozen=True)
class Row:
    """One stack of the table."""

    candidate: Candidate
    p50: Interval | None
    """Response time at the user's rate, ns; of the closed load where no rate was given."""
    p99: Interval | None
    rate: Interval | None
    """Calls per second of a closed load."""
    is_bound: bool
    """Whether the client was the limit of that rate, which is then a lower bound."""
    service_cpu: Interval | None
    """CPU per call, s: at the user's rate where one was given."""
    client_cpu: Interval | None
    bytes_per_call: Interval | None
    cost: float | None
    """Of a million calls at the user's prices; None: not known."""
    failed: int
    """Calls without a right reply."""
    trials: int


@dataclass(frozen=True)
class Standing:
    """One stack compared with the best one by the figure asked for."""

    candidate: Candidate
    comparison: Comparison
    """This stack over the best one."""


@dataclass(frozen=True)
class Known:
    """A figure in which one stack was found better than each other one."""

    figure: Figure
    winner: Candidate
    nearest: Standing
    """The next one, over the winner."""


@dataclass(frozen=True)
class Choice:
    """What was found."""

    figure: Figure
    at_rate: bool
    """Whether the figure is that of the load at the user's rate."""
    first: tuple[Candidate, ...]
    """Those in first place, the best estimate first: none is shown to be better than another by
    more than the threshold, and all are equivalent."""
    open: tuple[Standing, ...]
    """Those of which it is not decided whether they are as good."""
    behind: tuple[Standing, ...]
    """Those that were found worse, the best first."""
    rows: tuple[Row, ...]
    threshold: float
    known: tuple[Known, ...]
    """Other figures in which one stack was found better than each other."""
    cheapest: Candidate | None
    """Of several in first place, the one that was found to take the least service CPU."""

    @property
    def is_decided(self) -> bool:
        """Whether the first place is known."""
        return bool(self.first) and not self.open

    @property
    def recommended(self) -> Candidate | None:
        """The stack to take; None if it is undecided."""
        if not self.is_decided:
            return None
        return self.cheapest or self.first[0]


class NothingMeasured(ValueError):
    """No stack has a value of the figure."""


def choose(
    trials: Sequence[Trial],
    by_name: Mapping[str, Candidate],
    figure: Figure,
    *,
    has_rate: bool,
    threshold: float,
    prices: Prices,
) -> Choice:
    """``by_name`` are the candidates by the name of their service. Raises
    :class:`NothingMeasured`."""
    at_rate = has_rate and figure is not RATE
    asked = [one for one in trials if one.point.load.is_closed != at_rate]
    rows = _rows(trials, by_name, has_rate=has_rate, prices=prices)
    found = rankings(asked, figure, threshold)
    ranking = found[0] if found else None
    alone = [cell for cell in cells(asked) if cell.interval(figure)]
    if ranking is None or not ranking.best_first:
        if len(alone) != 1:
            raise NothingMeasured(f"no stack has a value of {figure.title}")
        only = by_name[alone[0].point.stack]
        return Choice(figure, at_rate, (only,), (), (), rows, threshold, (), None)
    best, standings = _standings(ranking, by_name)
    equal = [one.candidate for one in standings if one.comparison.verdict == "equivalent"]
    first = (by_name[best.point.stack], *equal)
    behind = [one for one in standings if one.comparison.found]
    undecided = [one for one in standings if one.comparison.verdict == "undecided"]
    return Choice(
        figure,
        at_rate,
        first,
        tuple(undecided),
        tuple(behind),
        rows,
        threshold,
        tuple(_find_other_winners(trials, by_name, (figure, at_rate), threshold)),
        _cheapest(asked, by_name, first, threshold),
    )


def _find_other_winners(
    trials: Sequence[Trial],
    by_name: Mapping[str, Candidate],
    asked: tuple[Figure, bool],
    threshold: float,
) -> Iterator[Known]:
    """Of the other figures of either load, those with one winner."""
    closed = [trial for trial in trials if trial.point.load.is_closed]
    at_rate = [trial for trial in trials if not trial.point.load.is_closed]
    for figure in (RATE, SERVICE_CPU, BYTES, RESPONSE_P50):
        is_of_rate = bool(at_rate) and figure is not RATE
        if (figure, is_of_rate) == asked:
            continue
        found = rankings(at_rate if is_of_rate else closed, figure, threshold)
        winner = found[0].winner if found else None
        if winner is not None:
            _, standings = _standings(found[0], by_name)
            yield Known(figure, by_name[winner.point.stack], standings[0])


def _standings(
    ranking: Ranking, by_name: Mapping[str, Candidate]
) -> tuple[Cell, tuple[Standing, ...]]:
    """The best cell, and each other one that has the figure, compared with it, best first. The
    comparisons with the best are a family of their own."""
    best, *others = ranking.best_first
    candidates, ratios = [], []
    for cell in others:
        pair = ranking.find_pair(best, cell)
        if pair.comparison is not None:
            ratio = pair.comparison if pair.first is cell else pair.comparison.invert()
            if cell not in ranking.barred:
                ratio = _alone(ratio, is_bound=best in ranking.barred)
            ratios.append(ratio)
            candidates.append(by_name[cell.point.stack])
    return best, tuple(starmap(Standing, zip(candidates, family(ratios), strict=True)))


def _alone(comparison: Comparison, *, is_bound: bool) -> Comparison:
    """The comparison by its own interval. ``is_bound``: the client was the limit of the best one,
    which is better than its figure shows, so a difference holds and an equivalence does not."""
    own = verdict(comparison.ratio, comparison.threshold)
    if comparison.p_value is None or (is_bound and own == "equivalent"):
        return comparison
    return replace(comparison, verdict=own, ranked=True, p_holm=None)


def _cheapest(
    trials: Sequence[Trial],
    by_name: Mapping[str, Candidate],
    first: Sequence[Candidate],
    threshold: float,
) -> Candidate | None:
    """The one in first place that beats each other one there in service CPU."""
    if len(first) < 2:
        return None
    among = [trial for trial in trials if by_name[trial.point.stack] in first]
    found = rankings(among, SERVICE_CPU, threshold)
    winner = found[0].winner if found else None
    return by_name[winner.point.stack] if winner else None


def _rows(
    trials: Sequence[Trial], by_name: Mapping[str, Candidate], *, has_rate: bool, prices: Prices
) -> tuple[Row, ...]:
    closed = {c.point.stack: c for c in cells(t for t in trials if t.point.load.is_closed)}
    paced = {c.point.stack: c for c in cells(t for t in trials if not t.point.load.is_closed)}
    rows = []
    for name, candidate in by_name.items():
        cell = (paced if has_rate else closed).get(name)
        fast = closed.get(name)
        if cell is None and fast is None:
            continue
        known = {one: cell.interval(one) if cell else None for one in _SHOWN}
        cpu, size = known[SERVICE_CPU], known[BYTES]
        both = [one for one in (cell, fast) if one is not None]
        measured = both[:1] if cell is fast else both
        rows.append(
            Row(
                candidate,
                known[RESPONSE_P50],
                known[RESPONSE_P99],
                fast.interval(RATE) if fast else None,
                fast is not None and figures.only_a_bound(RATE, fast),
                cpu,
                known[CLIENT_CPU],
                size,
                prices.cost_per_million(_estimate(cpu), _estimate(size))
                if prices.is_known
                else None,
                sum(one.errors for one in measured),
                sum(len(one.measured) for one in measured),
            )
        )
    return tuple(rows)


_SHOWN = (RESPONSE_P50, RESPONSE_P99, SERVICE_CPU, CLIENT_CPU, BYTES)


def _estimate(interval: Interval | None) -> float | None:
    return interval.estimate if interval else None


def sentences(choice: Choice) -> tuple[str, ...]:
    """The recommendation first, then who else is as good, the runner-up, and what is open."""
    main = (_recommendation(choice), _runner_up(choice), _open(choice))
    return (*filter(None, main), *map(_describe_winner, choice.known))


def _describe_winner(known: Known) -> str:
    size = _ahead(known.nearest, known.figure)
    title = capitalize_words(phrase(known.figure.name))
    nearest = known.nearest.candidate.reference
    return f"{title}: {known.winner.reference} is best, {size} than {nearest}."


def _recommendation(choice: Choice) -> str:
    title = _title(choice)
    best, *equal = choice.first
    recommended = choice.recommended
    if recommended is None:
        *rivals, last = [best.reference, *(one.candidate.reference for one in choice.open)]
        return f"Undecided by {title}: {', '.join(rivals)} or {last}."
    if len(choice.rows) == 1:
        return f"{recommended.reference} is the only stack that was measured."
    if not equal:
        return f"Take {recommended.reference}: it has the best {title}{_margin(choice)}."
    others = ", ".join(one.reference for one in choice.first if one != recommended)
    limit = f"{100 * choice.threshold:g} %"
    why = " and the least service CPU" if choice.cheapest else ""
    return (
        f"Take {recommended.reference}: first place in {title}{why}; {others} "
        f"{'is' if len(equal) == 1 else 'are'} equivalent in it within {limit}."
    )


def _margin(choice: Choice) -> str:
    if not choice.behind:
        return ""
    nearest = choice.behind[0]
    return f", {_ahead(nearest, choice.figure)} than {nearest.candidate.reference}"


def _ahead(standing: Standing, figure: Figure) -> str:
    """``18 % lower (15 to 21 %)``: the best one compared with that stack."""
    best = standing.comparison.invert().ratio
    higher = figure.better == "higher"
    shares = sorted(
        100.0 * ((value - 1.0) if higher else (1.0 - value))
        for value in (best.bounds or (best.estimate, best.estimate))
    )
    middle = 100.0 * ((best.estimate - 1.0) if higher else (1.0 - best.estimate))
    word = "higher" if higher else "lower"
    return f"{middle:.0f} % {word} ({shares[0]:.0f} to {shares[1]:.0f} %)"


def _runner_up(choice: Choice) -> str:
    if not choice.is_decided or not choice.behind:
        return ""
    last = choice.behind[-1]
    if len(choice.behind) == 1 and len(choice.first) == 1:
        return ""
    nearest = choice.behind[0]
    text = f"Next comes {nearest.candidate.reference}: ×{format_range(nearest.comparison.ratio)}"
    if last is nearest:
        return f"{text} of the best."
    end = f"{last.candidate.reference}, ×{format_range(last.comparison.ratio)}"
    return f"{text} of the best; last of these is {end}."


def _open(choice: Choice) -> str:
    if not choice.open:
        return ""
    needed = [one.comparison.further_repeats for one in choice.open]
    ratios = "; ".join(
        f"{one.candidate.reference} ×{format_range(one.comparison.ratio)}" for one in choice.open
    )
    bound = [one.candidate.reference for one in choice.open if not one.comparison.ranked]
    if bound:
        limit = "The client was the limit of"
        advice = f" {limit} {', '.join(bound)}, so more trials decide nothing; fewer --users may."
        return f"Compared with {choice.first[0].reference}: {ratios}.{advice}"
    advice = " No sensible number of trials would decide it; another --threshold may."
    if any(needed):
        count = format_count(max(n for n in needed if n), "more trial")
        which = "it" if all(needed) else f"{sum(map(bool, needed))} of {len(needed)}"
        advice = f" About {count} of each would decide {which}."
    return f"Compared with {choice.first[0].reference}: {ratios}.{advice}"


def _title(choice: Choice) -> str:
    where = "at your rate" if choice.at_rate else "under a closed load"
    return f"{phrase(choice.figure.name)} {where}"


def format_estimate(interval: Interval | None, figure: Figure) -> str:
    """An estimate in its unit; a dash where there is none."""
    return quantity(interval.estimate, figure.unit) if interval else "—"
