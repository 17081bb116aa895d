"""Where a series of figures changes: E-divisive, which assumes no distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from wirelab.statistics.interval import OutOfRange
from wirelab.statistics.sample import Floats, finite

LEAST = 3
"""Values on either side of a change at least."""
PERMUTATIONS = 499
"""The least p-value is then 1/500."""
VALUES_MAX = 500


@dataclass(frozen=True)
class ChangePoint:
    """A change of the distribution."""

    index: int
    """Of the first value after it."""
    p_value: float


def change_points(
    values: Sequence[float], alpha: float = 0.01, seed: int = 1
) -> tuple[ChangePoint, ...]:
    """The changes of a series, in its order.

    E-divisive (Matteson and James 2014, Journal of the American Statistical Association 109,
    sections 2 and 3): among all splits of all segments the one with the largest energy statistic
    ``Q = mn/(m+n) (2/(mn) sum|x-y| - 1/C(m,2) sum|x-x'| - 1/C(n,2) sum|y-y'|)`` is tested by
    permuting the values within the segments, and the search goes on within its halves until a
    split is not significant at ``alpha``. With values before and after a split the search needs
    :data:`LEAST` of each. Raises :class:`NoValues`, :class:`NotFinite`, and :class:`OutOfRange`
    above :data:`VALUES_MAX` values.
    """
    series = finite(values)
    if series.size > VALUES_MAX:
        raise OutOfRange(f"{series.size} values; at most {VALUES_MAX}: leave out the oldest")
    rng = np.random.default_rng(seed)
    borders = [0, int(series.size)]
    found: list[ChangePoint] = []
    while True:
        segments = list(pairwise(borders))
        split, observed = _best(series, segments)
        if split is None:
            break
        as_large = 1
        for _ in range(PERMUTATIONS):
            shuffled = series.copy()
            for low, high in segments:
                rng.shuffle(shuffled[low:high])
            as_large += _best(shuffled, segments)[1] >= observed
        p_value = as_large / (PERMUTATIONS + 1)
        if p_value > alpha:
            break
        found.append(ChangePoint(split, p_value))
        borders = sorted([*borders, split])
    return tuple(sorted(found, key=lambda change: change.index))


def _best(series: Floats, segments: Sequence[tuple[int, int]]) -> tuple[int | None, float]:
    """The split with the largest statistic, and that; None where no segment can be split."""
    place, largest = None, -np.inf
    for low, high in segments:
        statistics = _statistics(series[low:high])
        if statistics.size:
            at = int(np.argmax(statistics))
            if statistics[at] > largest:
                place, largest = low + LEAST + at, float(statistics[at])
    return place, largest


def _statistics(segment: Floats) -> Floats:
    """Q of every split that leaves :data:`LEAST` values on either side."""
    n = segment.size
    if n < 2 * LEAST:
        return np.empty(0)
    # sums[i, j]: of the distances between the first i and the first j values.
    sums = np.zeros((n + 1, n + 1))
    sums[1:, 1:] = np.cumsum(np.cumsum(np.abs(segment[:, None] - segment[None, :]), 0), 1)
    splits = np.arange(LEAST, n - LEAST + 1)
    before, after = splits.astype(float), (n - splits).astype(float)
    within_before = sums[splits, splits] / 2.0
    between = sums[splits, n] - sums[splits, splits]
    within_after = sums[n, n] / 2.0 - within_before - between
    energy = (
        2.0 * between / (before * after)
        - within_before / (before * (before - 1.0) / 2.0)
        - within_after / (after * (after - 1.0) / 2.0)
    )
    statistics: Floats = before * after / (before + after) * energy
    return statistics
