"""Counts and times as people read them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wirelab.format import counting
from wirelab.format.counting import format_count, of_all, plural
from wirelab.format.units import format_seconds


@pytest.mark.parametrize(
    ("count", "noun", "shown"),
    [
        (1, "call", "1 call"),
        (0, "call", "0 calls"),
        (2000, "exchange", "2,000 exchanges"),
        (2, "process", "2 processes"),
        (3, "reply", "3 replies"),
        (2, "gateway", "2 gateways"),
    ],
)
def test_nouns_agree_with_their_count(count: int, noun: str, shown: str) -> None:
    assert format_count(count, noun) == shown


def test_a_part_is_of_the_whole() -> None:
    assert of_all(0, 1, "trial") == "0 of 1 trial"
    assert of_all(1, 1200, "trial") == "1 of 1,200 trials"


def test_an_unknown_count_is_followed_by_a_plural() -> None:
    assert plural("?", "core") == "cores"
    assert plural("1", "core") == "core"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(2.051015, "2.05 s"), (0.051015, "51 ms"), (1.23e-4, "123 µs"), (-3.2e-5, "-32 µs")],
)
def test_times_have_three_figures_and_a_unit_that_reads(seconds: float, shown: str) -> None:
    assert format_seconds(seconds) == shown


COUNTED = re.compile(
    r"\{[^{}]*\} (trials|exchanges|connections|findings|packets|requests|threads)\b"
)
"""A count that is printed before a noun that stays in the plural."""
MANY = ("MIN", "MAX", "digits", ":.1f")
"""In the braces: a bound of the lab's own, which is more than one, or a mean."""


def test_reports_and_terminals_count_by_one_rule() -> None:
    """No plural follows the number 1."""
    source = Path(counting.__file__).parents[1]
    files = [*(source / "report").rglob("*.py"), *(source / "wrap").rglob("*.py")]
    files += [source / "checks" / "wire.py", source / "run" / "finished.py"]
    found = [
        f"{file.name}: {line.strip()}"
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
        for hit in COUNTED.finditer(line)
        if not any(word in hit[0] for word in MANY)
    ]
    assert not found
