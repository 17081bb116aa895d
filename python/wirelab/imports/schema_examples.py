"""An example of a JSON Schema as OpenAPI uses it: what the document gives, else a value of the
type, within its bounds. Patterns are not honoured."""

from __future__ import annotations

import math
from typing import Any

from wirelab.imports.references import References

DEPTH_MAX = 4
"""Objects within objects that get their optional properties, too."""
DEPTH_END = 24
"""Nothing below has an example: only documents that mean harm nest so deep."""
VALUES_MAX = 150
"""Of one example; after them only what is required."""
TEXT_MAX = 10_000
"""Characters, whatever minLength says."""
ITEMS_MAX = 20

FORMATS = {
    "date-time": "2024-01-01T00:00:00Z",
    "date": "2024-01-01",
    "time": "00:00:00Z",
    "duration": "PT1S",
    "uuid": "3f2b8c1e-5a44-4c0e-9d6b-0e8a4f6f9f10",
    "email": "user@example.com",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uri-reference": "/",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "byte": "Ynl0ZXM=",
    "password": "password",
}
TEXT = "text"
MISSING = object()
"""In place of an example that cannot be: of a schema that contains itself, or of nothing."""


class Examples:
    """Makes one example."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        """What the example leaves open."""
        self._open: list[str] = []
        self._left = VALUES_MAX

    def of(self, schema: Any, at: References) -> Any:
        """An example, or :data:`MISSING`. Raises :class:`UsageError` for a reference that leads
        nowhere."""
        found = at.follow(schema)
        if found.value is schema:
            return self._valued(schema, at)
        if found.key in self._open or len(self._open) > DEPTH_END:
            return MISSING
        self._open.append(found.key)
        try:
            siblings = {k: v for k, v in schema.items() if k in ("example", "default")}
            is_object = isinstance(found.value, dict)
            return self._valued({**found.value, **siblings} if is_object else found.value, found.at)
        finally:
            self._open.pop()

    def _valued(self, schema: Any, at: References) -> Any:
        self._left -= 1
        if schema is True or schema == {}:
            return {}
        if not isinstance(schema, dict):
            return MISSING
        given = _given(schema)
        if given is not MISSING:
            return given
        for key in ("oneOf", "anyOf"):
            if isinstance(schema.get(key), list) and schema[key]:
                chosen = self._first(schema[key], at)
                return self._merged(self._typed(schema, at), chosen)
        if isinstance(schema.get("allOf"), list):
            parts = [self.of(part, at) for part in schema["allOf"]]
            whole = self._typed(schema, at) if "properties" in schema else MISSING
            for part in parts:
                whole = self._merged(whole, part)
            return whole
        return self._typed(schema, at)

    def _first(self, choices: list[Any], at: References) -> Any:
        """Of the first choice that has an example."""
        for choice in choices:
            if isinstance(choice, dict) and choice.get("type") == "null":
                continue
            value = self.of(choice, at)
            if value is not MISSING:
                return value
        return MISSING

    @staticmethod
    def _merged(one: Any, other: Any) -> Any:
        if isinstance(one, dict) and isinstance(other, dict):
            return {**one, **other}
        return one if other is MISSING else other

    def _typed(self, schema: dict[str, Any], at: References) -> Any:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((one for one in kind if one != "null"), "null")
        if kind == "object" or (kind is None and "properties" in schema):
            return self._object(schema, at)
        if kind == "array" or (kind is None and "items" in schema):
            return self._array(schema, at)
        if kind == "string" or (kind is None and {"format", "pattern", "minLength"} & set(schema)):
            return self._text(schema)
        if kind in ("integer", "number"):
            return _number(schema, whole=kind == "integer")
        if kind == "boolean":
            return True
        if kind == "null":
            return None
        # Of several choices the other says what it is.
        return MISSING if {"oneOf", "anyOf", "allOf"} & set(schema) else {}

    def _object(self, schema: dict[str, Any], at: References) -> Any:
        properties = schema.get("properties")
        required = schema.get("required")
        required = required if isinstance(required, list) else []
        made: dict[str, Any] = {}
        if len(self._open) > DEPTH_END:
            return MISSING
        self._open.append("")
        try:
            for name, part in properties.items() if isinstance(properties, dict) else ():
                value = self._property(name, part, at, is_required=name in required)
                if value is not MISSING:
                    made[name] = value
        finally:
            self._open.pop()
        more = schema.get("additionalProperties")
        if not made and isinstance(more, dict) and schema.get("minProperties", 0):
            value = self.of(more, at)
            return made if value is MISSING else {"key": value}
        return made

    def _property(self, name: str, part: Any, at: References, *, is_required: bool) -> Any:
        is_deep = len(self._open) > DEPTH_MAX or self._left < 0
        if is_deep and not is_required:
            return MISSING
        inner = at.follow(part).value
        if isinstance(inner, dict) and inner.get("readOnly") is True:
            return MISSING
        value = self.of(part, at)
        if value is MISSING and is_required:
            self._note(f"{name} is required and left out: its schema contains itself")
        return value

    def _array(self, schema: dict[str, Any], at: References) -> Any:
        value = self.of(schema.get("items", {}), at)
        if value is MISSING or schema.get("maxItems") == 0:
            return []
        least = schema.get("minItems")
        return [value] * max(1, min(least if isinstance(least, int) else 1, ITEMS_MAX))

    def _text(self, schema: dict[str, Any]) -> str:
        text = FORMATS.get(str(schema.get("format")), TEXT)
        if "pattern" in schema:
            self._note(f"a text is to match {str(schema['pattern'])[:60]}; correct the example")
        least, most = schema.get("minLength"), schema.get("maxLength")
        if isinstance(least, int) and len(text) < least:
            least = min(least, TEXT_MAX)
            text = (text * (least // len(text) + 1))[:least]
        return text[:most] if isinstance(most, int) and most >= 0 else text

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def _given(schema: dict[str, Any]) -> Any:
    """What the document itself gives as example."""
    if "example" in schema:
        return schema["example"]
    for key in ("examples", "enum"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    for key in ("const", "default"):
        if key in schema and schema[key] is not None:
            return schema[key]
    return MISSING


def _number(schema: dict[str, Any], *, whole: bool) -> int | float:
    """1, or what is nearest to it within the bounds."""

    def bound(key: str) -> float | None:
        value = schema.get(key)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return value if is_number else None

    low, high = bound("minimum"), bound("maximum")
    step = bound("multipleOf") or (1 if whole else 0)
    # In OpenAPI 3.0 the exclusive bounds are true or false, in 3.1 numbers.
    gap = 1 if whole else 0.5
    if schema.get("exclusiveMinimum") is True and low is not None:
        low += gap
    elif (above := bound("exclusiveMinimum")) is not None:
        low = above + gap
    if schema.get("exclusiveMaximum") is True and high is not None:
        high -= gap
    elif (below := bound("exclusiveMaximum")) is not None:
        high = below - gap
    value: int | float = 1 if whole else 1.5
    value = max(value, low) if low is not None else value
    value = min(value, high) if high is not None else value
    try:
        if step and value % step:
            value = math.ceil(value / step) * step
        return int(value) if whole else value
    except OverflowError:
        return 1  # bounds that no number can have
