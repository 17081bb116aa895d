"""The atlas: its stacks are those of the services, and its figures those of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.python.synthetic_run import GRPC, REST, World, fail_trial, trials, users, write_run
from tools import atlas_page, marked_part
from wirelab.experiment import loading
from wirelab.run import keeping
from wirelab.stack import manifests

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_and_the_experiment_have_every_stack() -> None:
    """`make generate` writes both from every service.json."""
    every = atlas_page.transfer(manifests.load())
    text = (ROOT / atlas_page.EXPERIMENT).read_text(encoding="utf-8")
    assert atlas_page.experiment(text, every) == text
    page = (ROOT / atlas_page.PAGE).read_text(encoding="utf-8")
    marks = (f"<!-- {atlas_page.STACKS} -->", f"<!-- end of {atlas_page.STACKS} -->")
    assert marked_part.replace(page, *marks, atlas_page.stacks(every)) == page
    names = atlas_page.references(every)
    assert {"rest@rust", "grpc@go", "soap@java?codec=soap-encoded"} <= set(names)
    assert len(names) == len(set(names))


def test_the_experiment_measures_every_stack() -> None:
    """With at least the small message, which every codec has."""
    names = atlas_page.references(atlas_page.transfer(manifests.load()))
    loaded = loading.load(ROOT / atlas_page.EXPERIMENT)
    assert [str(service) for service in loaded.services] == names


def test_figures_have_intervals_and_their_run(tmp_path: Path) -> None:
    loads = (users(atlas_page.ONE_USER), users(atlas_page.MANY_USERS))
    every = trials(World(sizes=(14,), loads=loads, repeats=4))
    lost = next(trial for trial in every if trial.point.stack == GRPC)
    every[every.index(lost)] = fail_trial(lost, "it ended")
    folder = write_run(tmp_path / "run", every)
    lines = list(atlas_page.figures(folder))
    assert "(runs/atlas/trials.parquet)" in lines[0]
    assert lines[0].startswith("16 trials of ")
    assert "### Hello 14 B" in lines
    rows = [line for line in lines if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == sorted((GRPC, REST))
    for row in rows:
        figures = row.split(" | ")[1:5]
        assert all(" … " in figure for figure in figures), row
    assert "1 failed" in rows[0]
    assert "failed" not in rows[1]


def test_a_stack_without_a_trial_has_no_figure(tmp_path: Path) -> None:
    """A dash, never a number."""
    every = trials(World(sizes=(14,), loads=(users(atlas_page.ONE_USER),), repeats=2))
    rows = [line for line in atlas_page.figures(write_run(tmp_path / "run", every)) if "`" in line]
    assert all(row.split(" | ")[2:5] == ["–", "–", "–"] for row in rows if row[2] == "`")


def test_the_files_of_the_run_are_kept(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", trials(World(sizes=(14,), repeats=2)))
    (folder / "experiment.yaml").write_text("name: atlas\n", encoding="utf-8")
    keeping.keep(folder, tmp_path / "kept")
    kept = {path.name for path in (tmp_path / "kept").iterdir()}
    assert kept == set(keeping.FILES)
    (folder / "manifest.json").unlink()
    with pytest.raises(OSError, match=r"manifest\.json"):
        keeping.keep(folder, tmp_path / "again")
