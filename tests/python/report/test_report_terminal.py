"""What a terminal of 80 columns shows: whole, aligned, and unable to steer it."""

from __future__ import annotations

import re
from dataclasses import replace
from math import exp, log
from pathlib import Path
from typing import Any

import pytest

from tests.python.synthetic_run import (
    GRPC,
    HOSTILE,
    REST,
    World,
    client_bound,
    fail_trial,
    point,
    trial,
    trials,
    users,
    with_result,
    write_run,
)
from wirelab.cli.output import explain
from wirelab.cli.output import run as results
from wirelab.format import wrapping
from wirelab.records.caller import CallerRecord
from wirelab.records.service import ServiceRecord
from wirelab.records.trial import Trial
from wirelab.report.terminal import terminal_table
from wirelab.run import runner as running

SMALL = World(sizes=(14,), loads=(users(32),))


def print_table(every: list[Trial]) -> str:
    """The table as a terminal of 80 columns shows it."""
    return "\n".join(line.text for line in terminal_table(every))


def test_terminal_fits_80_columns() -> None:
    """No line is longer and nothing is cut, however long a name or wide an interval."""
    stacks = (REST, "rest@go?codec=text&connection=close", GRPC)
    every = trials(replace(SMALL, stacks=stacks, spread=3.0))
    every[0] = fail_trial(every[0], "refused")
    limited = next(i for i, one in enumerate(every) if i and one.point.stack == GRPC)
    every[limited] = client_bound(every[limited])
    shown = print_table(every)
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
    assert "very wide" not in shown


def test_a_long_name_breaks_before_a_value_and_not_in_it() -> None:
    multiplexed = "grpc@rust?in_flight=multiplex=8&server.h2_window=65536"
    stacks = (GRPC, multiplexed, "grpc@rust?connection=close")
    shown = print_table(trials(replace(SMALL, stacks=stacks))).split()
    assert {"multiplex=8", "65536"} <= set(shown), shown


def test_columns_of_the_terminal_are_aligned() -> None:
    """Over all settings, p50 ends where its head ends, and the interval is a column."""
    lines = print_table(trials(World(spread=0.05))).splitlines()
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
    lines = print_table(every).splitlines()
    rows = [line for line in lines if line.startswith(("rest@", "grpc@"))]
    # Rate, p50 and p99, and no CPU time.
    assert [row.count("*") for row in rows] == [3] * 2
    text = " ".join(" ".join(lines).split())
    assert "* 6 figures may be off by more than half of the interval and 5 %" in text
    assert "bound: successful calls 2, response p50 2, response p99 2, by an unknown amount" in text
    assert "*" not in print_table(trials(SMALL))


def test_failed_trials_cannot_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A few are named with their reason, the rest is counted; hostile text is harmless."""
    every = [fail_trial(one, f"[bold]x[/bold] {HOSTILE}") for one in trials(SMALL)]
    folder = write_run(tmp_path / "run", every)
    results.show(running.read(folder), as_json=False)
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "[bold]x" in shown
    assert shown.count("failed: ") == 3
    assert "and 5 more" in shown


def test_a_very_wide_interval_is_printed_in_numbers() -> None:
    """Two trials whose rates differ by 400: Student's t on logarithms reaches over decades."""
    one, other = (trial(point(REST), repeat, repeat, World()) for repeat in (0, 1))
    rates = (with_result(one, rate_per_s=100.0), with_result(other, rate_per_s=40_000.0))
    row = next(line for line in print_table(list(rates)).splitlines() if line.startswith("rest"))
    low, high = row.split()[2].split("-")
    logs = [log(100.0), log(40_000.0)]
    reach = 12.706 * (logs[1] - logs[0]) / 2.0  # t for one degree of freedom; s / sqrt(2)
    middle = sum(logs) / 2.0
    for shown, truth in ((low, exp(middle - reach)), (high, exp(middle + reach))):
        factor = {"k": 1e3, "M": 1e6, "G": 1e9}.get(shown[-1], 1.0)
        assert float(shown.rstrip("kMG").replace(",", "")) * factor == pytest.approx(truth, rel=0.5)


