"""An example of a JSON Schema as OpenAPI uses it: what the document gives, else a value of the
type, within its bounds. Patterns are not honoured."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from wirelab.imports.budget import Budget
from wirelab.imports.openapi.references import Found, References
from wirelab.imports.source import lists

DEPTH_MAX = 4
"""Objects within objects that get their optional properties, too."""
DEPTH_END = 24
"""Nothing below has an example: only documents that mean harm nest so deep."""
LEVELS_MAX = 60
"""Likewise of lists and choices, which are not objects."""
VALUES_MAX = 150
"""Of one example; after them only what is required."""
MADE_STEPS = 4
"""Of an example that was not made before, next to those of its parts."""
KNOWN_MAX = 50_000
"""Examples that are kept to be used again."""
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


class _Known(NamedTuple):
    """The example of a schema that was made before."""

    value: Any
    notes: tuple[str, ...]
    cost: int
    """Of :data:`VALUES_MAX`."""
    repeats: frozenset[str]
    """Open schemas that were met again; the example depends on them."""


class Memo:
    """Examples of the schemas of one document, which all its operations share."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.known: dict[tuple[object, ...], _Known] = {}


class Examples:
    """Makes the examples of one operation."""

    def __init__(self, memo: Memo) -> None:
        self._memo = memo
        self._noted: list[str] = []
        self._open: list[str] = []
        self._left = VALUES_MAX
        self._levels = 0
        self._repeats: set[str] = set()
        """Open schemas that were met again."""

    @property
    def notes(self) -> list[str]:
        """What the examples leave open."""
        return list(dict.fromkeys(self._noted))

    def of(self, schema: Any, at: References) -> Any:
        """An example, or :data:`MISSING`. Raises :class:`UsageError` for a reference that leads
        nowhere, and :class:`ImportLimit`."""
        if self._levels > LEVELS_MAX:
            return MISSING
        self._memo.budget.take_steps()
        self._levels += 1
        try:
            found = at.follow(schema)
            return self._valued(schema, at) if found.value is schema else self._at(schema, found)
        finally:
            self._levels -= 1

    def _at(self, schema: dict[str, Any], found: Found) -> Any:
        """Of what a reference leads to."""
        if found.key in self._open:
            self._repeats.add(found.key)
            return MISSING
        if len(self._open) > DEPTH_END:
            return MISSING
        siblings = {key: schema[key] for key in ("example", "default") if key in schema}
        if siblings and isinstance(found.value, dict):
            return self._valued({**found.value, **siblings}, found.at)
        return self._recalled(found)

    def _recalled(self, found: Found) -> Any:
        """As it was made before in the same situation; else made now. What is made depends on
        the open schemas only where it meets one of them, else on their number alone."""
        is_used_up = self._left < 0
        anywhere = (found.key, len(self._open), self._levels, is_used_up)
        here = (*anywhere, *self._open)
        for key in (anywhere, here):
            known = self._memo.known.get(key)
            if known is not None and (is_used_up or known.cost <= self._left):
                return self._take(known)
        made = self._made(found)
        # Where the values are used up in the middle, the example is of this place alone.
        if (is_used_up or self._left >= 0) and len(self._memo.known) < KNOWN_MAX:
            self._memo.known[here if made.repeats else anywhere] = made
        return made.value

    def _take(self, known: _Known) -> Any:
        self._memo.budget.take_steps(1 + len(known.notes))
        self._left -= known.cost
        self._noted += known.notes
        self._repeats |= known.repeats
        return known.value

    def _made(self, found: Found) -> _Known:
        self._memo.budget.take_steps(MADE_STEPS)
        left, noted = self._left, len(self._noted)
        outer, self._repeats = self._repeats, set()
        self._open.append(found.key)
        try:
            value = self._valued(found.value, found.at)
        finally:
            self._open.pop()
            repeats = frozenset(self._repeats.intersection(self._open))
            self._repeats = outer | repeats
        notes = tuple(dict.fromkeys(self._noted[noted:]))
        return _Known(value, notes, left - self._left, repeats)

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
            return self._all(schema, at)
        return self._typed(schema, at)

    def _all(self, schema: dict[str, Any], at: References) -> Any:
        """Of all parts together, later parts over earlier ones."""
        parts = [self.of(part, at) for part in schema["allOf"]]
        whole = self._typed(schema, at) if "properties" in schema else MISSING
        fields = [part for part in (whole, *parts) if part is not MISSING]
        if not all(isinstance(part, dict) for part in fields):
            for part in parts:
                whole = self._merged(whole, part)
            return whole
        # Of many parts, `_merged` would copy all of them each time.
        self._memo.budget.take_steps(sum(map(len, fields)))
        return dict(chain.from_iterable(part.items() for part in fields)) if fields else MISSING

    def _first(self, choices: list[Any], at: References) -> Any:
        """Of the first choice that has an example."""
        for choice in choices:
            self._memo.budget.take_steps()
            if isinstance(choice, dict) and choice.get("type") == "null":
                continue
            value = self.of(choice, at)
            if value is not MISSING:
                return value
        return MISSING

    def _merged(self, one: Any, other: Any) -> Any:
        if isinstance(one, dict) and isinstance(other, dict):
            self._memo.budget.take_steps(len(one) + len(other))
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
        required = {name for name in lists(schema.get("required")) if isinstance(name, str)}
        made: dict[str, Any] = {}
        if len(self._open) > DEPTH_END:
            return MISSING
        self._open.append("")
        self._memo.budget.take_steps(len(properties) if isinstance(properties, dict) else 0)
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
        form, pattern = schema.get("format"), schema.get("pattern")
        text = FORMATS.get(form, TEXT) if isinstance(form, str) else TEXT
        if isinstance(pattern, str):
            self._note(f"a text is to match {pattern[:60]}; correct the example")
        least, most = schema.get("minLength"), schema.get("maxLength")
        if isinstance(least, int) and len(text) < least:
            text = _repeated(text, min(least, TEXT_MAX))
        return text[:most] if isinstance(most, int) and most >= 0 else text

    def _note(self, text: str) -> None:
        self._noted.append(text)


@lru_cache
def _repeated(text: str, length: int) -> str:
    """The same object for the same text, which a document may have in each of many places."""
    return (text * (length // len(text) + 1))[:length]


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
