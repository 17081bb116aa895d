"""Verdicts on findings, in worlds whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.python.synthetic_stall import (
    FLIPPED,
    JOINED,
    NEITHER,
    SPLIT,
    STALL,
    STALLED,
    plan_test,
    point_of,
    trials_of,
)
from wirelab.records.group import Times
from wirelab.report.sections import tested_findings as report_tested
from wirelab.run.adaptive.outcome import Tested as Judged
from wirelab.run.adaptive.outcome import judge
from wirelab.run.adaptive.record import Interventions, Spot, Together, call_ns


def _judge(before: Sequence[float], after: Sequence[float], *left: dict[str, Any]) -> Judged:
    """One finding of 36 ms per call in a world of these times."""
    record = Interventions(minimum_share=0.05, tests=(plan_test(),))
    trials = [*trials_of(STALLED, before, STALL), *trials_of(FLIPPED, after, *left)]
    (tested,) = judge(record, trials).tested
    return tested


def test_a_real_cause_holds() -> None:
    """The flipped switch takes away what was predicted, and the interval is that of the trials."""
    tested = _judge([40.0, 40.4, 39.8, 40.2], [4.0, 4.2, 3.9, 4.1])
    assert (tested.verdict, tested.prediction) == ("holds", "met")
    assert tested.proven
    assert tested.found is not None
    assert tested.found.estimate == pytest.approx(36.05)
    low, high = tested.found.bounds or (0.0, 0.0)
    # Welch by hand: s^2 = 0.0667 and 0.0167, se = 0.14434, df = 4.4118, t = 2.6774
    assert (low, high) == pytest.approx((36.05 - 0.3864, 36.05 + 0.3864), abs=2e-3)
    assert tested.occurrences == pytest.approx((0.9, 0.0))


def test_a_false_cause_does_not_hold() -> None:
    """The packets blamed it, the flip changes nothing."""
    tested = _judge([40.0, 40.4, 39.8, 40.2], [40.1, 39.9, 40.3, 40.0])
    assert tested.verdict == "does not hold"
    assert tested.reason == "no time was saved"
    assert not tested.proven


def test_a_flip_that_helps_more_than_predicted_holds_and_misses_the_prediction() -> None:
    tested = _judge([60.0, 60.4, 59.8, 60.2], [4.0, 4.2, 3.9, 4.1])
    assert (tested.verdict, tested.prediction) == ("holds", "more")
    assert tested.reason == "more time was saved than predicted"


def test_a_flip_that_helps_less_than_predicted_holds_and_misses_the_prediction() -> None:
    tested = _judge([40.0, 40.4, 39.8, 40.2], [30.0, 30.2, 29.9, 30.1])
    assert (tested.verdict, tested.prediction) == ("holds", "less")
    assert tested.reason == "time was saved, but less than predicted"


def _judge_limit(before: Sequence[float], after: Sequence[float]) -> Judged:
    """The same where packets show at most 36 ms: the application may have written late."""
    limit = plan_test().model_copy(update={"ms_least": 0.0})
    record = Interventions(minimum_share=0.05, tests=(limit,))
    trials = [*trials_of(STALLED, before, STALL), *trials_of(FLIPPED, after)]
    (tested,) = judge(record, trials).tested
    return tested


@pytest.mark.parametrize("saved", [36.0, 16.0, 5.0])
def test_a_prediction_of_at_most_is_met_by_less(saved: float) -> None:
    """An application that wrote 20 ms late saves 16 of 36 ms."""
    before = [40.0, 40.4, 39.8, 40.2]
    tested = _judge_limit(before, [time - saved for time in (40.1, 40.3, 39.9, 40.0)])
    assert (tested.verdict, tested.prediction) == ("holds", "met")


def test_a_prediction_of_at_most_is_missed_by_more() -> None:
    tested = _judge_limit([60.0, 60.4, 59.8, 60.2], [4.0, 4.2, 3.9, 4.1])
    assert (tested.verdict, tested.prediction) == ("holds", "more")


def test_a_prediction_of_at_most_is_missed_by_next_to_nothing() -> None:
    """A significant saving of 0.8 ms is less than a tenth of 36 ms."""
    tested = _judge_limit([40.0, 40.05, 39.95, 40.0], [39.2, 39.25, 39.15, 39.2])
    assert (tested.verdict, tested.prediction) == ("holds", "less")


def test_a_prediction_of_at_most_does_not_hold_where_nothing_is_saved() -> None:
    tested = _judge_limit([40.0, 40.4, 39.8, 40.2], [40.1, 39.9, 40.3, 40.0])
    assert (tested.verdict, tested.reason) == ("does not hold", "no time was saved")


def test_a_flip_that_slows_does_not_hold() -> None:
    tested = _judge([40.0, 40.4, 39.8, 40.2], [50.0, 50.2, 49.9, 50.1])
    assert (tested.verdict, tested.reason) == ("does not hold", "calls became slower")
    assert not tested.proven


def test_noise_between_nothing_and_the_prediction_is_undecided_with_what_may_decide() -> None:
    tested = _judge([40.0, 90.0, 10.0, 60.0], [4.0, 60.0, 30.0, 5.0])
    assert tested.verdict == "undecided"
    assert not tested.proven
    # s = 34.2 and 26.3, d = 25.3: 25.3 >= t(n) sqrt((34.2^2 + 26.3^2) / n) from n = 13 on.
    assert tested.further_repeats == 9
    assert tested.reason.endswith("; about 9 more repeats may decide")


def test_findings_hold_together_when_each_holds() -> None:
    """One that does not hold outweighs one that is undecided, which outweighs one that holds."""
    holds, fails = ([4.0, 4.2, 3.9, 4.1], [40.1, 39.9, 40.3, 40.0])
    before, wild = [40.0, 40.4, 39.8, 40.2], [40.0, 90.0, 10.0, 60.0]
    plain = plan_test()
    other = plain.model_copy(update={"after": Spot.of(point_of(JOINED))})

    def together(first: Sequence[float], second: Sequence[float]) -> str | None:
        trials = trials_of(STALLED, before, STALL)
        trials += trials_of(FLIPPED, first) + trials_of(JOINED, second)
        record = Interventions(minimum_share=0.05, tests=(plain, other))
        return judge(record, trials).verdict

    assert together(holds, holds) == "holds"
    assert together(holds, wild) == "undecided"
    assert together(fails, wild) == "does not hold"
    assert judge(Interventions(minimum_share=0.05), []).verdict is None


def test_occurrences_that_stay_are_not_explained_by_the_time() -> None:
    """The time went, but the pattern that was blamed for it is still there."""
    tested = _judge([40.0, 40.4, 39.8, 40.2], [4.0, 4.2, 3.9, 4.1], STALL)
    assert (tested.verdict, tested.prediction) == ("holds", "occurrences left")
    assert "100 % of the occurrences remain" in tested.reason


def test_one_trial_per_side_is_undecided() -> None:
    tested = _judge([40.0], [4.0])
    assert tested.verdict == "undecided"
    assert "at least 2 trials" in tested.reason


def test_a_side_without_trials_is_undecided() -> None:
    tested = _judge([40.0, 40.1], [])
    assert tested.verdict == "undecided"
    assert tested.found is None
    assert tested.to_json()["found_ms_per_call"] is None


def test_openings_of_connections_are_in_the_time_of_a_call() -> None:
    """A connection per call costs before the first byte, which service time leaves out."""
    (trial,) = trials_of(STALLED, [2.0])
    trial.result.times["connect"] = Times(count=50, mean_ns=3e6)
    assert call_ns(trial) == pytest.approx(3.5e6)


def test_many_findings_are_judged_together() -> None:
    """What holds alone (p about 0.03) is undecided among twenty findings without effect."""
    before, after = [10.0, 11.0, 9.5, 10.6], [8.9, 8.2, 9.4, 8.6]
    spots = [f"rest@rust?connection=pool={n}" for n in range(1, 21)]
    quiet = [10.0, 10.2, 9.9, 10.1]

    def record(stacks: Sequence[str]) -> Interventions:
        tests = [plan_test(ms=1.5)]
        tests += [
            tests[0].model_copy(
                update={
                    "before": Spot.of(point_of(stack)),
                    "after": Spot.of(point_of(stack + "&server.nagle=on")),
                }
            )
            for stack in stacks
        ]
        return Interventions(minimum_share=0.05, tests=tuple(tests))

    trials = [*trials_of(STALLED, before, STALL), *trials_of(FLIPPED, after)]
    for stack in spots:
        trials += trials_of(stack, quiet) + trials_of(stack + "&server.nagle=on", quiet)
    alone = judge(record([]), trials).tested[0]
    among = judge(record(spots), trials).tested[0]
    assert alone.p_value is not None
    assert 0.005 < alone.p_value < 0.05
    assert alone.verdict == "holds"
    assert among.verdict == "undecided"
    assert "Holm" in among.reason
    assert among.found == alone.found


def test_worlds_without_a_cause_are_seldom_given_one() -> None:
    """400 worlds in which the flip changes nothing: at most 5 % may be proven in either way;
    35 is the binomial bound at the 0.1 % level. Small predictions, so that none is refused
    for its size."""
    random = np.random.default_rng(11)
    record = Interventions(minimum_share=0.05, tests=(plan_test(ms=0.1),))
    proven = 0
    for _ in range(400):
        before, after = (random.normal(10.0, 1.0, 4).tolist() for _ in range(2))
        trials = [*trials_of(STALLED, before, STALL), *trials_of(FLIPPED, after)]
        proven += judge(record, trials).tested[0].p_value < 0.05  # type: ignore[operator]
    assert proven <= 35


def test_switches_that_take_the_same_time_show_their_interaction() -> None:
    """Each alone takes 36 ms away; both take no more: the interaction is -36 ms."""
    before = Spot.of(point_of(STALLED))
    record = Interventions(
        minimum_share=0.05,
        tests=(plan_test(), plan_test(SPLIT, JOINED, 0.0)),
        together=(
            Together(
                changes=("server.nagle=off", "server.writes=joined"),
                before=before,
                after=Spot.of(point_of(NEITHER)),
            ),
        ),
    )
    fast = [4.0, 4.2, 3.9, 4.1]
    trials = trials_of(STALLED, [40.0, 40.4, 39.8, 40.2], STALL)
    for stack in (FLIPPED, JOINED, NEITHER):
        trials += trials_of(stack, fast)
    outcome = judge(record, trials)
    (joint,) = outcome.together
    assert joint.found is not None
    assert joint.interaction is not None
    assert joint.found.estimate == pytest.approx(36.05)
    assert joint.interaction.estimate == pytest.approx(-36.05)
    low, high = joint.interaction.bounds or (0.0, 0.0)
    assert low < -36.05 < high < 0.0
    assert [one.prediction for one in outcome.tested] == ["met", "more"]
    shown = " ".join(" ".join(report_tested.lines(outcome)).split())
    assert "beyond the single switches −36" in shown
