"""Findings judged on synthetic trials whose truth is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

import pytest
from scipy import stats

from tests.python.synthetic_ladder import trial, trials
from wirelab.explain.cell_selector import CellSelector, level_words, levels
from wirelab.records.trial import Trial
from wirelab.statistics.interval import Interval
from wirelab.study import claims as findings
from wirelab.study import crossover, winners
from wirelab.study.claims import Expectation, Finding, Judgement
from wirelab.study.crossover import Crossing
from wirelab.study.winners import Contest

GRPC = CellSelector.of({"stack": "grpc@go", "bytes": 14})
HTTP = CellSelector.of({"stack": "rest@go?codec=text", "bytes": 14})
USERS = (1, 10, 100)
Speed = Callable[[CellSelector], float]
"""Calls per second of a cell."""


def finding(expect: Expectation, **changes: object) -> Finding:
    """gRPC over HTTP at every number of users."""
    fields = {
        "id": "test",
        "claim": "gRPC is faster",
        "source": "Table 1",
        "figure": "rate",
        "over": (GRPC,),
        "under": (HTTP,),
        "levels": levels({"users": USERS}),
        "expect": expect,
    }
    return Finding(**{**fields, **changes})  # type: ignore[arg-type]


def simulate(speed: Speed, seed: int = 1, spread: float = 0.01, repeats: int = 3) -> list[Trial]:
    """Both contenders at every number of users."""
    cells = [cell.change({"users": users}) for cell in (GRPC, HTTP) for users in USERS]
    return trials(cells, lambda cell: 1 / speed(cell), seed, spread=spread, repeats=repeats)


def speed_by_stack(grpc: float, http: float = 1000.0) -> Speed:
    """The same speed at every number of users."""
    return lambda cell: grpc if cell.stack.startswith("grpc") else http


FASTER = Expectation(above=1.0, margin=0.05)


@pytest.mark.parametrize(
    ("expect", "low", "high", "outcome"),
    [
        (FASTER, 1.06, 2.0, "holds"),
        (FASTER, 1.04, 2.0, "undecided"),
        (FASTER, 0.99, 1.04, "does not hold"),
        (FASTER, 1.2, inf, "holds"),
        (FASTER, 0.9, inf, "undecided"),
        (Expectation(below=1.0, margin=0.05), 0.0, 0.9, "holds"),
        (Expectation(below=1.0, margin=0.05), 0.96, 0.99, "does not hold"),
        (Expectation(within=(0.9, 1.1)), 0.95, 1.05, "holds"),
        (Expectation(within=(0.9, 1.1)), 0.95, 1.15, "undecided"),
        (Expectation(within=(0.9, 1.1)), 1.11, 1.15, "does not hold"),
    ],
)
def test_the_place_of_the_interval_decides_the_outcome(
    expect: Expectation, low: float, high: float, outcome: str
) -> None:
    """Inside holds, outside does not, across the edge is undecided."""
    assert expect.judge(Interval(1.0, low, high, 6, "t")) == outcome


def test_a_claim_without_an_interval_is_undecided() -> None:
    """One trial each is an estimate, not a finding."""
    assert FASTER.judge(Interval(9.0, None, None, 2, "none", "one trial")) == "undecided"


@pytest.mark.parametrize(
    ("speed", "spread", "outcome"),
    [
        (speed_by_stack(2000.0), 0.01, "holds"),
        (speed_by_stack(1010.0), 0.01, "does not hold"),
        (speed_by_stack(500.0), 0.01, "does not hold"),
        (speed_by_stack(1300.0), 0.5, "undecided"),
    ],
)
def test_a_claim_with_a_known_truth(speed: Speed, spread: float, outcome: str) -> None:
    """The outcome follows from the truth and the noise."""
    assert findings.evaluate(simulate(speed, spread=spread), finding(FASTER)).outcome == outcome


def test_one_level_can_deny_a_claim_about_all() -> None:
    """The level that denies it is named with its figure."""

    def speed(cell: CellSelector) -> float:
        slow = cell.users == 100 and cell.stack.startswith("grpc")
        return 500.0 if slow else speed_by_stack(2000.0)(cell)

    judged = findings.evaluate(simulate(speed), finding(FASTER))
    assert judged.outcome == "does not hold"
    assert judged.reason.startswith("at 1 of 3 levels: 100 users: 0.5")


def test_a_true_claim_is_seldom_denied() -> None:
    """Twelve levels at the very edge of the claim: denied in at most 5 % of worlds."""
    grid = levels({"users": tuple(range(1, 13))})
    claim = finding(Expectation(above=1.0), levels=grid)
    cells = [cell.change(level) for cell in (GRPC, HTTP) for level in grid]
    denied = sum(
        findings.evaluate(trials(cells, lambda _: 0.001, seed, repeats=3), claim).outcome
        == "does not hold"
        for seed in range(150)
    )
    assert denied <= stats.binom.ppf(0.999, 150, 0.05)


def speed_at_100_users(fast: float) -> Speed:
    """gRPC is that fast at 100 users, and as fast as HTTP at the others."""

    def speed(cell: CellSelector) -> float:
        return fast if cell.users == 100 and cell.stack.startswith("grpc") else 1000.0

    return speed


@pytest.mark.parametrize(
    ("fast", "outcome", "reason"),
    [
        (21_000.0, "holds", "at 1 of 3 levels: 100 users: 2"),
        (20_000.0, "undecided", "at 1 of 3 levels: 100 users: "),
        (19_000.0, "does not hold", "at every level: 1 user: "),
    ],
)
def test_a_claim_about_some_level_needs_only_one(fast: float, outcome: str, reason: str) -> None:
    """*Up to 20 times as fast*: one level confirms it, and only all together deny it."""
    claim = finding(Expectation(above=20.0), is_somewhere=True)
    judged = findings.evaluate(simulate(speed_at_100_users(fast)), claim)
    assert judged.outcome == outcome
    assert judged.reason.startswith(reason)
    assert judged.finding.expected == "above 20 at some level"


def test_a_claim_about_some_level_that_is_false_is_seldom_confirmed() -> None:
    """Twelve levels at the very edge of the claim: confirmed in at most 5 % of worlds."""
    grid = levels({"users": tuple(range(1, 13))})
    claim = finding(Expectation(above=1.0), levels=grid, is_somewhere=True)
    cells = [cell.change(level) for cell in (GRPC, HTTP) for level in grid]
    confirmed = sum(
        findings.evaluate(trials(cells, lambda _: 0.001, seed, repeats=3), claim).outcome == "holds"
        for seed in range(150)
    )
    assert confirmed <= stats.binom.ppf(0.999, 150, 0.05)


def test_the_use_of_the_heap_is_judged_as_a_share() -> None:
    """By the means of the same window; a runtime without these metrics has none."""
    made = simulate(speed_by_stack(2000.0))
    claim = finding(Expectation(within=(0.27, 0.29)), under=(), figure="heap_use")
    assert findings.evaluate(made, claim).outcome == "undecided"
    heaps = [
        replace(
            one,
            service=replace(
                one.service,
                runtime_metrics={
                    "heap_used_bytes": {"mean": 2.8e6 + one.repeat},
                    "heap_committed_bytes": {"mean": 1e7},
                },
            ),
        )
        for one in made
    ]
    judged = findings.evaluate(heaps, claim)
    assert judged.outcome == "holds"
    assert judged.parts[0].interval is not None
    assert judged.parts[0].interval.estimate == pytest.approx(0.28, rel=0.001)


def test_a_claim_about_a_missing_cell_is_undecided() -> None:
    """It is named, and the claim is undecided."""
    some = [t for t in simulate(speed_by_stack(2000.0)) if t.point.load.users != 10]
    judged = findings.evaluate(some, finding(FASTER))
    assert judged.outcome == "undecided"
    assert "not measured: grpc@go, Hello, 14 B, 10 users" in judged.reason


def judge_bounded(side: CellSelector, speed: Speed) -> Judgement:
    """One level at which the client was the limit on one side."""
    ones = [
        trial(
            cell, (1 + 0.001 * repeat) / speed(cell), repeat, client_bound=cell.stack == side.stack
        )
        for cell in (GRPC.change({"users": 1}), HTTP.change({"users": 1}))
        for repeat, seconds in enumerate((1 + noise) / speed(cell) for noise in (0, 1e-3, 2e-3))
    ]
    return findings.evaluate(ones, finding(FASTER, levels=levels({"users": [1]})))


@pytest.mark.parametrize(
    ("side", "grpc", "outcome"),
    [
        (GRPC, 2000.0, "holds"),  # at least twice as fast
        (GRPC, 500.0, "undecided"),  # at least half as fast
        (HTTP, 2000.0, "undecided"),  # at most twice as fast
        (HTTP, 500.0, "does not hold"),  # at most half as fast
    ],
)
def test_a_client_at_its_limit_gives_a_bound_not_a_ranking(
    side: CellSelector, grpc: float, outcome: str
) -> None:
    """A client-bound rate is a lower bound of what the service can do."""
    judged = judge_bounded(side, speed_by_stack(grpc))
    assert judged.outcome == outcome
    assert "the client was the limit" in judged.reason


def test_growth_compares_ends() -> None:
    """×8 against ×2 from 1 to 100 users is a ratio of 4."""

    def speed(cell: CellSelector) -> float:
        factor = 8.0 if cell.stack.startswith("grpc") else 2.0
        return 1000.0 * (factor if cell.users == 100 else 1.0)

    ends = ({"users": 1}, {"users": 100})
    claim = finding(Expectation(above=3.0), levels=levels({}), growth=ends)
    judged = findings.evaluate(simulate(speed), claim)
    assert judged.outcome == "holds"
    assert judged.parts[0].interval is not None
    assert judged.parts[0].interval.estimate == pytest.approx(4.0, rel=0.05)


def test_a_claim_about_one_figure() -> None:
    """Without a denominator the figure itself is judged: Little's law in a closed load is 1."""
    claim = finding(Expectation(within=(0.99, 1.01)), under=(), figure="little")
    assert findings.evaluate(simulate(speed_by_stack(2000.0)), claim).outcome == "holds"


