"""Lines of a terminal keep a number with its unit."""

from __future__ import annotations

import pytest

from wirelab.format.console import fold
from wirelab.format.numbers import percent
from wirelab.format.wrapping import wrap


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("the reply took 12.5 ms", 20, ["the reply took", "12.5 ms"]),
        ("at most 3 % of calls", 10, ["at most", "3 % of", "calls"]),
        ("limit 1,200 calls/s here", 13, ["limit", "1,200 calls/s", "here"]),
        ("after 44 msg or so", 9, ["after 44", "msg or so"]),
        ("a no-break word", 9, ["a", "no-break", "word"]),
        ("", 9, []),
    ],
)
def test_a_line_ends_between_words_not_before_a_unit(
    text: str, width: int, lines: list[str]
) -> None:
    assert wrap(text, width) == lines


def test_folded_text_has_ordinary_spaces() -> None:
    text = fold("the longest wait of this connection is 12.5 ms and its share 3 %", 42)
    assert text.splitlines() == [
        "the longest wait of this connection is",
        "  12.5 ms and its share 3 %",
    ]


def test_a_share_is_written_with_a_space() -> None:
    assert (percent(0.75), percent(0.0125, 2)) == ("75 %", "1.25 %")
