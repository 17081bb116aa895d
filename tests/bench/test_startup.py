"""Whole commands are timed as a person waits for them, and published as they were timed."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from bench.pages import measurements, publish
from bench.process import BenchError
from bench.rows.startup import time_command

SPIN = "import time\nwhile time.process_time() < {seconds}: pass\n"


def test_cpu_of_children_is_not_the_commands_own() -> None:
    """Half a second of spinning in a child is time that passes, and no CPU of its parent."""
    child = [sys.executable, "-S", "-c", SPIN.format(seconds=0.5)]
    parent = (
        f"import subprocess\nprint('ready', flush=True)\nsubprocess.run({child!r})\nprint('end')"
    )
    found = time_command([sys.executable, "-S", "-c", parent])
    assert found.wall_s > 0.5
    assert found.own_cpu_s < 0.4
    assert found.first_line_s < found.wall_s - 0.4
    assert found.output == "ready\nend\n"


def test_own_cpu_is_counted() -> None:
    found = time_command([sys.executable, "-S", "-c", SPIN.format(seconds=0.3)])
    assert 0.25 < found.own_cpu_s < 0.6


def test_another_exit_code_has_no_figure() -> None:
    assert time_command(["sh", "-c", "exit 2"], exit_code=2).output == ""
    with pytest.raises(BenchError, match="ended with 2: no such thing"):
        time_command(["sh", "-c", "echo no such thing >&2; exit 2"])


def _document() -> dict[str, Any]:
    machine = {"processor": "a processor", "cores": [0, 1], "kernel": "6", "revision": "abc"}
    bounded = {"figure": "--version, s of CPU", "values": [0.05, 0.06, 0.07], "at_most": 0.15}
    free = {"figure": "wrk of 3 s, s", "values": [3.01] * 6, "at_most": None}
    ratios = [{**one, "peer": "", "at_least": None, "aim": False} for one in (bounded, free)]
    rows = {measurements.STARTUP_ROW: {"others_share": 0.01, "ratios": ratios}}
    return {"taken": "2026-01-02T03:04:05", "machine": machine, "rows": rows}


def test_every_figure_is_shown_with_its_promise_and_verdict() -> None:
    page = measurements.startup_parts(
        measurements.STARTUP_PAGE.read_text(encoding="utf-8"), _document()
    )
    assert "| --version, s of CPU | 0.060 [0.050 … 0.070] | at most 0.15 | holds |" in page
    assert "| wrk of 3 s, s | 3.010 [3.010 … 3.010] |  |  |" in page
    assert "Taken on 2026-01-02 at revision abc" in page
    assert measurements.startup_parts(page, _document()) == page


def test_the_row_alone_is_enough_to_publish() -> None:
    assert publish.reason_not_to_publish([measurements.STARTUP_ROW], quick=False) is None
