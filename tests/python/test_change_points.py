"""E-divisive: changes that were put in are found, and none where there are none."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from wirelab.statistics.change_points import LEAST, VALUES_MAX, _statistics, change_points
from wirelab.statistics.interval import NoValues, OutOfRange


def test_the_statistic_is_that_of_the_paper() -> None:
    """Sums over pairs, written out."""
    rng = np.random.default_rng(2)
    values = rng.normal(size=9)
    found = _statistics(values)
    for place, split in enumerate(range(LEAST, values.size - LEAST + 1)):
        x, y = values[:split], values[split:]
        m, n = len(x), len(y)
        between = sum(abs(a - b) for a in x for b in y)
        within = [
            sum(abs(part[i] - part[j]) for i in range(len(part)) for j in range(i))
            / (len(part) * (len(part) - 1) / 2)
            for part in (x, y)
        ]
        energy = 2 * between / (m * n) - within[0] - within[1]
        assert found[place] == pytest.approx(m * n / (m + n) * energy)


def test_two_changes_are_found_where_they_are() -> None:
    rng = np.random.default_rng(3)
    levels = np.repeat([100.0, 110.0, 104.0], [15, 12, 13])
    found = change_points(list(levels + rng.normal(0.0, 1.0, levels.size)))
    assert [change.index for change in found] == [15, 27]
    assert all(change.p_value <= 0.01 for change in found)


def test_a_change_of_spread_is_a_change() -> None:
    rng = np.random.default_rng(4)
    values = np.concatenate([rng.normal(0.0, 0.2, 40), rng.normal(0.0, 5.0, 40)])
    found = change_points(list(values))
    assert len(found) == 1
    assert abs(found[0].index - 40) <= 4


def test_series_without_a_change_seldom_have_one() -> None:
    """At most 4 of 100, at a level of 1 %: 5 or more would come in 1 of 300 such tests."""
    rng = np.random.default_rng(5)
    found = sum(bool(change_points(list(rng.normal(size=20)), seed=seed)) for seed in range(100))
    assert found <= 4


def test_few_values_have_no_change() -> None:
    assert change_points([1.0] * (2 * LEAST - 1)) == ()
    assert change_points([1.0, 1.0, 1.0, 9.0, 9.0, 9.0]) == ()
    with pytest.raises(NoValues):
        change_points([])
    with pytest.raises(OutOfRange):
        change_points([1.0] * (VALUES_MAX + 1))


def test_changes_are_apart() -> None:
    rng = np.random.default_rng(6)
    values = np.repeat(rng.normal(0.0, 20.0, 6), 5) + rng.normal(size=30)
    found = [0, *(change.index for change in change_points(list(values))), 30]
    assert all(after - before >= LEAST for before, after in pairwise(found))