def test_a_figure_is_printed_in_its_unit() -> None:
    """A reader does not count in nanoseconds; a ratio of times has no unit."""
    time = finding(Expectation(within=(35e6, 50e6)), under=(), figure="time_per_call")
    parts = findings.evaluate(simulate(speed_by_stack(1000 / 44), spread=0.0001), time).parts
    assert all(part.reason.endswith("claimed within 35.0 ms to 50.0 ms") for part in parts)
    assert all(part.reason.startswith("44.0 ms (4") for part in parts)
    ratio = finding(Expectation(below=1.0, margin=0.05), figure="time_per_call")
    assert (
        findings.evaluate(simulate(speed_by_stack(2000.0)), ratio)
        .parts[0]
        .reason.endswith("claimed below 1 by more than 5 %")
    )


def judge_crossing(speed: Speed) -> Judgement:
    """gRPC over HTTP along four sizes at ten users."""
    steps = levels({"bytes": [14, 1000, 100_000, 3_000_000]})
    claim = finding(FASTER, levels=levels({"users": [10]}))
    cells = [c.change({"users": 10, **step}) for c in (GRPC, HTTP) for step in steps]
    made = trials(cells, lambda cell: 1 / speed(cell), 2, spread=0.01)
    return crossover.evaluate(made, Crossing(claim, steps))


