"""The comparison of slices and windows of `make slices-agree`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tools import slices_agree
from tools.slices_agree import FIGURES, Agreement, BothDesigns, Pair, compare_rounds, measure_pair
from wirelab.statistics.figure import RATE


def test_interval_is_that_of_students_t() -> None:
    ratios = [1.01, 0.99, 1.04, 0.97, 1.02]
    found = Agreement.of(ratios)
    logs = np.log(ratios)
    low, high = stats.t.interval(0.95, len(logs) - 1, logs.mean(), stats.sem(logs))
    assert (found.low, found.high) == pytest.approx((np.exp(low), np.exp(high)))


@pytest.mark.parametrize(
    ("ratio", "low", "high", "verdict"),
    [
        (1.0, 0.985, 1.015, "yes"),
        (1.0, 0.97, 1.03, "undecided"),
        (1.019, 1.018, 1.021, "undecided"),
        (1.05, 1.03, 1.07, "no"),
        (0.95, 0.93, 0.97, "no"),
    ],
)
def test_verdict_needs_the_whole_interval(
    ratio: float, low: float, high: float, verdict: str
) -> None:
    assert Agreement(ratio, low, high).verdict == verdict


def test_equal_designs_seldom_differ_and_a_bias_is_found() -> None:
    random = np.random.default_rng(7)

    def verdicts(bias: float) -> list[str]:
        worlds = np.exp(random.normal(np.log(bias), 0.04, size=(500, slices_agree.ROUNDS)))
        return [Agreement.of(list(world)).verdict for world in worlds]

    assert verdicts(1.0).count("no") <= 1
    assert verdicts(1.06).count("no") >= 450


def test_services_are_measured_in_both_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BothDesigns, "rounds", 2)
    pair = Pair(("rest@rust", "raw@rust"), "Hello", "14 B", 2)
    rounds = measure_pair(pair, tmp_path / "pair", 3)
    assert len(rounds) == 2
    for in_slices, apart in rounds:
        assert all(trial.slices is not None for trial in in_slices)
        assert all(trial.slices is None and trial.status == "measured" for trial in apart)
        for both in zip(in_slices, apart, strict=True):
            assert all(trial.result.errors == 0 and trial.result.ok > 0 for trial in both)
    found = [compare_rounds(rounds, 0, figure) for figure in FIGURES]
    assert found[-1].ratio == pytest.approx(1.0, abs=0.01), "bytes per call"
    assert 0.2 < compare_rounds(rounds, 1, RATE).ratio < 5.0
