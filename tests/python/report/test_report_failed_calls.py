"""Failed calls in reports: response times of all calls and of good ones, each under its name."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.python.report.test_report_terminal import print_table
from tests.python.synthetic_run import REST, World, fail_some_calls, trials, users, write_run
from wirelab.cli import main
from wirelab.records.trial import Trial
from wirelab.report.export import to_csv, to_json
from wirelab.report.page import write_page
from wirelab.report.sections import tables
from wirelab.report.sections.comparisons import comparisons
from wirelab.report.source import Source
from wirelab.statistics.cell import Cell, cells
from wirelab.statistics.figure import GOOD_P99, RESPONSE_P50, RESPONSE_P99

SMALL = World(sizes=(14,), loads=(users(32),))
TIMEOUT_S = 10.0


def struck() -> list[Trial]:
    """A run in which one call of twenty to REST times out."""
    return [fail_some_calls(one) if one.point.stack == REST else one for one in trials(SMALL)]


def rest(every: list[Trial]) -> Cell:
    """The cell of REST."""
    return next(cell for cell in cells(every) if cell.point.stack == REST)


def test_a_cell_of_the_table_has_all_calls_above_good_ones(tmp_path: Path) -> None:
    source = Source.read(write_run(tmp_path / "run", struck()))
    (table,) = tables.cell_tables(source)
    p99 = {row[0]: row[table.columns.index("p99")] for row in table.rows}
    assert p99["rest@rust json"].startswith("all 10.0 s\ncalls failed, up to 100 %\n")
    assert "\ngood " in p99["rest@rust json"]
    assert "ms\n" in p99["rest@rust json"]
    assert p99["grpc@rust"][:3] not in ("all", "goo")


def test_the_terminal_has_a_row_for_good_calls_and_explains_it() -> None:
    shown = print_table(struck())
    (row,) = [line for line in shown.splitlines() if line.strip().startswith("good calls")]
    assert "10.0 s" not in row
    assert "ms" in row
    assert "10.0 s" in next(line for line in shown.splitlines() if line.startswith("rest@rust"))
    assert "failed calls. p50 and p99 include them with the time until they" in shown
    assert "good calls" not in print_table(trials(SMALL))


def test_exports_name_both_only_where_calls_failed() -> None:
    every = struck()
    shown = json.loads(json.dumps(to_json(every, 0.05)))
    figures = {cell["stack"]: cell["figures"] for cell in shown["cells"]}
    good, every_call = (figures[REST][name] for name in ("response_p99_good", "response_p99"))
    assert every_call["estimate"] == pytest.approx(TIMEOUT_S * 1e9)
    assert good["estimate"] < 0.01 * every_call["estimate"]
    assert "response_p99_good" not in figures["grpc@rust"]
    rows = list(csv.DictReader(io.StringIO(to_csv(every))))
    assert {row["stack"] for row in rows if row["figure"] == "response_p99_good"} == {REST}


def test_comparisons_are_made_of_both_and_labelled(tmp_path: Path) -> None:
    every = struck()
    compared = {row["figure"]: row for row in to_json(every, 0.02)["comparisons"]}
    assert compared["response_p99"]["verdict"] == "lower"  # gRPC over REST, whose calls time out
    assert compared["response_p99_good"]["verdict"] == "higher"
    table = comparisons(Source.read(write_run(tmp_path / "run", every))).tables[0]
    assert {"response p99 of all calls", "response p99 of good calls"} <= set(table.columns)
    table = comparisons(Source.read(write_run(tmp_path / "good", trials(SMALL)))).tables[0]
    times = [head for head in table.columns if "response" in head]
    assert times == ["response p50", "response p99"]


def test_pictures_are_of_all_calls_and_labelled_so(tmp_path: Path) -> None:
    label = "Response times cover all calls; failed calls count with the time until they failed."
    page = write_page(write_run(tmp_path / "run", struck())).read_text(encoding="utf-8")
    assert page.count(label) == 2
    page = write_page(write_run(tmp_path / "good", trials(SMALL))).read_text(encoding="utf-8")
    assert label not in page


def test_runs_from_before_good_calls_were_recorded_apart_still_open(tmp_path: Path) -> None:
    """Their good calls have no times of their own: a dash, and none in the comparisons."""
    every = struck()
    for one in every:
        one.result.times.pop("response_good", None)
    folder = write_run(tmp_path / "run", every)
    assert main(["report", str(folder)]) == 0
    (table,) = tables.cell_tables(Source.read(folder))
    p99 = {row[0]: row[table.columns.index("p99")] for row in table.rows}
    assert p99["rest@rust json"].endswith("\ngood —")
    compared = {row["figure"]: row for row in to_json(every, 0.05)["comparisons"]}
    assert compared["response_p99_good"]["verdict"] == "undecided"
    assert "no value" in compared["response_p99_good"]["reason"]


def _with_p99s(p99s_ms: list[float | None], p50_ms: float = 2.0) -> list[Trial]:
    """Trials of REST with these p99s; None: too few calls for one."""
    every = [one for one in trials(replace(SMALL, repeats=len(p99s_ms))) if one.point.stack == REST]
    for one, p99 in zip(every, p99s_ms, strict=True):
        shown = {"p50": round(p50_ms * 1e6)}
        if p99 is not None:
            shown["p99"] = round(p99 * 1e6)
        response = replace(one.result.times["response"], percentiles_ns=shown)
        one.result.times["response"] = response
    return every


def test_a_p99_whose_interval_reaches_below_the_p50_is_of_too_few_trials(tmp_path: Path) -> None:
    every = _with_p99s([3.0, 30.0])
    lacks = tables.doubt(rest(every), RESPONSE_P99)
    assert lacks == tables.Doubt("too few trials", "the interval of the p99 reaches below the p50")
    (table,) = tables.cell_tables(Source.read(write_run(tmp_path / "run", every)))
    assert table.rows[0][table.columns.index("p99")].endswith("\ntoo few trials")
    shown = print_table(every)
    # It is known to a factor of two or worse, too, and so not shown.
    assert "9.49 ms" not in shown
    assert "—?" in shown
    assert "?: too few trials, the interval of the p99 reaches below the p50." in shown
    figures = to_json(every, 0.05)["cells"][0]["figures"]
    assert figures["response_p99"]["reason"].startswith("too few trials: the interval")


def test_a_p99_that_some_trials_lack_is_of_too_few_calls() -> None:
    every = _with_p99s([3.0, None, 3.1, 3.05])
    lacks = tables.doubt(rest(every), RESPONSE_P99)
    assert lacks is not None
    assert lacks.words == "too few calls"
    assert lacks.reason == "a p99 needs 1,000 calls per trial; known in 3 of 4 trials"
    assert "a trial had fewer than 1,000 calls" in " ".join(print_table(every).split())
    assert "—" in print_table(_with_p99s([None, None]))


def test_a_certain_p99_has_no_doubt() -> None:
    every = _with_p99s([3.0, 3.1, 3.05, 2.95])
    assert tables.doubt(rest(every), RESPONSE_P99) is None
    assert tables.doubt(rest(every), RESPONSE_P50) is None
    assert tables.doubt(rest(struck()), GOOD_P99) is None
    assert "?" not in print_table(every)
