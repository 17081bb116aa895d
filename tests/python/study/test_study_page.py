"""Pages of studies: made from kept runs, and their prose has no number that the run lacks."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.python.study.test_studies import points_of, write_reproduction
from tests.python.synthetic_run import World, trials
from tools import study_page
from wirelab.cli import main
from wirelab.errors import UsageError
from wirelab.format.counting import format_count
from wirelab.run import finished, keeping
from wirelab.statistics.interval import Interval
from wirelab.study import catalogue as studies

ROOT = Path(__file__).resolve().parents[3]
NAME = "hamo2023"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished reproduction of a known world."""
    found = studies.load(NAME)
    folder = write_reproduction(tmp_path_factory.mktemp("runs") / NAME, points_of(found), found)
    for part in found.study.parts:
        (folder / part / "experiment.yaml").write_text(f"name: {part}\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def root(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with the pages as they are, and that run kept."""
    folder = tmp_path_factory.mktemp("checkout")
    for page in study_page.pages(ROOT):
        copy = folder / page.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, copy)
    study_page.keep(run, folder)
    return folder


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    """Its page."""
    return study_page.write_parts((root / f"docs/studies/{NAME}.md").read_text("utf-8"), root)


@pytest.mark.parametrize("path", study_page.pages(ROOT), ids=lambda path: path.stem)
def test_a_page_is_what_its_kept_run_makes_of_it(path: Path) -> None:
    """Pages of studies, and figures of studies in other pages."""
    text = path.read_text(encoding="utf-8")
    assert study_page.write_parts(text, ROOT) == text


@pytest.mark.parametrize("name", studies.names())
def test_a_page_is_of_its_kept_run_or_states_that_there_is_none(name: str) -> None:
    """A page without a run has the notice; one with a run has no other number than its."""
    text = (ROOT / f"docs/studies/{name}.md").read_text(encoding="utf-8")
    made = study_page.load(name, ROOT)
    assert ("**Run to be kept.**" in text) == (made is None)
    if made is not None:
        assert all(f"<!-- {part} of {name} -->" in text for part in study_page.PARTS)
        assert study_page.unknown_numbers(text, made) == []


def test_kept_runs_are_small_and_of_one_cpu() -> None:
    kept = [path for path in (ROOT / study_page.RUNS).rglob("*") if path.suffix != ".html"]
    size = sum(path.stat().st_size for path in kept if path.is_file())
    assert 0 < size <= study_page.KEPT_BYTES_MAX
    models = {
        manifest.cpu
        for name in studies.names()
        for manifest in study_page.read_manifests(name, ROOT)
    }
    assert len(models) <= 1


def test_every_table_and_figure_is_of_the_run(page: str) -> None:
    """By the costs of the known world: 25 µs by 15 µs, and windows that cost a half."""
    every = re.findall(r"<!-- hamo2023: (.+?) -->(.*?)<!-- end -->", page)
    figures = dict(every)
    assert figures['rate grpc/http-keep bytes="14 B" users=10'] == "1.50 (1.49 to 1.51)"
    assert figures["rung puzzle windows users=10"] == "1.50 (1.49 to 1.51)"
    assert "Run to be kept" not in page
    assert "546 trials of an unknown day on An example CPU" in page
    assert "lost more than 2 % of the window to the hypervisor" in page
    found = studies.load(NAME).study
    for claim in found.findings:
        assert study_page.escape(claim.claim) in page
    by_hand = study_page.FIGURE.sub("", page)
    assert "1.50 (1.49 to 1.51)" not in by_hand.partition("<!-- findings of")[0]


def test_numbers_of_another_run_are_found(page: str, root: Path) -> None:
    """A number by hand that the run does not have; those of the run and the study are fine."""
    made = study_page.load(NAME, root)
    assert made is not None
    assert study_page.unknown_numbers(page, made) == []
    for text, missing in (
        ("gRPC makes 0.7531 times the calls.", ["0.7531"]),
        ("| 1,234,567 calls | 1.50 |", ["1234567"]),
        ("At 150,000 B and 400 users it makes 1.50 times.", []),
        ("`--minutes 987` and [a page](x.md#v-98.76)", []),
    ):
        assert study_page.unknown_numbers(f"{page}\n{text}\n", made) == missing


def test_a_page_that_another_run_made_is_stale(page: str, root: Path) -> None:
    """The comparison can fail: one figure of a table, and one within a sentence."""
    assert study_page.write_parts(page, root) == page
    for old, new in (
        ("1.50 (1.49 to 1.51)<!-- end", "1.60 (1.59 to 1.61)<!-- end"),
        ("| 90 |", "| 91 |"),
    ):
        assert old in page
        assert study_page.write_parts(page.replace(old, new, 1), root) == page


