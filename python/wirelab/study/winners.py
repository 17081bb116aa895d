"""A table of winners, by rule.

Studies often name a winner per test and property from averages whose kind they
do not state. Here the rule is a formula: the ratio per level of load, averaged
in three ways; and for scalability the least-squares slope over the levels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from wirelab.explain import figures
from wirelab.explain.cell_selector import CellSelector
from wirelab.format.counting import format_count
from wirelab.records.trial import Trial
from wirelab.statistics import linear_contrasts, shared_trials
from wirelab.statistics.cell import Cell
from wirelab.statistics.interval import Interval, StatisticsError
from wirelab.study.claims import Expectation, Outcome, open_limits

AVERAGES: Mapping[str, float] = {"arithmetic": 1.0, "inverse": -1.0, "geometric": 0.0}
"""Kinds of average and their power (:mod:`wirelab.statistics.linear_contrasts`)."""
TREND = "trend"
"""The property that is judged by slopes; every other one is a figure's name."""


ACROSS = "the interval crosses the limit of the published claim; more repeats may decide"


@dataclass(frozen=True)
class Contest:
    """Two contenders in one test, at levels of one property."""

    test: str
    a: CellSelector
    b: CellSelector
    vary: str
    """``users``."""
    levels: tuple[float, ...]


@dataclass(frozen=True)
class Score:
    """One rule's number: above 1 (slopes: above 0) the contender ``a`` wins."""

    rule: str
    interval: Interval | None
    verdict: Outcome
    """Whether the published winner wins by this rule."""
    reason: str = ""


@dataclass(frozen=True)
class Square:
    """One square of the table."""

    test: str
    property: str
    published: str
    """``a`` or ``b``."""
    verdict: Outcome
    """Holds when it holds by every rule, does not hold when by none."""
    winner: str
    """``a``, ``b`` or empty: who wins here by every rule."""
    scores: tuple[Score, ...]
    reason: str
    """Why it is undecided; empty otherwise."""


def square(
    trials: Iterable[Trial], contest: Contest, prop: str, published: str, margin: float
) -> Square:
    """Judges one square against its published winner."""
    listed = list(trials)
    scorer = _trend if prop == TREND else _averages
    scores = tuple(scorer(listed, contest, prop, published, margin))
    verdict = _all(scores)
    reason = _explain_undecided(scores) if verdict == "undecided" else ""
    return Square(contest.test, prop, published, verdict, _winner(scores), scores, reason)


def tally(squares: Sequence[Square]) -> dict[str, int]:
    """Squares won by each, and those that are undecided."""
    won = [entry.winner for entry in squares]
    return {"a": won.count("a"), "b": won.count("b"), "neither": won.count("")}


def _averages(
    trials: Sequence[Trial], contest: Contest, prop: str, published: str, margin: float
) -> list[Score]:
    """The average over levels of the ratio by which ``a`` is better."""
    figure = figures.require_figure(prop)
    rows = _rows(trials, contest, prop)
    if isinstance(rows, str):
        return [Score(rule, None, "undecided", rows) for rule in AVERAGES]
    tops, bottoms = rows if figure.better == "higher" else (rows[1], rows[0])
    powered = [(1.0, contest.a, cell) for cell in tops]
    powered += [(-1.0, contest.b, cell) for cell in bottoms]

    def average(power: float, confidence: float) -> Interval:
        interval = shared_trials.average_paired_ratios(tops, bottoms, figure, power, confidence)
        return open_limits(interval, powered, figure)

    expect = _expectation(published, margin)
    return [_score(rule, partial(average, power), expect) for rule, power in AVERAGES.items()]


def _trend(
    trials: Sequence[Trial], contest: Contest, prop: str, published: str, margin: float
) -> list[Score]:
    """Slopes of rate and of mean service time over the levels, as a difference that is
    positive where ``a`` scales better, and the growth of the rate from first to last level."""
    rows = _rows(trials, contest, "rate")
    times = _rows(trials, contest, "service_mean")
    rules = ("slope of rate", "slope of service time", "growth of rate")
    if isinstance(rows, str) or isinstance(times, str):
        reason = rows if isinstance(rows, str) else str(times)
        return [Score(rule, None, "undecided", reason) for rule in rules]
    limit = _client_limited((*rows[0], *rows[1]))
    if limit:
        return [Score(rule, None, "undecided", limit) for rule in rules]
    positive = Expectation(above=0.0) if published == "a" else Expectation(within=(-np.inf, 0.0))
    return [
        _score(rules[0], lambda c: _slope(contest, rows, "rate", c), positive),
        _score(rules[1], lambda c: _slope(contest, times[::-1], "service_mean", c), positive),
        _score(rules[2], lambda c: _growth(rows, c), _expectation(published, margin)),
    ]


