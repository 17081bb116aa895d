"""From a finding's words to the one change that tests it in a given cell.

A finding names an axis and a value. Whether that is a change, and a legal one, depends on
the cell. Losses are the link's, no axis': they are tested by the same link without loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import repeat
from types import MappingProxyType
from typing import Any

from pydantic import TypeAdapter, ValidationError

from wirelab import axes, profiles
from wirelab.errors import StackError
from wirelab.intervention.claims import Switch
from wirelab.planning import Cell
from wirelab.profiles import LOOPBACK, OwnProfile, Profile
from wirelab.stacks import Stack

LINK = "link"
"""The axis that is none of a stack: what lies between caller and service."""
NAME_MAX = 32
"""Characters of a profile's name."""

_LOSSES = ("syn-retransmission", "data-retransmission")
_LOSS_KEYS = ("loss", "syn_loss_percent")

_NO_SWITCH = MappingProxyType(
    {
        "server-think-time": "no switch makes the service's own work shorter; another service, "
        "or an operation that does less, would show it",
        "client-not-reading": "no switch makes the caller read; another caller, or more of the "
        "processor for it, would show it",
        "slow-start": "no switch sets the initial congestion window; smaller messages, or a "
        "connection that is kept, would show it",
        "idle-restart": "no switch keeps the congestion window over a pause; calls without "
        "pauses would show it",
        "tcp-window-exhausted": "no switch sets the server's receive window",
    }
)
"""Causes without an axis, and what would test them."""


class CannotTest(Exception):
    """There is no change that tests the finding in this cell; the message says why."""


@dataclass(frozen=True)
class Flip:
    """One change of a cell."""

    axis: str
    was: str
    becomes: str
    stack: Stack
    link: Profile
    lapses: Mapping[str, str] = field(default_factory=dict)
    """Axes that do not exist without what was flipped, and their defaults."""


def flip(cause: str, switch: Switch | None, cell: Cell) -> Flip:
    """The change. Raises :class:`CannotTest`."""
    if switch is None and cause in _LOSSES:
        return _over(_without_loss(cell.link), cell)
    if switch is None:
        raise CannotTest(_NO_SWITCH.get(cause, "the lab has no switch for it"))
    axis, value = switch
    return _over(_profile(value), cell) if axis == LINK else _flipped(axis, value, cell)


def _flipped(axis: str, value: str, cell: Cell) -> Flip:
    was = cell.stack.axes.get(axis)
    if was == value:
        raise CannotTest(f"the stack has {axis}={value} already")
    stack = cell.stack.near({axis: value})
    lapses = {
        name: new
        for name, new in stack.axes.items()
        if name != axis and new != cell.stack.axes[name]
    }
    if stack.axes[axis] != value or not all(map(_is_default, lapses, repeat(stack))):
        raise CannotTest(_illegal(axis, value, cell))
    return Flip(axis, str(was), value, stack, cell.link, lapses)


def _is_default(axis: str, stack: Stack) -> bool:
    return stack.axes[axis] == axes.default(stack.axes["binding"], axis)


def _illegal(axis: str, value: str, cell: Cell) -> str:
    try:
        cell.stack.with_axes({axis: value})
    except StackError as error:
        return f"{axis}={value}: {error.message}"
    return f"{axis}={value} would change other axes too"


def _over(link: Profile, cell: Cell) -> Flip:
    was, becomes = profiles.name(cell.link), profiles.name(link)
    if was == becomes:
        raise CannotTest(f"the calls crossed {was} already")
    return Flip(LINK, was, becomes, cell.stack, link)


def _profile(value: str) -> Profile:
    adapter: TypeAdapter[Profile] = TypeAdapter(Profile)
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        raise CannotTest(f"there is no link {value!r}") from error


def _without_loss(link: Profile) -> Profile:
    name = profiles.name(link)
    if link == LOOPBACK:
        raise CannotTest("loopback loses nothing on purpose; a quieter machine would show it")
    if not isinstance(link, OwnProfile):
        raise CannotTest(
            f"what link {name} loses cannot be switched off by itself; written as a profile of "
            "the experiment's own (docs/reference/links.md has its figures) it can"
        )
    given: dict[str, Any] = link.model_dump(exclude_unset=True)
    ways = [given[way] for way in ("both", "forward", "backward") if given.get(way)]
    lossy = [key for way in ways for key in _LOSS_KEYS if way.pop(key, None)]
    if not lossy:
        raise CannotTest(f"link {name} loses nothing on purpose; a longer queue would show it")
    suffix = "-without-loss"
    return OwnProfile.model_validate({**given, "name": name[: NAME_MAX - len(suffix)] + suffix})
