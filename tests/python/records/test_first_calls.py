"""The first calls of a fresh process: what trials with ``start=cold`` keep and the report shows."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from math import sqrt
from pathlib import Path
from statistics import median

import pytest

from tests.python.synthetic_run import REST, World, point, trial, users, write_run
from wirelab.experiment import loading as experiment_file
from wirelab.explain.figures import require_figure
from wirelab.records.line import from_line, to_line
from wirelab.records.trial import Trial
from wirelab.report import export
from wirelab.report.charts.first_calls import call_points
from wirelab.report.sections import first_calls
from wirelab.report.source import Source
from wirelab.run import runner as running
from wirelab.run.runner import Run
from wirelab.statistics.figure import FIRST_CALLS

COLD = f"{REST}&start=cold"
TEXT = """\
name: cold
services: [STACKS]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: USERS}]
window: {calls: 1200, max: 20 s}
warmup: {min: 0 s, max: 200 ms}
repeats: 1
"""


def _run(out: Path, *stacks: str, users: int = 1) -> Run:
    listed = ", ".join(f'"{stack}"' for stack in stacks)
    text = TEXT.replace("STACKS", listed).replace("USERS", str(users))
    return running.run(experiment_file.parse(text), out, source=text, unverified=True)


def _cold(repeat: int, calls: tuple[int, ...]) -> Trial:
    one = trial(point(COLD, 14, users(1)), repeat, repeat, World())
    return replace(one, result=replace(one.result, first_calls_ns=calls))


def test_a_range_that_was_not_completed_has_no_figure_and_failed_calls_count_in_no_mean() -> None:
    calls = (9_000_000, 0, *([2_000] * 8), *([1_000] * 90), 500)
    (read,) = from_line(json.loads(json.dumps(to_line([_cold(0, calls)]))))
    assert [figure.of(read) for figure in FIRST_CALLS] == [9_000_000, 2_000, 1_000, None]
    assert all(require_figure(figure.name) is figure for figure in FIRST_CALLS)
    failed = _cold(0, (0, 5))
    assert [figure.of(failed) for figure in FIRST_CALLS] == [None] * 4
    warm = trial(point(REST, 14, users(1)), 0, 0, World())
    assert [figure.of(warm) for figure in FIRST_CALLS] == [None] * 4
    assert "first_calls_ns" not in to_line([warm])["cells"][0]["result"]


def test_a_line_is_the_geometric_mean_of_the_trials_in_their_range() -> None:
    points = call_points([(2_000_000, 0, 7), (8_000_000, 3_000_000)])
    assert [(one.first, one.last) for one in points] == [(1, 1), (2, 2)]
    assert [one.low for one in points] == pytest.approx([2.0, 3.0])
    assert [one.high for one in points] == pytest.approx([8.0, 3.0])
    assert points[0].mean == pytest.approx(sqrt(2.0 * 8.0))


def test_later_calls_share_points_and_every_call_is_in_one() -> None:
    points = call_points([[1_000_000] * 1000])
    ends = [(one.first, one.last) for one in points]
    assert ends[:21][-2:] == [(20, 21), (22, 23)]
    assert all(before[1] + 1 == after[0] for before, after in pairwise(ends))
    assert (ends[0], ends[-1][1]) == ((1, 1), 1000)
    assert len(ends) < 70
    assert all(one.mean == pytest.approx(1.0) for one in points)


def test_the_report_shows_first_calls_of_cold_cells_alone(tmp_path: Path) -> None:
    calls = (4_000_000, *([200_000] * 99), *([100_000] * 900))
    warm = [trial(point(REST, 14, users(1)), n, 10 + n, World()) for n in range(2)]
    write_run(tmp_path / "run", [*warm, *(_cold(n, calls) for n in range(2))])
    made = first_calls.section(Source.read(tmp_path / "run"))
    [[_, load, *shown]] = made.tables[0].rows
    assert load == "1 user"
    assert shown == ["4.00 ms", "200 µs", "200 µs", "100 µs"]
    assert len(made.figures) == 1
    assert "from 4 ms at call 1 to 0.1 ms at call 1000" in made.figures[0].alt
    assert "first_call" not in {row["figure"] for row in export.rows(warm)}
    of_cold = export.rows([_cold(n, calls) for n in range(2)])
    (exported_first,) = (row for row in of_cold if row["figure"] == "first_call")
    assert exported_first["estimate"] == pytest.approx(4_000_000)
    write_run(tmp_path / "warm", warm)
    empty = first_calls.section(Source.read(tmp_path / "warm"))
    assert not any((empty.tables, empty.figures, empty.paragraphs))


def test_a_single_call_is_a_figure_without_a_line(tmp_path: Path) -> None:
    write_run(tmp_path / "run", [_cold(n, (3_000_000,)) for n in range(2)])
    made = first_calls.section(Source.read(tmp_path / "run"))
    assert made.tables[0].rows[0][2] == "3.00 ms"
    assert not made.figures


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_the_first_call_of_a_java_service_is_slower_than_its_thousandth(tmp_path: Path) -> None:
    """And each of its first 1,000 calls is kept by the engine."""
    (found,) = _run(tmp_path / "run", "rest@java?start=cold").trials
    assert found.status == "measured", found.reason
    calls = found.result.first_calls_ns
    assert calls is not None
    assert len(calls) == 1000
    assert calls[0] > 3 * median(calls[-100:])
    assert require_figure("first_call").of(found) == calls[0]


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_all_users_calls_are_kept_and_none_of_a_warm_process(tmp_path: Path) -> None:
    found = _run(tmp_path / "run", "rest@rust?start=cold", "rest@rust", users=16)
    kept = {one.point.axes.start: one.result.first_calls_ns for one in found.trials}
    assert len(kept["cold"] or ()) == 1000
    assert all(kept["cold"] or ())
    assert not kept["warm"]
