"""Many runs of one experiment, some of them slower: what changed is found, and where."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml
from dataclasses import replace
from pathlib import Path

import pytest

from tests.python.synthetic_run import GRPC, REST, World, point, trials, with_result, write_run
from wirelab.cli import main
from wirelab.cli.output.history import lines
from wirelab.comparisons.history import Series
from wirelab.statistics.figure import RATE

WORLD = World(sizes=(14,), loads=({"kind": "closed", "users": 8},), repeats=3)
SLOWER = {REST: 60.0, GRPC: 84.0 * 1.3}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve runs, gRPC slower from the eighth on."""
    folder = tmp_path_factory.mktemp("runs")
    for place in range(12):
        world = replace(WORLD, seed=place + 1)
        if place >= 7:
            world = replace(world, call_us=SLOWER)
        one = write_run(folder / f"run-{place:02}", trials(world))
        manifest = json.loads((one / "manifest.json").read_text())
        # Folders in another order than their times.
        started = f"2026-01-{place + 1:02}T10:00:00.000+00:00"
        manifest["sessions"][0]["started"] = started
        (one / "manifest.json").write_text(json.dumps(manifest))
        one.rename(folder / f"run-{(place * 5) % 12:02}-{place}")
    return folder


def test_the_change_is_found_in_the_runs_order(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "history.svg"
    command = ["history", str(runs), "--figure", "service_cpu", "--json"]
    assert main([*command, "--picture", str(picture)]) == 0
    series = json.loads(capsys.readouterr().out)
    by = {one["point"]["stack"]: one for one in series}
    assert by[REST]["changes"] == []
    (change,) = by[GRPC]["changes"]
    assert (change["at"], change["better"]) == (7, False)
    assert 1.1 < change["factor"] < 1.4
    assert change["name"].startswith("2026-01-08 0000000 run-")
    assert len(by[GRPC]["values"]) == 12
    assert xml.parse(picture).getroot().tag.endswith("svg")


def test_the_text_names_run_and_day(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["history", str(runs), "--figure", "service_cpu"]) == 0
    shown = capsys.readouterr().out
    assert "(worse) from run 8 on: 2026-01-08" in shown
    assert "1 series without a change that these runs show." in shown
    assert "equal runs vary by" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_too_few_runs_for_a_history_are_refused(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = sorted(runs.iterdir())[:3]
    assert main(["history", *map(str, some)]) == 2
    assert "3 runs: at least 4 runs are needed" in capsys.readouterr().err
    assert main(["history", str(tmp_path)]) == 2
    assert main(["history", str(runs), "--figure", "rat"]) == 2
    assert main(["history", str(runs), "--picture", "x.png"]) == 2
    assert main(["history", str(tmp_path / "nosuch")]) == 2


def test_too_few_runs_name_how_many_are_missing() -> None:
    at = point(REST)
    few = Series(at, RATE, ("a", "b"), (1.0, 1.0), (), run_to_run=0.1, runs_needed=7)
    many = replace(few, runs_needed=None)
    some = replace(few, runs_needed=0, visible_change=0.08)
    shown = [line.text for line in lines([few, few, many, some], 4)]
    assert "4 series without a change that these runs show." in shown
    assert "2 series need 7 more runs to see a change of 10 %." in shown
    assert "1 series needs more than 100 more runs to see a change of 10 %." in shown
    found = "in 1 series a change of 8.0 % would be found in 80 % of cases."
    assert f"successful calls: equal runs vary by 10.0 %; {found}" in shown


def test_runs_without_a_change_show_how_runs_vary(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four runs and two slower ones; what is known of the spread comes from three others."""
    by_place = sorted(runs.iterdir(), key=lambda folder: int(folder.name.rsplit("-", 1)[1]))
    command = ["history", *map(str, by_place[3:9]), "--figure", "service_cpu", "--json"]
    for equal in by_place[:3]:
        command += ["--calibrate", str(equal)]
    assert main(command) == 0
    by = {one["point"]["stack"]: one for one in json.loads(capsys.readouterr().out)}
    assert [change["at"] for change in by[GRPC]["changes"]] == [4]
    assert by[REST]["changes"] == []
    assert 0.0 < by[REST]["run_to_run"] < 0.05


def test_a_figure_that_no_trial_has_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = replace(WORLD, stacks=(REST,), repeats=1)
    for place in range(4):
        every = [with_result(one, times={}) for one in trials(replace(world, seed=place + 1))]
        write_run(tmp_path / f"run-{place}", every)
    assert main(["history", str(tmp_path), "--figure", "p99"]) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert "no trial of these runs has response_p99: a percentile needs 10 calls above it" in shown
