"""Blocks: against textbook formulas and scipy, and their coverage on residuals of real trials."""

from __future__ import annotations

import json
from itertools import combinations
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

from wirelab.statistics.blocks import BORROWED_MAX, FREEDOM_MIN, Blocks, blocks, prior
from wirelab.statistics.comparison import of_blocks, ratio
from wirelab.statistics.distributions import digamma, trigamma, trigamma_inverse
from wirelab.statistics.repeats import Spread

RESIDUALS = np.array(
    json.loads((Path(__file__).parents[1] / "trial_residuals.json").read_text())["values"]
)
WORLDS = 300
CELLS, REPEATS = 6, 4


@pytest.mark.parametrize("x", [0.01, 0.3, 1.0, 1.5, 2.0, 7.9, 8.0, 100.0, 1e6])
def test_digamma_and_trigamma_are_those_of_scipy(x: float) -> None:
    assert digamma(x) == pytest.approx(float(special.digamma(x)), rel=1e-11, abs=1e-12)
    assert trigamma(x) == pytest.approx(float(special.polygamma(1, x)), rel=1e-11)
    assert trigamma_inverse(trigamma(x)) == pytest.approx(x, rel=1e-9)


def test_the_prior_of_equal_variances_is_infinite_and_of_unequal_ones_is_not() -> None:
    """Variances drawn from a scaled inverse chi-square with four degrees of freedom and 2."""
    random = np.random.default_rng(1)
    truth = 2.0 * 4.0 / random.chisquare(4.0, 20_000)
    seen = truth * random.chisquare(5.0, truth.size) / 5.0
    borrowed, common = prior(seen, np.full(truth.size, 5.0))
    assert borrowed == pytest.approx(4.0, rel=0.1)
    assert common == pytest.approx(2.0, rel=0.05)
    equal = random.chisquare(5.0, 20_000) / 5.0
    assert prior(equal, np.full(equal.size, 5.0))[0] > 50.0


def layout(
    random: np.random.Generator, kind: str, cells: int = CELLS, repeats: int = REPEATS
) -> list[dict[int, float]]:
    """Equal cells whose noise is that of real trials, each with a scale of its own, on a machine
    that is quiet, drifts, wanders or is disturbed in bursts."""
    scales = np.exp(random.normal(0.0, 0.5, cells))
    order = [(b, c) for b in range(repeats) for c in random.permutation(cells)]
    size, typical = len(order), float(RESIDUALS.std())
    shift = np.zeros(size)
    if kind == "drift":
        shift = np.linspace(0.0, 4.0 * typical, size)
    elif kind == "walk":
        shift = np.cumsum(random.normal(0.0, typical, size))
    elif kind == "bursts":
        at = 0
        while at < size:
            at += int(random.geometric(0.15))
            length = int(random.integers(1, 5))
            shift[at : at + length] -= 4.0 * typical
            at += length
    made: list[dict[int, float]] = [{} for _ in range(cells)]
    for place, (block, cell) in enumerate(order):
        noise = scales[cell] * random.choice(RESIDUALS) + shift[place]
        made[cell][block] = exp(float(noise))
    return made


@pytest.mark.parametrize("kind", ["quiet", "drift", "walk", "bursts"])
def test_intervals_hold_the_truth_as_often_as_they_say(kind: str) -> None:
    """Their cells are equal: 95 % of the intervals hold 1, and they are narrower than Welch's."""
    random = np.random.default_rng(7)
    holding, widths = [], []
    for _ in range(WORLDS):
        cells = layout(random, kind)
        found = blocks(cells)
        assert found is not None
        for a, b in combinations(range(CELLS), 2):
            own = of_blocks(found, a, b, 2 * REPEATS).ratio
            welch = ratio(list(cells[a].values()), list(cells[b].values())).ratio
            assert own.bounds is not None
            assert welch.bounds is not None
            holding.append(own.bounds[0] <= 1.0 <= own.bounds[1])
            widths.append(
                log(own.bounds[1] / own.bounds[0]) / log(welch.bounds[1] / welch.bounds[0])
            )
    assert np.mean(holding) >= 0.93
    assert np.median(widths) <= (0.95 if kind in ("quiet", "bursts") else 0.85)


