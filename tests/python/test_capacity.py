"""The search for a limit, on services whose limit and noise are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wirelab.comparisons.capacity import LEAST, MOST, SPAN, Probe, Search, range_around
from wirelab.statistics.interval import OutOfRange


def found(limit: float, width: float, seed: int) -> Search:
    """A search of a service that meets the objective by a logistic function of the rate."""
    rng = np.random.default_rng(seed)
    search = Search(*range_around(limit * rng.uniform(0.5, 3.0)))
    while not search.done:
        rate = search.next_rate
        steps = math.log(rate / limit) / width if width else math.copysign(50.0, rate - limit)
        chance = 1.0 / (1.0 + math.exp(min(50.0, max(-50.0, steps))))
        search = search.after(Probe(rate, bool(rng.random() < chance)))
    return search


@pytest.mark.parametrize(("width", "probes"), [(0.0, 20), (0.01, 33), (0.03, MOST)])
def test_the_interval_holds_the_limit_and_is_narrow(width: float, probes: int) -> None:
    """In 60 searches each; 51 of 60 is the least that 95 % allow at one in a thousand."""
    searches = [found(1234.5, width, seed) for seed in range(60)]
    held = errors = 0
    for search in searches:
        low, high = search.interval.bounds or (math.nan, math.nan)
        held += low <= 1234.5 <= high
        errors += abs(search.interval.estimate / 1234.5 - 1.0) <= 0.03
    assert held >= 51
    assert errors >= (57 if width <= 0.01 else 45)
    assert np.mean([len(search.probes) for search in searches]) <= probes


def test_the_search_ends_by_its_interval_or_its_probes() -> None:
    exact = found(500.0, 0.0, 1)
    low, high = exact.interval.bounds or (1.0, math.inf)
    assert LEAST <= len(exact.probes) < MOST
    assert high / low <= SPAN
    assert len(found(500.0, 0.5, 1).probes) == MOST


@pytest.mark.parametrize(("met", "edge"), [(True, "above"), (False, "below")])
def test_a_limit_outside_of_the_range_is_told(met: bool, edge: str) -> None:
    search = Search(100.0, 1000.0)
    while not search.done:
        search = search.after(Probe(search.next_rate, met))
    assert search.at_edge == edge


def test_the_same_answers_ask_the_same() -> None:
    assert found(700.0, 0.02, 4) == found(700.0, 0.02, 4)


def test_nonsense_is_refused() -> None:
    with pytest.raises(OutOfRange):
        Search(10.0, 1.0)
    with pytest.raises(OutOfRange):
        range_around(0.0)
