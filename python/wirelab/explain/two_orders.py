"""The steps of a path from both ends: each first of all changes, and last.

Where it does not matter what was changed before, both effects are equal; their ratio is the
interaction. The whole is measured again in the same run, so that the product of a path's steps
is compared with a whole that shares no trial with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from wirelab.explain.path import Refusal, Step, alone
from wirelab.stack.reference import Stack
from wirelab.statistics import shared_trials
from wirelab.statistics.cell import Cell
from wirelab.statistics.comparison import Comparison, family
from wirelab.statistics.figure import Figure
from wirelab.statistics.interval import Interval, NoValues

Cells = Mapping[str, Cell]
"""By the reference of their stack."""


@dataclass(frozen=True)
class TwoOrders:
    """What is measured to see one step from both ends."""

    step: Step
    a: Stack
    b: Stack
    first: Stack | None
    """``a`` with the step alone; None where that cannot be measured."""
    last: Stack | None
    """``b`` without it."""
    refused: tuple[str, ...]
    """Why one of them cannot be measured."""

    @property
    def stacks(self) -> tuple[Stack, ...]:
        """All that must be measured, each once."""
        every = (self.a, self.first, self.last, self.b)
        return tuple(dict.fromkeys(stack for stack in every if stack is not None))


@dataclass(frozen=True)
class Orders:
    """What came of it; ratios after / before, None where not measured."""

    step: Step
    first: Comparison | None
    last: Comparison | None
    interaction: Comparison | None
    """``last`` over ``first``."""
    whole: Comparison | None
    """b / a, in this run."""
    times: EndTimes | None
    """None where the step was not measured from both ends."""
    refused: tuple[str, ...]


@dataclass(frozen=True)
class EndTimes:
    """What a step changes, in the unit of the figure."""

    first: Interval
    """When it is the first change, of ``a``."""
    last: Interval
    """When it is the last, to ``b``."""
    whole: float
    """``b`` less ``a``."""

    @property
    def shares(self) -> tuple[float, float]:
        """Least and largest part of the whole, from 0 to 1. Changes that act against each other
        would have larger parts: no part of a whole is more than all of it."""
        if not self.whole:
            return 0.0, 0.0
        parts = [one.estimate / self.whole for one in (self.first, self.last)]
        low, high = (min(1.0, max(0.0, part)) for part in (min(parts), max(parts)))
        return low, high


def two_orders(a: Stack, b: Stack, step: Step, refusal: Refusal) -> TwoOrders:
    """The design for that step of the path from ``a`` to ``b``."""
    first, why_first = alone(a, step, back=False, refusal=refusal)
    last, why_last = alone(b, step, back=True, refusal=refusal)
    refused = [f"first: {why_first}"] if first is None else []
    refused += [f"last: {why_last}"] if last is None else []
    return TwoOrders(step, a, b, first, last, tuple(refused))


def judge(design: TwoOrders, cells: Cells, figure: Figure, threshold: float) -> Orders:
    """The step first and last, and their interaction, judged together (Holm)."""
    measured = {name: cell for name, cell in cells.items() if cell.values(figure)}
    a, b = design.a.reference, design.b.reference
    first = design.first.reference if design.first else ""
    last = design.last.reference if design.last else ""
    found = {
        "first": _ratio(measured, figure, threshold, [(1.0, first), (-1.0, a)]),
        "last": _ratio(measured, figure, threshold, [(1.0, b), (-1.0, last)]),
        "interaction": _ratio(
            measured, figure, threshold, [(1.0, b), (-1.0, last), (-1.0, first), (1.0, a)]
        ),
    }
    names = [name for name, one in found.items() if one is not None]
    confirmed = dict(zip(names, family([one for one in found.values() if one]), strict=True))
    return Orders(
        design.step,
        confirmed.get("first"),
        confirmed.get("last"),
        confirmed.get("interaction"),
        _ratio(measured, figure, threshold, [(1.0, b), (-1.0, a)]),
        _times([measured.get(name) for name in (a, first, last, b)], figure),
        design.refused,
    )


def _times(ends: Sequence[Cell | None], figure: Figure) -> EndTimes | None:
    """``ends``: a, first, last and b."""
    found = [cell for cell in ends if cell is not None]
    if len(found) < len(ends):
        return None
    a, first, last, b = found
    try:
        return EndTimes(
            shared_trials.total([(1.0, first), (-1.0, a)], figure),
            shared_trials.total([(1.0, b), (-1.0, last)], figure),
            mean(b.values(figure)) - mean(a.values(figure)),
        )
    except NoValues:
        return None  # No trial that they share has the figure of all.


def _ratio(
    cells: Cells, figure: Figure, threshold: float, terms: Sequence[tuple[float, str]]
) -> Comparison | None:
    """None where one of the cells has no figure, or where all weights are zero."""
    weights: dict[str, float] = {}
    for weight, name in terms:
        weights[name] = weights.get(name, 0.0) + weight
    used = [(weight, cells.get(name)) for name, weight in weights.items() if weight]
    found = [(weight, cell) for weight, cell in used if cell is not None]
    if not used or len(found) < len(used):
        return None
    try:
        return shared_trials.contrast(found, figure, threshold)
    except NoValues:
        return None  # No trial that they share has the figure of all.
