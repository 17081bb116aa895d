"""Loads on the wire: a server counts arrivals, and each stage and burst is compared with its
plan and with what the engine reports. Bounds are wide, for machines are shared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.python.counting_server import serve_counting
from wirelab.checks import periods
from wirelab.documents.plan import Plan, Window
from wirelab.experiment import loading as experiment_file
from wirelab.experiment.loads import Load
from wirelab.process.children import ProcessOptions
from wirelab.process.engine import Drive
from wirelab.process.interruption import Interruption
from wirelab.records.group import GroupResult
from wirelab.report import export
from wirelab.report.page import write_page
from wirelab.run import runner as running

Json = dict[str, Any]

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")


def _drive(load: Json, folder: Path, *, delay_s: float = 0.005) -> tuple[GroupResult, list[float]]:
    """The engine's result, and arrivals in seconds from the begin of the window."""
    process = Load.model_validate(load)
    with serve_counting(delay_s) as (address, arrivals), Interruption() as interruption:
        group = {
            "name": "main",
            "target": address,
            "stack": {"binding": "rest", "codec": "text", "transport": "http/1.1"},
            "workload": {"kind": "http", "method": "GET", "path": "/"},
            "load": process.point().plan(1),
            "window": process.own_window(20.0) or Window(duration_s=2.0),
            "warmup": {"min_s": 0.0, "max_s": 0.0},
        }
        drive = Drive(
            msgspec.convert({"threads": 1, "groups": [group]}, Plan),
            ProcessOptions(log=folder / "engine.log"),
            interruption=interruption,
        )
        result = GroupResult.of(drive.outcome().groups[0])
    start_ns = result.window_start_ns or 0
    return result, [(at - start_ns) / 1e9 for at in arrivals]


def _count_within(arrivals: list[float], start_s: float, end_s: float) -> int:
    return sum(start_s <= at < end_s for at in arrivals)


def test_a_rate_over_time_is_that_on_the_wire(tmp_path: Path) -> None:
    stages = [{"duration": "1 s", "target": 300}, {"duration": "1 s", "target": 300}]
    stages += [{"duration": "0 s", "target": 50}, {"duration": "1 s", "target": 50}]
    result, arrivals = _drive({"ramping": {"stages": stages, "in_flight_max": 32}}, tmp_path)
    assert [round(one.calls_planned or 0.0) for one in result.periods] == [150, 300, 50]
    for period, planned in zip(result.periods, (150, 300, 50), strict=True):
        seen = _count_within(arrivals, period.start_s, periods.end_s(period))
        assert period.calls == pytest.approx(planned, abs=2)
        assert period.sent == pytest.approx(planned, rel=0.2)
        assert seen == pytest.approx(period.sent, rel=0.1, abs=10)
        assert period.response is not None
        assert period.response.count == period.calls
    assert len(arrivals) == result.calls == pytest.approx(500, abs=3)


def test_users_come_and_go_on_the_wire_as_planned(tmp_path: Path) -> None:
    """With a delay of 20 ms a user makes somewhat less than 50 calls per second."""
    stages = [{"duration": "1 s", "target": 8}, {"duration": "1 s", "target": 8}]
    stages += [{"duration": "0 s", "target": 2}, {"duration": "1 s", "target": 2}]
    result, arrivals = _drive({"closed": {"stages": stages}}, tmp_path, delay_s=0.02)
    assert [one.users_planned for one in result.periods] == pytest.approx([4.5, 8.0, 2.0])
    users = [one.users or 0.0 for one in result.periods]
    assert users == pytest.approx([4.5, 8.0, 2.0], rel=0.15, abs=0.4)
    ramp, high, low = (
        _count_within(arrivals, one.start_s, periods.end_s(one)) for one in result.periods
    )
    assert low < ramp < high
    assert high == pytest.approx(4 * low, rel=0.4)
    assert high == pytest.approx(result.periods[1].sent, rel=0.1, abs=8)


def test_pauses_are_part_of_a_users_time(tmp_path: Path) -> None:
    think = {"mean": "30 ms", "distribution": "exponential"}
    closed = {"stages": [{"duration": "0 s", "target": 6}, {"duration": "2 s", "target": 6}]}
    result, arrivals = _drive({"closed": {**closed, "think": think}}, tmp_path)
    assert result.periods[0].users == pytest.approx(6.0, rel=0.1)
    # 6 users / (30 ms pause + 5 ms and more of a call).
    assert 6 * 2 / 0.06 < len(arrivals) < 6 * 2 / 0.03


def test_users_end_after_their_iterations(tmp_path: Path) -> None:
    result, arrivals = _drive({"closed": {"users": 5, "iterations": 12}}, tmp_path)
    assert len(arrivals) == result.calls == result.calls_planned == 60
    assert result.window_s < 5.0


def test_bursts_arrive_at_once_and_between_them_nothing_does(tmp_path: Path) -> None:
    bursts = {"calls": 30, "gap": "500 ms", "in_flight_max": 30}
    result, arrivals = _drive({"bursts": bursts}, tmp_path)
    assert len(result.periods) == 4
    for number, burst in enumerate(result.periods):
        assert burst.start_s == pytest.approx(0.5 * number, abs=1e-6)
        assert (burst.calls_planned, burst.calls, burst.sent) == (30.0, 30, 30)
        assert burst.sent_after_s is not None
        assert _count_within(arrivals, burst.start_s, burst.start_s + 0.45) == 30
    assert len(arrivals) == 120


EXPERIMENT = """\
name: probe
services: [rest@rust]
messages: [{operation: Hello, bytes: 14 B}]
loads:
  - constant: {rate: 100, in_flight_max: 16}
    background:
      - name: uploads
        message: {operation: Submit, bytes: 2 kB}
        load: {bursts: {calls: 10, rate: 200, gap: 300 ms, in_flight_max: 10}}
      - name: visitors
        message: {operation: Hello, bytes: 14 B}
        load: {closed: {users: 2, think: 20 ms}}
window: {duration: 2 s}
warmup: {min: 200 ms, max: 1 s}
repeats: 1
"""


def test_the_probes_figures_are_the_cells_and_groups_next_to_it_are_shown_apart(
    tmp_path: Path,
) -> None:
    out = tmp_path / "run"
    run = running.run(experiment_file.parse(EXPERIMENT), out, source=EXPERIMENT)
    (trial,) = run.trials
    assert trial.status == "measured", trial.reason
    uploads, visitors = trial.background
    assert (uploads.name, visitors.name) == ("uploads", "visitors")
    # The probe alone: 100 calls/s for 2 s.
    assert trial.result.calls == pytest.approx(200, abs=4)
    # A burst of 45 ms every 345 ms.
    assert uploads.calls == pytest.approx(10 * 2 / 0.345, abs=12)
    assert visitors.calls > 30
    judged = {check.name: check for check in trial.checks}
    assert judged["calls counted"].outcome == "ok", judged["calls counted"]
    assert judged["background"].outcome == "ok", judged["background"]
    assert "bursts sent" in judged["stages and bursts"].reason
    seen = trial.service.calls_seen
    assert seen == trial.total(lambda group: group.calls_whole_run)
    page = write_page(out).read_text(encoding="utf-8")
    for words in ("Operations, groups, stages and bursts", "uploads (Submit 2 kB, ", "visitors"):
        assert words in page
    (cell,) = json.loads(json.dumps(export.to_json(run.trials, 0.05)))["cells"]
    assert [group["name"] for group in cell["groups"]] == ["probe", "uploads", "visitors"]
    assert cell["groups"][1]["trials"][0]["periods"][1]["calls_planned"] == 10.0
