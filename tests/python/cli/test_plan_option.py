"""``wirelab run --plan`` shows what a run would do and starts nothing; ``--repeats``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wirelab import installation
from wirelab.cli import main
from wirelab.cli.output.named_services import with_number
from wirelab.experiment import loading, matrix
from wirelab.process import builds
from wirelab.stack import manifests

TEXT = """name: planned
# four of each
repeats: 4  # as a start
services: [rest@rust, grpc@rust]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: 1}, closed: {users: 32}]
window: {duration: 2 s}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "planned.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.mark.usefixtures("real_engine")
def test_a_plan_has_cells_trials_and_time_and_makes_no_folder(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    assert main(["run", str(file), "--plan"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "planned: 4 cells, 4 repeats"
    assert "• rest@rust: Hello 14 B, 32 users" in lines
    planned = matrix.schedule(loading.load(file), manifests.load())
    seconds = sum(matrix.seconds(loading.load(file), trial) for trial in planned.trials)
    assert any(line.startswith(f"trials: 16, about {seconds:.0f} s") for line in lines)
    assert list(file.parent.iterdir()) == [file], "nothing was written"


@pytest.mark.usefixtures("real_engine")
def test_a_plan_as_json_and_with_other_repeats(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(file), "--plan", "--json", "--repeats", "12"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["trials"] == 48
    assert len(document["cells"]) == 4
    assert document["seconds"] == pytest.approx(48 * (2.0 + 1.0 + matrix.OVERHEAD_S))


def test_a_service_that_was_not_built_is_in_the_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "cache", lambda: tmp_path)
    catalogue = manifests.load()
    manifest, folder = catalogue.by_language["go"], catalogue.folders["go"]
    found = builds.find_pending_build(manifest, folder)
    assert found is not None
    assert found.title == "the service in go"
    assert found.seconds == manifest.build_seconds
    name = f"{manifest.cache_name}-{builds.digest(folder, manifest)[:16]}"
    (installation.cache() / "services" / name).mkdir(parents=True)
    assert builds.find_pending_build(manifest, folder) is None


def test_repeats_replace_the_line_of_the_file_and_nothing_else() -> None:
    changed = with_number(TEXT, "repeats", 12)
    assert loading.parse(changed, "x").repeats == 12
    assert changed.replace("repeats: 12", "repeats: 4") == TEXT
    without = TEXT.replace("repeats: 4  # as a start\n", "")
    assert loading.parse(with_number(without, "repeats", 7), "x").repeats == 7


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_more_repeats_continue_a_run(file: Path, tmp_path: Path) -> None:
    small = TEXT.replace("duration: 2 s", "duration: 50 ms").replace("closed: {users: 32}", "")
    file.write_text(small.replace("}, ]", "}]"), encoding="utf-8")
    out = tmp_path / "run"
    command = ["run", str(file), "--share", "--out", str(out), "--repeats"]
    assert main([*command, "1"]) == 0
    first = (out / "trials.jsonl").read_text(encoding="utf-8")
    assert main([*command, "2"]) == 0
    second = (out / "trials.jsonl").read_text(encoding="utf-8")
    assert first.count('"point"') == 2
    assert second.startswith(first)
    assert second.count('"point"') == 4
    assert main([*command, "1"]) == 2, "a run is never shortened"
