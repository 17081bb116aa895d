"""JSON into dataclasses: what fits is of its type, and what does not is refused with its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from wirelab import typed_json
from wirelab.typed_json import ShapeError


@dataclass(frozen=True)
class Part:
    name: str
    share: float = 1.0


@dataclass(frozen=True)
class Whole:
    count: int
    parts: tuple[Part, ...]
    words: tuple[str, ...] = ()
    note: str | None = None
    ready: bool = False
    more: dict[str, Any] = field(default_factory=dict)


def test_a_document_becomes_values_of_their_types() -> None:
    given = {"count": 2, "parts": [{"name": "a"}, {"name": "b", "share": 2}], "note": None}
    found = typed_json.read(Whole, {**given, "words": ["x"], "more": {"k": [1]}})
    parts = (Part("a"), Part("b", 2.0))
    assert found == Whole(2, parts, ("x",), None, more={"k": [1]})
    assert isinstance(found.parts[1].share, float)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"count": "2"}, "count: a whole number is expected, given is '2'"),
        ({"count": True}, "count: a whole number is expected"),
        ({"count": None}, "count: a whole number is expected"),
        ({"ready": 1}, "ready: true or false is expected"),
        ({"parts": {}}, "parts: a list is expected"),
        ({"parts": [{"name": "a", "share": "1"}]}, "parts[0].share: a number is expected"),
        ({"parts": [{}]}, "parts[0].name: this key is missing"),
        ({"parts": [3]}, "parts[0]: an object is expected"),
        ({"words": ["x", 2]}, "words[1]: a text is expected"),
        ({"more": []}, "more: an object is expected"),
        ({"strange": 1}, "strange: unknown key; known are count, parts"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(ShapeError) as refused:
        typed_json.read(Whole, {"count": 1, "parts": [], **changed})
    assert said in str(refused.value)


def test_other_keys_are_passed_over_where_that_is_asked_for() -> None:
    given = {"count": 1, "parts": [{"name": "a", "colour": "red"}], "strange": 1}
    assert typed_json.read(Whole, given, extra=True) == Whole(1, (Part("a"),))


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(ShapeError, match="an object is expected"):
        typed_json.read(Whole, [])
