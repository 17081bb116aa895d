"""Explanations in synthetic worlds whose truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.python.synthetic_ladder import Cost, fail_trial, trial, trials
from wirelab.errors import UsageError
from wirelab.explain.cell_selector import CellSelector
from wirelab.explain.explanation import Explanation, explain
from wirelab.explain.findings_text import Conclusion, UnfoundedConclusion
from wirelab.explain.ladders import Ladder, Rung
from wirelab.statistics.comparison import Comparison
from wirelab.statistics.interval import Interval

START = CellSelector.of(
    {"stack": "grpc@go?client.h2_window=65535", "bytes": 3_000_000, "users": 10}
)
CHANGES = {
    "windows": {"client.h2_window": "engine"},
    "text-check": {"operation": "HelloBytes"},
    "decoding": {"work": "frame"},
}
BASE_S = 0.001
SEEDS = 200
FAMILY = 0.05
"""Chance of any false cause that Holm's method promises."""


def make_near_rung(name: str) -> Rung:
    """A rung at the start."""
    return Rung(name, f"the {name}", "it costs", START, START.change(CHANGES[name]))


def ladder(goal: CellSelector | None = None) -> Ladder:
    """Three suspects."""
    together = START.change({k: v for change in CHANGES.values() for k, v in change.items()})
    rungs = tuple(make_near_rung(name) for name in CHANGES)
    return Ladder("test", "Why?", START, goal, together, rungs)


GOAL = CellSelector.of({"stack": "rest@go?codec=text", "bytes": 3_000_000, "users": 10})


def world(cause: str, factor: float = 1.6, goal_factor: float = 1.0) -> Cost:
    """A cell costs ``factor`` as long as the cause is in it; the goal is free of it."""

    def cost(selector: CellSelector) -> float:
        if selector.stack.startswith("rest"):
            return BASE_S * goal_factor
        present = {
            "windows": "h2_window=65535" in selector.stack,
            "text-check": selector.operation == "Hello",
            "decoding": "work=frame" not in selector.stack,
            "nothing": False,
        }
        return BASE_S * (factor if present[cause] else 1.0)

    return cost


def explain_world(
    cost: Cost, seed: int, goal: CellSelector | None = None, spread: float = 0.02
) -> Explanation:
    """The same code for every world."""
    climbed = ladder(goal)
    return explain(trials(climbed.cells, cost, seed, spread=spread), climbed)


@pytest.mark.parametrize("cause", ["windows", "text-check", "nothing"])
def test_three_worlds_three_conclusions(cause: str) -> None:
    """Over many seeds the seeded cause is named, and no other more often than Holm allows."""
    seeded = () if cause == "nothing" else (cause,)
    found = [explain_world(world(cause), seed).causes for seed in range(SEEDS)]
    missed = sum(not set(seeded) <= set(causes) for causes in found)
    false = sum(bool(set(causes) - set(seeded)) for causes in found)
    assert missed <= stats.binom.ppf(0.999, SEEDS, 0.01)
    assert false <= stats.binom.ppf(0.999, SEEDS, FAMILY)


def test_effects_at_the_threshold_are_named_no_more_often_than_promised() -> None:
    """The hardest null: every rung does exactly what is declared to be of no interest."""

    def cost(selector: CellSelector) -> float:
        changed = [
            "h2_window=65535" not in selector.stack,
            selector.operation == "HelloBytes",
            "work=frame" in selector.stack,
        ]
        return BASE_S * 1.05 ** -sum(changed)

    false = sum(bool(explain_world(cost, seed).causes) for seed in range(SEEDS))
    assert 0 < false <= stats.binom.ppf(0.999, SEEDS, FAMILY)


@pytest.mark.parametrize("cause", ["windows", "text-check", "decoding", "nothing"])
def test_no_sentence_about_a_cause_without_an_interval(cause: str) -> None:
    """Every conclusion of a cause carries an interval that leaves 1 outside by the threshold."""
    for seed in range(30):
        for conclusion in explain_world(world(cause, 1.1), seed, GOAL, spread=0.05).conclusions:
            if conclusion.kind in ("cause", "against", "effect"):
                assert conclusion.evidence is not None
                low, high = conclusion.evidence.ratio.bounds or (0.0, np.inf)
                assert low > 1.05 or high < 1 / 1.05
            else:
                assert "is a cause" not in conclusion.text


def test_a_cause_cannot_be_made_up() -> None:
    """The type refuses a cause without evidence, and one whose interval holds 1."""
    within = Comparison(Interval(1.2, 0.9, 1.6, 6, "t"), "higher", "", 0.05, 0.01)
    for evidence in (None, within):
        with pytest.raises(UnfoundedConclusion, match="no interval shows"):
            Conclusion("cause", "The moon is a cause.", "moon", evidence)


