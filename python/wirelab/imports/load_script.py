"""What scripts of load tools have in common: groups of users who repeat requests in an order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from wirelab.errors import UsageError
from wirelab.experiment.fields import Json
from wirelab.experiment.loads import STAGES_MAX
from wirelab.imports.operation import (
    Imported,
    LeftOut,
    Operation,
    ScriptLoad,
    matches,
    slug,
    write_only,
)

STEPS_MAX = 100
"""Requests of one message, as the model of the experiment file has it."""
FOREVER_S = 10.0
"""Window of users whom only a person stops."""
CALLS_S_MAX = 600.0
"""Time limit of a number of calls, as k6 has it (``maxDuration``)."""


@dataclass
class Group:
    """Users of a script who do the same: a thread group of JMeter, a scenario of k6."""

    name: str
    place: str
    """``file:line``."""
    keys: Json
    """Keys of the experiment file for the load."""
    is_bounded: bool
    pause_s: float = 0.0
    """Seconds that a user waits in an iteration."""
    operations: list[Operation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    data: Json = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    """Next to the experiment, by the end of their names."""

    def add(self, operation: Operation) -> None:
        """A request after the others."""
        self.operations.append(replace(operation, group=self.name))


def select(
    groups: Sequence[Group], only: str | None, title: str, source: str, left_out: list[LeftOut]
) -> Imported:
    """The first group with a request that a shell pattern matches: an experiment has one load for
    all of its messages. Raises :class:`UsageError`."""
    fitting = [one for one in groups if _operations(one, only)]
    if not fitting:
        every = tuple(operation for one in groups for operation in one.operations)
        return Imported(title, source, every, tuple(left_out))
    group = fitting[0]
    operations = tuple(_operations(group, only))
    if len(operations) > STEPS_MAX:
        raise UsageError(
            f"{group.place}: {group.name!r} has {len(operations):,} requests in an iteration, more "
            f"than {STEPS_MAX}",
            "import fewer: --only PATTERN",
        )
    others = [
        LeftOut(
            f"{one.place}: {one.name!r}",
            f"its users have a load of their own; `{write_only(one.name)}` takes them instead",
        )
        for one in groups
        if one is not group and one.operations
    ]
    script = ScriptLoad(
        slug(group.name),
        group.keys,
        group.is_bounded,
        tuple(dict.fromkeys(group.notes)),
        group.data,
    )
    return Imported(
        *(title, source, operations, (*left_out, *others)), files=group.files, script=script
    )


def _operations(group: Group, only: str | None) -> list[Operation]:
    return [one for one in group.operations if only is None or matches(one, only)]


@dataclass(frozen=True)
class Stage:
    """A level, of users or of calls per second, that is approached linearly."""

    target: float
    seconds: float


def users_for(users: int, seconds: float, think_s: float = 0.0) -> Json:
    """Users who repeat their requests for some time."""
    return {
        "loads": [_describe_closed_load({"users": users}, think_s)],
        "window": _duration(seconds),
    }


def users_in_stages(stages: Sequence[Stage], think_s: float = 0.0) -> Json:
    """A number of users that changes, from 0."""
    listed = [{"target": round(one.target), "duration": write_time(one.seconds)} for one in stages]
    return {
        "loads": [_describe_closed_load({"stages": listed}, think_s)],
        "window": _duration(_length(stages)),
    }


def users_with_iterations(
    users: int, each: int, think_s: float = 0.0, max_s: float = CALLS_S_MAX
) -> Json:
    """Users who each repeat their requests ``each`` times."""
    load = _describe_closed_load({"users": users, "iterations": each}, think_s)
    return {"loads": [load], "window": {"calls": users * each, "max": write_time(max_s)}}


def users_who_share(users: int, iterations: int, max_s: float, think_s: float = 0.0) -> Json:
    """Users who together repeat their requests ``iterations`` times."""
    return {
        "loads": [_describe_closed_load({"users": users}, think_s)],
        "window": {"calls": iterations, "max": write_time(max_s)},
        "warmup": {"min": "0 s", "max": "0 s"},
    }


def calls_at_rate(rate: float, in_flight_max: int, seconds: float) -> Json:
    """Requests that begin at a constant rate."""
    load = {"constant": {"rate": _number(rate), "in_flight_max": in_flight_max}}
    return {"loads": [load], "window": _duration(seconds)}


def calls_in_stages(start_rate: float, stages: Sequence[Stage], in_flight_max: int) -> Json:
    """Requests that begin at a rate that changes."""
    load: Json = {
        "start_rate": _number(start_rate),
        "stages": [
            {"target": _number(one.target), "duration": write_time(one.seconds)} for one in stages
        ],
        "in_flight_max": in_flight_max,
    }
    return {"loads": [{"ramping": load}], "window": _duration(_length(stages))}


def check_stages(count: int, place: str) -> None:
    """Raises :class:`UsageError` for more than a load can have."""
    if count > STAGES_MAX:
        raise UsageError(f"{place}: more than {STAGES_MAX} stages", "leave some out")


def write_time(seconds: float) -> str:
    """As experiment files have it: ``1.5 s``."""
    return f"{_number(round(seconds, 6))} s"


def _describe_closed_load(load: Json, think_s: float) -> Json:
    return {"closed": {**load, **({"think": write_time(think_s)} if think_s > 0 else {})}}


def _duration(seconds: float) -> Json:
    return {"duration": write_time(seconds)}


def _length(stages: Sequence[Stage]) -> float:
    return sum(one.seconds for one in stages)


def _number(value: float) -> float | int:
    """A whole number without its fraction."""
    return int(value) if value == int(value) else value
