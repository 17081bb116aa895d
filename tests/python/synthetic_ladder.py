"""Trials of a ladder's cells, made from known costs: no measurement, a known truth."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import sha256

import numpy as np

from wirelab.explain.cell_selector import CellSelector
from wirelab.records.caller import CallerRecord
from wirelab.records.group import GroupResult, Times
from wirelab.records.load import LoadRecord
from wirelab.records.service import ServiceRecord
from wirelab.records.slices import SlicesRecord
from wirelab.records.trial import Check, Json, Outcome, Point, Trial
from wirelab.stack.reference import Stack

Cost = Callable[[CellSelector], float]
"""Seconds per call of a cell."""


def point(selector: CellSelector) -> Point:
    """The point that a cell's name means, defaults filled in."""
    options: Json = {}
    if selector.chunk is not None:
        options["chunk_bytes"] = selector.chunk
    if selector.placement not in (None, "pinned"):
        options["placement"] = selector.placement
    return Point(
        stack=selector.stack,
        axes=Stack.parse(selector.stack).axes,
        operation=selector.operation,
        bytes=selector.bytes or 14,
        load=LoadRecord(kind="closed", users=selector.users or 1, think_s=0.0),
        options=options,
    )


def trial(
    selector: CellSelector, seconds: float, repeat: int, *, client_bound: bool = False
) -> Trial:
    """One measured trial: a closed load on a service that needs ``seconds`` per call."""
    at = point(selector)
    users = at.load.users or 1
    calls = max(1, round(1.0 / seconds))
    mean_ns = users * seconds * 1e9
    times = Times(count=calls, mean_ns=mean_ns, percentiles_ns={"p50": round(mean_ns)})
    bound: Outcome = "marked" if client_bound else "ok"
    return Trial(
        id=f"{sha256(str(selector).encode()).hexdigest()[:12]}-r{repeat}",
        point=at,
        repeat=repeat,
        order=0,
        status="measured",
        result=GroupResult(
            rate_per_s=1.0 / seconds,
            calls=calls,
            window_s=1.0,
            cpu_s=0.4,
            times={"service": times, "response": times},
        ),
        engine=CallerRecord(cpu_user_s=0.2, cpu_system_s=0.2),
        service=ServiceRecord(cpu_s=0.9, cpu_window_s=0.9, calls_seen=calls),
        checks=(Check("bound", bound, "by construction"),),
    )


def trials(
    cells: Iterable[CellSelector],
    cost: Cost,
    seed: int,
    *,
    repeats: int = 5,
    spread: float = 0.02,
) -> list[Trial]:
    """Every cell ``repeats`` times, its cost times log-normal noise."""
    random = np.random.default_rng(seed)
    return [
        trial(selector, cost(selector) * float(np.exp(random.normal(0.0, spread))), repeat)
        for selector in cells
        for repeat in range(1, repeats + 1)
    ]


def share_trials(
    cells: Iterable[CellSelector],
    cost: Cost,
    seed: int,
    *,
    repeats: int = 5,
    spread: float = 0.02,
    machine: float = 0.3,
    place: int = 0,
) -> list[Trial]:
    """The same of cells that share every trial, while the machine's speed differs between trials by
    ``machine``. ``place`` is that of their first trial in the order of the run."""
    random = np.random.default_rng(seed)
    listed, made = list(cells), []
    for repeat in range(1, repeats + 1):
        speed = float(np.exp(random.normal(0.0, machine)))
        for selector in listed:
            own = speed * float(np.exp(random.normal(0.0, spread)))
            one = trial(selector, cost(selector) * own, repeat)
            made.append(replace(one, order=place + repeat, slices=SLICES))
    return made


SLICES = SlicesRecord(
    count=10, length_s=0.1, skip_s=0.01, drain_s=0.001, drain_max_s=0.002, own_s=1.1, whole_s=2.3
)


def fail_trial(selector: CellSelector, reason: str = "the service died") -> Trial:
    """A trial that measured nothing."""
    made = trial(selector, 1.0, 1)
    return replace(made, status="failed", reason=reason, result=GroupResult(), checks=())
