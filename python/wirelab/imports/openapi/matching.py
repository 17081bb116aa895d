"""Whether an example fits its schema: the keywords of JSON Schema that OpenAPI uses.

An example is made of one schema at a time. This finds those that another part of the schema
excludes, such as both branches of ``oneOf``. Not judged are ``pattern`` and ``format``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeGuard

from wirelab.imports.budget import Budget
from wirelab.imports.openapi.references import References
from wirelab.imports.source import lists

DEPTH_MAX = 60
"""Schemas within each other; deeper parts are not judged."""
_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: _is_number(value) and float(value).is_integer(),
    "number": lambda value: _is_number(value),
}


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Matching:
    """Judges values by the schemas of one document."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._known: dict[tuple[int, int, int], tuple[bool, Any, Any]] = {}
        """With the value and the schema, whose identities must not be used again."""

    def fits(self, value: Any, schema: Any, at: References, depth: int = 0) -> bool:
        """Whether a value fits a schema. Raises :class:`ImportLimit` and :class:`UsageError`."""
        if depth > DEPTH_MAX or isinstance(schema, bool):
            return schema is not False
        found = at.follow(schema)
        if not isinstance(found.value, dict):
            return found.value is not False
        key = (id(value), id(found.value), id(found.at) if not found.key else 0)
        if key not in self._known:
            self._budget.take_steps()
            # Of a schema that leads back to itself, as long as nothing else excludes the value.
            self._known[key] = True, value, found.value
            fits = self._fits(value, found.value, found.at, depth + 1)
            self._known[key] = fits, value, found.value
        return self._known[key][0]

    def _fits(self, value: Any, schema: dict[str, Any], at: References, depth: int) -> bool:
        if value is None and schema.get("nullable") is True:
            return True
        return (
            _has_type(value, schema)
            and _is_one_of(value, schema)
            and (not _is_number(value) or _is_within(value, schema))
            and (not isinstance(value, str) or _is_long(len(value), schema, "Length"))
            and (not isinstance(value, list) or self._fits_array(value, schema, at, depth))
            and (not isinstance(value, dict) or self._fits_object(value, schema, at, depth))
            and self._fits_choices(value, schema, at, depth)
        )

    def _fits_choices(self, value: Any, schema: dict[str, Any], at: References, depth: int) -> bool:
        def count(key: str) -> int:
            return sum(self.fits(value, one, at, depth) for one in schema[key])

        given = {key for key in ("allOf", "anyOf", "oneOf") if lists(schema.get(key))}
        if "allOf" in given and count("allOf") < len(schema["allOf"]):
            return False
        if "anyOf" in given and not count("anyOf"):
            return False
        if "oneOf" in given and count("oneOf") != 1:
            return False
        return "not" not in schema or not self.fits(value, schema["not"], at, depth)

    def _fits_array(
        self, value: list[Any], schema: dict[str, Any], at: References, depth: int
    ) -> bool:
        first = lists(schema.get("prefixItems"))
        rest = schema.get("items", True)
        each = [*first[: len(value)], *[rest] * (len(value) - len(first))]
        return (
            _is_long(len(value), schema, "Items")
            and (schema.get("uniqueItems") is not True or _are_unique(value))
            and all(self.fits(v, s, at, depth) for v, s in zip(value, each, strict=False))
        )

    def _fits_object(
        self, value: dict[str, Any], schema: dict[str, Any], at: References, depth: int
    ) -> bool:
        listed = schema.get("properties")
        properties = listed if isinstance(listed, dict) else {}
        required = [name for name in lists(schema.get("required")) if isinstance(name, str)]
        more = True if schema.get("patternProperties") else schema.get("additionalProperties", True)
        return (
            _is_long(len(value), schema, "Properties")
            and all(n in value or _is_read_only(properties.get(n), at) for n in required)
            and all(
                self.fits(one, properties.get(name, more), at, depth) for name, one in value.items()
            )
        )


def _is_read_only(schema: Any, at: References) -> bool:
    """A property that only replies have, whatever ``required`` says (OpenAPI 3.0)."""
    found = at.follow(schema).value
    return isinstance(found, dict) and found.get("readOnly") is True


def _has_type(value: Any, schema: dict[str, Any]) -> bool:
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    known = [_TYPES[one] for one in kinds if isinstance(one, str) and one in _TYPES]
    return not known or any(is_of_type(value) for is_of_type in known)


def _is_one_of(value: Any, schema: dict[str, Any]) -> bool:
    if "const" in schema and not is_same(value, schema["const"]):
        return False
    words = schema.get("enum")
    return not isinstance(words, list) or any(is_same(value, one) for one in words)


def is_same(one: Any, other: Any) -> bool:
    """Equal as JSON, in which 1 and true differ."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _is_within(value: float, schema: dict[str, Any]) -> bool:
    low, high, step = (schema.get(key) for key in ("minimum", "maximum", "multipleOf"))
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    return not (
        (_is_number(low) and (value < low or (above is True and value == low)))
        or (_is_number(high) and (value > high or (below is True and value == high)))
        or (_is_number(above) and value <= above)
        or (_is_number(below) and value >= below)
        or (_is_number(step) and step > 0 and not is_multiple(value, step))
    )


def is_multiple(value: float, step: float) -> bool:
    """As validators judge it, which divide."""
    if isinstance(step, int) and isinstance(value, int):
        return value % step == 0
    quotient = value / step
    return math.isfinite(quotient) and quotient == int(quotient)


def _is_long(length: int, schema: dict[str, Any], what: str) -> bool:
    least, most = schema.get(f"min{what}"), schema.get(f"max{what}")
    return not ((_is_number(least) and length < least) or (_is_number(most) and length > most))


def _are_unique(values: list[Any]) -> bool:
    return not any(
        is_same(one, other) for at, one in enumerate(values) for other in values[at + 1 :]
    )
