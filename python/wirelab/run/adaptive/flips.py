"""Derives from a finding the one change that tests it in a given cell.

A finding names an axis and a value. Whether that is a change, and a legal one, depends on the cell.
Losses belong to the link and not to an axis: they are tested with the same link without loss.
Packets do not show why a side is slow or silent. If the cell itself has a possible reason, such as
a CPU quota or a fault of the service, that is the setting to flip.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import repeat
from types import MappingProxyType
from typing import Any

from pydantic import TypeAdapter, ValidationError

from wirelab.errors import StackError
from wirelab.experiment import link_profiles as profiles
from wirelab.experiment.link_profiles import LOOPBACK, OwnProfile, Profile
from wirelab.experiment.matrix import Cell
from wirelab.process.cgroups import ALL
from wirelab.run.adaptive.record import Switch
from wirelab.stack import axes
from wirelab.stack.reference import Stack

LINK = "link"
"""The pseudo-axis for the link between caller and service."""
FAULTS = "faults."
"""Prefix of the name of a service's fault, which is not an axis of a stack either."""
OFF = "off"
NAME_MAX = 32
"""Maximum length of a profile's name."""

_LOSSES = ("syn-retransmission", "tail-loss", "data-retransmission")
_LOSS_KEYS = ("loss", "syn_loss_percent")

_SWITCHES: Mapping[str, Switch] = MappingProxyType(
    {
        "slow-start": ("initial_window", str(axes.number_max("initial_window"))),
        "idle-restart": ("after_idle", "keep"),
    }
)
"""Settings for causes whose findings named none in older versions."""
_QUOTAS: Mapping[str, str] = MappingProxyType(
    {"server-think-time": "server.cpu", "client-not-reading": "client.cpu"}
)
"""Cause -> the axis that can produce it in a cell."""
_THINKING = ("delay_us", "text_check_ns_per_kb", "freeze")
"""Faults that delay the service."""

_NO_SWITCH = MappingProxyType(
    {
        "server-think-time": "no setting of this cell makes the service's own work shorter; use "
        "another service, or an operation that does less",
        "client-not-reading": "no setting of this cell makes the caller read faster; use another "
        "caller, or give it more CPU time",
    }
)
"""Causes without a setting in some cells, and other ways to test them."""


class CannotTest(Exception):
    """No change can test the finding in this cell; the message gives the reason."""


@dataclass(frozen=True)
class Flip:
    """One change of a cell."""

    axis: str
    was: str
    becomes: str
    stack: Stack
    link: Profile
    lapses: Mapping[str, str] = field(default_factory=dict)
    """Axes that do not exist without the flipped value, and their defaults."""
    faults_off: tuple[str, ...] = ()
    """Faults of the service to switch off."""


def flip(cause: str, switch: Switch | None, cell: Cell) -> Flip:
    """The change. Raises :class:`CannotTest`."""
    if switch is None and cause in _LOSSES:
        return _change_link(_remove_loss(cell.link), cell)
    axis, value = switch or _own_switch(cause, cell)
    if axis == LINK:
        return _change_link(_profile(value), cell)
    return _faultless(axis, cell) if is_fault(axis) else _flip(axis, value, cell)


def is_fault(axis: str) -> bool:
    """Whether the name is that of a service's fault instead of an axis."""
    return axis.startswith(FAULTS)


def _own_switch(cause: str, cell: Cell) -> Switch:
    """The setting of the cell that can produce the cause, if packets do not show one. Raises
    :class:`CannotTest`."""
    if cause in _SWITCHES:
        return _SWITCHES[cause]
    quota = _QUOTAS.get(cause)
    if quota is not None and cell.stack.value(quota) != ALL:
        return quota, ALL
    faults = cell.point.options.get("faults", {}) if cause == "server-think-time" else {}
    thinking = next((name for name in _THINKING if faults.get(name)), None)
    if thinking is not None:
        return f"{FAULTS}{thinking}", OFF
    raise CannotTest(_NO_SWITCH.get(cause, "wirelab has no setting for it"))


def _faultless(axis: str, cell: Cell) -> Flip:
    fault = axis.removeprefix(FAULTS)
    was = json.dumps(cell.point.options["faults"][fault])
    return Flip(axis, was, OFF, cell.stack, cell.link, faults_off=(fault,))


def _flip(axis: str, value: str, cell: Cell) -> Flip:
    was = cell.stack.value(axis)
    if was == value:
        raise CannotTest(f"the stack already has {axis}={value}")
    stack = cell.stack.find_nearest({axis: value})
    lapses = {
        name: stack.value(name) for name in stack.list_differing_axes(cell.stack) if name != axis
    }
    if stack.value(axis) != value or not all(map(_is_default, lapses, repeat(stack))):
        raise CannotTest(_illegal(axis, value, cell))
    return Flip(axis, was, value, stack, cell.link, lapses)


def _is_default(axis: str, stack: Stack) -> bool:
    return stack.value(axis) == axes.default(stack.axes.binding, axis)


def _illegal(axis: str, value: str, cell: Cell) -> str:
    try:
        cell.stack.with_axes({axis: value})
    except StackError as error:
        return f"{axis}={value}: {error.message}"
    return f"{axis}={value} also changes other axes"


def _change_link(link: Profile, cell: Cell) -> Flip:
    was, becomes = profiles.name(cell.link), profiles.name(link)
    if was == becomes:
        raise CannotTest(f"the calls already crossed {was}")
    return Flip(LINK, was, becomes, cell.stack, link)


def _profile(value: str) -> Profile:
    adapter: TypeAdapter[Profile] = TypeAdapter(Profile)
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        raise CannotTest(f"there is no link {value!r}") from error


def _remove_loss(link: Profile) -> Profile:
    name = profiles.name(link)
    if link == LOOPBACK:
        raise CannotTest(
            "loopback does not lose packets on purpose; test on a machine with less other load"
        )
    if not isinstance(link, OwnProfile):
        raise CannotTest(
            f"the losses of link {name} cannot be switched off separately; write it as a custom "
            "profile in the experiment (values: docs/reference/links.md)",
        )
    given: dict[str, Any] = link.model_dump(exclude_unset=True)
    ways = [given[way] for way in ("both", "forward", "backward") if given.get(way)]
    lossy = [key for way in ways for key in _LOSS_KEYS if way.pop(key, None)]
    if not lossy:
        raise CannotTest(f"link {name} does not lose packets on purpose; test with a longer queue")
    suffix = "-without-loss"
    return OwnProfile.model_validate({**given, "name": name[: NAME_MAX - len(suffix)] + suffix})