def test_a_missing_median_has_its_reason() -> None:
    few = trial(point(REST), 0, 0, World())
    response = replace(few.result.times["response"], count=12, percentiles_ns={})
    few = with_result(few, times={**few.result.times, "response": response})
    assert "p50 —: no trial had 20 calls" in print_table([few])
    assert "p50 —" not in print_table([trial(point(REST), 0, 0, World())])


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"service": ServiceRecord()}, "service —: no CPU time of the service was recorded"),
        ({"engine": CallerRecord()}, "client —: no CPU time of the client was recorded"),
        ({"bytes_sent": None}, "B/call —: the client counted no bytes"),
        ({"rate_per_s": 0.0, "ok": 0}, "calls/s —: no call succeeded"),
    ],
    ids=["service", "client", "bytes", "rate"],
)
def test_a_missing_figure_names_the_fact_that_is_missing(
    changes: dict[str, Any], line: str
) -> None:
    counted = {"bytes_sent": 1_000, "bytes_received": 2_000}
    whole = with_result(trial(point(REST), 0, 0, World()), **counted)
    parts = {name: value for name, value in changes.items() if name in ("service", "engine")}
    lacks = replace(whole, **parts) if parts else with_result(whole, **changes)
    assert f"{line}." in print_table([lacks])
    assert line not in print_table([whole])
    other = with_result(trial(point(GRPC), 0, 1, World()), **counted)
    assert f"{line}, with rest" in " ".join(print_table([lacks, other]).split())


def test_names_of_stacks_have_the_same_lines_in_every_table() -> None:
    """The table of a run, the waterfall of explain and the means of compare."""
    name = "grpc in_flight=multiplex=8 server.h2_window=65536 connection=close"
    assert wrapping.fold_name(name, 18) == [
        *("grpc in_flight=", "multiplex=8", "server.h2_window=", "65536", "connection=close"),
    ]
    rows = explain._row(name, 1.0, 4.0, 8.0, "3.00 ms")
    assert rows[0].startswith("grpc in_flight=multiplex=8")
    assert rows[0].endswith("3.00 ms")
    assert max(map(len, rows)) <= 80
    assert " ".join(row[:32].split("█")[0].strip() for row in rows) == name
    assert wrapping.fold_row("grpc", 10, " 1") == ["grpc       1"]


def test_at_a_fixed_rate_the_columns_are_latency_cpu_and_bytes() -> None:
    """A rate that is ordered is not a result: the median has the interval instead."""
    world = replace(SMALL, loads=({"kind": "poisson", "rate": 900.0},))
    every = [with_result(one, bytes_sent=90_000, bytes_received=261_000) for one in trials(world)]
    lines = print_table(every).splitlines()
    assert lines[0].split() == [
        *("stack", "p50", "95", "%", "p99", "client", "service", "B/call", "err", "trials"),
    ]
    calls = every[0].result.calls
    per_call = 351_000 / calls
    row = next(line for line in lines if line.startswith("grpc@rust"))
    assert f" {per_call:,.0f} " in row
    low, high = (float(end) for end in re.search(r" [mµ]s +([\d.]+)-([\d.]+) ", row).groups())  # type: ignore[union-attr]
    assert 0 < low < high
    assert "p50 with its 95 % interval; p50, p99: response time;" in print_table(every)
    assert "calls/s" not in lines[0]
    closed = print_table(trials(SMALL)).splitlines()[0]
    assert closed.split()[1:4] == ["calls/s", "95", "%"]
    assert "B/call" in closed


def test_a_p99_of_too_few_calls_keeps_its_line_and_names_the_window() -> None:
    every = [
        replace(
            one,
            result=replace(
                with_result(one, calls=958, ok=958).result,
                times={
                    name: replace(times, percentiles_ns={"p50": times.percentiles_ns["p50"]})
                    for name, times in one.result.times.items()
                },
            ),
        )
        for one in trials(SMALL)
    ]
    shown = print_table(every)
    assert "p99 — or ?: 958 of 1,000 calls in a trial; a window of 3 s has them." in shown
    assert "a window of" not in print_table(trials(SMALL))


def test_sizes_in_another_codec_are_explained() -> None:
    """`Submit 2 kB` is its size in Protobuf; JSON needs more."""
    every = trials(SMALL)
    told = "Sizes of messages are those in Protobuf"
    assert told not in print_table(every), "Hello has its own text"
    submitted = [replace(one, point=replace(one.point, operation="Submit")) for one in every]
    assert told in print_table(submitted)
    same = [one for one in submitted if one.point.stack == GRPC]
    assert told not in print_table(same)
