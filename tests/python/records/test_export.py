"""Tables of a run for other programs: cells, groups, operations, stages and bursts."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from pyarrow import parquet

from tests.python.synthetic_run import REST, World, point, trial, write_reproduction, write_run
from wirelab import checkout
from wirelab.cli import main
from wirelab.records.group import GroupResult, OperationResult, PeriodResult, Times
from wirelab.records.trial import Trial
from wirelab.report.export import COLUMNS, rows, to_csv, to_json, to_parquet
from wirelab.statistics.figure import FIGURES, GOOD_CALLS

Json = dict[str, Any]
REPEATS = 3

STAGES: Json = {
    "kind": "closed",
    "users": 8,
    "stages": [{"to": 8, "duration_s": 1.0}, {"to": 0, "duration_s": 1.0}],
    "background": [
        {
            "name": "uploads",
            "operation": "Upload",
            "bytes": 1000,
            "load": {"kind": "bursts", "calls": 50, "gap_s": 1.0, "in_flight_max": 50},
        }
    ],
}


def _times(p50: int, p99: int | None = None) -> Times:
    percentiles = {"p50": p50} if p99 is None else {"p50": p50, "p99": p99}
    return Times(count=100, mean_ns=float(p50), percentiles_ns=percentiles)


def _make_trial(repeat: int) -> Trial:
    """A trial of a mix in two stages, next to a group that sends two bursts."""
    made = trial(point(REST, 14, STAGES), repeat, repeat, World())
    factor = 1 + repeat
    result = replace(
        made.result,
        operations=(
            OperationResult("Hello", 300, 300, times={"response": _times(1000 * factor, 9000)}),
            OperationResult("Submit", 100, 98, 2, times={"response": _times(5000)}),
        ),
        periods=(
            PeriodResult(0.0, 1.0, None, 4.5, 90, 1, 90, 88, 4.0 * factor, 0.9, _times(700)),
            PeriodResult(1.0, 1.0, None, 4.0, 0, 0, 0, 2, 0.0, None, None),
        ),
    )
    uploads = GroupResult(
        "uploads",
        window_s=2.0,
        calls=100,
        ok=97,
        errors=3,
        rate_per_s=48.5,
        times={"response": _times(20_000, 90_000)},
        periods=(
            PeriodResult(0.0, 0.0, 50.0, None, 50, 0, 50, 50, None, 0.01 * factor, None),
            PeriodResult(1.0, 0.0, 50.0, None, 50, 3, 49, 47, None, 0.02, None),
        ),
    )
    return replace(made, result=result, background=(uploads,))


@pytest.fixture(scope="module")
def every() -> list[Trial]:
    return [_make_trial(repeat) for repeat in range(REPEATS)]


def _find_row(every: Sequence[Trial], **values: str) -> Json:
    """The only row with these values."""
    (row,) = (
        one for one in rows(every) if all(one.get(name) == value for name, value in values.items())
    )
    return row


def test_every_part_of_a_cell_has_its_rows(every: list[Trial]) -> None:
    counts = Counter((row["group"], row["part"], row["part_name"]) for row in rows(every))
    assert counts.pop(("probe", "cell", "")) == len(FIGURES) - len(GOOD_CALLS)
    assert counts == {
        ("probe", "operation", "Hello"): 3,
        ("probe", "operation", "Submit"): 3,
        ("probe", "stage", "1"): 5,
        ("probe", "stage", "2"): 5,
        ("uploads", "group", ""): 3,
        ("uploads", "burst", "1"): 3,
        ("uploads", "burst", "2"): 3,
    }


def test_a_part_has_an_interval_over_the_trials_and_counts_of_its_own(every: list[Trial]) -> None:
    row = _find_row(every, part="operation", part_name="Hello", figure="response_p50")
    assert row["estimate"] == pytest.approx(geometric_mean([1000, 2000, 3000]))
    assert row["low"] < row["estimate"] < row["high"]
    assert (row["n"], row["trials"], row["errors"], row["unit"]) == (3, 3, 0, "ns")
    row = _find_row(every, part="operation", part_name="Submit", figure="rate")
    # 98 good calls of each trial in its window of 2 s.
    assert (row["estimate"], row["errors"]) == (pytest.approx(49.0), 2 * REPEATS)
    row = _find_row(every, part="stage", part_name="1", figure="users")
    assert row["estimate"] == pytest.approx(4.0 * geometric_mean([1, 2, 3]))
    assert (row["start_s"], row["duration_s"], row["errors"]) == (0.0, 1.0, REPEATS)
    row = _find_row(every, part="burst", part_name="1", figure="sent_after")
    assert row["estimate"] == pytest.approx(0.01 * geometric_mean([1, 2, 3]))
    row = _find_row(every, group="uploads", part="group", figure="rate")
    assert (row["estimate"], row["errors"]) == (pytest.approx(48.5), 3 * REPEATS)


def test_a_stage_of_a_rate_has_calls_per_second() -> None:
    load = {"kind": "stages", "from": 0.0, "stages": [{"to": 80.0, "duration_s": 2.0}]}
    made = trial(point(REST, 14, {**load, "in_flight_max": 4}), 0, 0, World())
    stage = PeriodResult(0.0, 2.0, 80.0, None, 78, 0, 76, 74)
    found = list(rows([replace(made, result=replace(made.result, periods=(stage,)))]))
    shown = {row["figure"]: row.get("estimate") for row in found if row["part"] == "stage"}
    planned, sent, ended, *times = shown.values()
    assert list(shown)[:3] == ["rate_planned", "rate_sent", "rate_ended"]
    assert (planned, sent, ended) == pytest.approx((40.0, 38.0, 37.0))
    assert times == [None, None]


def test_a_missing_figure_has_a_reason_and_zero_is_zero(every: list[Trial]) -> None:
    row = _find_row(every, part="operation", part_name="Submit", figure="response_p99")
    assert row.get("estimate") is None
    assert row["reason"] == "some trials lack it, or some but not all have zero"
    row = _find_row(every, part="stage", part_name="2", figure="users")
    assert (row["estimate"], row["low"], row["reason"]) == (0.0, None, "every trial has zero")


def test_csv_and_parquet_have_the_same_rows(every: list[Trial]) -> None:
    of_csv = list(csv.DictReader(io.StringIO(to_csv(every))))
    table = parquet.read_table(io.BytesIO(to_parquet(every)))
    assert table.column_names == list(of_csv[0]) == list(COLUMNS)
    of_parquet = table.to_pylist()
    assert len(of_parquet) == len(of_csv)
    for one, other in zip(of_csv, of_parquet, strict=True):
        for name in COLUMNS:
            value = other[name]
            assert one[name] == ("" if value is None else str(value)), name


def test_json_has_operations_and_periods_of_every_trial(every: list[Trial]) -> None:
    (cell,) = to_json(every, 0.05)["cells"]
    probe, uploads = cell["groups"]
    assert [one["operation"] for one in probe["trials"][0]["operations"]] == ["Hello", "Submit"]
    assert [one["sent"] for one in uploads["trials"][2]["periods"]] == [50, 49]


def test_every_column_and_figure_of_a_part_is_documented(every: list[Trial]) -> None:
    page = (checkout.root() / "docs" / "reference" / "export.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`([a-z0-9_]+)`", page))
    assert set(COLUMNS) <= documented
    assert {row["figure"] for row in rows(every)} <= documented
    assert {row["part"] for row in rows(every)} <= documented


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_report_writes_the_table(tmp_path: Path, every: list[Trial], suffix: str) -> None:
    folder = write_run(tmp_path / "run", every)
    file = tmp_path / f"figures{suffix}"
    assert main(["report", str(folder), "--export", str(file)]) == 0
    whole = to_csv(every).encode() if suffix == ".csv" else to_parquet(every)
    assert file.read_bytes() == whole


def test_a_reproduction_is_exported_part_by_part(
    tmp_path: Path, every: list[Trial], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, file = write_reproduction(tmp_path / "out", every), tmp_path / "figures.csv"
    assert main(["report", str(folder), "--export", str(file)]) == 2
    remedy = " ".join(capsys.readouterr().err.split()).rpartition("e.g. ")[2]
    assert main(["report", remedy, "--export", str(file)]) == 0
    assert file.read_bytes() == to_csv(every).encode()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "x.xlsx",
            "give a file name that ends in .csv, .parquet, .json, .jsonl, .openmetrics or .hlog",
        ),
        ("nowhere/x.csv", "create it, or give another path"),
    ],
)
def test_a_file_that_cannot_be_the_table_is_refused(
    tmp_path: Path, every: list[Trial], capsys: pytest.CaptureFixture[str], name: str, said: str
) -> None:
    folder = write_run(tmp_path / "run", every)
    assert main(["report", str(folder), "--export", str(tmp_path / name)]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_every_format_has_the_figures(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [_make_trial(repeat) for repeat in range(REPEATS)])
    names = ("a.csv", "a.parquet", "a.json", "a.jsonl", "a.openmetrics", "a.hlog")
    files = [tmp_path / name for name in names]
    exports = [part for file in files for part in ("--export", str(file))]
    assert main(["report", str(folder), *exports]) == 0
    _, table, nested, lines, metrics, histograms = files
    every = [json.loads(line) for line in lines.read_text().splitlines()]
    assert len(every) == parquet.read_table(table).num_rows
    assert {row["figure"] for row in every if row["part"] == "cell"} <= {f.name for f in FIGURES}
    assert json.loads(nested.read_text())["cells"][0]["figures"]["rate"]["n"] == REPEATS
    samples = {
        (sample.name, sample.labels["part"], sample.labels["bound"]): sample.value
        for family in text_string_to_metric_families(metrics.read_text())  # type: ignore[no-untyped-call]
        for sample in family.samples
    }
    (rate,) = (row for row in every if (row["figure"], row["part"]) == ("rate", "cell"))
    assert samples["wirelab_rate_per_second", "cell", "estimate"] == pytest.approx(rate["estimate"])
    (p50,) = (row for row in every if (row["figure"], row["part"]) == ("response_p50", "cell"))
    low = samples["wirelab_response_p50_seconds", "cell", "low"]
    assert low == pytest.approx(p50["low"] * 1e-9)
    line = next(one for one in histograms.read_text().splitlines() if one.startswith("Tag="))
    assert line.startswith("Tag=rest-rust") or "/response," in line
    assert HdrHistogram.decode(line.rpartition(",")[2]).get_total_count() > 0


def test_an_unknown_format_is_refused_before_anything_runs(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [_make_trial(0)])
    assert main(["report", str(folder), "--export", str(tmp_path / "a.xlsx")]) == 2
    assert main(["run", "none.yaml", "--export", str(tmp_path / "a.xlsx")]) == 2
