"""Changes of level: found in few runs where the variance is known, seldom where there are none."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from scipy import stats

from wirelab.statistics.change_points import (
    VALUES_MAX,
    RunSeries,
    RunSpread,
    Step,
    benjamini_hochberg,
    further_runs,
    run_spread,
    steps,
    visible_step,
)
from wirelab.statistics.interval import NotFinite, OutOfRange

SPREAD = 0.02
"""Standard deviation of runs, as a share."""
RATE = 0.05
WORLDS = 40


def series(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> RunSeries:
    return RunSeries(tuple(range(len(values))), tuple(map(float, values)))


def calm(rng: np.random.Generator, runs: int) -> RunSeries:
    return series(rng.normal(0.0, SPREAD, runs))


def draw_step(rng: np.random.Generator, before: int, after: int, factor: float) -> RunSeries:
    values = rng.normal(0.0, SPREAD, before + after)
    values[before:] += log(factor)
    return series(values)


def draw_random_walk(rng: np.random.Generator, runs: int, correlation: float = 0.8) -> RunSeries:
    values = np.empty(runs)
    values[0] = rng.normal(0.0, SPREAD)
    for at in range(1, runs):
        new = rng.normal(0.0, SPREAD * (1.0 - correlation**2) ** 0.5)
        values[at] = correlation * values[at - 1] + new
    return series(values)


def discoveries(found: list[Step | None]) -> list[bool]:
    p_values = [1.0 if one is None else one.p_value for one in found]
    cut = benjamini_hochberg(p_values, RATE)
    return [p <= cut for p in p_values]


def test_ten_per_cent_after_four_runs_are_found_in_two_more() -> None:
    """The spread is known from the five other series of the directory; none of them changes.
    28 of 40 is what a power of 80 % gives less often than once in twenty."""
    rng = np.random.default_rng(1)
    found = false = 0
    for _ in range(WORLDS):
        every = [draw_step(rng, 4, 2, 1.1), *(calm(rng, 6) for _ in range(5))]
        made = steps(every)
        first, *others = discoveries(made)
        found += first and made[0] is not None and made[0].place == 4
        false += sum(others)
    assert found >= stats.binom.ppf(0.05, WORLDS, 0.8)
    assert false <= stats.binom.ppf(0.99, 5 * WORLDS, RATE)


def test_a_calibration_with_twenty_runs_is_enough_for_a_series_alone() -> None:
    rng = np.random.default_rng(2)
    found = false = 0
    for _ in range(WORLDS):
        equal = [calm(rng, 20)]
        found += discoveries(steps([draw_step(rng, 4, 2, 1.1)], equal))[0]
        false += discoveries(steps([calm(rng, 6)], equal))[0]
    assert found >= stats.binom.ppf(0.05, WORLDS, 0.8)
    assert false <= stats.binom.ppf(0.99, WORLDS, RATE)


def test_without_other_values_six_runs_show_nothing_of_the_kind() -> None:
    """What both cannot give from few runs: without a known spread the power is small."""
    rng = np.random.default_rng(3)
    found = sum(discoveries(steps([draw_step(rng, 4, 2, 1.1)]))[0] for _ in range(WORLDS))
    assert found <= 0.8 * WORLDS


@pytest.mark.parametrize("equal_runs", [0, 20])
def test_wandering_series_seldom_have_a_change(equal_runs: int) -> None:
    """At most one in ten, also where other runs suggest that neighbours are not alike."""
    rng = np.random.default_rng(4)
    false = 0
    for _ in range(30):
        equal = [calm(rng, equal_runs)] if equal_runs else []
        false += discoveries(steps([draw_random_walk(rng, 20)], equal))[0]
    assert false <= 3


def test_a_directory_of_wandering_series_has_few_changes() -> None:
    rng = np.random.default_rng(5)
    found = discoveries(steps([draw_random_walk(rng, 20) for _ in range(10)]))
    assert sum(found) <= 1


def test_a_change_of_all_series_at_once_does_not_hide_itself() -> None:
    rng = np.random.default_rng(6)
    found = steps([draw_step(rng, 4, 3, 1.1) for _ in range(6)])
    assert sum(discoveries(found)) >= 5


def test_the_first_run_after_the_change_is_named_where_runs_are_missing() -> None:
    rng = np.random.default_rng(7)
    values = rng.normal(0.0, 0.01, 7)
    values[4:] += 0.3
    (found,) = steps([RunSeries((0, 1, 3, 4, 8, 9, 12), tuple(values))], [calm(rng, 20)])
    assert found is not None
    assert found.place == 8
    assert found.size == pytest.approx(0.3, abs=0.03)


def test_the_spread_of_runs_is_that_of_the_world() -> None:
    rng = np.random.default_rng(8)
    found = run_spread([draw_step(rng, 5, 5, 1.2) for _ in range(10)])
    assert found is not None
    assert found.deviation == pytest.approx(SPREAD, rel=0.2)
    assert run_spread([calm(rng, 2)]) is None


def test_the_stated_number_of_runs_shows_the_stated_change() -> None:
    """In 80 % of worlds, or more."""
    rng = np.random.default_rng(9)
    spread = RunSpread(0.028, 19)
    further = further_runs(4, log(1.1), spread, RATE)
    assert further is not None
    assert further > 2
    found = 0
    for _ in range(WORLDS):
        equal = [series(rng.normal(0.0, 0.028, 20))]
        values = rng.normal(0.0, 0.028, 4 + further)
        values[4:] += log(1.1)
        found += discoveries(steps([series(values)], equal))[0]
    assert found >= stats.binom.ppf(0.05, WORLDS, 0.8)
    assert further_runs(4, log(1.001), spread, RATE) is None
    assert further_runs(1, log(2.0), spread, RATE) is None
    assert visible_step(3, spread, RATE) is None


def test_discoveries_are_those_of_benjamini_and_hochberg() -> None:
    """The example of their paper: 15 p-values, of which four are discoveries."""
    listed = "1 4 19 95 201 278 298 344 459 3240 4262 5719 6528 7590 10000"
    p_values = [int(one) / 1e4 for one in listed.split()]
    assert benjamini_hochberg(p_values, 0.05) == 0.0095
    assert benjamini_hochberg([0.9], 0.05) == 0.0


def test_few_and_odd_values() -> None:
    assert steps([series(np.zeros(3))]) == [None]
    with pytest.raises(OutOfRange):
        series(np.zeros(VALUES_MAX + 1))
    with pytest.raises(NotFinite):
        series(np.array([1.0, np.nan]))