def test_a_kept_run_is_reported_with_what_was_left_out(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By `wirelab report`, of a study and of one of its parts."""
    kept = tmp_path / NAME
    shutil.copytree(root / study_page.RUNS / NAME / "tool", kept / "tool")
    shutil.copyfile(root / study_page.RUNS / NAME / "study.json", kept / "study.json")
    assert {path.name for path in (kept / "tool").iterdir()} == set(keeping.FILES)
    for folder in (kept, kept / "tool"):
        assert main(["report", str(folder)]) == 0
        assert " ".join(keeping.LEFT_OUT.split()) in " ".join(capsys.readouterr().out.split())
        assert "kept as an archive" in (folder / "report.html").read_text(encoding="utf-8")


def test_an_incomplete_or_mixed_study_is_not_kept(run: Path, tmp_path: Path) -> None:
    """A first look, a part that is missing, or another CPU model; nothing is written."""
    partial = shutil.copytree(run, tmp_path / "partial")
    shutil.rmtree(partial / "tool")
    with pytest.raises(UsageError, match="Part tool has not been run yet"):
        study_page.keep(partial, tmp_path)
    mixed = shutil.copytree(run, tmp_path / "mixed")
    manifest = mixed / "tool" / "manifest.json"
    text = manifest.read_text(encoding="utf-8").replace("An example CPU", "Another CPU")
    manifest.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="CPU models An example CPU, Another CPU"):
        study_page.keep(mixed, tmp_path)
    quick = shutil.copytree(run, tmp_path / "quick")
    named = (quick / "study.json").read_text(encoding="utf-8")
    (quick / "study.json").write_text(named.replace("{", '{"quick": true, ', 1), encoding="utf-8")
    with pytest.raises(UsageError, match="a first look"):
        study_page.keep(quick, tmp_path)
    chosen = shutil.copytree(run, tmp_path / "chosen")
    (chosen / "study.json").write_text(named.replace("{", '{"parts": ["tool"], ', 1), "utf-8")
    with pytest.raises(UsageError, match="of chosen parts"):
        study_page.keep(chosen, tmp_path)
    assert not (tmp_path / study_page.RUNS).exists()


def test_runs_that_are_too_large_are_not_kept(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was kept before stays; one of nearly the limit takes the place of it."""
    before = _contents(study_page.keep(run, tmp_path))
    size = sum(map(len, before.values()))
    monkeypatch.setattr(study_page, "KEPT_BYTES_MAX", size - 1)
    with pytest.raises(UsageError, match="the kept runs would have"):
        study_page.keep(run, tmp_path)
    assert _contents(tmp_path / study_page.RUNS / NAME) == before
    monkeypatch.setattr(study_page, "KEPT_BYTES_MAX", size)
    assert _contents(study_page.keep(run, tmp_path)) == before
    assert [path.name for path in (tmp_path / study_page.RUNS).iterdir()] == [NAME]


def _contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("share", "stolen"), [(0.0, False), (0.019, False), (0.021, True), (None, False)]
)
def test_steal_above_two_percent_is_marked(share: float | None, stolen: bool) -> None:
    one = trials(World(sizes=(14,), repeats=1))[0]
    lost = None if share is None else share * one.whole_s
    assert (
        study_page.is_stolen_from(replace(one, engine=replace(one.engine, steal_s=lost))) is stolen
    )


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.70, 0.80, "0.750 (0.700 to 0.800)"),
        (0.90, 1.20, "0.750 (0.900 to 1.20), undecided"),
        (0.99, 1.01, "0.750 (0.990 to 1.01), equivalent"),
        (0.0, 0.9, "at most 0.900"),
        (1.2, float("inf"), "at least 1.20"),
        (0.0, 1.2, "at most 1.20, undecided"),
    ],
)
def test_a_ratio_is_printed_with_its_verdict(low: float, high: float, text: str) -> None:
    assert study_page.ratio(Interval(0.75, low, high, 5, "t"), 0.05) == text


def test_a_figure_that_the_study_does_not_have_is_refused(root: Path) -> None:
    made = study_page.load(NAME, root)
    assert made is not None
    for words in (["rate", "grcp", "users=10"], ["rung", "puzzle", "window", "users=10"]):
        with pytest.raises(UsageError):
            study_page.value(made, words)
    assert study_page.value(made, ["rate", "grpc", "bytes=7 B", "users=10"]) == "not measured"


@pytest.mark.parametrize("part", ["crossover", "placement"])
def test_a_disturbed_trial_of_several_cells_counts_once_and_has_its_reason(part: str) -> None:
    run = finished.read(ROOT / "docs/runs" / NAME / part)
    # Only the first cell of a trial has the id of the trial.
    trials = [cell for cell in run.repeated if "." not in cell.id]
    assert len(trials) < len(run.repeated)
    (sentence,) = run.incomplete
    assert sentence.startswith(f"{format_count(len(trials), 'trial')} met other work")
    assert "The first reason: ." not in sentence
