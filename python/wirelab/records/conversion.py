"""Converts between JSON and records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from wirelab.documents.axes import Axes

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
FIELD = " - at `$"
"""What msgspec writes between a problem and the path of its field, which a back quote ends."""


def convert(content: object, model: type[T]) -> T:
    """Parses a part of a record into its model; unknown keys are ignored. Raises
    :class:`TypeError` if a value has another type; it names the field."""
    try:
        return msgspec.convert(content, model, from_attributes=True)
    except msgspec.ValidationError as error:
        raise TypeError(str(error)) from error


def convert_axes(content: object) -> Axes:
    """Parses the axes of a point, which the journal stores as text. Raises :class:`TypeError`."""
    texts = convert(content, dict[str, str])
    try:
        return Axes.of(texts)
    except msgspec.ValidationError as error:
        raise TypeError(str(error)) from error


@contextmanager
def locate(part: str) -> Iterator[None]:
    """Adds the name of the part to the field that a :class:`TypeError` of the block names."""
    try:
        yield
    except TypeError as error:
        problem, _, field = str(error).partition(FIELD)
        raise TypeError(f"{problem}{FIELD}{part}{field.rstrip('`')}`") from error


def write(record: DataclassInstance, null: set[str]) -> dict[str, object]:
    """A part of a record without values that were not recorded, except for the keys that are then
    null; empty if nothing was recorded."""
    if all(getattr(record, one.name) == _default(one) for one in fields(record)):
        return {}
    given: dict[str, object] = msgspec.to_builtins(record)
    return {name: value for name, value in given.items() if value is not None or name in null}


def _default(one: Field[Any]) -> object:
    return one.default_factory() if one.default_factory is not MISSING else one.default
