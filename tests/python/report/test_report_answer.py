"""The first screen of a report, and values in the form in which people write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.python.synthetic_run import (
    GRPC,
    REST,
    World,
    client_bound,
    fail_some_calls,
    fail_trial,
    trials,
    users,
    with_result,
    write_run,
)
from wirelab.records.trial import Trial
from wirelab.report import answer
from wirelab.report.findings.sentences import sentences
from wirelab.report.section import Table
from wirelab.report.sections import machine, tables
from wirelab.report.sections.comparisons import comparisons
from wirelab.report.source import Source

SMALL = World((REST, GRPC), (14,), (users(32),), repeats=4)


def source(folder: Path, every: list[Trial]) -> Source:
    """A run of these trials."""
    return Source.read(write_run(folder / "run", every))


def badges(folder: Path, every: list[Trial]) -> dict[str, str]:
    """Words of the first screen, with their tones."""
    return {one.words: one.tone for one in answer.section(source(folder, every)).badges}


def test_the_first_finding_is_the_answer_and_is_not_repeated(tmp_path: Path) -> None:
    every = trials(SMALL)
    found = answer.section(source(tmp_path, every))
    first, *others = sentences(every, 0.05)
    assert found.lead == first
    assert list(found.points) == others
    assert len(found.figures) == 1


def test_a_clean_run_has_good_badges(tmp_path: Path) -> None:
    calls = sum(one.result.calls for one in trials(SMALL))
    assert badges(tmp_path, trials(SMALL)) == {
        "4 trials per setting": "good",
        "1 of 1 comparison decided (calls per second)": "good",
        "No trial failed (of 8)": "good",
        f"No call failed (of {calls:,})": "good",
        "The client was not the limit": "good",
        "No check marked a figure": "good",
    }


@pytest.mark.parametrize(
    ("change", "words", "tone"),
    [
        (lambda one: fail_trial(one, "it broke"), "1 of 8 trials failed", "bad"),
        (client_bound, "The client was the limit in 1 of 8 trials", "warn"),
        (fail_some_calls, "6 of 19 figures marked", "warn"),
    ],
)
def test_a_badge_names_what_went_wrong(
    tmp_path: Path, change: Callable[[Trial], Trial], words: str, tone: str
) -> None:
    every = trials(SMALL)
    every[0] = change(every[0])
    assert badges(tmp_path, every)[words] == tone


def test_one_trial_is_not_a_sure_answer(tmp_path: Path) -> None:
    found = badges(tmp_path, trials(replace(SMALL, repeats=1)))
    assert found["1 trial per setting: no intervals"] == "warn"
    assert found["0 of 1 comparison decided (calls per second)"] == "warn"


def test_a_run_without_a_figure_has_no_good_badge(tmp_path: Path) -> None:
    every = [fail_trial(one, "it broke") for one in trials(SMALL)]
    assert set(badges(tmp_path, every).values()) == {"bad"}


def test_comparisons_are_a_row_per_setting_with_the_common_pair_in_the_caption(
    tmp_path: Path,
) -> None:
    every = trials(replace(SMALL, loads=(users(1), users(32)), spread=0.3))
    ratios, reasons = comparisons(source(tmp_path, every)).tables
    assert ratios.columns[:3] == ["setting", "successful calls", "response p50"]
    assert ratios.caption.startswith("Ratio of ")
    assert [row[0] for row in ratios.rows] == ["Hello 14 B, 1 user", "Hello 14 B, 32 users"]
    assert all(len(value.split("\n")) == 3 for row in ratios.rows for value in row[1:])
    undecided = sum("undecided" in value for row in ratios.rows for value in row[1:])
    assert 0 < len(reasons.rows) <= undecided


def test_rows_of_several_messages_are_one_table(tmp_path: Path) -> None:
    every = trials(replace(SMALL, sizes=(14, 150_000)))
    (table,) = tables.cell_tables(source(tmp_path, every))
    assert table.columns[:3] == ["stack", "message", "load"]
    assert [row[1] for row in table.rows] == 2 * ["Hello 14 B"] + 2 * ["Hello 150 kB"]
    assert list(table.numeric) == list(range(3, 10))
    assert Table.of_groups(["a", "b"], {"one": [["x", "y"]]}, (1,)) == [
        Table(["a", "b"], [["x", "y"]], "one", (1,))
    ]
    assert Table.of_groups(["a", "b"], {"one": []}, (1,)) == []


def test_at_a_fixed_rate_every_cell_has_bytes_in_place_of_the_rate(tmp_path: Path) -> None:
    opened = replace(SMALL, loads=({"kind": "poisson", "rate": 900.0},))
    every = [with_result(one, bytes_sent=90_000, bytes_received=90_000) for one in trials(opened)]
    (table,) = tables.cell_tables(source(tmp_path, every))
    assert list(table.columns[2:7]) == ["p50", "p99", "client CPU", "service CPU", "bytes per call"]
    assert all(row[6].startswith("100 B") for row in table.rows), "180,000 B over 1,800 calls"
    (table,) = tables.cell_tables(source(tmp_path / "closed", trials(SMALL)))
    assert table.columns[2] == "calls/s"


@pytest.mark.parametrize(
    ("value", "name", "shown"),
    [
        (25276063744, "memory_bytes", "25.3 GB"),
        (150_000, "hello_bytes", "150 kB"),
        (20_000, "open_files_max", "20,000"),
        (None, "governor", "—"),
        (False, "nagle", "no"),
        (True, "quickack", "yes"),
        ((0, 1), "service", "0, 1"),
        (2023, "seed", "2023"),
        ("\x1b[31m", "cpu", "\ufffd[31m"),
    ],
)
def test_values_are_written_as_people_write_them(value: object, name: str, shown: str) -> None:
    assert machine.format_value(value, name) == shown


def test_services_that_differ_in_settings_alone_share_a_row(tmp_path: Path) -> None:
    every = trials(SMALL)
    for at, one in enumerate(every):
        settings = {"nagle": False, "size": at % 2, "level": None}
        every[at] = replace(one, service=replace(one.service, set=settings))
    found = {one.caption: one for one in machine.machine_section(source(tmp_path, every)).tables}
    services = found["Services"]
    assert len(services.rows) == 2
    assert {row[4] for row in services.rows} <= {"size: 0 or 1", "size: 1 or 0"}
    shared = found["Settings of every service"].rows
    assert [list(row) for row in shared] == [["level", "—"], ["nagle", "no"]]


def test_a_setting_that_some_services_lack_is_their_own(tmp_path: Path) -> None:
    every = trials(SMALL)
    first = every[0].point.stack
    for at, one in enumerate(every):
        settings = {"nagle": False} | ({} if one.point.stack == first else {"collectors": 2})
        every[at] = replace(one, service=replace(one.service, set=settings))
    found = {one.caption: one for one in machine.machine_section(source(tmp_path, every)).tables}
    assert [list(row) for row in found["Settings of every service"].rows] == [["nagle", "no"]]
    assert sorted(row[4] for row in found["Services"].rows) == ["collectors: 2", "—"]
