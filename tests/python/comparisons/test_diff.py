"""Two finished runs side by side, of worlds whose truth is known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.python.synthetic_run import GRPC, REST, World, fail_trial, trials, write_run
from wirelab.cli import main

WORLD = World(sizes=(14,), repeats=8)
SLOWER = replace(WORLD, seed=2, call_us={REST: 60.0, GRPC: 84.0 * 1.2})
"""gRPC takes 20 % more CPU per call, before what its bytes cost."""


def runs(folder: Path, first: World, second: World) -> tuple[str, str]:
    return (
        str(write_run(folder / "a", trials(first))),
        str(write_run(folder / "b", trials(second))),
    )


def test_only_cells_that_became_slower_are_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", *runs(tmp_path, WORLD, SLOWER), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert "not interleaved" in document["warning"]
    verdicts = {
        (one["point"]["stack"], one["point"]["load"]["users"], one["figure"]): one["comparison"]
        for one in document["cells"]
    }
    assert len(verdicts) == 2 * 2 * 4
    for users in (1, 32):
        cpu = verdicts[GRPC, users, "service_cpu"]
        assert cpu["verdict"] == "higher"
        assert 1.05 < cpu["ratio"]["low"] < cpu["ratio"]["high"] < 1.3
        assert all(
            comparison["verdict"] in ("equivalent", "undecided")
            for (stack, _, _), comparison in verdicts.items()
            if stack == REST
        )


def test_equal_runs_show_no_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In 8 pairs of runs of one world at most 2 with any difference: each has one by chance in
    at most 5 % (Holm), and 3 of 8 would come in 1 of 170 such tests."""
    found = 0
    for seed in range(8):
        pair = replace(WORLD, seed=100 + seed), replace(WORLD, seed=200 + seed)
        assert main(["diff", *runs(tmp_path / str(seed), *pair), "--json"]) == 0
        cells = json.loads(capsys.readouterr().out)["cells"]
        found += any(one["comparison"]["verdict"] in ("higher", "lower") for one in cells)
    assert found <= 2


def test_the_table_fits_a_terminal_and_warns_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    both = runs(tmp_path, WORLD, replace(SLOWER, loads=WORLD.loads[:1]))
    assert main(["diff", *both]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("The runs were not interleaved")
    assert max(map(len, shown.splitlines())) <= 80
    assert "2 cells only in the first run:" in shown
    assert "without a difference; --all shows them." in shown
    assert main(["diff", *both, "--all", "--figure", "rate"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("successful calls") == 2


def test_another_machine_and_engine_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = runs(tmp_path, WORLD, WORLD)
    manifest = Path(second) / "manifest.json"
    content = json.loads(manifest.read_text(encoding="utf-8"))
    content["machine"] |= {"cpu": "Another CPU"}
    content |= {"engine": {"sha256": "0" * 64}, "git_revision": "1" * 40}
    manifest.write_text(json.dumps(content), encoding="utf-8")
    assert main(["diff", first, second]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "cpu: An example CPU, then Another CPU" in shown
    assert "engine: different binaries" in shown
    assert "revision: 000000000, then 111111111" in shown


def test_runs_without_a_common_cell_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = runs(tmp_path, WORLD, replace(WORLD, sizes=(150_000,)))
    assert main(["diff", first, second]) == 2
    assert "have no common measured cell" in " ".join(capsys.readouterr().err.split())
    assert main(["diff", first, str(tmp_path / "nosuch")]) == 2
    assert main(["diff", first, first, "--figure", "rat"]) == 2
    assert "Did you mean 'rate'?" in capsys.readouterr().err
    broken = write_run(tmp_path / "c", [fail_trial(one, "it broke") for one in trials(WORLD)])
    assert main(["diff", first, str(broken)]) == 2
