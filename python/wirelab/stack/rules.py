"""Which points of the axis table exist, and which legal one is nearest.

Three kinds of rule: what protocols allow (data of ``crates/stack``), which operations a stack
carries (:mod:`wirelab.stack.operations`), and what a service offers (its manifest,
:mod:`wirelab.stack.manifests`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wirelab.stack.axes import BY_NAME, CLIENTS, TABLE, Axes, Rule, document
from wirelab.stack.link_names import LOOPBACK

if TYPE_CHECKING:
    from wirelab.experiment.load_record import LoadRecord

LINK_AXES: tuple[str, ...] = tuple(axis.name for axis in TABLE if axis.side == "link")
"""Axes that a link sets at both of its ends; loopback has the machine's values."""


def first_broken(axes: Axes) -> Rule | None:
    """The first rule that these axes break."""
    return next((rule for rule in document.rules if rule.broken(axes)), None)


def nearest(axes: Axes) -> dict[str, str]:
    """The legal axes that few changes lead to: each broken rule repaired in turn."""
    legal = dict(axes)
    for _ in document.rules:
        rule = first_broken(legal)
        if rule is None:
            break
        legal.update({name: _repaired(legal[name], value) for name, value in rule.repair.items()})
    return legal


def _repaired(old: str, new: str) -> str:
    """``pipeline=8`` repaired to ``multiplex`` stays 8."""
    _, counted, number = old.partition("=")
    return f"{new}={number}" if counted and new in ("pipeline", "multiplex") else new


def link_rule(link: str, axes: Axes) -> Rule | None:
    """Why a stack cannot be over that link, and the repair; None when it can."""
    if link == LOOPBACK:
        others = {name: BY_NAME[name].default for name in LINK_AXES}
        named = next((name for name, only in others.items() if axes[name] != only), None)
        if named is None:
            return None
        reason = f"loopback has the machine's {named}: name a link, as in links: [lan]"
        return Rule((), reason, others)
    if axes["socket"] == "unix":
        return Rule((), f"no Unix socket crosses link {link}", {"socket": "tcp"})
    return None


TOOL_OPERATIONS: Mapping[str, tuple[str, ...]] = dict.fromkeys(
    ("ghz", "ab", "wrk", "h2load", "jmeter"), ("Hello", "HelloBytes")
)
"""Foreign tool -> unary operations whose request is empty. The requests of the others are
made inside the engine, call by call, and no tool can be handed them."""


WHOLE_SECONDS = frozenset({"ab", "wrk", "jmeter"})
"""Tools whose windows are whole seconds."""
BY_TIME_ALONE = frozenset({"wrk"})
"""Tools that cannot be asked for a number of calls."""


def window_refusal(window: Mapping[str, Any], axes: Axes) -> str:
    """Why this caller cannot hold a window (as in the plan); empty when it can."""
    caller, duration_s = axes["caller"], window.get("duration_s")
    if duration_s is None:
        return f"caller={caller} cannot be asked for a number of calls" * (caller in BY_TIME_ALONE)
    if caller in WHOLE_SECONDS and duration_s != int(duration_s):
        return f"caller={caller} takes whole seconds only, not a window of {duration_s:g} s"
    return ""


CLIENT_OPERATIONS = ("Hello", "HelloBytes")
"""Of a language's own client: the operations that it has code for."""
CLIENT_LOADS = ("closed", "constant", "poisson")


def caller_refusal(operation: str, load: LoadRecord, axes: Axes) -> str:
    """Why this caller cannot make the operation under this load (as
    :meth:`wirelab.experiment.model.Load.point` has it); empty when it can."""
    caller = axes["caller"]
    if caller in CLIENTS:
        return _client_refusal(caller, operation, load)
    if caller not in TOOL_OPERATIONS:
        return ""
    able = TOOL_OPERATIONS[caller]
    if operation not in able:
        return f"caller={caller} can make {' and '.join(able)}, not {operation}"
    if not load.is_closed:
        return f"caller={caller} can hold closed loads only; its pacing of others is its own"
    if load.think_s:
        return f"caller={caller} has no think time between calls"
    unable = next(
        (key for key in ("stages", "iterations", "background") if getattr(load, key)), None
    )
    if unable:
        return f"caller={caller} holds a constant number of users, without {unable}"
    return ""


def _client_refusal(caller: str, operation: str, load: LoadRecord) -> str:
    if operation not in CLIENT_OPERATIONS:
        return f"caller={caller} can make {' and '.join(CLIENT_OPERATIONS)}, not {operation}"
    if load.kind not in CLIENT_LOADS:
        return f"caller={caller} holds {', '.join(CLIENT_LOADS)} loads, not {load.kind}"
    if load.think_s:
        return f"caller={caller} has no think time between calls"
    unable = next(
        (key for key in ("stages", "iterations", "background") if getattr(load, key)), None
    )
    return f"caller={caller} holds a load without {unable}" if unable else ""
