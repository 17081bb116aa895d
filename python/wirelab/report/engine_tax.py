"""The engine's tax: what a call over a stack costs the engine itself.

It is part of client CPU in every figure. The figures come with the package, from
one run of the bench (docs/reference/engine-tax.md), and name their machine: they
are there to compare stacks with each other, not to be subtracted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any

from wirelab.format.numbers import NONE, quantity
from wirelab.report.section import Table
from wirelab.stack.axes import ENGINE
from wirelab.stack.reference import Stack
from wirelab.trial.labels import Names
from wirelab.trial.record import Point

_NO_COST = ("language", "work", "start", "close_delay", "end_of_message")
"""Axes that change nothing of what the engine does in a call, and the one that chooses
between the two figures."""
_COLUMNS = ("stack", "engine's own CPU per call", "over REST json at equal bytes")


def table(points: Iterable[Point], names: Names) -> Table:
    """One row per stack of a run."""
    by_stack = {point.stack: point for point in points}
    rows = [[names.stacks[stack], *_cells(point)] for stack, point in by_stack.items()]
    return Table(_COLUMNS, rows, _caption(), (1, 2))


def _cells(point: Point) -> tuple[str, str]:
    tool = point.axes.get("caller", ENGINE)
    if tool != ENGINE:
        return f"called by {tool}", NONE
    found = _of(point.axes)
    if found is None:
        return "not measured", NONE
    work = point.axes.get("work", "decode")
    beside = found["beside_rest"]
    ratio = NONE
    if beside is not None:
        ratio = f"{beside['ratio']:.2f} ({beside['low']:.2f} to {beside['high']:.2f})"
    return quantity(found[f"{work}_us"] * 1e3, "ns"), ratio


def _of(axes: Mapping[str, str]) -> Mapping[str, Any] | None:
    """The figures of the stack that asks the same of the engine; None where none does."""
    for row in published()["stacks"]:
        wanted = Stack.parse(row["stack"]).axes
        if all(axes.get(name, wanted[name]) == wanted[name] for name in wanted if _costs(name)):
            return dict(row)
    return None


def _costs(axis: str) -> bool:
    return axis not in _NO_COST and not axis.startswith("server.")


def _caption() -> str:
    data = published()
    return (
        "The engine's own CPU per call against a null service, always spinning; client CPU above "
        f"has the sleeps too. Submit {data['submit_bytes']} B, {data['users']} users, "
        f"{data['machine']['processor']}, {data['taken'][:10]}. Ratios are of status and frame "
        "alone (work=frame)."
    )


@cache
def published() -> Mapping[str, Any]:
    """The figures that come with the package."""
    data = resources.files("wirelab").joinpath("data/engine_tax.json")
    return dict(json.loads(data.read_text(encoding="utf-8")))
