"""The kinds in which calls fail, in words that name what happened."""

from __future__ import annotations

import re

import pytest

from wirelab import checkout
from wirelab.format import counting


@pytest.mark.parametrize(
    ("kind", "timeout_s", "words"),
    [
        ("application", 10.0, "answered with an error"),
        ("closed", 10.0, "with the connection closed before the reply was complete"),
        ("timeout", 10.0, "timed out after 10 s"),
        ("timeout", None, "timed out"),
        ("status Unavailable", 10.0, "ended with status Unavailable"),
    ],
)
def test_a_kind_in_words(kind: str, timeout_s: float | None, words: str) -> None:
    assert counting.failure_text(kind, timeout_s) == words


def test_every_kind_of_the_engine_has_words() -> None:
    """Read from its source: a kind that is new there needs words here."""
    source = checkout.root() / "crates" / "load" / "src" / "call" / "error.rs"
    named = re.findall(r'ErrorKind::\w+ => "(\w+)"', source.read_text(encoding="utf-8"))
    assert len(named) == 8
    assert set(named) == set(counting.HOW)


def test_the_most_frequent_kind_is_named_first() -> None:
    counts = {"timeout": 3, "application": 1200, "reset": 0}
    assert counting.format_failures(counts) == "1,200 answered with an error, 3 timed out"