def test_shares_and_the_sum() -> None:
    """One cause that is all of the gap has all of the share, and nothing stays unexplained."""
    made = explain_world(world("windows"), 3, GOAL)
    step = made.climbed[0]
    assert step.outcome == "cause"
    assert step.share is not None
    assert step.share.estimate == pytest.approx(1.0, abs=0.1)
    assert made.balance is not None
    low, high = made.balance.unexplained.bounds or (0, 0)
    assert low < 1.0 < high


def test_a_gap_that_no_rung_holds_stays_unexplained() -> None:
    """A gap that comes from elsewhere is not handed to a rung."""
    made = explain_world(world("nothing", goal_factor=0.5), 4, GOAL)
    assert made.whole is not None
    assert made.whole.found
    assert made.causes == ()
    assert made.balance is not None
    low, _ = made.balance.unexplained.bounds or (0, 0)
    assert low > 1.8
    assert any("No step between the two stacks was found" in text for text in made.sentences)


def test_an_interaction_is_separated_from_the_rungs() -> None:
    """Two changes that work only together show in the interaction, not in the rungs."""

    def cost(selector: CellSelector) -> float:
        both = "h2_window=65535" not in selector.stack and selector.operation == "HelloBytes"
        rest = selector.stack.startswith("rest")
        return BASE_S * (0.5 if both or rest else 1.0)

    made = explain_world(cost, 5, GOAL)
    assert made.causes == ()
    assert made.balance is not None
    low, _ = made.balance.interaction.bounds or (0, 0)
    assert low > 1.8
    assert made.balance.unexplained.estimate == pytest.approx(1.0, abs=0.1)


def test_a_closed_path_adds_up_by_construction() -> None:
    """With a rung from `together` to the goal every step is measured: nothing is left over."""
    plain = ladder(GOAL)
    assert plain.together is not None
    far = Rung("rest", "gRPC", "it costs", plain.together, GOAL, near=False)
    closed = Ladder("t", "Why?", START, GOAL, plain.together, (*plain.rungs, far))
    made = explain(trials(closed.cells, world("windows", goal_factor=0.7), 6), closed)
    assert made.balance is not None
    assert made.balance.unexplained.bounds == (1.0, 1.0)
    assert made.climbed[-1].outcome == "cause"
    assert "which of them matters is not shown" in " ".join(made.sentences)


def test_no_gap_nothing_to_explain() -> None:
    """A rung may have an effect, but it is not a cause of a gap that is not there."""
    made = explain_world(world("windows", goal_factor=1.6), 7, GOAL)
    assert made.causes == ()
    assert made.climbed[0].outcome == "effect"
    assert "There is nothing to explain" in made.sentences[0]


def test_a_change_for_the_worse_is_not_a_cause() -> None:
    """A rung that moves away from the goal is reported as such."""

    def cost(selector: CellSelector) -> float:
        if selector.stack.startswith("rest"):
            return BASE_S * 0.5
        return BASE_S * (1.5 if selector.operation == "HelloBytes" else 1.0)

    made = explain_world(cost, 8, GOAL, spread=0.005)
    assert [step.outcome for step in made.climbed] == ["no effect", "against", "no effect"]


def test_noise_is_not_taken_for_the_absence_of_an_effect() -> None:
    """Wide intervals give `cannot be told`, never `no effect`."""
    made = explain_world(world("nothing"), 9, spread=0.5)
    assert {step.outcome for step in made.climbed} == {"undecided"}


def test_a_rung_that_failed_is_not_measured() -> None:
    """The others are judged; the gap in the data is reported."""
    climbed = ladder()
    broken = START.change(CHANGES["windows"])
    made = [*trials(climbed.cells, world("text-check"), 1)]
    made = [t for t in made if t.point.stack != broken.stack or t.point.operation != "Hello"]
    found = explain([*made, fail_trial(broken)], climbed)
    assert found.climbed[0].outcome == "not measured"
    assert "grpc@go, Hello" in found.climbed[0].reason
    assert found.causes == ("text-check",)


def test_an_ambiguous_cell_is_refused() -> None:
    """A name that fits two cells would mix what must be kept apart."""
    start = CellSelector.of({"stack": "grpc@go", "bytes": 14})
    mixed = [trial(start.change({"users": users}), BASE_S, 1) for users in (1, 10)]
    rung = Rung("x", "x", "x", start, start.change({"work": "frame"}))
    with pytest.raises(UsageError, match="names 2 cells"):
        explain(mixed, Ladder("t", "?", start, None, None, (rung,)))


def test_a_rung_must_change_something() -> None:
    """A ladder whose rung has two equal ends is refused by name."""
    with pytest.raises(UsageError, match="rung 'idle' changes nothing"):
        Rung("idle", "x", "x", START, START)


def test_as_json() -> None:
    """What the page shows can be had as data."""
    shown: Any = explain_world(world("windows"), 3, GOAL).to_json()
    assert shown["causes"] == ["windows"]
    assert shown["rungs"][0]["changes"] == {"client.h2_window": ["65535", "engine"]}
    assert set(shown["balance"]) == {"rungs", "interaction", "unexplained"}
