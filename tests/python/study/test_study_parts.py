"""Parts of a study measured by name, and parts beyond the study, which are measured only so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.python.study.test_studies import STUDIES, points_of, write_reproduction
from wirelab.cli import main
from wirelab.cli.output.reproduce import show
from wirelab.errors import UsageError
from wirelab.run import runner as running
from wirelab.run.progress import Silent
from wirelab.study import catalogue as studies
from wirelab.study import manifest as study_manifest
from wirelab.study import plan, reproduction
from wirelab.study.catalogue import Found

NAME = "hamo2023"


@pytest.fixture(scope="module")
def found() -> Found:
    return studies.load(NAME, STUDIES)


def reproduce(
    folder: Path, monkeypatch: pytest.MonkeyPatch, **options: object
) -> tuple[list[str], list[str]]:
    """What a reproduction prints, and the parts that it begins, none of which is run."""
    notes: list[str] = []
    begun: list[str] = []

    class Heard(Silent):
        def note(self, text: str) -> None:
            notes.append(text)

    def begin(_: object, out: Path, **__: object) -> None:
        begun.append(out.name)

    monkeypatch.setattr(running, "run", begin)
    values: dict[str, object] = {"where": STUDIES, "progress": Heard(), **options}
    reproduction.reproduce(NAME, folder, **values)  # type: ignore[arg-type]
    return notes, begun


def test_a_reproduction_leaves_further_parts_out(
    found: Found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, begun = reproduce(tmp_path / "run", monkeypatch)
    assert begun == list(found.study.parts)
    assert not {"networks", "payloads"} & set(begun)


def test_named_parts_are_measured_and_their_time_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the study's order, however they are named. A folder is not continued with other parts."""
    chosen = ("payloads", "networks", "tool")
    notes, begun = reproduce(tmp_path / "run", monkeypatch, parts=chosen)
    assert begun == ["tool", "networks", "payloads"]
    assert re.match(r"tool, networks, payloads: planned for about \d+ min", notes[0])
    assert "part 3 of 3: payloads" in notes
    assert study_manifest.read(tmp_path / "run").parts == ("tool", "networks", "payloads")
    _, begun = reproduce(tmp_path / "run", monkeypatch, parts=(*reversed(chosen), "tool"))
    assert begun == ["tool", "networks", "payloads"]
    with pytest.raises(UsageError, match="or other parts"):
        reproduce(tmp_path / "run", monkeypatch)


def test_an_unknown_part_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="hamo2023 has no part 'netwrks'") as caught:
        reproduce(tmp_path / "run", monkeypatch, parts=("netwrks",))
    assert "networks" in caught.value.remedy
    with pytest.raises(UsageError, match="--quick and --part exclude each other"):
        reproduce(tmp_path / "run", monkeypatch, parts=("tool",), quick=True)
    assert main(["reproduce", NAME, "--part", "nothing", "--out", str(tmp_path / "run")]) == 2
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", studies.names(STUDIES))
def test_every_rung_is_measured(name: str) -> None:
    """Those of the study and further ones, each by one cell of its part."""
    study = studies.load(name, STUDIES)
    points = points_of(study, study.study.every_part)
    for entry in study.study.every_ladder:
        for ladder in entry.ladders(study.study.threshold):
            for expected in ladder.cells:
                matching = [point for point in points[entry.part] if expected.matches(point)]
                assert len(matching) == 1, f"{entry.id}: {expected}"


def test_a_run_of_a_further_part_judges_its_findings(
    found: Found, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a world in which gRPC is slower than HTTP with large bodies, and JSON than XML."""
    folder = write_reproduction(tmp_path / "run", points_of(found, ["payloads"]), found)
    path = folder / study_manifest.NAME
    manifest = json.loads(path.read_text(encoding="utf-8")) | {"parts": ["payloads"]}
    path.write_text(json.dumps(manifest), encoding="utf-8")
    made = reproduction.read(folder, STUDIES)
    assert made.is_finished
    outcomes = {judged.finding.id: judged.outcome for judged in made.judgements}
    assert found.study.further is not None
    assert list(outcomes) == [
        claim.id for claim in found.study.further.findings if claim.part == "payloads"
    ]
    assert outcomes["payload-text"] == outcomes["payload-xml"] == "does not hold"
    assert "undecided" not in outcomes.values()
    assert show(made, as_json=False) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"Of {len(outcomes)} findings tested" in shown
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Not in this run: 6 parts (matrix, crossover, placement, puzzle, tool, networks)" in page


def test_a_run_of_the_study_states_which_parts_it_does_not_have(
    found: Found, tmp_path: Path
) -> None:
    folder = write_reproduction(tmp_path / "run", points_of(found), found)
    made = reproduction.read(folder, STUDIES)
    assert made.is_finished
    assert [judged.finding.id for judged in made.judgements] == [
        claim.id for claim in found.study.findings
    ]
    (note,) = (note for note in made.notes if note.startswith("Not in this run"))
    assert note == (
        "Not in this run: 2 parts (networks, payloads). `wirelab reproduce hamo2023 --part NAME` "
        "measures one."
    )


def test_stress_and_soak_can_have_the_length_of_the_study() -> None:
    """Ramps of 100 s and stages of 350, 180 and 350 s, which are a tenth and a twentieth else."""
    petclinic = studies.load("guimaraes2024", STUDIES)
    chosen = ("stress-types", "stress-owners", "soak", "soak-types")
    for scale, ramp_s, stages_s in ((1.0, 100.0, (350, 180, 350)), (None, 10.0, (17.5, 9, 17.5))):
        made = plan.plan(petclinic, scale, quick=False, chosen=chosen)
        assert tuple(made.experiments) == chosen
        for part, experiment in made.experiments.items():
            (load,) = experiment.loads
            (other,) = load.background
            if part.startswith("stress"):
                assert experiment.window.duration == ramp_s
                continue
            assert experiment.window.duration == sum(stages_s)
            for users in (load.closed, other.load.closed):
                assert users is not None
                assert tuple(stage.duration for stage in users.stages) == stages_s
            probes = {experiment.messages[0].name, other.message.name}
            assert probes == {"ListPetTypes", "ListOwners"}
            assert load.closed is not None
            assert other.load.closed is not None
            assert load.closed.users_max + other.load.closed.users_max == 3500
