"""The search for a limit, on services whose limit and noise are known."""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest
from scipy import stats

from tools.limit_coverage import LIMIT, World, search_limit
from tools.queueing import rate_at
from wirelab.comparisons.capacity import LEAST, MOST, SPAN, Probe, Search, range_around
from wirelab.comparisons.steady_limit import (
    Ask,
    TooFewCalls,
    Windows,
    find_limit,
    trials_max,
)
from wirelab.statistics.interval import OutOfRange

SHORT = Windows(3.0, 3.0)
GROWING = Windows(3.0, 24.0)


@pytest.fixture(scope="module")
def coverage() -> dict[float, tuple[int, int, float]]:
    """By share of spoilt trials: intervals that contain the limit, answers, and the median half
    width. Windows do not grow: that takes twice as long, and does not matter here."""
    shares = (0.0, 0.1, 0.2, 0.3)
    made = {share: search_limit(World(0.03, share), 12, SHORT) for share in shares}
    return {share: (one.covered, one.answered, one.half_width) for share, one in made.items()}


def test_the_interval_covers_the_limit_however_many_trials_are_spoilt(
    coverage: dict[float, tuple[int, int, float]],
) -> None:
    """Fails where 0.945 is unlikely (one in a thousand), for all shares and for the largest."""
    for counts in (list(coverage.values()), [coverage[0.3]]):
        covered = sum(one[0] for one in counts)
        answered = sum(one[1] for one in counts)
        assert stats.binom.cdf(covered, answered, 0.945) > 0.001


def test_the_interval_is_narrow_although_one_trial_in_five_is_spoilt(
    coverage: dict[float, tuple[int, int, float]],
) -> None:
    assert coverage[0.2][2] <= 0.15
    assert coverage[0.0][2] <= 0.08


def test_a_limit_is_measurable_where_no_trial_is_spoilt(
    coverage: dict[float, tuple[int, int, float]],
) -> None:
    assert coverage[0.0][1] == 12


def test_early_misses_do_not_hold_the_search_low() -> None:
    """The first six trials are spoilt, then none is."""
    made = 0

    def ask(rate: float, _: float) -> bool:
        nonlocal made
        made += 1
        return made > 6 and rate < 361.0

    found = find_limit(ask, 369.0, SHORT)
    low, high = found.limit.bounds or (0.0, 0.0)
    assert low <= 361.0 <= high
    assert found.is_measurable
    assert found.limit.estimate == pytest.approx(361.0, rel=0.05)


def test_a_machine_that_holds_up_every_later_trial_makes_the_limit_not_measurable() -> None:
    calm = find_limit(lambda rate, _: rate < 361.0, 369.0, SHORT)
    made = 0

    def ask(rate: float, _: float) -> bool:
        nonlocal made
        made += 1
        return made <= len(calm.probes) and rate < 361.0

    found = find_limit(ask, 369.0, SHORT)
    assert found.probes == calm.probes
    assert not found.is_measurable
    assert found.failed_check == pytest.approx(0.5 * 361.0, rel=0.05)
    assert found.held_up > calm.held_up
    assert found.checks == 2


def test_no_search_takes_more_trials_than_stated() -> None:
    rng = np.random.default_rng(3)
    for windows in (SHORT, GROWING):
        found = find_limit(lambda *_: bool(rng.random() < 0.5), 1_000.0, windows)
        assert found.trials <= trials_max(MOST, windows)
    assert trials_max(MOST, GROWING) == 104


def queue(workers: int, service_s: float, seed: int) -> Ask:
    """Trials of M/D/c, each from an empty queue: whether 90 % of calls end within 60 ms."""
    rng = np.random.default_rng(seed)

    def ask(rate: float, seconds: float) -> bool:
        arrivals = np.cumsum(rng.exponential(1.0 / rate, math.ceil(rate * seconds)))
        free, times = [0.0] * workers, []
        for arrival in arrivals:
            ends = max(arrival, free[0]) + service_s
            heapq.heapreplace(free, ends)
            times.append(ends - arrival)
        return bool(np.quantile(times, 0.9) < 0.06)

    return ask


@pytest.mark.parametrize(("workers", "seeds"), [(1, 4), (4, 2)])
def test_growing_windows_find_the_limit_that_lasts(workers: int, seeds: int) -> None:
    """Near saturation short windows alone are 2 to 5 % too high."""
    truth, capacity = rate_at(0.9, 0.06, workers, 0.01), workers / 0.01
    found = [find_limit(queue(workers, 0.01, seed), capacity, GROWING) for seed in range(seeds)]
    assert np.mean([one.limit.estimate / truth for one in found]) == pytest.approx(1.0, abs=0.03)
    assert all(one.limit.estimate < capacity for one in found)
    assert all(one.window_s >= 12.0 and one.moved is not None for one in found)


def test_windows_do_not_grow_far_from_saturation() -> None:
    found = find_limit(lambda rate, _: rate < 300.0, 1_000.0, GROWING)
    assert (found.window_s, found.moved, found.settled) == (3.0, None, False)


def test_the_search_ends_by_its_interval_or_its_probes() -> None:
    exact = Search(*range_around(1_000.0))
    while not exact.done:
        exact = exact.add_probes(Probe(exact.next_rate, exact.next_rate < 500.0))
    low, high = exact.interval.bounds or (1.0, math.inf)
    assert LEAST <= len(exact.probes) < MOST
    assert high / low <= SPAN
    assert low <= 500.0 <= high


@pytest.mark.parametrize(("met", "edge"), [(True, "above"), (False, "below")])
def test_a_limit_outside_of_the_range_is_reported(met: bool, edge: str) -> None:
    search = Search(100.0, 1000.0)
    while not search.done:
        search = search.add_probes(Probe(search.next_rate, met))
    assert search.at_edge == edge


def test_a_spoilt_trial_does_not_hide_a_limit_above_the_range() -> None:
    search = Search(100.0, 1000.0)
    while not search.done:
        search = search.add_probes(Probe(search.next_rate, len(search.probes) != 2))
    assert search.at_edge == "above"


def test_rates_with_too_few_calls_are_left_out() -> None:
    def ask(rate: float, _: float) -> bool:
        if rate < 400.0:
            raise TooFewCalls("too few", "longer")
        return rate < 700.0

    found = find_limit(ask, 1_000.0, SHORT)
    assert found.limit.estimate == pytest.approx(700.0, rel=0.03)


def test_the_same_answers_ask_the_same() -> None:
    world = World(0.02, 0.1)
    first, second = (
        find_limit(world.make_questions(np.random.default_rng(4)), LIMIT, SHORT) for _ in range(2)
    )
    assert first.probes == second.probes


def test_nonsense_is_refused() -> None:
    with pytest.raises(OutOfRange):
        Search(10.0, 1.0)
    with pytest.raises(OutOfRange):
        range_around(0.0)