def test_a_crossing_between_two_sizes_is_found() -> None:
    """Above at 1 kB, below at 100 kB: the crossing lies between."""

    def speed(cell: CellSelector) -> float:
        small = (cell.bytes or 0) < 10_000
        return (2000.0 if small else 500.0) if cell.stack.startswith("grpc") else 1000.0

    judged = judge_crossing(speed)
    assert judged.outcome == "holds"
    assert "above up to 1 kB, below from 100 kB" in judged.reason


def test_no_crossing() -> None:
    """One side ahead at every size: the claim of a crossing does not hold."""
    judged = judge_crossing(speed_by_stack(2000.0))
    assert judged.outcome == "does not hold"
    assert "above at every decided step" in judged.reason


CONTEST = Contest("Test1", GRPC, HTTP, "users", tuple(map(float, USERS)))


@pytest.mark.parametrize(
    ("grpc", "published", "verdict", "winner"),
    [
        (2000.0, "a", "holds", "a"),
        (2000.0, "b", "does not hold", "a"),
        (500.0, "b", "holds", "b"),
        (1000.0, "a", "does not hold", ""),
    ],
)
@pytest.mark.parametrize("prop", ["rate", "service_mean"])
def test_a_winner_by_all_averages(
    grpc: float, published: str, verdict: str, winner: str, prop: str
) -> None:
    """Rates and times are both reported as "better by", whichever way better points."""
    square = winners.square(simulate(speed_by_stack(grpc)), CONTEST, prop, published, 0.05)
    assert (square.verdict, square.winner) == (verdict, winner)
    assert [score.rule for score in square.scores] == ["arithmetic", "inverse", "geometric"]


def test_averages_that_disagree_tell_nothing() -> None:
    """Ten times as fast at one level and a quarter at two: the kind of average decides."""

    def speed(cell: CellSelector) -> float:
        if not cell.stack.startswith("grpc"):
            return 1000.0
        return 10_000.0 if cell.users == 1 else 250.0

    square = winners.square(simulate(speed), CONTEST, "rate", "a", 0.05)
    assert square.verdict == "undecided"
    assert [score.verdict for score in square.scores] == [
        "holds",
        "does not hold",
        "does not hold",
    ]


def test_scalability_by_slopes() -> None:
    """A rate that grows with the users beats one that stays."""

    def speed(cell: CellSelector) -> float:
        users = cell.users or 1
        return 1000.0 * (users**0.5 if cell.stack.startswith("grpc") else 1.0)

    square = winners.square(simulate(speed), CONTEST, winners.TREND, "a", 0.05)
    assert (square.verdict, square.winner) == ("holds", "a")
    assert winners.tally([square]) == {"a": 1, "b": 0, "neither": 0}


def test_a_square_without_trials() -> None:
    """Says which cell is missing."""
    square = winners.square([], CONTEST, "rate", "a", 0.05)
    assert square.verdict == "undecided"
    assert "not measured: grpc@go, Hello, 14 B, 1 user" in square.scores[0].reason


def test_levels_in_words() -> None:
    """As a reader says it."""
    assert level_words({"bytes": 150_000, "users": 1}) == "150 kB, 1 user"
    assert level_words({}) == "there"
    assert len(levels({"a": [1, 2], "b": [1, 2, 3]})) == 6
