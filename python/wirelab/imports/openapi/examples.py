"""An example of a JSON Schema as OpenAPI uses it: what the document gives, else a value of the
type, within its bounds. :mod:`matching` judges whether it fits the whole schema."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple

from wirelab.imports.budget import Budget
from wirelab.imports.openapi.matching import Matching, is_multiple
from wirelab.imports.openapi.patterns import text_of
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
ITEMS_MAX = 100
GIVEN_MAX = 100
"""Examples and words of a schema that are tried."""
VARIANTS_MAX = 30
"""Properties of a choice that are left out one at a time."""
MULTIPLES_MAX = 50
"""Multiples that are tried: those of 0.1 are not exact."""

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


class _Any:
    """See :data:`ANY`."""


MISSING = object()
"""In place of an example that cannot be: of a schema that contains itself, or of nothing."""
ANY = _Any()
"""In place of an example of a schema that allows everything: other parts decide."""


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
        self.matching = Matching(budget)


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
        value = _replace_any(self._of(schema, at), {})
        if value is not MISSING and not self._memo.matching.fits(value, schema, at):
            self._note("the example does not fit the schema in all parts; correct it")
        return value

    def _of(self, schema: Any, at: References) -> Any:
        if self._levels > LEVELS_MAX:
            return MISSING
        self._memo.budget.take_steps()
        self._levels += 1
        try:
            found = at.follow(schema)
            return (
                self._make_value(schema, at)
                if found.value is schema
                else self._follow(schema, found)
            )
        finally:
            self._levels -= 1

    def _follow(self, schema: dict[str, Any], found: Found) -> Any:
        """Of what a reference leads to."""
        if found.key in self._open:
            self._repeats.add(found.key)
            return MISSING
        if len(self._open) > DEPTH_END:
            return MISSING
        siblings = {key: schema[key] for key in ("example", "default") if key in schema}
        if siblings and isinstance(found.value, dict):
            return self._make_value({**found.value, **siblings}, found.at)
        return self._recall_or_make(found)

    def _recall_or_make(self, found: Found) -> Any:
        """As it was made before in the same situation; else made now. What is made depends on
        the open schemas only where it meets one of them, else on their number alone."""
        is_used_up = self._left < 0
        anywhere = (found.key, len(self._open), self._levels, is_used_up)
        here = (*anywhere, *self._open)
        for key in (anywhere, here):
            known = self._memo.known.get(key)
            if known is not None and (is_used_up or known.cost <= self._left):
                return self._take(known)
        made = self._make(found)
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

    def _make(self, found: Found) -> _Known:
        self._memo.budget.take_steps(MADE_STEPS)
        left, noted = self._left, len(self._noted)
        outer, self._repeats = self._repeats, set()
        self._open.append(found.key)
        try:
            value = self._make_value(found.value, found.at)
        finally:
            self._open.pop()
            repeats = frozenset(self._repeats.intersection(self._open))
            self._repeats = outer | repeats
        notes = tuple(dict.fromkeys(self._noted[noted:]))
        return _Known(value, notes, left - self._left, repeats)

    def _make_value(self, schema: Any, at: References) -> Any:
        self._left -= 1
        if schema is True or schema == {}:
            return ANY
        if not isinstance(schema, dict):
            return MISSING
        for given in _list_given(schema):
            if self._memo.matching.fits(given, schema, at):
                return given
        whole = self._make_typed(schema, at)
        if lists(schema.get("allOf")):
            whole = self._all(schema, whole, at)
        for key in ("anyOf", "oneOf"):
            if lists(schema.get(key)):
                whole = self._choose(schema, schema[key], whole, at)
        return whole

    def _all(self, schema: dict[str, Any], whole: Any, at: References) -> Any:
        """Of all parts together, later parts over earlier ones."""
        parts = [whole, *(self._of(part, at) for part in schema["allOf"])]
        fields = [part for part in parts if part is not MISSING and part is not ANY]
        if not fields:
            return MISSING if MISSING in parts else ANY
        if not all(isinstance(part, dict) for part in fields):
            return self._scalar(schema, fields, at)
        # Of many parts, `_merged` would copy all of them each time.
        self._memo.budget.take_steps(sum(map(len, fields)))
        made: dict[str, Any] = {}
        for name, value in chain.from_iterable(part.items() for part in fields):
            if name not in made or value is not ANY:
                made[name] = value
        return made

    def _scalar(self, schema: dict[str, Any], values: list[Any], at: References) -> Any:
        """The first that fits, or one of the keywords of all parts together."""
        for value in values:
            if self._memo.matching.fits(value, schema, at):
                return value
        joined: dict[str, Any] = {}
        for part in (schema, *schema["allOf"]):
            found = at.follow(part).value
            given = found if isinstance(found, dict) else {}
            self._memo.budget.take_steps(1 + len(given))
            joined |= {key: one for key, one in given.items() if key not in _OF_PARTS}
        return self._make_typed(joined, at)

    def _choose(
        self, schema: dict[str, Any], choices: list[Any], whole: Any, at: References
    ) -> Any:
        """With the first choice that fits; of ``oneOf`` all others must not."""
        made = MISSING
        for choice in choices:
            self._memo.budget.take_steps()
            if isinstance(choice, dict) and choice.get("type") == "null":
                continue
            value = self._of(choice, at)
            if value is MISSING:
                continue
            for one in self._variants(schema, self._merge(whole, value), choice, at):
                if self._memo.matching.fits(_replace_any(one, {}), schema, at):
                    return one
                made = one if made is MISSING else made
        return whole if made is MISSING else made

    def _variants(
        self, schema: dict[str, Any], value: Any, choice: Any, at: References
    ) -> Iterator[Any]:
        """The value, and without what is not required: another choice may require that."""
        yield value
        if not isinstance(value, dict):
            yield from (
                value * 7 + 0.5 if isinstance(value, float) else value,
                -1,
                True,
                [],
                {},
                "",
            )
            return
        required = {*_list_required(schema, at), *_list_required(choice, at)}
        self._memo.budget.take_steps(len(value))
        yield {name: one for name, one in value.items() if name in required}
        for dropped in value.keys() - required if len(value) <= VARIANTS_MAX else ():
            yield {name: one for name, one in value.items() if name != dropped}

    def _merge(self, one: Any, other: Any) -> Any:
        if isinstance(one, dict) and isinstance(other, dict):
            self._memo.budget.take_steps(len(one) + len(other))
            added = {k: v for k, v in other.items() if k not in one or v is not ANY}
            return {**one, **added}
        return one if other is MISSING or (other is ANY and one is not MISSING) else other

    def _make_typed(self, schema: dict[str, Any], at: References) -> Any:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((one for one in kind if one != "null"), "null")
        if kind == "object" or (kind is None and {"properties", "required"} & set(schema)):
            return self._object(schema, at)
        if kind == "array" or (kind is None and "items" in schema):
            return self._array(schema, at)
        if kind == "string" or (kind is None and {"format", "pattern", "minLength"} & set(schema)):
            return self._text(schema)
        if kind in ("integer", "number") or (kind is None and _BOUNDS & set(schema)):
            return _number(schema, whole=kind == "integer")
        if kind == "boolean":
            return True
        if kind == "null":
            return None
        return ANY

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
        self._add_properties(made, schema, required, at)
        return made

    def _add_properties(
        self, made: dict[str, Any], schema: dict[str, Any], required: set[str], at: References
    ) -> None:
        """Required ones that are not described, and as many as there must and may be."""
        more = schema.get("additionalProperties", True)
        properties = schema.get("properties")
        described = properties if isinstance(properties, dict) else {}
        least, most = schema.get("minProperties"), schema.get("maxProperties")
        names = [name for name in sorted(required) if name not in described]
        missing = (least if isinstance(least, int) else 0) - len(made) - len(names)
        names += [f"key{'' if n == 1 else n}" for n in range(1, 1 + min(missing, ITEMS_MAX))]
        value = MISSING if more is False else self._of(more, at)
        if value is not MISSING:
            made.update(dict.fromkeys(names, value))
        if isinstance(most, int):
            for name in [one for one in made if one not in required][: max(0, len(made) - most)]:
                del made[name]

    def _property(self, name: str, part: Any, at: References, *, is_required: bool) -> Any:
        is_deep = len(self._open) > DEPTH_MAX or self._left < 0
        if is_deep and not is_required:
            return MISSING
        inner = at.follow(part).value
        if isinstance(inner, dict) and inner.get("readOnly") is True:
            return MISSING
        value = self._of(part, at)
        if value is MISSING and is_required:
            self._note(f"{name} is required and left out: its schema contains itself")
        return value

    def _array(self, schema: dict[str, Any], at: References) -> Any:
        first = [self._of(one, at) for one in lists(schema.get("prefixItems"))[:ITEMS_MAX]]
        if MISSING in first:
            return []
        items = schema.get("items", {})
        value = MISSING if items is False else self._of(items, at)
        least, most = schema.get("minItems"), schema.get("maxItems")
        count = max(0 if first else 1, (least if isinstance(least, int) else 0) - len(first))
        if value is MISSING or (isinstance(most, int) and most <= len(first)):
            return first
        count = min(count, ITEMS_MAX)
        if count == 1 or schema.get("uniqueItems") is not True:
            return first + [value] * count
        return first + list(self._different(value, at.follow(items).value, count))

    def _different(self, value: Any, schema: Any, count: int) -> Iterator[Any]:
        """As many values, each once, where the schema has them."""
        given = schema if isinstance(schema, dict) else {}
        self._memo.budget.take_steps(count)
        choices = lists(given.get("enum")) or ([True, False] if isinstance(value, bool) else [])
        if choices:
            yield from choices[:count]
            return
        step = given.get("multipleOf")
        for number in range(count):
            if isinstance(value, (int, float)):
                yield value + number * (step if isinstance(step, (int, float)) else 1)
            elif isinstance(value, str):
                yield f"{value[: len(value) - len(str(number))]}{number}" if number else value
            elif isinstance(value, dict) and number:
                key = next((k for k, v in value.items() if isinstance(v, (str, int))), "")
                yield {
                    **value,
                    key: next(islice(self._different(value.get(key, 0), {}, 21), number, None)),
                }
            else:
                yield value

    def _text(self, schema: dict[str, Any]) -> str:
        form, pattern = schema.get("format"), schema.get("pattern")
        text = FORMATS.get(form, TEXT) if isinstance(form, str) else TEXT
        least, most = schema.get("minLength"), schema.get("maxLength")
        lowest = least if isinstance(least, int) else 0
        highest = most if isinstance(most, int) and most >= 0 else None
        if isinstance(pattern, str):
            made = text_of(pattern, lowest, highest)
            if made is not None:
                return made
            self._note(f"a text is to match {pattern[:60]}; correct the example")
        if len(text) < lowest:
            text = _repeat(text, min(lowest, TEXT_MAX))
        return text[:highest]

    def _note(self, text: str) -> None:
        self._noted.append(text)


@lru_cache
def _repeat(text: str, length: int) -> str:
    """The same object for the same text, which a document may have in each of many places."""
    return (text * (length // len(text) + 1))[:length]


_OF_PARTS = {"allOf", "anyOf", "oneOf", "properties", "required", "example", "default"}
"""Keys that are not joined."""
_BOUNDS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}


def _replace_any(value: Any, known: dict[int, Any]) -> Any:
    """With an empty object in place of :data:`ANY`; parts without it stay the same objects."""
    if value is ANY:
        return {}
    if not isinstance(value, (dict, list)):
        return value
    if id(value) not in known:
        pairs = list(value.items() if isinstance(value, dict) else enumerate(value))
        made = {key: _replace_any(one, known) for key, one in pairs}
        if all(made[key] is one for key, one in pairs):
            known[id(value)] = value
        else:
            known[id(value)] = made if isinstance(value, dict) else list(made.values())
    return known[id(value)]


def _list_required(schema: Any, at: References) -> list[str]:
    found = at.follow(schema).value
    names = lists(found.get("required")) if isinstance(found, dict) else []
    return [name for name in names if isinstance(name, str)]


def _list_given(schema: dict[str, Any]) -> Iterator[Any]:
    """What the document itself gives as examples."""
    if "const" in schema:
        yield schema["const"]
    if "example" in schema:
        yield schema["example"]
    for key in ("examples", "enum"):
        yield from lists(schema.get(key))[:GIVEN_MAX]
    if schema.get("default") is not None:
        yield schema["default"]


def _number(schema: dict[str, Any], *, whole: bool) -> int | float:
    """1, or what is nearest to it within the bounds."""

    def read_bound(key: str) -> float | None:
        value = schema.get(key)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return value if is_number else None

    low, high = read_bound("minimum"), read_bound("maximum")
    above, below = read_bound("exclusiveMinimum"), read_bound("exclusiveMaximum")
    # In OpenAPI 3.0 the exclusive bounds are true or false, in 3.1 numbers.
    above = low if schema.get("exclusiveMinimum") is True else above
    below = high if schema.get("exclusiveMaximum") is True else below
    least = max((one for one in (low, above) if one is not None), default=None)
    most = min((one for one in (high, below) if one is not None), default=None)
    step = read_bound("multipleOf") or (1 if whole else 0)
    gap = step or (most - least if least is not None and most is not None else 1) / 2
    if least is not None and least == above:
        least += gap
    if most is not None and most == below:
        most -= gap
    value: float = 1 if whole else 1.5
    value = max(value, least) if least is not None else value
    value = min(value, most) if most is not None else value
    try:
        if step:
            value = _multiple(value, step, most)
        return int(value) if whole or float(value).is_integer() else value
    except OverflowError:
        return 1  # bounds that no number can have


def _multiple(value: float, step: float, high: float | None) -> float:
    """The next one, which also validators find to be a multiple: they divide, too."""
    first = math.ceil(value / step)
    for number in range(first, first + MULTIPLES_MAX):
        found = number * step
        if is_multiple(found, step) and (high is None or found <= high):
            return found
    return math.floor(value / step) * step
