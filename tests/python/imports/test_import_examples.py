"""``wirelab import openapi``: content that an independent validator finds valid."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from wirelab.imports.budget import Budget
from wirelab.imports.openapi.document import parse
from wirelab.imports.openapi.examples import MISSING, Examples, Memo
from wirelab.imports.openapi.references import References
from wirelab.imports.source import Text

Json = dict[str, Any]


def _example(schema: Any, definitions: Json | None = None) -> tuple[Any, list[str]]:
    """An example and its notes."""
    content = {"components": {"schemas": definitions or {}}, "schema": schema}
    text, budget = Text("a.json", "{}"), Budget("a.json")
    examples = Examples(Memo(budget))
    value = examples.of(schema, References.of(text, content, parse, budget))
    return value, examples.notes


def _assert_valid(schema: Any, definitions: Json | None = None) -> None:
    value, notes = _example(schema, definitions)
    assert value is not MISSING, schema
    document = {"allOf": [schema], "components": {"schemas": definitions or {}}}
    validator = jsonschema.Draft202012Validator(document)
    errors = [error.message for error in validator.iter_errors(value)]
    assert not errors, f"{schema}\n{value!r}\n{errors}"
    assert not notes, f"{schema}\n{value!r}\n{notes}"


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"type": "string"}, {"description": "a name"}]},
        {"allOf": [{"description": "a name"}, {"type": "string"}]},
        {"type": "string", "allOf": [{"minLength": 9}]},
        {"allOf": [{"type": "integer"}, {"minimum": 7}]},
        {"properties": {"a": {"type": "string"}}, "allOf": [{"properties": {"a": {}}}]},
        {"type": "object", "required": ["a"]},
        {"required": ["a"], "additionalProperties": {"type": "integer"}},
        {"type": "object", "minProperties": 3, "additionalProperties": {"type": "integer"}},
        {
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        {
            "oneOf": [
                {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"properties": {"b": {"type": "string"}}, "required": ["b"]},
            ]
        },
        {"oneOf": [{"type": "number"}, {"type": "integer"}]},
        {"oneOf": [{"type": "integer", "multipleOf": 3}, {"type": "integer", "minimum": 5}]},
        {"oneOf": [{"type": "object"}, {"type": "object", "properties": {"a": {}}}, {}]},
        {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "integer"}], "minLength": 1},
        {"enum": ["x", 1], "type": "integer"},
        {"type": "integer", "example": "7"},
        {"type": "string", "default": 5},
        {"const": None},
        {"type": ["null", "string"]},
        {"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": True},
        {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 2, "uniqueItems": True},
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2},
        {"type": "array", "minItems": 30, "items": {"type": "boolean"}},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 0.2},
        {"type": "number", "multipleOf": 0.1, "minimum": 0.25},
        {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5},
        {"minimum": 5},
    ],
)
def test_an_example_fits_its_schema(schema: Json) -> None:
    _assert_valid(schema)


def _schemas(numbers: random.Random, depth: int) -> Json:
    """A random schema that has values."""
    kinds = ["string", "integer", "number", "boolean", "enum", "any"]
    kind = numbers.choice(
        kinds + (["object", "object", "array", "allOf", "anyOf"] if depth else [])
    )
    if kind == "string":
        least = numbers.randrange(8)
        return {"type": "string", "minLength": least, "maxLength": least + numbers.randrange(8)}
    if kind in ("integer", "number"):
        low = numbers.randrange(-50, 50)
        step = numbers.choice([1, 2, 5, 0.5, 0.1] if kind == "number" else [1, 2, 5])
        return {"type": kind, "minimum": low, "maximum": low + 10, "multipleOf": step}
    if kind in ("boolean", "any"):
        return {"type": "boolean"} if kind == "boolean" else {"description": "anything"}
    if kind == "enum":
        return {"enum": numbers.sample(["a", "b", 3, 4.5, None, True], 3)}
    if kind == "array":
        least = numbers.randrange(4)
        return {"type": "array", "items": _schemas(numbers, depth - 1), "minItems": least}
    if kind in ("allOf", "anyOf"):
        return {kind: [_object(numbers, depth - 1, prefix) for prefix in "xy"]}
    return _object(numbers, depth - 1, "")


def _object(numbers: random.Random, depth: int, prefix: str) -> Json:
    names = [f"{prefix}{name}" for name in "abcd"[: numbers.randrange(5)]]
    required = [name for name in (*names, f"{prefix}e") if numbers.random() < 0.5]
    properties = {name: _schemas(numbers, max(depth, 0)) for name in names}
    return {"type": "object", "properties": properties, "required": required}


def _random_schemas() -> Iterator[Json]:
    numbers = random.Random(7)
    for _ in range(400):
        yield _schemas(numbers, 3)


def test_examples_of_random_schemas_are_valid() -> None:
    for schema in _random_schemas():
        _assert_valid(schema)


def test_an_example_of_referenced_schemas_is_valid() -> None:
    cat = {"type": "object", "required": ["meows"], "properties": {"meows": {"type": "boolean"}}}
    dog = {"type": "object", "required": ["barks"], "properties": {"barks": {"type": "boolean"}}}
    tree = {
        "type": "object",
        "required": ["pet"],
        "properties": {
            "pet": {"oneOf": [{"$ref": f"#/components/schemas/{one}"} for one in ("Cat", "Dog")]},
            "next": {"$ref": "#/components/schemas/Tree"},
        },
    }
    _assert_valid({"$ref": "#/components/schemas/Tree"}, {"Cat": cat, "Dog": dog, "Tree": tree})


@pytest.mark.parametrize(
    ("pattern", "more"),
    [
        ("^[a-z]{3}-[0-9]{4}$", {}),
        (r"^\d{2}:\d{2}(:\d{2})?$", {}),
        ("^[A-Z]+$", {"minLength": 5, "maxLength": 5}),
        ("^(a|b)*$", {"minLength": 3}),
        ("^[^/]+$", {}),
        ("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", {}),
        (r"^\S+@\S+\.\S+$", {}),
        ("x", {}),
    ],
)
def test_text_with_a_pattern_matches_it(pattern: str, more: Json) -> None:
    schema = {"type": "string", "pattern": pattern, **more}
    _assert_valid(schema)
    assert _example(schema) == _example(schema)
    assert re.search(pattern, _example(schema)[0])


@pytest.mark.parametrize(
    "pattern",
    [
        "(?<!a",
        r"^\p{L}+$",
        "((((a{99}){99}){99}){99}){99}",
        "(" * 400 + "a*" + ")*" * 400,
        "a{501}",
    ],
)
def test_a_pattern_that_gives_no_text_is_noted(pattern: str) -> None:
    value, notes = _example({"type": "string", "pattern": pattern, "maxLength": 500})
    assert value == "text"
    assert notes == [f"a text is to match {pattern[:60]}; correct the example"]


def test_an_example_that_fits_nothing_is_noted() -> None:
    schemas: list[Json] = [{"allOf": [{"type": "string"}, {"type": "integer"}]}, {"not": {}}]
    for schema in schemas:
        _, notes = _example(schema)
        assert notes == ["the example does not fit the schema in all parts; correct it"]
