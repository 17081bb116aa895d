"""Sizes and times with units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirelab.errors import UnitError
from wirelab.format.console import Console
from wirelab.format.units import format_bytes, format_seconds, parse_bytes, parse_seconds
from wirelab.run.progress import OnConsole, RemainingWork, time_left


@pytest.mark.parametrize(
    ("text", "size"),
    [("14 B", 14), ("150 kB", 150_000), ("3 MB", 3_000_000), ("64 KiB", 65_536), ("1.5kB", 1500)],
)
def test_sizes_mean_what_their_prefix_says(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["14", 14, "", "14 kb", "1.5 B", "-1 B", "B", None, True, "1e3 B"])
def test_a_size_without_a_known_unit_is_refused(text: object) -> None:
    with pytest.raises(UnitError):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("200 µs", 2e-4),
        ("200 us", 2e-4),
        ("5µs", 5e-6),
        ("50 ms", 0.05),
        ("2 s", 2.0),
        ("1.5min", 90.0),
    ],
)
def test_times_mean_what_their_unit_says(text: str, seconds: float) -> None:
    assert parse_seconds(text) == pytest.approx(seconds)


@given(st.integers(0, 10**9))
def test_a_formatted_size_reads_back_as_itself(size: int) -> None:
    assert parse_bytes(format_bytes(size)) == size


def test_times_for_people() -> None:
    assert [format_seconds(s) for s in (0.00085, 0.0012, 2.5, 185)] == [
        "850 µs",
        "1.2 ms",
        "2.5 s",
        "3 min 5 s",
    ]


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.0, "0 s"), (0.0009996, "1 ms"), (0.9996, "1 s"), (0.9994, "999 ms"), (59.96, "1 min 0 s")],
)
def test_a_time_that_rounds_up_takes_the_next_unit(seconds: float, shown: str) -> None:
    assert format_seconds(seconds) == shown


def test_a_rest_below_a_second_is_shown_without_a_figure() -> None:
    assert [time_left(s) for s in (0.0, 0.4, 1.4, 59.7)] == [
        "under 1 s left",
        "under 1 s left",
        "1 s left",
        "1 min 0 s left",
    ]


@pytest.mark.parametrize(("at_most", "said"), [(False, "about 1 min 1 s"), (True, "at most about")])
def test_the_time_of_windows_by_calls_is_printed_as_a_bound(
    at_most: bool, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = OnConsole(Console())
    progress.begin(RemainingWork([60.0, 1.0], at_most=at_most))
    progress.end()
    shown = capsys.readouterr().out
    assert shown.startswith("2 trials, ")
    assert said in shown
    assert ("at most" in shown) == at_most
