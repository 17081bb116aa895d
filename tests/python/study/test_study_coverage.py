"""How long a study takes and what a first look cannot judge are known before it starts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.python.study.test_studies import STUDIES, edit_study, write_reproduction
from wirelab.cli import main
from wirelab.errors import ExperimentError, UsageError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.experiment.model import Experiment
from wirelab.experiment.scaling import replace_keys
from wirelab.format.units import format_minutes, parse_seconds
from wirelab.run import runner as running
from wirelab.run.progress import Silent
from wirelab.stack import manifests
from wirelab.study import catalogue as studies
from wirelab.study import loading as study_file
from wirelab.study import reproduction
from wirelab.study.catalogue import Found
from wirelab.study.coverage import Coverage, coverage

CATALOGUE = manifests.load(STUDIES.parent / "services")


def _experiments(found: Found, *, quick: bool) -> dict[str, Experiment]:
    parts = found.study.quick if quick else {part: {} for part in found.study.parts}
    texts = {part: found.part(part).read_text(encoding="utf-8") for part in parts}
    return {
        part: experiment_file.parse(replace_keys(texts[part], part, keys))
        for part, keys in parts.items()
    }


@pytest.fixture(scope="module")
def found() -> Found:
    return studies.load("hamo2023", STUDIES)


@pytest.fixture(scope="module")
def quick(found: Found) -> Coverage:
    """What the first look at hamo2023 decides."""
    return coverage(found.study, _experiments(found, quick=True), CATALOGUE)


@pytest.mark.parametrize("name", studies.names(STUDIES))
def test_a_whole_reproduction_can_judge_every_finding(name: str) -> None:
    found = studies.load(name, STUDIES)
    made = coverage(found.study, _experiments(found, quick=False), CATALOGUE)
    assert made.whole == tuple(claim.id for claim in found.study.findings)
    assert list(made.sentences()) == []


@pytest.mark.parametrize("name", studies.names(STUDIES))
def test_a_first_look_judges_some_findings_and_names_the_others(name: str) -> None:
    found = studies.load(name, STUDIES)
    made = coverage(found.study, _experiments(found, quick=True), CATALOGUE)
    assert made.whole
    assert sorted((*made.whole, *made.some, *made.none)) == sorted(
        claim.id for claim in found.study.findings
    )
    said = " ".join(made.sentences())
    assert f"It cannot judge {len(made.none)} of {len(found.study.findings)} findings: " in said
    assert all(f" {name}" in said for name in (*made.none, *made.some))


def test_the_announcement_is_what_the_judgement_is(
    found: Found, quick: Coverage, tmp_path: Path
) -> None:
    """On trials of just the cells of the first look."""
    experiments = _experiments(found, quick=True)
    points = {
        part: [
            cell.point
            for trial in planning.schedule(experiment, CATALOGUE).trials
            if trial.repeat == 1
            for cell in trial.cells
        ]
        for part, experiment in experiments.items()
    }
    folder = write_reproduction(tmp_path / "out", points, found)
    judged = {one.finding.id: one for one in reproduction.read(folder, STUDIES).judgements}
    for name in quick.whole:
        assert all(part.interval is not None or part.steps for part in judged[name].parts), name
    for name in quick.none:
        assert judged[name].outcome == "undecided", name
    for name in quick.some:
        measured = [part.interval is not None for part in judged[name].parts]
        assert any(measured), name
        assert not all(measured), name
        assert judged[name].outcome != "holds"


def test_a_single_trial_decides_only_an_order_of_packets() -> None:
    found = studies.load("jagannathan2022", STUDIES)
    experiments = {
        part: {
            repeats: experiment_file.parse(
                replace_keys(
                    found.part(part).read_text(encoding="utf-8"), part, {"repeats": repeats}
                )
            )
            for repeats in (1, 2)
        }
        for part in ("short", "cold")
    }
    once, twice = (
        coverage(found.study, {part: by[n] for part, by in experiments.items()}, CATALOGUE)
        for n in (1, 2)
    )
    assert set(once.whole) == {claim.id for claim in found.study.findings if claim.order}
    assert set(once.whole) < set(twice.whole)


@pytest.mark.parametrize("name", studies.names(STUDIES))
def test_lists_show_the_times_of_the_study_file(name: str) -> None:
    """They are read without a parser of YAML."""
    study = studies.load(name, STUDIES).study
    (listed,) = (one for one in studies.listing(STUDIES) if one.name == name)
    assert listed.title == study.title
    assert parse_seconds(listed.default) == study.takes.default
    assert parse_seconds(listed.quick) == study.takes.quick


def test_help_and_the_list_show_how_long_each_study_takes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["reproduce", "--help"]) == 0
    shown = capsys.readouterr().out
    assert main(["studies"]) == 0
    listed = capsys.readouterr().out
    for one in studies.listing(STUDIES):
        assert f"{one.default}; --quick: {one.quick}" in shown
        (line,) = (line for line in listed.splitlines() if line.startswith(one.name))
        assert line.split("  ", 1)[1].split() == [
            *one.default.split(),
            *one.quick.split(),
            *one.title.split(),
        ]
    assert max(map(len, (*shown.splitlines(), *listed.splitlines()))) <= 80


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"quick": True}, r"hamo2023 --quick takes about \d+ s on two cores"),
        ({}, r"hamo2023 takes about 33 min on two cores, and longer where"),
    ],
)
def test_the_time_is_printed_before_the_first_part(
    options: dict[str, bool],
    expected: str,
    quick: Coverage,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notes = _notes(tmp_path, monkeypatch, **options)
    first = next(at for at, note in enumerate(notes) if note.startswith("part 1 of "))
    announced = notes[:first]
    assert any(re.match(expected, note) for note in announced)
    if options:
        assert announced[1:] == list(quick.sentences())
    else:
        (timed,) = announced[1:]
        assert timed.startswith("matrix: every cell has a window of ")


def test_another_scale_has_no_known_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any("takes about" in note for note in _notes(tmp_path, monkeypatch, scale=0.5))


def _notes(folder: Path, monkeypatch: pytest.MonkeyPatch, **options: float | bool) -> list[str]:
    """What a reproduction prints whose parts are not run."""
    notes: list[str] = []

    class Heard(Silent):
        def note(self, text: str) -> None:
            notes.append(text)

    monkeypatch.setattr(running, "run", lambda *_, **__: None)
    values: dict[str, object] = {"where": STUDIES, "progress": Heard(), **options}
    reproduction.reproduce("hamo2023", folder / "out", **values)  # type: ignore[arg-type]
    return notes


def test_a_first_look_and_its_time_belong_together(found: Found) -> None:
    text = edit_study(found, ", quick: ", "}  # ")
    with pytest.raises(ExperimentError, match="belong together"):
        study_file.parse(text)


def test_a_study_without_its_time_is_reported(found: Found, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / studies.FILE).write_text(edit_study(found, "takes: ", "lasts: "))
    with pytest.raises(UsageError, match="takes") as caught:
        studies.listing(tmp_path)
    assert "takes: {default: 33 min" in caught.value.remedy


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(40, "40 s"), (80.4, "80 s"), (120, "2 min"), (1980, "33 min"), (4680, "78 min")],
)
def test_long_times_are_whole_minutes(seconds: float, shown: str) -> None:
    assert format_minutes(seconds) == shown
