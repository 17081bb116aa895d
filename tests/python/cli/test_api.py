"""What the package exports, and what it does with a run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import wirelab
from tests.python.synthetic_run import GRPC, REST, World, trials, users, write_run
from wirelab.errors import RunDirectoryError, UsageError
from wirelab.report.page import write_page
from wirelab.statistics.figure import RESPONSE_P50

WORLD = World(sizes=(14,), loads=(users(1),), repeats=4)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> wirelab.Results:
    return wirelab.load(write_run(tmp_path_factory.mktemp("api") / "run", trials(WORLD)))


def test_exported_names() -> None:
    assert wirelab.__all__ == sorted(wirelab.__all__)
    assert set(wirelab.__all__) == {
        "Cell", "Comparison", "Results", "Trial", "__version__", "compare", "load",
    }  # fmt: skip
    assert all(hasattr(wirelab, name) for name in wirelab.__all__)
    with pytest.raises(AttributeError):
        _ = wirelab.nothing
    assert (Path(wirelab.__file__).parent / "py.typed").is_file()


def test_a_run_is_a_table_of_trials(run: wirelab.Results) -> None:
    rows = run.records()
    assert len(rows) == len(run) == 8
    assert {row["stack"] for row in rows} == {REST, GRPC}
    assert all(row["users"] == 1 and row["status"] == "measured" for row in rows)
    assert all(row["response_p50"] > 0 and row["rate"] > 0 for row in rows)


def test_a_frame_has_the_same_rows(run: wirelab.Results) -> None:
    pytest.importorskip("pandas")
    table = run.trials()
    assert len(table) == 8
    medians = table.groupby("stack")["response_p50"].median()
    assert medians[REST] < medians[GRPC]
    assert table.attrs["units"]["response_p50"] == "ns"
    assert table.attrs["units"].keys() <= set(table.columns)


def test_two_cells_are_compared(run: wirelab.Results) -> None:
    rest, grpc = sorted(run.cells(), key=lambda cell: cell.point.stack, reverse=True)
    found = wirelab.compare(rest, grpc)
    assert found.verdict == "lower"
    assert found.ratio.high is not None
    assert found.ratio.high < 1.0
    assert wirelab.compare(grpc, rest, "response_p50").verdict == "higher"


def test_an_unknown_run_or_figure_is_refused(run: wirelab.Results, tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError):
        wirelab.load(tmp_path)
    first, second = run.cells()[:2]
    with pytest.raises(UsageError, match="there is no figure 'median'"):
        wirelab.compare(first, second, "median")


OLD = Path(__file__).parents[1] / "runs" / "format-1"
"""Six trials of revision 76d6832, before stacks were one model and packages were ordered."""


def test_a_run_of_an_older_lab_opens() -> None:
    rest, soap = sorted(wirelab.load(OLD).cells(), key=lambda cell: cell.point.stack)
    assert (rest.point.stack, soap.point.stack) == ("rest@rust", "soap@rust")
    assert len(rest.measured) == len(soap.measured) == 3
    assert 50_000 < rest.values(RESPONSE_P50)[0] < 200_000


def test_a_report_of_it_is_written(tmp_path: Path) -> None:
    shutil.copytree(OLD, tmp_path / "run")
    assert write_page(tmp_path / "run").is_file()


def test_a_run_of_a_format_that_is_not_known_is_refused_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(OLD, folder)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(json.dumps({**manifest, "format": 99}))
    with pytest.raises(
        RunDirectoryError, match="format 99, but this version of wirelab reads formats 1 and 2"
    ):
        wirelab.load(folder)
