"""Divides a plan among engines, and adds up what they measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from wirelab.documents.event import Event, Fault, Outcome
from wirelab.documents.plan import ClosedLoad, Group, Part, Plan
from wirelab.errors import LabError, UsageError
from wirelab.format.counting import format_count
from wirelab.process import engine_binary
from wirelab.process.children import Child, ProcessOptions
from wirelab.process.engine import MARGIN_S
from wirelab.process.scratch import Scratch
from wirelab.records.client import CLIENTS_MAX


def divide(plan: Plan, starts_ns: Sequence[int]) -> tuple[Plan, ...]:
    """One plan per engine; ``starts_ns`` has the common start by the clock of each, nanoseconds of
    CLOCK_MONOTONIC. Users and arrivals are divided by number, so that seeds and rows of data mean
    the same whatever the number of engines."""
    count = len(starts_ns)
    return tuple(
        msgspec.structs.replace(plan, part=Part(index=index, of=count, start_ns=start_ns))
        for index, start_ns in enumerate(starts_ns)
    )


def shares(plan: Plan, count: int) -> list[float]:
    """The share of each engine in the load of the first group."""
    load = plan.groups[0].load
    if not isinstance(load, ClosedLoad):
        return [1 / count] * count
    own = (load.users // count + (index < load.users % count) for index in range(count))
    return [users / load.users for users in own]


def refuse_indivisible(plan: Plan, count: int) -> None:
    """Raises :class:`UsageError` where an engine would have nothing to do."""
    if not 1 <= count <= CLIENTS_MAX:
        raise UsageError(f"--clients {count}", f"use 1 to {CLIENTS_MAX:,}")
    for group in plan.groups:
        if group.slowest:
            raise UsageError(
                "--slowest is about the calls of one engine", "leave --slowest or --clients out"
            )
        for amount, noun, option in _list_divided(group):
            if amount < count:
                raise UsageError(
                    f"--clients {count} with {format_count(amount, noun)}: a client would have "
                    "none",
                    f"raise {option} to {count} or more",
                )


def _list_divided(group: Group) -> Iterator[tuple[int, str, str]]:
    """What is divided: how many, what it is, and the option."""
    load, window = group.load, group.window
    kind, _, number = (group.stack.connection or "").partition("=")
    if kind == "pool":
        yield int(number), "connection", "--connections"
    if isinstance(load, ClosedLoad):
        yield load.users, "user", "--users"
    else:
        yield load.in_flight_max, "place for a call in flight", "--connections"
    if window.calls is not None:
        yield window.calls.calls, "call", "--calls"


def merge(outcomes: Sequence[Outcome]) -> Outcome:
    """The sum of all parts, calculated by the engine: counts, rates and histograms add up. Raises
    :class:`LabError` where they are not of one load."""
    lines = b"\n".join(map(msgspec.json.encode, outcomes))
    with Scratch() as scratch:
        options = ProcessOptions(log=scratch.folder / "merge.log")
        child = Child([str(engine_binary.find()), "merge"], options)
        try:
            child.say(lines)
            child.close_input()
            line = child.line(MARGIN_S)
        finally:
            child.end(1.0)
    event = msgspec.json.decode(line, type=Event) if line else None
    if isinstance(event, Outcome):
        return event
    reason = event.message if isinstance(event, Fault) else "the engine printed no sum"
    raise LabError(f"the results of the clients do not add up: {reason}", "report this")
