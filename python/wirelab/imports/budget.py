"""What one import may cost: one budget for reading a document, the files that it refers to, and
the resolution of its schemas.

A short document can describe much: an alias of YAML or a ``$ref`` repeats what it leads to, and
``allOf`` of two references doubles it at each level. The limits bound what is read, done and
written, whatever the document's length.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from wirelab.errors import ImportLimit
from wirelab.experiment import yaml_source
from wirelab.imports.operation import Operation

NODES_MAX = 1_000_000
"""Values that are kept of the document and of the files that it refers to."""
YAML_NODES_MAX = 300_000
"""Values in YAML, whose parser takes 5 µs for each; aliases followed."""
PATHS_MAX = 250_000
"""Path items of a document."""
STEPS_MAX = 250_000
"""Schemas, properties, parameters and references that are resolved; at most 2 s."""
VALUES_MAX = yaml_source.NODES_MAX - 1_000
"""Values of the messages. The experiment file has a few more, and its own limit."""
BYTES_MAX = 16 * 1024 * 1024
"""Of the messages, roughly as JSON."""
DEPTH_MAX = yaml_source.DEPTH_MAX - 10
"""Lists and mappings within each other in a value of a message."""
CHARACTERS_A_STEP = 20
OPERATION_STEPS = 50
"""Further steps for each operation of the document."""
OPERATIONS_MAX = VALUES_MAX // 4
"""The least of a message: a mapping, name, method and path."""
LOOKUP_STEPS = 10
"""Of a reference that is followed for the first time."""
_ONLY = "import fewer operations: --only PATTERN"


class Size(NamedTuple):
    """Of a value as it is written, each use of a shared part included."""

    values: int
    bytes: int
    depth: int = 0


class Budget:
    """What is left. ``where`` is a place of the document, for messages."""

    def __init__(self, name: str, *, is_selected: bool = False) -> None:
        """``is_selected``: ``--only`` is given, so that the document may be large."""
        self.where = name
        self.yaml_nodes_max = NODES_MAX if is_selected else YAML_NODES_MAX
        self.is_selected = is_selected
        self._nodes = NODES_MAX
        self._steps = STEPS_MAX
        self._values = 0
        self._bytes = 0

    @property
    def nodes_left(self) -> int:
        """Values that may still be read."""
        return self._nodes

    def take_nodes(self, count: int) -> None:
        """Values that are read and kept. Raises :class:`ImportLimit`."""
        self.check_nodes(count)
        self._nodes -= count

    def check_nodes(self, count: int) -> None:
        """Values that are read now and not kept. Raises :class:`ImportLimit`."""
        if count > self._nodes:
            raise ImportLimit(
                f"{self.where}: more than {NODES_MAX:,} values are read (limit nodes)",
                "leave out what the operations do not need",
            )

    def take_steps(self, count: int = 1) -> None:
        """Resolved parts. Raises :class:`ImportLimit`."""
        self._steps -= count
        if self._steps < 0:
            raise ImportLimit(
                f"{self.where}: with it, references and variables take more than {STEPS_MAX:,} "
                "steps to resolve (limit steps)",
                _ONLY,
            )

    def take_text(self, length: int) -> None:
        """Characters that a variable adds. Raises :class:`ImportLimit`."""
        self.take_steps(1 + max(length, 0) // CHARACTERS_A_STEP)

    def add_operation(self) -> None:
        """An operation is read: what may be done grows with the length of the document."""
        self._steps += OPERATION_STEPS

    def check_operations(self, count: int) -> None:
        """Operations that are all to be messages, before they are made. Raises
        :class:`ImportLimit`."""
        if count > OPERATIONS_MAX:
            raise ImportLimit(
                f"{self.where}: it has more than {OPERATIONS_MAX:,} operations, the most that an "
                "experiment file can have (limit operations)",
                _ONLY,
            )

    def check_paths(self, count: int) -> None:
        """Path items of a document. Raises :class:`ImportLimit`."""
        if count > PATHS_MAX:
            raise ImportLimit(
                f"{self.where}: it has {count:,} paths, more than {PATHS_MAX:,} (limit paths)",
                "name a part of it",
            )

    def check_value(self, value: Any) -> None:
        """A value that goes into a path, a query or a header. Raises :class:`ImportLimit`."""
        self._check(measure(value))

    def take_message(self, operation: Operation) -> None:
        """A message of the experiment file with its comments. Raises :class:`ImportLimit`."""
        size = measure({"name": operation.name, **operation.request})
        comments = (*operation.notes, *operation.secrets)
        self._values += size.values
        self._bytes += size.bytes + sum(map(len, comments))
        self._check(Size(0, 0, size.depth))

    def _check(self, size: Size) -> None:
        for kind, count, most in (
            ("values", self._values + size.values, VALUES_MAX),
            ("bytes", self._bytes + size.bytes, BYTES_MAX),
            ("levels", size.depth, DEPTH_MAX),
        ):
            if count > most:
                raise ImportLimit(
                    f"{self.where}: with it, the messages have more than {most:,} {kind} "
                    f"(limit {kind})",
                    f"{_ONLY}, or give them shorter examples",
                )


def measure(value: Any) -> Size:
    """The size. A part that is used several times is measured once, so that the time depends on
    what is in memory, not on what is written."""
    known: dict[int, Size] = {}
    waiting = [value]
    while waiting:
        one = waiting[-1]
        inner = () if id(one) in known else [p for p in _parts(one) if id(p) not in known]
        if inner:
            waiting += inner
            continue
        waiting.pop()
        if id(one) not in known:
            known[id(one)] = _measure(one, known)
    return known[id(value)]


def _parts(value: Any) -> Iterator[Any]:
    """Lists and mappings in it."""
    inner = value.values() if isinstance(value, dict) else value if _is_list(value) else ()
    return (part for part in inner if isinstance(part, (dict, list, tuple)))


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _measure(value: Any, known: dict[int, Size]) -> Size:
    """Of a value whose lists and mappings are measured."""
    if not isinstance(value, (dict, list, tuple)):
        return Size(1, len(value) if isinstance(value, str) else _digits(value))
    keys = sum(len(str(key)) + 2 for key in value) if isinstance(value, dict) else 0
    values, size, depth = 1, 2 + keys, 0
    for part in value.values() if isinstance(value, dict) else value:
        of_part = known.get(id(part)) or _measure(part, known)
        values += of_part.values
        size += of_part.bytes + 2
        depth = max(depth, of_part.depth)
    return Size(values, size, depth + 1)


def _digits(value: object) -> int:
    """Roughly. Python writes no integer of more than 4,300 digits."""
    return value.bit_length() // 3 + 1 if isinstance(value, int) else len(str(value))