Rows = tuple[list[Cell], list[Cell]]


def _rows(trials: Sequence[Trial], contest: Contest, prop: str) -> Rows | str:
    """The cells of both contenders along the levels, or why there are none."""
    figure = figures.require_figure(prop)
    found: Rows = ([], [])
    for cells, contender in zip(found, (contest.a, contest.b), strict=True):
        for level in contest.levels:
            selector = contender.change({contest.vary: level})
            cell = selector.find(trials)
            if cell is None or not cell.values(figure):
                return f"not measured: {selector}"
            cells.append(cell)
    return found


def _slope(contest: Contest, rows: Rows, prop: str, confidence: float) -> Interval:
    """That of the first over the levels, less that of the second."""
    weights = linear_contrasts.slope_weights(contest.levels)
    first, second = rows
    weighted = [*zip(weights, first, strict=True)]
    weighted += [(-weight, cell) for weight, cell in zip(weights, second, strict=True)]
    return shared_trials.total(weighted, figures.require_figure(prop), confidence)


def _growth(rows: Rows, confidence: float) -> Interval:
    (a_first, *_, a_last), (b_first, *_, b_last) = rows
    weighted = [(1.0, a_last), (-1.0, a_first), (-1.0, b_last), (1.0, b_first)]
    return shared_trials.product(weighted, figures.require_figure("rate"), confidence)


def _score(rule: str, of: Callable[[float], Interval], expect: Expectation) -> Score:
    try:
        interval = of(linear_contrasts.CONFIDENCE)
    except StatisticsError as error:
        return Score(rule, None, "undecided", str(error))
    verdict = expect.judge(interval)
    return Score(
        rule, interval, verdict, interval.reason or (ACROSS if verdict == "undecided" else "")
    )


def _expectation(published: str, margin: float) -> Expectation:
    if published == "a":
        return Expectation(above=1.0, margin=margin)
    return Expectation(below=1.0, margin=margin)


def _all(scores: Sequence[Score]) -> Outcome:
    verdicts = {score.verdict for score in scores}
    return verdicts.pop() if len(verdicts) == 1 else "undecided"


def _explain_undecided(scores: Sequence[Score]) -> str:
    unsure = [score.reason for score in scores if score.verdict == "undecided"]
    return unsure[0] if unsure else "the rules contradict each other"


def _winner(scores: Sequence[Score]) -> str:
    """By every rule, whatever was published."""
    signs = {_sign(score) for score in scores}
    return signs.pop() if len(signs) == 1 else ""


def _sign(score: Score) -> str:
    if score.interval is None or score.interval.bounds is None:
        return ""
    neutral = 0.0 if score.rule.startswith("slope") else 1.0
    low, high = score.interval.bounds
    return "a" if low > neutral else "b" if high < neutral else ""


def _client_limited(cells: Sequence[Cell]) -> str:
    rate = figures.require_figure("rate")
    limited = [cell for cell in cells if figures.only_a_bound(rate, cell)]
    if not limited:
        return ""
    load = limited[0].point.load
    level = load.rate if load.users is None else load.users
    example = f"{limited[0].point.stack} at {level}"
    return f"the client was the limit in {format_count(len(limited), 'cell')}, such as {example}"


def score_published(
    a: Sequence[float], b: Sequence[float], levels: Sequence[float], higher: bool
) -> dict[str, float]:
    """The same rules on published means, which have no interval: the three averages of the
    ratio by which ``a`` is better, and both slopes."""
    ratios = np.asarray(a) / np.asarray(b) if higher else np.asarray(b) / np.asarray(a)
    slopes = [float(np.polyfit(levels, values, 1)[0]) for values in (a, b)]
    return {
        "arithmetic": float(ratios.mean()),
        "inverse": float(1.0 / (1.0 / ratios).mean()),
        "geometric": float(np.exp(np.log(ratios).mean())),
        "least": float(ratios.min()),
        "most": float(ratios.max()),
        "slope_a": slopes[0],
        "slope_b": slopes[1],
    }
