"""Many runs of one experiment, some of them slower: what changed is found, and where."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml
from dataclasses import replace
from pathlib import Path

import pytest

from tests.python.synthetic_run import GRPC, REST, World, trials, write_run
from wirelab.cli import main

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
    assert "1 series without a change." in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_what_has_no_history_is_refused(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = sorted(runs.iterdir())[:5]
    assert main(["history", *map(str, some)]) == 2
    assert "5 runs: at least 6 runs are needed" in capsys.readouterr().err
    assert main(["history", str(tmp_path)]) == 2
    assert main(["history", str(runs), "--figure", "rat"]) == 2
    assert main(["history", str(runs), "--picture", "x.png"]) == 2
    assert main(["history", str(tmp_path / "nosuch")]) == 2
