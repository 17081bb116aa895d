"""The judgement of `make chaos`: it reports figures that cannot be, and only these."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.python.synthetic_run import REST, World, point, trial, with_result, write_run
from tools.chaos import page, truth
from tools.chaos.server import DELAY_S
from wirelab.records.load import LoadRecord
from wirelab.records.trial import Check, Trial

USERS = 4


def _trial(**values: float) -> Trial:
    """A closed load on a server that takes 5.5 ms per call, as arithmetic has it."""
    measured = trial(point(REST, load=LoadRecord(kind="closed", users=USERS)), 0, 0, World())
    response = replace(
        measured.result.times["response"],
        mean_ns=values.get("mean_ns", 5.5e6),
        percentiles_ns={"p50": round(values.get("p50_ns", 5.4e6))},
    )
    rate = values.get("rate_per_s", USERS / 5.5e-3)
    times = {**measured.result.times, "response": response}
    return replace(with_result(measured, ok=700, rate_per_s=rate, times=times), checks=())


def test_a_right_trial_is_not_a_finding() -> None:
    assert not list(truth.wrong_figures(_trial(), served=700))
    assert not list(truth.wrong_figures(_trial(), served=None))


@pytest.mark.parametrize(
    ("values", "served", "problem"),
    [
        ({}, 699, "700 good calls, but the server made 699 replies"),
        ({"rate_per_s": USERS / DELAY_S + 1.0}, 700, "more than 4 users can make"),
        ({"p50_ns": 4_900_000}, 700, "p50 of 4.90 ms, less than the server waits"),
        ({"mean_ns": 6.0e6}, 700, "4.36 calls at once, planned 4"),
    ],
)
def test_a_figure_that_cannot_be_is_found(
    values: dict[str, float], served: int, problem: str
) -> None:
    found = list(truth.wrong_figures(_trial(**values), served))
    assert any(problem in one for one in found), found


def test_a_mark_excuses_times_but_no_invented_call() -> None:
    marked = replace(_trial(mean_ns=9e6), checks=(Check("engine pauses", "marked", "stopped"),))
    assert not list(truth.wrong_figures(marked, served=700))
    assert list(truth.wrong_figures(marked, served=10))


def test_a_run_without_all_its_trials_is_found(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [_trial()])
    assert truth.wrong_run(folder, tmp_path, planned=1) == []
    assert truth.wrong_run(folder, tmp_path, planned=None) == []
    assert truth.wrong_run(folder, tmp_path, planned=2) == [
        "1 of 2 trials after the run was continued"
    ]


def test_a_process_that_is_left_is_found() -> None:
    environment = {**os.environ, truth.MARK: "test-chaos"}
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1, env=environment) as child:
        deadline = time.monotonic() + 20.0
        while not (found := truth.find_left_behind("test-chaos")) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert [one.split()[0] for one in found] == [str(child.pid)]
        assert not truth.find_left_behind("another")
        child.kill()


def test_the_page_has_every_count_and_every_problem() -> None:
    result = page.Result("2026-01-02", 5.0, 7, {"a": 3, "b": 1}, {"a": 2}, ["c: no root"])
    text = "\n".join(page.lines(result, ["round 2, a: still running"]))
    assert "2026-01-02: 4 rounds in 5 minutes, 2 held; seed 7" in text
    assert "| a | 3 | 2 |\n| b | 1 | 0 |" in text
    assert "Not possible there: c: no root." in text
    assert text.endswith("- round 2, a: still running")
