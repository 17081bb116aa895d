"""Cells that were measured in complete blocks: what the blocks share is taken out of the error.

Every repeat of a run visits every cell once, in random order. A machine that gets slower meets
all cells of a block alike, so ``ln y = cell + block + error`` (two-way layout, Montgomery, *Design
and Analysis of Experiments*, chapter 4). Two things keep this honest where cells differ in their
noise:

- the effect of a block is the mean over its cells weighted by the inverse of their variances, so
  that a noisy cell does not spread its noise to a quiet one;
- each cell keeps a variance of its own, moderated by those of all cells (Smyth 2004, Statistical
  Applications in Genetics and Molecular Biology 3(1), article 3): cells lend each other at most
  :data:`BORROWED_MAX` degrees of freedom, and fewer the more their variances differ.

The coverage of the intervals is simulated on residuals of real trials, with drift and bursts:
tests/python/statistics/test_blocks.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from wirelab.statistics.distributions import digamma, trigamma, trigamma_inverse
from wirelab.statistics.repeats import Spread
from wirelab.statistics.sample import Floats

FREEDOM_MIN = 10
"""Residual degrees of freedom from which on blocks are analysed."""
BORROWED_MAX = 3.0
"""Degrees of freedom that the other cells lend to the variance of one."""
WEIGHTS_FREEDOM = 0.3
"""Taken off each cell's degrees of freedom for weights that come from the same trials."""
WEIGHT_MAX = 0.34
"""Share of one cell in the effect of a block, unless there are fewer than six cells."""

_ROUNDS = 30
_ROUNDING = 1e-12
"""Share of a variance that is no more than errors of rounding: all of it was the blocks'."""


@dataclass(frozen=True)
class Blocks:
    """The logarithms of one figure in all cells, after their blocks."""

    means: tuple[float, ...]
    """Of the cells, in the given order; adjusted where a cell lacks a block."""
    parts: tuple[tuple[float, float], ...]
    """Of each cell as :class:`Spread` has them: variance, and degrees of freedom plus one."""
    freedom: int
    """Of the residuals."""

    def difference(self, first: int, second: int) -> tuple[float, Spread]:
        """``first - second`` of the logarithms, with its spread."""
        return self.contrast({first: 1.0, second: -1.0})

    def contrast(self, weights: Mapping[int, float]) -> tuple[float, Spread]:
        """The weighted sum of the logarithms of cells, with its spread. The blocks' part cancels
        only in weights that add up to 0."""
        value = sum(weight * self.means[place] for place, weight in weights.items())
        parts = ((weight, *self.parts[place]) for place, weight in weights.items() if weight)
        return value, Spread(tuple((weight**2 * variance, n) for weight, variance, n in parts))


Block = TypeVar("Block", int, tuple[int, str])
"""The repeat, or the repeat and the host that measured it."""


def blocks(cells: Sequence[Mapping[Block, float]]) -> Blocks | None:
    """Of cells that map a block to a figure above 0.

    None where fewer than :data:`FREEDOM_MIN` residual degrees of freedom remain, where a cell has
    fewer than two values, and where one does not vary: then there is nothing to be gained.
    """
    numbers = sorted(set().union(*cells)) if cells else []
    freedom = sum(len(cell) - 1 for cell in cells) - (len(numbers) - 1)
    if len(cells) < 2 or freedom < FREEDOM_MIN or min(map(len, cells)) < 2:
        return None
    if any(not value > 0.0 for cell in cells for value in cell.values()):
        return None
    table = np.full((len(cells), len(numbers)), np.nan)
    for row, cell in enumerate(cells):
        for column, number in enumerate(numbers):
            if number in cell:
                table[row, column] = log(cell[number])
    return _fit(table, freedom)


def _fit(table: Floats, freedom: int) -> Blocks | None:
    there = ~np.isnan(table)
    counts = there.sum(axis=1)
    centred = table - np.nanmean(table, axis=1, keepdims=True)
    variances = np.nansum(centred**2, axis=1) / (counts - 1)
    if np.any(variances <= 0.0):
        return None
    weights = _weights(_moderate(variances, counts - 1.0)[0])
    shared = np.where(there, weights[:, None], 0.0)
    means, adjusted = np.nanmean(table, axis=1), table
    for _ in range(_ROUNDS):
        # Backfitting; where no cell lacks a block the first round is exact.
        beyond = np.where(there, table - means[:, None], 0.0)
        effects = (beyond * shared).sum(axis=0) / shared.sum(axis=0)
        adjusted = table - effects
        means = np.nanmean(adjusted, axis=1)
    residuals = adjusted - means[:, None]
    efficiency = _find_efficiency(there)
    if efficiency is None:
        return None
    shares = (counts - 1) * (1.0 - weights)
    own = shares * freedom / shares.sum() - WEIGHTS_FREEDOM
    if np.any(own <= 0.0):
        return None
    left = np.nansum(residuals**2, axis=1) / own
    if np.any(left <= _ROUNDING * variances):
        return None
    found, degrees = _moderate(left, own)
    # A Spread divides by its number of trials, which is that of the degrees of freedom here.
    sizes = degrees + 1.0
    parts = tuple(
        (float(variance * size / count / efficiency), float(size))
        for variance, size, count in zip(found, sizes, counts, strict=True)
    )
    return Blocks(tuple(map(float, means)), parts, freedom)


def _find_efficiency(there: NDArray[np.bool_]) -> float | None:
    """What blocks that lack cells cost: the variance of a difference of two cells in complete
    blocks over that in these, averaged over all pairs (average efficiency factor, John and
    Williams, *Cyclic and Computer Generated Designs*, chapter 1); 1 where no cell lacks a block.
    None where some cells have no block in common with others, not even through a third."""
    if there.all():
        return 1.0
    design = there.astype(float)
    counts = design.sum(axis=1)
    information = np.diag(counts) - (design / design.sum(axis=0)) @ design.T
    values = np.linalg.eigvalsh(information)[1:]
    if values[0] < 1e-9 * counts.max():
        return None
    return min(1.0, float(np.mean(1.0 / counts) / np.mean(1.0 / values)))


def _weights(variances: Floats) -> Floats:
    """Inverse variances as shares, none above the largest that is allowed."""
    most = max(WEIGHT_MAX, 2.0 / variances.size)
    shares = 1.0 / variances
    shares = shares / shares.sum()
    for _ in range(20):
        shares = np.minimum(shares, most)
        shares = shares / shares.sum()
    return np.asarray(shares)


def _moderate(variances: Floats, degrees: Floats) -> tuple[Floats, Floats]:
    """The variances moved towards what they have in common, and their degrees of freedom."""
    borrowed, common = prior(variances, degrees)
    borrowed = min(borrowed, BORROWED_MAX)
    total = borrowed + degrees
    return (borrowed * common + degrees * variances) / total, total


def prior(variances: Floats, degrees: Floats) -> tuple[float, float]:
    """Degrees of freedom and value of the variance that all have in common, by the moments of
    their logarithms (Smyth 2004, section 6.2); the degrees are infinite where they differ by
    chance alone."""
    logs = np.log(variances)
    shifted = logs - np.array([digamma(d / 2.0) - log(d / 2.0) for d in degrees])
    middle = float(shifted.mean())
    if shifted.size < 3:
        return 0.0, exp(middle)
    spread = float(shifted.var(ddof=1)) - float(np.mean([trigamma(d / 2.0) for d in degrees]))
    if spread <= 0.0:
        return inf, exp(middle)
    borrowed = 2.0 * trigamma_inverse(spread)
    return borrowed, exp(middle + digamma(borrowed / 2.0) - log(borrowed / 2.0))
