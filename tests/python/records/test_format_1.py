"""Runs of format 1, with one cell per line of the journal, are still read."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.python.synthetic_run import World, trials
from wirelab.cli import main
from wirelab.errors import RunDirectoryError
from wirelab.records.line import cell_id, from_line, to_line
from wirelab.run import journal
from wirelab.run.directory import read_manifest

KEPT = Path(__file__).parents[1] / "runs/format-1"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The kept run, in copies that make a history."""
    for name in "abcdef":
        shutil.copytree(KEPT, tmp_path / "runs" / name)
    return tmp_path / "runs"


def test_every_command_that_reads_runs_reads_format_1(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (
        ["report", str(kept / "a"), "--export", str(kept.parent / "figures.csv")],
        ["diff", str(kept / "a"), str(kept / "b")],
        ["history", str(kept)],
        ["browse", str(kept), "--once", str(kept.parent / "list.html")],
    ):
        assert main(words) == 0, (words, capsys.readouterr().err)
    rows = (kept.parent / "figures.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) > len(journal.read(KEPT / journal.NAME).lines)


def test_a_trial_of_format_1_is_the_same_after_it_was_written_in_format_2() -> None:
    for (trial,) in journal.read(KEPT / journal.NAME).lines:
        line = json.loads(json.dumps(to_line([trial])))
        assert set(line["cells"][0]) >= {"point", "service", "result", "checks"}
        assert from_line(line) == (trial,)


def test_a_trial_with_two_cells_is_one_line(tmp_path: Path) -> None:
    first, other, *_ = trials(World())
    second = replace(
        first,
        id=cell_id(first.id, 1),
        point=other.point,
        result=other.result,
        service=other.service,
    )
    book = journal.Journal(tmp_path / journal.NAME)
    book.append(first, second)
    assert book.path.read_bytes().count(b"\n") == 1
    found = journal.read(book.path)
    assert found.lines == ((first, second),)
    assert found.trials == (first, second)
    book.append(replace(first, repeats="noise"), replace(second, repeats="noise"))
    assert journal.read(book.path).repeated == (first, second)


def test_cells_that_differ_in_what_they_share_are_not_written() -> None:
    first, other, *_ = trials(World())
    with pytest.raises(ValueError, match="differ in repeat"):
        to_line([first, replace(other, id=cell_id(first.id, 1))])
    with pytest.raises(ValueError, match="has the id"):
        to_line([first, other])


def test_an_unknown_format_is_refused_by_its_number(kept: Path) -> None:
    manifest = json.loads((kept / "a/manifest.json").read_text(encoding="utf-8"))
    (kept / "a/manifest.json").write_text(json.dumps({**manifest, "format": 3}))
    with pytest.raises(RunDirectoryError, match="format 3, but this version of wirelab reads"):
        read_manifest(kept / "a")
