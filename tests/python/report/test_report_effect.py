"""Sizes of differences in words, and intervals that are shown only where they carry information."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirelab.explain.effect import (
    AMOUNT,
    COST,
    DURATION,
    Wording,
    choose_conjunction,
    choose_wording,
    effect,
)
from wirelab.format.numbers import digits, format_range, limits, span, stack_limits
from wirelab.statistics.figure import CLIENT_CPU, RATE, RESPONSE_P50
from wirelab.statistics.interval import Interval


def interval(estimate: float, low: float | None = None, high: float | None = None) -> Interval:
    """Of eight trials."""
    return Interval(estimate, low, high, 8, "t")


@pytest.mark.parametrize(
    ("ratio", "words", "expected"),
    [
        (interval(0.641, 0.56, 0.73), DURATION, "36 % shorter (27 % to 44 %)"),
        (interval(1.93, 1.81, 2.06), AMOUNT, "93 % more (81 % to 106 %)"),
        (interval(3.4, 3.1, 3.8), AMOUNT, "3.4 times as many (3.1 to 3.8)"),
        (interval(3.4, 3.1, 3.8), DURATION, "3.4 times as long (3.1 to 3.8)"),
        (interval(0.29, 0.26, 0.32), DURATION, "shorter by a factor of 3.4 (3.1 to 3.8)"),
        (interval(0.29, 0.26, 0.32), AMOUNT, "fewer by a factor of 3.4 (3.1 to 3.8)"),
        (interval(1.053, 1.031, 1.075), COST, "5.3 % more (3.1 % to 7.5 %)"),
        (interval(0.95, 0.486, 1.79), AMOUNT, "5.0 % fewer (51 % fewer to 79 % more)"),
        (interval(1.004, 0.996, 1.012), AMOUNT, "0.40 % more (0.40 % fewer to 1.2 % more)"),
        (interval(3.4, 0.7, 38.0), AMOUNT, "3.4 times as many (30 % fewer to 38 times as many)"),
        (
            interval(0.2, 0.1, 1.2),
            DURATION,
            "shorter by a factor of 5.0 (shorter by a factor of 10 to 20 % longer)",
        ),
        # No share below 1 is called 100 %.
        (
            interval(0.3125, 0.0026, 38.0),
            DURATION,
            "shorter by a factor of 3.2 (shorter by a factor of 380 to 38 times as long)",
        ),
        (
            interval(0.9, 0.001, 38.0),
            DURATION,
            "10 % shorter (shorter by a factor of 1,000 to 38 times as long)",
        ),
        (interval(0.8, 0.0, 1.2), COST, "20 % less (less by any factor to 20 % more)"),
        # Limits that round to the estimate get digits until they differ from it, or are left out.
        (interval(1.362, 1.361, 1.364), AMOUNT, "36.2 % more (36.1 % to 36.4 %)"),
        (interval(29.0, 28.99, 29.01), AMOUNT, "29 times as many (28.99 to 29.01)"),
        (interval(1.5, 1.5, 1.5), AMOUNT, "50 % more"),
        (interval(29.0, 29.0, 29.0), AMOUNT, "29 times as many"),
        (interval(1.0, 1.0, 1.0), COST, "equally much"),
        (interval(1.0, 0.95, 1.05), AMOUNT, "equally many (5.0 % fewer to 5.0 % more)"),
        (interval(1.5), AMOUNT, "50 % more"),
        (interval(0.25), DURATION, "shorter by a factor of 4.0"),
        (interval(1.2, 1.1, inf), AMOUNT, "20 % more (10 % to ∞)"),
        # The border between shares and factors.
        (interval(1.9996, 1.9, 2.1), AMOUNT, "100 % more (90 % to 110 %)"),
        (interval(2.0, 1.9, 2.1), AMOUNT, "2.0 times as many (1.9 to 2.1)"),
        (interval(0.5, 0.4, 0.6), DURATION, "shorter by a factor of 2.0 (1.7 to 2.5)"),
        (interval(0.51, 0.4, 0.6), DURATION, "49 % shorter (40 % to 60 %)"),
    ],
)
def test_a_ratio_in_words(ratio: Interval, words: Wording, expected: str) -> None:
    assert effect(ratio, words) == expected


def test_the_noun_is_placed_where_the_sentence_needs_it() -> None:
    more, many = interval(1.93, 1.81, 2.06), interval(3.4, 3.1, 3.8)
    calls, time = "calls per second", "median response time"
    assert effect(more, AMOUNT, calls) == "93 % more calls per second (81 % to 106 %)"
    assert effect(many, AMOUNT, calls) == "3.4 times as many calls per second (3.1 to 3.8)"
    shorter, factor = interval(0.641, 0.56, 0.73), interval(0.29, 0.26, 0.32)
    assert effect(shorter, DURATION, time) == "36 % shorter median response time (27 % to 44 %)"
    assert effect(factor, DURATION, time) == (
        "median response time shorter by a factor of 3.4 (3.1 to 3.8)"
    )
    assert (choose_conjunction(more), choose_conjunction(many), choose_conjunction(factor)) == (
        "than",
        "as",
        "than",
    )


def test_each_kind_of_figure_has_its_words() -> None:
    assert choose_wording(RATE) is AMOUNT
    assert choose_wording(RESPONSE_P50) is DURATION
    assert choose_wording(CLIENT_CPU) is COST


@given(st.floats(0.01, 100.0), st.floats(0.0, 0.5), st.floats(0.0, 0.5))
def test_words_never_claim_the_opposite(estimate: float, below: float, above: float) -> None:
    """More is more, and a size of a difference is never negative."""
    ratio = interval(estimate, estimate * (1.0 - below), estimate * (1.0 + above))
    words = effect(ratio, AMOUNT)
    assert "-" not in words
    if estimate >= 1.001:
        assert words.split(" (")[0].endswith(("more", "times as many"))
    if estimate <= 0.999:
        assert "fewer" in words.split(" (")[0]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (interval(1234.0, 1200.0, 1300.0), "1.20–1.30"),
        # All three are 29.0 to three digits.
        (interval(29.0, 28.98, 29.02), "28.98–29.02"),
        (interval(29.0, 28.9999, 29.0001), ""),
        (interval(29.0, 29.0, 29.0), ""),
        (interval(29.0, 28.99999999, 29.00000001), ""),
        (interval(29.0, 29.0, 30.0), "29.0–30.0"),
        (interval(29.0), "—"),
    ],
)
def test_limits_are_shown_in_the_digits_that_tell_them_from_the_estimate(
    given: Interval, shown: str
) -> None:
    assert limits(given, "B") == shown


def test_an_interval_without_information_leaves_the_estimate_alone() -> None:
    same, wide = interval(29.0, 29.0, 29.0), interval(29.0, 28.0, 30.0)
    assert (stack_limits(same, "B"), stack_limits(wide, "B")) == ("29.0 B", "29.0 B\n28.0–30.0")
    assert (format_range(same), format_range(wide)) == ("29.0", "29.0 (28.0 to 30.0)")
    assert (span(same), span(wide), span(interval(29.0))) == ("", "28.0 to 30.0", "no interval")
    assert format_range(interval(1.5, 1.2, inf)) == "1.50 (1.20 to any)"
    assert stack_limits(None, "B") == "—"


def test_digits_may_be_more_than_three() -> None:
    assert [digits(29.0123456, n) for n in (2, 3, 4, 6)] == ["29", "29.0", "29.01", "29.0123"]
