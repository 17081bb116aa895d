"""Rules for legal points of the axis table, and the nearest legal point.

Three kinds of rules: limits of protocols (data of ``crates/stack``), operations that a stack
supports (:mod:`wirelab.stack.operations`), and what a service offers (its manifest,
:mod:`wirelab.stack.manifests`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from wirelab.documents.axes import Axes
from wirelab.documents.plan import Window
from wirelab.stack.axes import BY_NAME, CLIENTS, TABLE, AxisMap, Rule, document
from wirelab.stack.link_names import LOOPBACK

if TYPE_CHECKING:
    from wirelab.records.load import LoadRecord

LINK_AXES: tuple[str, ...] = tuple(axis.name for axis in TABLE if axis.side == "link")
"""Axes that a link sets at both ends; loopback uses the values of the machine."""


def first_broken(axes: AxisMap) -> Rule | None:
    """The first rule that these axes violate."""
    return next((rule for rule in document.rules if rule.is_broken(axes)), None)


def nearest(axes: AxisMap) -> dict[str, str]:
    """Nearest legal axes: each violated rule is repaired in turn."""
    legal = dict(axes)
    for _ in document.rules:
        rule = first_broken(legal)
        if rule is None:
            break
        legal.update({name: _repair(legal[name], value) for name, value in rule.repair.items()})
    return legal


def _repair(old: str, new: str) -> str:
    """Keeps the number: ``pipeline=8`` is repaired to ``multiplex=8``."""
    _, counted, number = old.partition("=")
    return f"{new}={number}" if counted and new in ("pipeline", "multiplex") else new


def link_rule(link: str, axes: Axes) -> Rule | None:
    """Why a stack cannot use that link, and the repair; None if it can."""
    if link == LOOPBACK:
        others = {name: BY_NAME[name].default for name in LINK_AXES}
        named = next((name for name, only in others.items() if axes.texts[name] != only), None)
        if named is None:
            return None
        reason = f"loopback uses the machine's {named}; set a link, e.g. links: [lan]"
        return Rule((), reason, others)
    if axes.socket == "unix":
        return Rule((), f"a Unix socket cannot cross link {link}", {"socket": "tcp"})
    return None


TOOL_OPERATIONS: Mapping[str, tuple[str, ...]] = dict.fromkeys(
    ("ghz", "ab", "wrk", "h2load", "jmeter"), ("Hello", "HelloBytes")
)
"""Third-party tool -> unary operations with an empty request. The engine creates the requests of
other operations call by call, and no tool can use them."""


WHOLE_SECONDS = frozenset({"ab", "wrk", "jmeter"})
"""Tools whose windows are whole seconds."""
BY_TIME_ALONE = frozenset({"wrk"})
"""Tools that do not support a number of calls."""


def window_refusal(window: Window, axes: Axes) -> str:
    """Why this caller does not support a window (as in the plan); empty if it does."""
    caller, duration_s = axes.caller, window.duration_s
    if duration_s is None:
        return f"caller={caller} does not support a number of calls" * (caller in BY_TIME_ALONE)
    if caller in WHOLE_SECONDS and duration_s != int(duration_s):
        return f"caller={caller} supports whole seconds only, not a window of {duration_s:g} s"
    return ""


CLIENT_OPERATIONS = ("Hello", "HelloBytes")
"""Operations that a language's own client implements."""
CLIENT_LOADS = ("closed", "constant", "poisson")


def caller_refusal(operation: str, load: LoadRecord, axes: Axes) -> str:
    """Why this caller does not support the operation under this load (as in
    :meth:`wirelab.experiment.model.Load.point`); empty if it does."""
    caller = axes.caller
    if caller in CLIENTS:
        return _client_refusal(caller, operation, load)
    if caller not in TOOL_OPERATIONS:
        return ""
    able = TOOL_OPERATIONS[caller]
    if operation not in able:
        return f"caller={caller} supports {' and '.join(able)}, not {operation}"
    if not load.is_closed:
        return f"caller={caller} supports closed loads only; its pacing of open loads is its own"
    if load.think_s:
        return f"caller={caller} does not support think time between calls"
    unable = next(
        (key for key in ("stages", "iterations", "background") if getattr(load, key)), None
    )
    if unable:
        return f"caller={caller} supports only a constant number of users, without {unable}"
    return ""


def _client_refusal(caller: str, operation: str, load: LoadRecord) -> str:
    if operation not in CLIENT_OPERATIONS:
        return f"caller={caller} supports {' and '.join(CLIENT_OPERATIONS)}, not {operation}"
    if load.kind not in CLIENT_LOADS:
        return f"caller={caller} supports {', '.join(CLIENT_LOADS)} loads, not {load.kind}"
    if load.think_s:
        return f"caller={caller} does not support think time between calls"
    unable = next(
        (key for key in ("stages", "iterations", "background") if getattr(load, key)), None
    )
    return f"caller={caller} does not support {unable}" if unable else ""
