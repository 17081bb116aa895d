"""Contrasts of cells that may share trials: services of one trial are compared within it.

Services that take turns in slices meet the same changes of the machine's speed. What such a trial
does to all of them cancels in the weighted sum of their figures in that trial, so these sums are
the values that vary independently. Cells that share no trials are independent, and their variances
add (:mod:`wirelab.statistics.linear_contrasts`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import numpy as np

from wirelab.format.counting import format_count
from wirelab.statistics import linear_contrasts
from wirelab.statistics.cell import Cell
from wirelab.statistics.comparison import TRIALS_MIN, Comparison, of_slices, ratio
from wirelab.statistics.comparison import contrast as contrast_terms
from wirelab.statistics.figure import RATE, Figure
from wirelab.statistics.interval import Interval, NoValues
from wirelab.statistics.linear_contrasts import CONFIDENCE, Term
from wirelab.statistics.sample import Floats, finite, logarithms
from wirelab.statistics.verdict import THRESHOLD

Weighted = tuple[float, Cell]
"""A weight, and the cell whose figure it multiplies, or is the power of."""


def compare(
    first: Cell, second: Cell, figure: Figure, threshold: float = THRESHOLD
) -> Comparison | None:
    """first / second: within the trials that both share, else by Welch's t. None where they have no
    values, or share trials of which none has both. Raises :class:`NotPositive`,
    :class:`NotFinite`."""
    if first.shares_trials_with(second):
        return _compare_within(first, second, figure, threshold)
    try:
        return ratio(first.values(figure), second.values(figure), threshold)
    except NoValues:
        return None


def product(
    weighted: Sequence[Weighted], figure: Figure, confidence: float = CONFIDENCE
) -> Interval:
    """Product of the cells' geometric means, each to the power of its weight. Without an interval
    where fewer than :data:`~wirelab.statistics.comparison.TRIALS_MIN` trials are shared. Raises
    :class:`NoValues`, :class:`NotPositive`, :class:`NotFinite`."""
    terms = log_terms(weighted, figure)
    return _limit(linear_contrasts.product(terms, confidence), weighted, terms)


def total(weighted: Sequence[Weighted], figure: Figure, confidence: float = CONFIDENCE) -> Interval:
    """Sum of weight × arithmetic mean, in the unit of the figure, limited in the same way. Raises
    :class:`NoValues`, :class:`NotFinite`."""
    terms = linear_terms(weighted, figure)
    return _limit(linear_contrasts.total(terms, confidence), weighted, terms)


def contrast(
    weighted: Sequence[Weighted], figure: Figure, threshold: float = THRESHOLD
) -> Comparison:
    """A :func:`product`, with a verdict. Raises the same."""
    terms = log_terms(weighted, figure)
    made = contrast_terms(terms, threshold)
    few = _fewest_shared(weighted, terms)
    if few is None or few >= TRIALS_MIN:
        return made
    # Without a spread and a p, so that no family counts it.
    further = TRIALS_MIN - few
    undecided = made.leave_undecided(_too_few(few))
    return replace(undecided, p_value=None, spread=None, repeats_for_interval=further)


def average_paired_ratios(
    tops: Sequence[Cell],
    bottoms: Sequence[Cell],
    figure: Figure,
    power: float,
    confidence: float = CONFIDENCE,
) -> Interval:
    """:func:`wirelab.statistics.linear_contrasts.average_paired_ratios` of the ratios of
    paired cells. Raises the same as :func:`product`."""
    pairs = [[(1.0, top), (-1.0, bottom)] for top, bottom in zip(tops, bottoms, strict=True)]
    ratios = [log_terms(pair, figure) for pair in pairs]
    found = linear_contrasts.average_of_ratios(ratios, power, confidence)
    terms = [term for ratio_terms in ratios for term in ratio_terms]
    return _limit(found, [cell for pair in pairs for cell in pair], terms)


def log_terms(weighted: Sequence[Weighted], figure: Figure) -> list[Term]:
    """The independent terms of a product: figures of cells that share trials become one term, their
    product in each trial that has all of them. Raises :class:`NotPositive`,
    :class:`NotFinite`."""
    return _gather(weighted, figure, logarithms, np.exp)


def linear_terms(weighted: Sequence[Weighted], figure: Figure) -> list[Term]:
    """The same of a sum. Raises :class:`NotFinite`."""
    return _gather(weighted, figure, finite, lambda sums: sums)


def _compare_within(
    first: Cell, second: Cell, figure: Figure, threshold: float
) -> Comparison | None:
    """Of the trials in which both have the figure; the slices show how a rate varied."""
    both = [cell.values_by_repeat(figure) for cell in (first, second)]
    repeats = sorted(both[0].keys() & both[1].keys())
    if not repeats:
        return None
    a, b = ([values[repeat] for repeat in repeats] for values in both)
    slices = []
    if figure is RATE:
        series = [{t.repeat: t.result.series for t in c.measured} for c in (first, second)]
        slices = [(series[0][repeat], series[1][repeat]) for repeat in repeats]
    window_s = first.measured[0].result.window_s
    return of_slices(a, b, slices, window_s, threshold)


def _gather(
    weighted: Sequence[Weighted],
    figure: Figure,
    read: Callable[[Sequence[float]], Floats],
    write: Callable[[Floats], Floats],
) -> list[Term]:
    """``read`` and ``write`` are to the scale on which figures are summed, and back."""
    terms: list[Term] = []
    for group in _groups(weighted):
        if len(group) == 1:
            ((weight, cell),) = group
            terms.append((weight, cell.values(figure)))
        else:
            terms.append((1.0, write(_sum_within(group, figure, read)).tolist()))
    return terms


def _sum_within(
    group: Sequence[Weighted], figure: Figure, read: Callable[[Sequence[float]], Floats]
) -> Floats:
    """One sum for each trial in which all cells have the figure. Raises :class:`NoValues`."""
    values = [cell.values_by_repeat(figure) for _, cell in group]
    repeats = sorted(set(values[0]).intersection(*values[1:]))
    if not repeats:
        raise NoValues(f"no trial has the {figure.title} of all its cells")
    sums = np.zeros(len(repeats))
    for (weight, _), own in zip(group, values, strict=True):
        sums += weight * read([own[repeat] for repeat in repeats])
    return sums


def _groups(weighted: Sequence[Weighted]) -> list[list[Weighted]]:
    """Cells that share their trials together, each cell once with the sum of its weights."""
    merged: dict[int, Weighted] = {}
    for weight, cell in weighted:
        key = id(cell.trials[0]) if cell.trials else id(cell)
        before, _ = merged.get(key, (0.0, cell))
        merged[key] = (before + weight, cell)
    groups: dict[Hashable, list[Weighted]] = {}
    for key, (weight, cell) in merged.items():
        if weight:
            groups.setdefault(cell.shared_trials or key, []).append((weight, cell))
    return list(groups.values())


def _fewest_shared(weighted: Sequence[Weighted], terms: Sequence[Term]) -> int | None:
    """The fewest trials of a term of cells that share them; None if no cells do."""
    # Groups and terms have the same order.
    shared = [
        len(values)
        for group, (_, values) in zip(_groups(weighted), terms, strict=True)
        if len(group) > 1
    ]
    return min(shared, default=None)


def _limit(found: Interval, weighted: Sequence[Weighted], terms: Sequence[Term]) -> Interval:
    few = _fewest_shared(weighted, terms)
    if few is None or few >= TRIALS_MIN:
        return found
    return replace(found, low=None, high=None, method="none", reason=_too_few(few))


def _too_few(trials: int) -> str:
    return f"{format_count(trials, 'trial')}, and a verdict needs {TRIALS_MIN}"
