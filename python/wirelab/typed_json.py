"""JSON read into dataclasses: what a service or the engine prints, and the services' manifests.

Every value is checked once, against the annotation of its field, and is then of that type. These
documents are many and small: the standard library's dataclasses load at once, where a library
of models would take longer to load than most commands take to run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")

_WORDS: dict[object, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
    NoneType: "null",
}


class ShapeError(ValueError):
    """A document of another shape than was expected; the message names the place."""


def read(kind: type[T], given: object, *, extra: bool = False) -> T:
    """``given`` as an instance of the dataclass ``kind``: texts, numbers, truth values,
    ``tuple[X, ...]`` of lists, dictionaries, dataclasses, and ``X | None``. Keys without a field
    are refused, or passed over with ``extra``. Raises :class:`ShapeError`."""
    found = _object(kind, given, "", extra)
    assert isinstance(found, kind)
    return found


def _object(kind: type, given: object, at: str, extra: bool) -> object:
    if not isinstance(given, dict):
        raise _other(dict, given, at)
    known = {field.name: field for field in fields(kind)}
    unknown = [] if extra else sorted(set(given) - set(known))
    if unknown:
        raise ShapeError(f"{_at(at, unknown[0])}: unknown key; known are {', '.join(known)}")
    hints = _hints(kind)
    values = {}
    for name, field in known.items():
        if name in given:
            values[name] = _value(hints[name], given[name], _at(at, name), extra)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise ShapeError(f"{_at(at, name)}: this key is missing")
    return kind(**values)


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _value(kind: Any, given: object, at: str, extra: bool) -> object:
    if kind is Any:
        return given
    if isinstance(kind, UnionType):
        return None if given is None else _value(_not_none(kind), given, at, extra)
    origin = get_origin(kind)
    if origin is tuple:
        return _items(get_args(kind)[0], given, at, extra)
    if origin is dict:
        if not isinstance(given, dict):
            raise _other(dict, given, at)
        return given
    if is_dataclass(kind):
        assert isinstance(kind, type)
        return _object(kind, given, at, extra)
    return _plain(kind, given, at)


def _not_none(union: UnionType) -> Any:
    """The X of ``X | None``, which is the only union that these documents have."""
    (kind,) = (one for one in get_args(union) if one is not NoneType)
    return kind


def _items(kind: Any, given: object, at: str, extra: bool) -> tuple[object, ...]:
    if not isinstance(given, list):
        raise ShapeError(f"{at}: a list is expected, given is {given!r}")
    return tuple(_value(kind, one, f"{at}[{place}]", extra) for place, one in enumerate(given))


def _plain(kind: type, given: object, at: str) -> object:
    """A whole number is a number, and a truth value, though Python thinks so, is neither."""
    if kind is float and isinstance(given, int) and not isinstance(given, bool):
        return float(given)
    if not isinstance(given, kind) or (isinstance(given, bool) and kind is not bool):
        raise _other(kind, given, at)
    return given


def _other(kind: object, given: object, at: str) -> ShapeError:
    return ShapeError(f"{at or 'it'}: {_WORDS[kind]} is expected, given is {given!r}")


def _at(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