@pytest.mark.parametrize("kind", ["quiet", "drift", "walk", "bursts"])
@pytest.mark.parametrize(("cells", "repeats"), [(6, 4), (6, 8), (3, 8)])
def test_coverage_in_ten_thousand_worlds(kind: str, cells: int, repeats: int) -> None:
    """As docs/reference/blocks.md has it: at least 94.5 % of the intervals contain the truth."""
    random = np.random.default_rng(99)
    holding = 0
    for _ in range(10_000):
        found = blocks(layout(random, kind, cells, repeats))
        assert found is not None
        for a, b in combinations(range(cells), 2):
            value, spread = found.difference(a, b)
            holding += abs(value) <= spread.reach(0.95)
    assert holding / (10_000 * cells * (cells - 1) / 2) >= 0.945


def test_without_drift_a_complete_layout_has_the_means_of_its_cells() -> None:
    cells = layout(np.random.default_rng(3), "quiet")
    found = blocks(cells)
    assert found is not None
    means = [np.mean(np.log(list(cell.values()))) for cell in cells]
    differences = [a - b for a, b in combinations(means, 2)]
    made = [found.difference(a, b)[0] for a, b in combinations(range(CELLS), 2)]
    assert made == pytest.approx(differences, abs=1e-12)


def test_a_block_that_a_cell_lacks_is_allowed_for() -> None:
    """All cells are half as fast in the last block; one cell lost its trial there."""
    cells = [{0: 100.0 + c, 1: 101.0 + c, 2: 99.5 + c, 3: 50.0 + c / 2} for c in range(6)]
    del cells[0][3]
    found = blocks(cells)
    assert found is not None
    assert exp(found.difference(0, 1)[0]) == pytest.approx(100.0 / 101.0, rel=0.01)


def test_the_freedom_that_is_borrowed_is_bounded() -> None:
    found = blocks(layout(np.random.default_rng(5), "quiet"))
    assert isinstance(found, Blocks)
    for _, size in found.parts:
        assert size - 1.0 <= REPEATS - 1 + BORROWED_MAX
    assert Spread(found.parts[:2]).error()[0] > 0.0


@pytest.mark.parametrize(
    "cells",
    [
        [],
        [{0: 1.0, 1: 2.0}],
        [{0: 1.0, 1: 2.0, 2: 1.5}, {0: 1.0, 1: 2.0, 2: 1.6}],
        [dict.fromkeys(range(12), 1.0), {r: 1.0 + r for r in range(12)}],
        [{r: float(r) for r in range(12)}, {r: 1.0 + r for r in range(12)}],
        [{0: 1.0}, {r: 1.0 + r for r in range(14)}],
    ],
    ids=["none", "one cell", "too few", "no spread", "zero", "one value"],
)
def test_cells_unsuited_for_blocks_are_left_to_welch(cells: list[dict[int, float]]) -> None:
    assert FREEDOM_MIN == 10
    assert blocks(cells) is None


def test_two_cells_are_nearly_paired() -> None:
    """With two cells the residuals are half the paired difference; the interval is that of a
    paired t, a little wider for its weights."""
    random = np.random.default_rng(9)
    drift = np.cumsum(random.normal(0.0, 0.1, 16))
    a = np.exp(drift + random.normal(0.0, 0.02, 16))
    b = np.exp(drift + random.normal(0.0, 0.02, 16))
    found = blocks([dict(enumerate(a)), dict(enumerate(b))])
    assert found is not None
    value, spread = found.difference(0, 1)
    paired = stats.ttest_rel(np.log(a), np.log(b)).confidence_interval()
    assert 2.0 * spread.reach(0.95) == pytest.approx(paired.high - paired.low, rel=0.1)
    assert value == pytest.approx(0.5 * (paired.high + paired.low), abs=1e-12)
