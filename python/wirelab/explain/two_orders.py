"""The largest step of a path in both orders: first of all changes, and last.

Where it does not matter what was changed before, both effects are equal; their ratio is the
interaction. The whole is measured again in the same run, so that the product of a path's steps
stands against a whole that shares no trial with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirelab.explain.path import Refusal, Step, alone
from wirelab.stack.reference import Stack
from wirelab.statistics.comparison import Comparison, contrast, family

Values = Mapping[str, Sequence[float]]
"""Reference of a stack -> the figure of each of its trials."""


@dataclass(frozen=True)
class TwoOrders:
    """What is measured to see one step in both orders."""

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
    refused: tuple[str, ...]


def two_orders(a: Stack, b: Stack, step: Step, refusal: Refusal) -> TwoOrders:
    """The design for that step of the path from ``a`` to ``b``."""
    first, why_first = alone(a, step, back=False, refusal=refusal)
    last, why_last = alone(b, step, back=True, refusal=refusal)
    refused = [f"first: {why_first}"] if first is None else []
    refused += [f"last: {why_last}"] if last is None else []
    return TwoOrders(step, a, b, first, last, tuple(refused))


def judged(design: TwoOrders, values: Values, threshold: float) -> Orders:
    """The step first and last, and their interaction, judged together (Holm)."""
    a, b = design.a.reference, design.b.reference
    first = design.first.reference if design.first else ""
    last = design.last.reference if design.last else ""
    found = {
        "first": _ratio(values, threshold, (1.0, first), (-1.0, a)),
        "last": _ratio(values, threshold, (1.0, b), (-1.0, last)),
        "interaction": _ratio(values, threshold, (1.0, b), (-1.0, last), (-1.0, first), (1.0, a)),
    }
    names = [name for name, one in found.items() if one is not None]
    upheld = dict(zip(names, family([one for one in found.values() if one]), strict=True))
    return Orders(
        design.step,
        upheld.get("first"),
        upheld.get("last"),
        upheld.get("interaction"),
        _ratio(values, threshold, (1.0, b), (-1.0, a)),
        design.refused,
    )


def _ratio(values: Values, threshold: float, *terms: tuple[float, str]) -> Comparison | None:
    """None where one of the cells has no figure."""
    weights: dict[str, float] = {}
    for weight, name in terms:
        weights[name] = weights.get(name, 0.0) + weight
    used = [(weight, values.get(name, ())) for name, weight in weights.items() if weight]
    return contrast(used, threshold) if used and all(sample for _, sample in used) else None
