"""One cell as study files name it: a stack, a message, a load, a link.

``{stack: grpc@go, bytes: 3 MB, users: 10}`` is such a name; a change of it,
``{client.h2_window: 65535}`` or ``{operation: HelloBytes}``, names another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

from wirelab.errors import UsageError
from wirelab.format.units import format_bytes, parse_bytes
from wirelab.records.trial import Point, Trial
from wirelab.stack import axes as table
from wirelab.stack.reference import Stack
from wirelab.stack.suggestions import did_you_mean
from wirelab.statistics.cell import Cell, cells


@dataclass(frozen=True)
class CellSelector:
    """The name of one cell. None leaves a property open, as long as one cell remains."""

    stack: str
    """Canonical reference."""
    operation: str = "Hello"
    """Of streams also without their items: ``Feed`` is any ``Feed with 10 items (…)``."""
    bytes: int | None = None
    users: int | None = None
    """Of a closed load."""
    rate: float | None = None
    """Of an open load, calls per second."""
    background: str | None = None
    """Names of the groups next to the probe, joined by ``+``; ``none``."""
    link: str | None = None
    chunk: int | None = None
    """Size of a chunk in streams, bytes."""
    placement: str | None = None
    """``pinned`` or ``unpinned``."""
    capture: str | None = None
    """``none``, ``client``, ``server`` or ``both``."""

    @classmethod
    def of(cls, words: Mapping[str, object]) -> CellSelector:
        """From the keys of a study file. Raises :class:`UsageError`, :class:`StackError`,
        :class:`UnitError`."""
        if "stack" not in words:
            raise UsageError("this cell has no stack", "add stack: binding@language")
        rest = {key: value for key, value in words.items() if key != "stack"}
        return cls(Stack.parse(str(words["stack"])).reference).change(rest)

    def change(self, changes: Mapping[str, object]) -> CellSelector:
        """The cell with these properties, axes of its stack included, changed."""
        own = {key: _read(key, value) for key, value in changes.items() if key in PROPERTIES}
        axes = {key: _word(value) for key, value in changes.items() if key not in PROPERTIES}
        for name in axes:
            if name not in table.BY_NAME:
                raise UsageError(
                    f"{name!r} is neither an axis nor a property of a cell",
                    did_you_mean(name, (*PROPERTIES, *table.BY_NAME)),
                )
        stack = str(own.pop("stack", self.stack))
        changed = Stack.parse(stack).with_axes(axes) if axes else Stack.parse(stack)
        return replace(self, stack=changed.reference, **own)

    def differences(self, other: CellSelector) -> dict[str, tuple[str, str]]:
        """What differs: property or axis, value here, value there."""
        pairs = {
            field.name: (getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)
            if field.name != "stack"
        }
        mine, theirs = Stack.parse(self.stack), Stack.parse(other.stack)
        pairs |= {name: (value, theirs.value(name)) for name, value in mine.axes.texts.items()}
        return {name: (str(a), str(b)) for name, (a, b) in pairs.items() if a != b}

    def matches(self, point: Point) -> bool:
        """True when nothing that is named differs."""
        found = {
            "operation": self.operation if self._names(point.operation) else point.operation,
            "bytes": point.bytes,
            "users": point.load.users,
            "rate": point.load.rate,
            "background": "+".join(group.name for group in point.load.background) or "none",
            "link": point.link,
            "chunk": point.options.get("chunk_bytes"),
            "placement": point.options.get("placement", "pinned"),
            "capture": point.options.get("capture", "none"),
        }
        named = {name: getattr(self, name) for name in found}
        return point.stack == self.stack and all(
            value is None or found[name] == value for name, value in named.items()
        )

    def _names(self, operation: str) -> bool:
        return operation == self.operation or operation.startswith(f"{self.operation} with ")

    def find(self, trials: Iterable[Trial]) -> Cell | None:
        """The cell, or None where it was not measured. Raises :class:`UsageError` where
        the name fits several."""
        found = cells(trial for trial in trials if self.matches(trial.point))
        if len(found) > 1:
            raise UsageError(
                f"{self} names {len(found)} cells of this run",
                "name its users, background, link, chunk, placement or capture too",
            )
        return found[0] if found else None

    def __str__(self) -> str:
        parts = [self.stack, self.operation]
        parts += [format_bytes(self.bytes)] if self.bytes is not None else []
        loads = {"users": self.users, "rate": self.rate}
        named = {name: value for name, value in loads.items() if value is not None}
        parts += [level_words(named)] if named else []
        parts += [f"chunks of {format_bytes(self.chunk)}"] if self.chunk is not None else []
        parts += [f"next to {self.background}"] if self.background is not None else []
        parts += [*filter(None, (self.link, self.placement))]
        return ", ".join([*parts, f"capture {self.capture}"] if self.capture else parts)


PROPERTIES = tuple(field.name for field in fields(CellSelector))
"""What a cell's name can hold in addition to axes."""

_SIZES = ("bytes", "chunk")


def _read(key: str, value: Any) -> Any:
    if value is None or key not in (*_SIZES, "users", "rate"):
        return None if value is None else str(value)
    if key in _SIZES:
        return value if isinstance(value, int) else parse_bytes(value)
    return int(value) if key == "users" else float(value)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


Level = Mapping[str, object]
"""Properties of cells, ``{"users": 10, "bytes": 14}``."""


def levels(each: Mapping[str, Sequence[Any]]) -> tuple[Level, ...]:
    """``{users: [1, 10], bytes: [14]}`` -> every combination; one empty level of nothing."""
    names = list(each)
    return tuple(dict(zip(names, values, strict=True)) for values in product(*each.values()))


def level_words(level: Level) -> str:
    """``150 kB, 10 users``; ``there`` where nothing is named."""
    return ", ".join(_words(name, value) for name, value in level.items()) or "there"


def _words(name: str, value: Any) -> str:
    if name == "bytes":
        return format_bytes(value) if isinstance(value, int) else str(value)
    if name == "users":
        return f"{value:g} {'user' if value == 1 else 'users'}"
    return f"{value} calls/s" if name == "rate" else f"{name} {value}"
