"""From one stack to another by changes of one axis each, through stacks that exist.

Not every way exists: gRPC has no XML, and CORBA speaks no HTTP. Of all ways the one with the
most steps is taken; where several axes can only change together, their step says which rule
forbids each of them alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise

from wirelab.errors import StackError, UsageError
from wirelab.stack.reference import Stack

Refusal = Callable[[Stack], str]
"""Why a legal stack cannot be measured here; empty where it can."""

AXES_MAX = 10
"""Axes in which both may differ: the ways through more are too many to be searched."""


@dataclass(frozen=True)
class Step:
    """One change of the path."""

    before: Stack
    after: Stack
    axes: tuple[str, ...]
    """What it changes: one axis, or those that only change together."""
    forbidden: Mapping[str, str]
    """Of several axes: why each cannot be changed alone here."""

    @property
    def changes(self) -> dict[str, tuple[str, str]]:
        """Axis, value before, value after."""
        return {name: (self.before.value(name), self.after.value(name)) for name in self.axes}

    @property
    def label(self) -> str:
        """``codec json → protobuf``, or the axes of a bundle joined by ``with``."""
        words = [f"{name} {old} → {new}" for name, (old, new) in self.changes.items()]
        return " with ".join(words)


def list_differing_axes(a: Stack, b: Stack) -> tuple[str, ...]:
    """The axes in which both differ, in the order in which they are changed: what the bytes are
    before how they travel, the language last."""
    return a.list_differing_axes(b)


def path(a: Stack, b: Stack, refusal: Refusal) -> tuple[Step, ...]:
    """The steps from ``a`` to ``b``. Raises :class:`UsageError` for stacks that are equal or
    differ in more than :data:`AXES_MAX` axes."""
    axes = list_differing_axes(a, b)
    if not axes:
        raise UsageError(f"{a} and {b} are the same stack", "name two that differ")
    if len(axes) > AXES_MAX:
        raise UsageError(
            f"{a} and {b} differ in {len(axes)} axes: {', '.join(axes)}",
            f"explain stacks that differ in at most {AXES_MAX}",
        )
    stops = _stops(a, b, axes, refusal)
    return tuple(
        _step(stops[i], stops[i + 1], axes, (a, b), refusal) for i in range(len(stops) - 1)
    )


def alone(start: Stack, step: Step, *, back: bool, refusal: Refusal) -> tuple[Stack | None, str]:
    """``start`` with the step's axes changed, or changed back, and nothing else; with the reason
    where that stack cannot be measured."""
    place = 0 if back else 1
    changed = {name: ends[place] for name, ends in step.changes.items()}
    return _build({**start.axes.texts, **changed}, refusal)


def _stops(a: Stack, b: Stack, axes: tuple[str, ...], refusal: Refusal) -> list[frozenset[str]]:
    """Sets of axes that have the values of ``b``, from none to all: the longest chain of stacks
    that can be measured; of equally long ones that which changes axes in their order."""
    legal = [
        subset
        for subset in _subsets(axes)
        if len(subset) in (0, len(axes)) or _mix(a, b, subset, refusal)[0] is not None
    ]
    longest: dict[frozenset[str], list[frozenset[str]]] = {}
    for subset in legal:
        before = [longest[other] for other in longest if other < subset]
        best = min(before, key=lambda chain: (-len(chain), _order(chain, axes)), default=[])
        longest[subset] = [*best, subset]
    return longest[frozenset(axes)]


def _order(chain: list[frozenset[str]], axes: tuple[str, ...]) -> list[int]:
    """Compares chains of one length: smaller where axes change in their order."""
    steps = [new - old for old, new in pairwise(chain)]
    return [min(axes.index(name) for name in step) for step in steps]


def _subsets(axes: tuple[str, ...]) -> Iterable[frozenset[str]]:
    """All of them, the small ones first."""
    for size in range(len(axes) + 1):
        yield from map(frozenset, combinations(axes, size))


def _step(
    old: frozenset[str],
    new: frozenset[str],
    axes: tuple[str, ...],
    ends: tuple[Stack, Stack],
    refusal: Refusal,
) -> Step:
    changed = tuple(name for name in axes if name in new - old)
    before, _ = _mix(*ends, old, refusal)
    after, _ = _mix(*ends, new, refusal)
    forbidden = {}
    if len(changed) > 1:
        forbidden = {name: _mix(*ends, old | {name}, refusal)[1] for name in changed}
    return Step(before or ends[0], after or ends[1], changed, forbidden)


def _mix(a: Stack, b: Stack, subset: frozenset[str], refusal: Refusal) -> tuple[Stack | None, str]:
    """``a`` with these axes of ``b``."""
    return _build({**a.axes.texts, **{name: b.value(name) for name in subset}}, refusal)


def _build(axes: Mapping[str, str], refusal: Refusal) -> tuple[Stack | None, str]:
    try:
        stack = Stack.of(axes)
    except StackError as error:
        return None, error.message
    reason = refusal(stack)
    return (None, reason) if reason else (stack, "")
