"""The axis table: every factor in which two stacks can differ, and its valid values.

The table is data of ``crates/stack``; new axes and values are added there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from types import MappingProxyType
from typing import Literal

import msgspec

from wirelab.errors import StackError, UnitError
from wirelab.format.units import parse_bytes, parse_seconds
from wirelab.stack.suggestions import did_you_mean

AxisMap = Mapping[str, str]
"""Axis -> value as text, ``binding`` and ``language`` among them."""
Unit = Literal["bytes", "milliseconds", "percent", "segments", "connections"]
Side = Literal["both", "caller", "service", "link", "lab"]


class Number(msgspec.Struct, frozen=True):
    """Numeric values of an axis."""

    unit: Unit
    min: int
    max: int


class Binding(msgspec.Struct, frozen=True):
    """What a binding supports, defaults first."""

    name: str
    codecs: tuple[str, ...]
    transports: tuple[str, ...]


class Condition(msgspec.Struct, frozen=True):
    """Condition that the value of an axis is one of some values, or none of them."""

    axis: str
    is_one: bool = msgspec.field(name="is")
    values: tuple[str, ...]
    """``pool`` stands for ``pool=N``."""

    def holds(self, axes: AxisMap) -> bool:
        """Whether the condition holds."""
        value = axes[self.axis]
        return (value in self.values or value.partition("=")[0] in self.values) == self.is_one


@dataclass(frozen=True)
class Rule:
    """An impossible combination: all conditions hold."""

    when: tuple[Condition, ...]
    reason: str
    repair: Mapping[str, str]
    """The smallest change that makes the combination legal."""

    def is_broken(self, axes: AxisMap) -> bool:
        """Whether these axes violate the rule."""
        return all(condition.holds(axes) for condition in self.when)


KERNEL = "kernel"
"""Value of axes that leave a choice to the kernel."""
ENGINE = "engine"
"""Value of the axis ``caller`` for the engine."""
CLIENTS = frozenset({"go", "java"})
"""Values of the axis ``caller`` that are programs by the process contract. They use the client
libraries of a language. All others except the engine are third-party tools."""


class Axis(msgspec.Struct, frozen=True):
    """One factor."""

    name: str
    about: str
    default: str
    """Value if the axis is not given; for codec and transport see :func:`default`."""
    names: tuple[str, ...]
    """Values that are names."""
    counted: tuple[str, ...]
    """Words that take a number, such as ``pool`` in ``pool=8``."""
    number: Number | None
    """Meaning and range of a number, if a number is a valid value."""
    side: Side
    """The side that implements it."""
    meant: tuple[str, ...]
    """Names that people confuse with its own."""

    def canonical(self, text: str) -> str:
        """The value as written in references. Raises :class:`StackError`."""
        if text in self.names:
            return text
        word, equals, number = text.partition("=")
        if equals and word in self.counted:
            return f"{word}={self._count(text, number)}"
        unit = self.number.unit if self.number else None
        if unit == "bytes":
            return str(self._bytes(text))
        if unit == "milliseconds":
            return str(self._milliseconds(text))
        if unit == "segments" and text.isdigit():
            return str(self._segments(text))
        if unit == "connections" and text.isdigit():
            return str(self._connections(text))
        if unit == "percent" and text.endswith("%"):
            return self._percent(text)
        raise StackError(
            f"axis {self.name!r} has no value {text!r}",
            did_you_mean(text, self._choices()),
        )

    def _choices(self) -> tuple[str, ...]:
        counted = (f"{word}=N" for word in self.counted)
        unit = self.number.unit if self.number else ""
        examples = {"percent": ("25%",), "segments": ("64",), "connections": ("20",)}.get(unit, ())
        return (*self.names, *counted, *examples)

    def _count(self, text: str, number: str) -> int:
        if not re.fullmatch(r"[0-9]{1,7}", number) or not 1 <= int(number) <= COUNT_MAX:
            raise StackError(
                f"axis {self.name!r}: {text!r} needs a whole number from 1 to {COUNT_MAX:,}",
                f"write for example {text.partition('=')[0]}=8",
            )
        return int(number)

    def _is_in_range(self, number: float) -> bool:
        return self.number is not None and self.number.min <= number <= self.number.max

    def _range(self) -> str:
        return f"{self.number.min:,} to {self.number.max:,}" if self.number else ""

    def _percent(self, text: str) -> str:
        number = text.removesuffix("%")
        if not re.fullmatch(r"[0-9]{1,3}", number) or not self._is_in_range(int(number)):
            raise StackError(
                f"axis {self.name!r}: {text!r} is not a valid share of a core",
                f"write {self._range().replace(' to ', '% to ')}%, or {self.default!r}",
            )
        return f"{int(number)}%"

    def _segments(self, text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,4}", text) or not self._is_in_range(int(text)):
            raise StackError(
                f"axis {self.name!r}: {text} segments is not a valid window",
                f"write {self._range()}, or {self.default!r}",
            )
        return int(text)

    def _connections(self, text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,6}", text) or not self._is_in_range(int(text)):
            raise StackError(
                f"axis {self.name!r}: {text} is not a valid number of connections",
                f"write {self._range()}, or {self.default!r}",
            )
        return int(text)

    def _bytes(self, text: str) -> int:
        try:
            size = int(text) if re.fullmatch(r"[0-9]{1,12}", text) else parse_bytes(text)
        except UnitError as error:
            raise StackError(
                f"axis {self.name!r}: {error.message}",
                f"write a number of bytes, or {self.default!r}",
            ) from None
        if not self._is_in_range(size):
            raise StackError(
                f"axis {self.name!r}: {size} bytes is not a valid window",
                f"write {self._range()} bytes",
            )
        return size

    def _milliseconds(self, text: str) -> int:
        try:
            is_bare = re.fullmatch(r"[0-9]{1,6}", text)
            ms = float(text) if is_bare else parse_seconds(text) * 1e3
        except UnitError as error:
            raise StackError(
                f"axis {self.name!r}: {error.message}", "write a number of milliseconds, e.g. 40"
            ) from None
        if abs(ms - round(ms)) > 1e-6 or not self._is_in_range(ms):
            raise StackError(
                f"axis {self.name!r}: {text!r} is not a whole number of milliseconds in range",
                f"write {self._range()} ms",
            )
        return round(ms)


class _RuleRow(msgspec.Struct, frozen=True):
    when: tuple[Condition, ...]
    reason: str
    repair: tuple[str, str]
    """Axis and value."""


class _Document(msgspec.Struct, frozen=True, dict=True):
    """Contents of stack.json."""

    axes: tuple[Axis, ...]
    count_max: int
    binding_rows: tuple[Binding, ...] = msgspec.field(name="bindings")
    rule_rows: tuple[_RuleRow, ...] = msgspec.field(name="rules")

    @cached_property
    def bindings(self) -> Mapping[str, Binding]:
        return MappingProxyType({row.name: row for row in self.binding_rows})

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(
            Rule(row.when, row.reason, MappingProxyType(dict([row.repair])))
            for row in self.rule_rows
        )


document = msgspec.json.decode(
    resources.files("wirelab").joinpath("data/stack.json").read_bytes(), type=_Document
)

COUNT_MAX: int = document.count_max
"""The largest N in ``pool=N``, ``pipeline=N`` and ``multiplex=N``."""

TABLE: tuple[Axis, ...] = document.axes
"""All axes except binding and language, in the order of references."""

BY_NAME: Mapping[str, Axis] = MappingProxyType({axis.name: axis for axis in TABLE})

BINDINGS: tuple[str, ...] = tuple(document.bindings)
"""Values of the axis ``binding``."""

MEANT: Mapping[str, str] = MappingProxyType(
    {word: axis.name for axis in TABLE for word in axis.meant}
)
"""Axis names that people confuse, where the spelling alone gives no suggestion."""


def default(binding: str, axis: str) -> str:
    """The value of an axis that is not given."""
    if axis == "codec":
        return document.bindings[binding].codecs[0]
    if axis == "transport":
        return document.bindings[binding].transports[0]
    return BY_NAME[axis].default


def full_codecs(binding: str) -> list[str]:
    """The codecs of a binding that carry every message; empty for an unknown binding."""
    row = document.bindings.get(binding)
    # Text is the content of one field.
    return [codec for codec in row.codecs if codec != "text"] if row else []


def axis(name: str) -> Axis:
    """The axis of that name. Raises :class:`StackError` with a suggestion."""
    found = BY_NAME.get(name)
    if found is None:
        guess = MEANT.get(name)
        remedy = f"Did you mean {guess!r}?" if guess else did_you_mean(name, BY_NAME)
        raise StackError(f"there is no axis {name!r}", remedy)
    return found


def number_max(name: str) -> int:
    """The largest valid number of the axis."""
    number = BY_NAME[name].number
    assert number is not None, f"{name} takes no number"
    return number.max
