"""The stack of a user-defined service: a name, and the axes of the caller's side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from wirelab.errors import StackError
from wirelab.stack import axes as table
from wirelab.stack import rules as legality
from wirelab.stack.axes import AxisMap
from wirelab.stack.reference import Stack

LANGUAGE = "external"
"""Value of ``language`` for user-defined services."""

_FIXED = {
    *("caller", "max_connections"),
    *("via", "via_upstream", "via_buffering", "via_keepalive"),
}
"""Axes of wirelab that only its own services support."""


def changeable() -> tuple[str, ...]:
    """The axes that can be set for any service, because the caller, the link or wirelab implements
    them."""
    sides = ("caller", "link", "lab")
    return tuple(a.name for a in table.TABLE if a.side in sides and a.name not in _FIXED)


def parts(reference: str) -> tuple[str, dict[str, str]]:
    """Splits a reference into name and axes. A URL as a name may have a query of its own."""
    name, mark, query = (
        reference.rpartition("?") if "://" in reference else reference.partition("?")
    )
    pairs = [part.partition("=") for part in query.split("&") if part]
    named = {one: value for one, _, value in pairs}
    if "://" in reference and (not mark or not all(map(_is_change, named, named.values()))):
        return reference, {}
    return name, named


def _is_change(axis: str, value: str) -> bool:
    """Whether wirelab writes this change behind the name of a user-defined service."""
    try:
        return axis in changeable() and table.axis(axis).canonical(value) == value
    except StackError:
        return False


@dataclass(frozen=True)
class ExternalStack(Stack):
    """A named service and its changed axes: ``orders-rest?connection=close``."""

    base: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Axes set by its declaration; others have the binding's defaults."""
    changes: Mapping[str, str] = field(default_factory=dict, compare=False)

    @classmethod
    def declare(cls, name: str, axes: Mapping[str, str]) -> ExternalStack:
        """The stack of a declaration; ``axes`` contains at least ``binding``."""
        return cls(name, MappingProxyType(dict(axes)))

    @cached_property
    def _texts(self) -> AxisMap:
        binding = self.base["binding"]
        axes = {"binding": binding, "language": LANGUAGE}
        axes |= {axis.name: table.default(binding, axis.name) for axis in table.TABLE}
        return MappingProxyType({**axes, **self.base, **self.changes})

    def with_axes(self, changes: Mapping[str, str]) -> ExternalStack:
        """The stack with these axes changed. Raises :class:`StackError` for an axis that only
        wirelab's services have, and for an impossible combination."""
        if not changes:
            return self
        named = dict(self.changes)
        for name, value in changes.items():
            axis = table.axis(name)
            if name not in changeable():
                raise StackError(
                    f"{self.reference}: axis {name!r} applies only to wirelab's services",
                    f"use an axis for any service: {', '.join(changeable())}",
                )
            named[name] = axis.canonical(value)
        made = ExternalStack(self._reference(named), self.base, MappingProxyType(named))
        broken = legality.first_broken(made._texts)
        if broken is not None:
            raise StackError(f"{made.reference} cannot exist: {broken.reason}", "remove the change")
        return made

    def find_nearest(self, changes: Mapping[str, str]) -> ExternalStack:
        """The stack with as many of these axes changed as possible."""
        known = {name: value for name, value in changes.items() if name in changeable()}
        return self.with_axes(known)

    def _reference(self, changes: Mapping[str, str]) -> str:
        name = self.reference.removesuffix(self._query(self.changes))
        return f"{name}{self._query(changes)}"

    def _query(self, changes: Mapping[str, str]) -> str:
        differing = [
            f"{axis.name}={changes[axis.name]}"
            for axis in table.TABLE
            if axis.name in changes and changes[axis.name] != self._read_declared(axis.name)
        ]
        return f"?{'&'.join(differing)}" if differing else ""

    def _read_declared(self, axis: str) -> str:
        return self.base.get(axis, table.default(self.base["binding"], axis))
