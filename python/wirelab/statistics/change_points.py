"""Where the level of a series of runs changes, given what is known of how runs vary.

A few runs say little about their own variance: the smallest p of a permutation test of six runs in
two halves is 0.1. The variance is therefore that of all series of a directory together, and of runs
that are known to be equal. Runs near each other in time may be alike, which looks like a change of
level: the correlation of neighbouring runs is unknown too, and averaged over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from wirelab.statistics.distributions import student_t_quantile, student_t_tail
from wirelab.statistics.interval import OutOfRange, UnequalLengths
from wirelab.statistics.sample import Floats, finite

LEAST = 2
"""Runs on either side of a change at least."""
VALUES_MAX = 500
CORRELATIONS = np.array([0.0, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.88, 0.95])
"""Possible correlations of neighbouring runs, equally likely before the data."""
OWN_RUNS = 12
"""Runs from which on a series has its own correlation; shorter ones share that of all."""
MORE_VARIABLE = 0.05
"""A series whose variance exceeds that of the others at this level uses its own."""
COST_OF_SHARED, COST_OF_OWN = 1.2, 1.8
"""Factors by which a step must be larger because the correlation is unknown: in simulations, of
series that share it, and of those that have their own. For 50 runs and more the second is too
large."""
POWER = 0.8
RUNS_MAX = 100
"""Further runs up to which a number is named."""


@dataclass(frozen=True)
class RunSeries:
    """A figure over the runs that have it, on a scale on which changes add up (logarithms)."""

    places: tuple[int, ...]
    """Number of each run in time."""
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.places) != len(self.values):
            raise UnequalLengths(f"{len(self.places)} places of {len(self.values)} values")
        if len(self.values) > VALUES_MAX:
            raise OutOfRange(f"{len(self.values)} values; at most {VALUES_MAX}: leave out old runs")
        finite(self.values)

    def part(self, first: int, last: int) -> RunSeries:
        """The runs whose places are in the range, without its end."""
        inside = [i for i, place in enumerate(self.places) if first <= place < last]
        return RunSeries(
            tuple(self.places[i] for i in inside), tuple(self.values[i] for i in inside)
        )


@dataclass(frozen=True)
class Step:
    """The most likely change of level of a series."""

    place: int
    """Of the first run after it."""
    size: float
    """Difference of the levels."""
    p_value: float
    """Of no change anywhere in the series."""


@dataclass(frozen=True)
class _Fit:
    """Sums of squares of series around their levels, by correlation."""

    squares: Floats
    freedom: int
    penalty: Floats
    """The part of the restricted likelihood that does not depend on the values."""

    @classmethod
    def none(cls) -> _Fit:
        return cls(np.zeros(CORRELATIONS.size), 0, np.zeros(CORRELATIONS.size))

    def plus(self, other: _Fit) -> _Fit:
        return _Fit(
            self.squares + other.squares,
            self.freedom + other.freedom,
            self.penalty + other.penalty,
        )

    def minus(self, other: _Fit) -> _Fit:
        return _Fit(
            self.squares - other.squares,
            self.freedom - other.freedom,
            self.penalty - other.penalty,
        )

    @property
    def variance(self) -> Floats:
        """By correlation."""
        return np.maximum(self.squares, 1e-300) / max(self.freedom, 1)

    def log_likelihood(self) -> Floats:
        """Restricted likelihood of each correlation (Patterson and Thompson 1971, Biometrika
        58(3))."""
        if not self.freedom:
            return self.penalty
        return self.penalty - 0.5 * self.freedom * np.log(np.maximum(self.squares, 1e-300))


def steps(series: Sequence[RunSeries], equal: Sequence[RunSeries] = ()) -> list[Step | None]:
    """The most likely step of each series; None for fewer than twice :data:`LEAST` runs.

    For every split of a series, and every correlation rho of neighbouring runs (the correlation of
    runs at the distance d is rho^d), the difference of the levels is estimated by generalized least
    squares. Its standard error uses the variance within the segments of all series that are split
    at that run, and within ``equal``, which are known to have no change. The p-value of the
    largest difference is Student's, times the number of splits (Bonferroni), averaged over the
    correlations by their restricted likelihood.
    """
    known = _Fit.none()
    for one in equal:
        if len(one.values) > 1:
            known = known.plus(_fit(one, None)[0])
    splits = sorted({place for one in series for place in _splits(one)})
    fits = [{split: _fit(one, split) for split in splits} for one in series]
    whole = dict.fromkeys(splits, known)
    for one_fits in fits:
        for split, (fit, _, _) in one_fits.items():
            whole[split] = whole[split].plus(fit)
    return [_step(one, made, whole) for one, made in zip(series, fits, strict=True)]


def _splits(one: RunSeries) -> tuple[int, ...]:
    return one.places[LEAST : len(one.places) - LEAST + 1]


def _step(
    one: RunSeries, fits: dict[int, tuple[_Fit, Floats, Floats]], whole: dict[int, _Fit]
) -> Step | None:
    splits = _splits(one)
    if not splits:
        return None
    own, effects, errors = zip(*(fits[split] for split in splits), strict=True)
    used = [_choose_fit(fit, whole[split]) for fit, split in zip(own, splits, strict=True)]
    freedom = np.array([fit.freedom for fit in used])
    # By split and correlation.
    t = np.abs(np.array(effects)) / np.sqrt(
        np.array(errors) * np.array([fit.variance for fit in used])
    )
    best = np.argmax(t, axis=0)
    at = range(CORRELATIONS.size)
    tails = [
        min(1.0, 2.0 * len(splits) * student_t_tail(float(t[best[i], i]), float(freedom[best[i]])))
        for i in at
    ]
    judged = own if len(one.values) >= OWN_RUNS else used
    logs = np.array([judged[best[i]].log_likelihood()[i] for i in at])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    place = int(best[int(np.argmax(weights))])
    size = float(np.array(effects)[place] @ weights)
    return Step(splits[place], size, float(weights @ np.array(tails)))


def _choose_fit(own: _Fit, whole: _Fit) -> _Fit:
    """That of all series, or of its own where it varies more than the others."""
    others = whole.minus(own)
    if own.freedom < 1 or others.freedom < 1:
        return whole
    ratio = float(own.variance[0] / others.variance[0])
    # Wilson and Hilferty 1931: the cube root of F is close to normal.
    a, b = 2.0 / (9.0 * own.freedom), 2.0 / (9.0 * others.freedom)
    root = ratio ** (1.0 / 3.0)
    z = ((1.0 - b) * root - (1.0 - a)) / sqrt(b * root**2 + a)
    return own if student_t_tail(z, inf) < MORE_VARIABLE else whole


def _fit(one: RunSeries, split: int | None) -> tuple[_Fit, Floats, Floats]:
    """Around one level, or one before and one after the split; the difference of the levels and
    its squared error in units of the variance, by correlation."""
    places, values = np.array(one.places, float), np.array(one.values, float)
    count, rhos = values.size, CORRELATIONS[:, None]
    after = places >= split if split is not None else np.zeros(count, bool)
    has_step = bool(after.any()) and not bool(after.all())
    columns = [np.ones(count), after.astype(float)] if has_step else [np.ones(count)]
    correlation = rhos ** np.diff(places)[None, :] if count > 1 else np.zeros((rhos.size, 0))
    scale = np.sqrt(1.0 - correlation**2)

    def whiten(row: Floats) -> Floats:
        rest = (row[1:] - correlation * row[:-1]) / scale
        return np.concatenate([np.full((rhos.size, 1), row[0]), rest], axis=1)

    design = np.stack([whiten(column) for column in columns], axis=2)
    target = whiten(values)
    normal = np.einsum("rni,rnj->rij", design, design)
    found = np.linalg.solve(normal, np.einsum("rni,rn->ri", design, target)[:, :, None])[:, :, 0]
    squares = np.sum((target - np.einsum("rni,ri->rn", design, found)) ** 2, axis=1)
    penalty = -np.log(scale).sum(axis=1) - 0.5 * np.log(np.linalg.det(normal))
    fit = _Fit(squares, count - len(columns), penalty)
    if not has_step:
        return fit, np.zeros(rhos.size), np.full(rhos.size, inf)
    return fit, found[:, 1], np.linalg.inv(normal)[:, 1, 1]


def benjamini_hochberg(p_values: Sequence[float], rate: float) -> float:
    """The largest p-value that is a discovery, at this false discovery rate; 0 where none is
    (Benjamini and Hochberg 1995, Journal of the Royal Statistical Society B 57(1))."""
    ordered = sorted(p_values)
    count = len(ordered)
    return max((p for i, p in enumerate(ordered, 1) if p <= rate * i / count), default=0.0)


@dataclass(frozen=True)
class RunSpread:
    """How runs of a series vary, from one to the next."""

    deviation: float
    freedom: int
    """Of the deviation."""


def run_spread(series: Sequence[RunSeries], equal: Sequence[RunSeries] = ()) -> RunSpread | None:
    """Of all series together, each around the levels before and after its most likely step; None
    where nothing is known."""
    found = steps(series, equal)
    whole = _Fit.none()
    for one, step in zip(series, found, strict=True):
        if len(one.values) > LEAST:
            whole = whole.plus(_fit(one, step.place if step else None)[0])
    for one in equal:
        if len(one.values) > 1:
            whole = whole.plus(_fit(one, None)[0])
    if whole.freedom < 1:
        return None
    return RunSpread(sqrt(float(whole.variance[0])), whole.freedom)


def visible_step(runs: int, spread: RunSpread, level: float) -> float | None:
    """The smallest step in the middle of a series that is found with a probability of
    :data:`POWER` at this level, if neighbouring runs are not alike; None for too few runs."""
    return _visible(runs // 2, runs - runs // 2, spread, level)


def further_runs(runs: int, size: float, spread: RunSpread, level: float) -> int | None:
    """Runs after which a step of this size that happens now is found, likewise; None above
    :data:`RUNS_MAX`."""
    for further in range(LEAST, RUNS_MAX + 1):
        visible = _visible(runs, further, spread, level)
        if visible is not None and visible <= size:
            return further
    return None


def _visible(before: int, after: int, spread: RunSpread, level: float) -> float | None:
    if min(before, after) < LEAST:
        return None
    splits = before + after - 2 * LEAST + 1
    reach = student_t_quantile(1.0 - level / (2.0 * splits), spread.freedom)
    reach += student_t_quantile(POWER, spread.freedom)
    shared = before + after < OWN_RUNS
    cost = COST_OF_SHARED if shared else COST_OF_OWN
    return cost * reach * spread.deviation * sqrt(1.0 / before + 1.0 / after)
