"""What a terminal of 80 columns shows: whole, aligned, and unable to steer it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.python.synthetic_run import (
    GRPC,
    HOSTILE,
    REST,
    World,
    client_bound,
    failed,
    trials,
    users,
    write_run,
)
from wirelab.cli.output import run as results
from wirelab.records.trial import Trial
from wirelab.report.terminal import terminal_table
from wirelab.run import runner as running

SMALL = World(sizes=(14,), loads=(users(32),))


def printed(every: list[Trial]) -> str:
    """The table as a terminal of 80 columns shows it."""
    return "\n".join(line.text for line in terminal_table(every))


def test_terminal_fits_80_columns() -> None:
    """No line is longer and nothing is cut, however long a name or wide an interval."""
    stacks = (REST, "rest@go?codec=text&connection=close", GRPC)
    every = trials(replace(SMALL, stacks=stacks, spread=3.0))
    every[0] = failed(every[0], "refused")
    limited = next(i for i, one in enumerate(every) if i and one.point.stack == GRPC)
    every[limited] = client_bound(every[limited])
    shown = printed(every)
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown
    for words in (
        "Hello 14 B, 32 users",
        "calls/s",
        "p99",
        "3 1✗",
        "bound: successful calls 1",
        "≥",
        "✗: failed",
    ):
        assert words in shown
    assert "very wide" in shown


def test_a_long_name_breaks_before_a_value_and_not_in_it() -> None:
    multiplexed = "grpc@rust?in_flight=multiplex=8&server.h2_window=65536"
    stacks = (GRPC, multiplexed, "grpc@rust?connection=close")
    shown = printed(trials(replace(SMALL, stacks=stacks))).split()
    assert {"multiplex=8", "65536"} <= set(shown), shown


def test_columns_of_the_terminal_stand_below_each_other() -> None:
    """Over all settings, p50 ends where its head ends, and the interval is a column."""
    lines = printed(trials(World(spread=0.05))).splitlines()
    heads = re.search(r"calls/s +95 % +p50", lines[0])
    assert heads is not None
    rows = [line for line in lines if line.startswith(("rest@", "grpc@"))]
    assert len(rows) == 12
    for row in rows:
        assert re.match(r"\S+ json|\S+", row)
        found = re.search(r" [\d.]+[kM]? +[\d.]+-[\d.]+[kM]? +[\d.]+ [mµ]?s", row[: heads.end()])
        assert found is not None, row
        assert found.end() == heads.end()


def test_the_terminal_marks_figures_and_names_the_checks() -> None:
    """A mark is next to its figure; below, each check has a line with the figures."""
    every = [client_bound(one) for one in trials(SMALL)]
    lines = printed(every).splitlines()
    rows = [line for line in lines if line.startswith(("rest@", "grpc@"))]
    # Rate, p50 and p99, and no CPU time.
    assert [row.count("*") for row in rows] == [3] * 2
    text = " ".join(" ".join(lines).split())
    assert "* 6 figures may be off by more than half of the interval and 5 %" in text
    assert "bound: successful calls 2, response p50 2, response p99 2, by an unknown amount" in text
    assert "*" not in printed(trials(SMALL))


def test_failed_trials_cannot_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A few are named with their reason, the rest is counted; hostile text is harmless."""
    every = [failed(one, f"[bold]x[/bold] {HOSTILE}") for one in trials(SMALL)]
    folder = write_run(tmp_path / "run", every)
    results.show(running.read(folder), as_json=False)
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "[bold]x" in shown
    assert shown.count("failed: ") == 3
    assert "and 5 more" in shown
