"""Shares of cases that come in clusters, as occurrences come in captures."""

from __future__ import annotations

import numpy as np
import pytest

from wirelab.statistics.distributions import binomial_interval, cluster_share

WORLDS = 10_000


def draw_clusters(random: np.random.Generator, number: int) -> list[tuple[int, int]]:
    """Captures of 1 to 40 occurrences; each capture has a share of its own, 0.9 on average."""
    cases = random.integers(1, 41, number)
    shares = random.beta(1.8, 0.2, number)
    return [
        (int(random.binomial(n, share)), int(n)) for n, share in zip(cases, shares, strict=True)
    ]


@pytest.mark.parametrize("number", [12, 40])
def test_intervals_hold_the_share_where_those_of_the_occurrences_do_not(number: int) -> None:
    random = np.random.default_rng(number)
    holding = naive = 0
    for _ in range(WORLDS):
        clusters = draw_clusters(random, number)
        found = cluster_share(clusters)
        assert found is not None
        low, high = found.bounds or (0.0, 0.0)
        holding += low <= 0.9 <= high
        own = binomial_interval(sum(h for h, _ in clusters), sum(n for _, n in clusters))
        low, high = own.bounds or (0.0, 0.0)
        naive += low <= 0.9 <= high
    assert holding >= 0.945 * WORLDS
    assert naive < 0.8 * WORLDS


def test_clusters_of_one_are_cases() -> None:
    clusters = [(1, 1)] * 90 + [(0, 1)] * 10
    found, own = cluster_share(clusters), binomial_interval(90, 100)
    assert found is not None
    assert found.bounds == pytest.approx(own.bounds, abs=0.01)


def test_clusters_that_are_right_throughout_count_once_each() -> None:
    found = cluster_share([(100, 100)] * 12)
    assert found is not None
    assert found.bounds == binomial_interval(12, 12).bounds
    assert cluster_share([(0, 0)]) is None
