"""Bindings, axes and rules: the tables of ``crates/stack``, read from stack.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from types import MappingProxyType
from typing import Any, Literal

Axes = Mapping[str, str]
"""Axis -> value, ``binding`` and ``language`` among them."""
Unit = Literal["bytes", "milliseconds", "percent", "segments", "connections"]
Side = Literal["both", "caller", "service", "link", "lab"]


@dataclass(frozen=True)
class Number:
    """Values of an axis that are numbers."""

    unit: Unit
    min: int
    max: int


@dataclass(frozen=True)
class Binding:
    """What a binding goes with, the defaults first."""

    name: str
    codecs: tuple[str, ...]
    transports: tuple[str, ...]


@dataclass(frozen=True)
class Condition:
    """That the value of an axis is one of some, or none of them."""

    axis: str
    is_one: bool
    values: tuple[str, ...]
    """``pool`` stands for ``pool=N``."""

    def holds(self, axes: Axes) -> bool:
        """Whether it does."""
        value = axes[self.axis]
        return (value in self.values or value.partition("=")[0] in self.values) == self.is_one


@dataclass(frozen=True)
class Rule:
    """One combination that cannot exist: all conditions hold."""

    when: tuple[Condition, ...]
    reason: str
    repair: Mapping[str, str]
    """The smallest change that makes it legal."""

    def broken(self, axes: Axes) -> bool:
        """Whether these axes break it."""
        return all(condition.holds(axes) for condition in self.when)


class _Document:
    """stack.json, read when a table is first asked for."""

    @cached_property
    def raw(self) -> dict[str, Any]:
        data = resources.files("wirelab").joinpath("data/stack.json")
        document: dict[str, Any] = json.loads(data.read_text(encoding="utf-8"))
        return document

    @cached_property
    def bindings(self) -> Mapping[str, Binding]:
        rows = (
            Binding(row["name"], tuple(row["codecs"]), tuple(row["transports"]))
            for row in self.raw["bindings"]
        )
        return MappingProxyType({row.name: row for row in rows})

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(
            Rule(
                tuple(Condition(c["axis"], c["is"], tuple(c["values"])) for c in row["when"]),
                row["reason"],
                MappingProxyType(dict([row["repair"]])),
            )
            for row in self.raw["rules"]
        )


document = _Document()
