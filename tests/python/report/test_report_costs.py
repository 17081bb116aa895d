"""What a report says of the cost of a million calls, and of what disturbed the trials."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.python.synthetic_run import (
    REST,
    World,
    fail_trial,
    trials,
    users,
    with_result,
    write_run,
)
from wirelab.records.caller import CallerRecord
from wirelab.records.conversion import convert
from wirelab.records.service import StoreRecord
from wirelab.records.trial import Check, Json, Trial
from wirelab.report.page import write_page
from wirelab.report.sections import costs, machine, tables
from wirelab.report.source import Source

ONE = World(stacks=(REST,), sizes=(14,), loads=(users(32),))
SPENT: Json = {
    "calls": 500_000,
    "calls_whole_run": 1_000_000,
    "bytes_sent": 10**9,
    "bytes_received": 3 * 10**9,
    "connections_opened": 32,
}


def read(folder: Path, every: Iterable[Trial]) -> Source:
    """The run of these trials as a report reads it."""
    return Source.read(write_run(folder / "run", list(every)))


def set_costs(given: Trial, **values: object) -> Trial:
    """The trial with known costs: 60 s of CPU for the caller's half a million calls, and 40 s
    for the service's."""
    return replace(
        with_result(given, **{**SPENT, **values}),
        engine=replace(given.engine, cpu_user_s=20.0, cpu_system_s=40.0),
        service=replace(given.service, cpu_window_s=40.0),
    )


def test_costs_are_those_of_a_million_calls(tmp_path: Path) -> None:
    """CPU and bytes over the calls of the window, connections over those of the whole run."""
    source = read(tmp_path, map(set_costs, trials(replace(ONE, repeats=1))))
    (table,) = costs.costs_section(source).tables
    (row,) = table.rows
    assert row[1:] == ["32 users", "120", "80.0", "2.00", "6.00", "0.0320"]


def test_costs_that_differ_have_their_intervals_below_them(tmp_path: Path) -> None:
    """Bytes that differ by 5 % have one; CPU that is the same in all trials has none."""
    every = trials(replace(ONE, repeats=3))
    every = [set_costs(one, bytes_sent=10**9 + 25 * 10**6 * one.order) for one in every]
    (table,) = costs.costs_section(read(tmp_path, every)).tables
    assert table.rows[0][2] == "120"
    assert table.rows[0][4].startswith("2.05\n1.9")


def test_figures_that_a_tool_does_not_count_are_dashes(tmp_path: Path) -> None:
    """A dash for each figure; nothing at all where no figure is there."""
    (one,) = trials(replace(ONE, repeats=1))
    silent = set_costs(one, bytes_sent=None, bytes_received=None)
    (table,) = costs.costs_section(read(tmp_path / "a", [silent])).tables
    assert table.rows[0][4:6] == ["—", "—"]
    assert not costs.costs_section(read(tmp_path / "b", [fail_trial(one, "it broke")])).paragraphs


def test_a_database_is_charged_apart_from_the_service(tmp_path: Path) -> None:
    """Over the calls of the whole run; what the lab did not start has a dash."""
    (one,) = trials(replace(ONE, repeats=1))
    used = {"cpu_user_s": 20.0, "cpu_system_s": 5.0, "memory_bytes": 90_000_000, "connections": 8}
    kind: Json = {"kind": "postgres", "pool": 8, "version": "15.18"}
    source = read(
        tmp_path / "a", [replace(set_costs(one), store=convert({**kind, **used}, StoreRecord))]
    )
    (table,) = costs.costs_section(source).tables
    assert table.columns[3:5] == ["service, core-s", "database, core-s"]
    assert table.rows[0][3:5] == ["80.0", "25.0"]
    assert ["postgres", "15.18", "8", "25.0", "90.0", "8.00"] in _databases(source)
    external = replace(set_costs(one), store=StoreRecord("postgres"))
    source = read(tmp_path / "b", [external])
    assert "database, core-s" not in costs.costs_section(source).tables[0].columns
    assert ["postgres", "—", "driver's default", "—", "—", "—"] in _databases(source)


def _databases(source: Source) -> list[list[str]]:
    """The rows of the table of databases, without their stacks."""
    tables = machine.machine_section(source).tables
    (table,) = (one for one in tables if one.caption.startswith("Databases"))
    return [list(row[1:]) for row in table.rows]


def test_the_page_states_once_who_is_charged(tmp_path: Path) -> None:
    """On loopback the two sides cannot be separated as well."""
    text = write_page(write_run(tmp_path / "run", trials(ONE))).read_text(encoding="utf-8")
    assert "Cost per million calls" in text
    assert text.count("may be charged to the sender") == 1


def disturb(given: Trial, caller: int | None, service: float | None, steal: float) -> Trial:
    """The trial, of 2 s, with what the machine did to it."""
    engine = replace(given.engine, switches_involuntary=caller, steal_s=steal)
    observed = replace(given.service, switches_involuntary_per_s=service)
    return replace(given, engine=engine, service=observed)


@pytest.mark.parametrize(
    ("service", "heads", "figures"),
    [
        (None, ["caller's switches, /s", "stolen, %"], ["5.00–20.0", "0–1.00"]),
        (
            4.0,
            ["caller's switches, /s", "service's switches, /s", "stolen, %"],
            ["5.00–20.0", "4.00", "0–1.00"],
        ),
    ],
)
def test_system_noise_is_that_of_the_records(
    tmp_path: Path, service: float | None, heads: list[str], figures: list[str]
) -> None:
    """The least and the most over the trials; of a service whose record has none no column."""
    first, second = trials(replace(ONE, repeats=2))
    every = [disturb(first, 10, service, 0.0), disturb(second, 40, service, 0.02)]
    (table,) = machine.noise_section(read(tmp_path, every)).tables
    assert list(table.columns[2:]) == heads
    assert table.rows[0][2:] == figures


def test_records_without_system_noise_have_no_table(tmp_path: Path) -> None:
    (one,) = trials(replace(ONE, repeats=1))
    assert not machine.noise_section(read(tmp_path, [replace(one, engine=CallerRecord())])).tables


def test_equal_checks_share_a_row(tmp_path: Path) -> None:
    """Over trials, settings and checks; another reason has a row of its own."""
    same = [Check.unmeasurable(name, "it is hidden") for name in ("a", "b")]
    world = replace(ONE, repeats=2, loads=(users(1), users(32)))
    every = [replace(one, checks=(*same, Check.judge("c", True, ""))) for one in trials(world)]
    every[0] = replace(every[0], checks=(*same, Check.judge("c", False, "it is wrong")))
    hidden, wrong = sorted(tables.check_details(read(tmp_path, every)).rows, key=lambda r: r[4])
    assert hidden[0].endswith(" and 3 more")
    assert hidden[2] in (f"Hello 14 B with {both} users" for both in ("1 and 32", "32 and 1"))
    assert sorted(hidden[3].split(", ")) == ["0", "1"]
    assert hidden[4] == "a, b"
    assert wrong[0] == every[0].id
    assert wrong[4] == "c"
