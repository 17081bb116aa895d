"""A report of many trials: its work grows with the trials, not with their square."""

from __future__ import annotations

import cProfile
import pstats
from dataclasses import replace
from pathlib import Path

import pytest

from tests.python.synthetic_run import (
    GRPC,
    REST,
    World,
    point,
    trial,
    users,
    without_histograms,
    write_run,
)
from wirelab.records.load import LoadRecord
from wirelab.records.trial import Check, Trial
from wirelab.report import page, section
from wirelab.report.export import to_json
from wirelab.report.section import Table
from wirelab.report.sections import comparisons
from wirelab.report.source import Source
from wirelab.statistics import comparison

REPEATS = 15
FEW, MANY = 2, 8
"""Loads of the smaller and of the larger run: 60 and 240 trials."""
STEEPEST = 4
"""Times the calls for four times the trials. A table that is measured for every value: 6.9."""


def _run(folder: Path, loads: int) -> Source:
    """Two stacks under so many loads: copies of two trials, each with a mark of its own, so that
    the table of checks has a row for each."""
    made = [without_histograms(trial(point(stack), 0, 0, World())) for stack in (REST, GRPC)]
    every: list[Trial] = [
        replace(
            one,
            id=f"{one.id}-{load}-{repeat}",
            point=replace(one.point, load=LoadRecord(kind="closed", users=2**load)),
            repeat=repeat,
            checks=(Check("errors", "marked", f"{load}, {repeat}"),),
        )
        for one in made
        for load in range(loads)
        for repeat in range(REPEATS)
    ]
    return Source.read(write_run(folder, every))


def _calls(folder: Path, loads: int) -> int:
    """Calls of functions while the page of so many loads is written. They are counted, for the
    clock of a busy machine tells nothing."""
    source = _run(folder, loads)
    assert len(source.trials) == 2 * REPEATS * loads
    profile = cProfile.Profile()
    text = profile.runcall(page.render, source)
    assert text.count('<th scope="row"') > 2 * REPEATS * loads
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def test_four_times_the_trials_are_at_most_four_times_the_work(tmp_path: Path) -> None:
    few, many = _calls(tmp_path / "few", FEW), _calls(tmp_path / "many", MANY)
    assert many < STEEPEST * few, f"{few:,} calls for 60 trials, {many:,} for 240"


STACKS = 24
"""276 pairs in each of 5 figures and 2 loads: more than the table of comparisons holds."""


def test_of_many_stacks_the_table_compares_the_best_with_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of pairs grows with the square of the stacks; the rows and the expensive
    search for further repeats do not."""
    searched = []

    def further_repeats(*arguments: object) -> None:
        searched.append(arguments)

    monkeypatch.setattr(comparison, "further_repeats", further_repeats)
    one = without_histograms(trial(point(REST), 0, 0, World()))
    every = [
        replace(
            one,
            id=f"t-{stack}-{load}-{repeat}",
            point=point(f"rest@rust?codec=c{stack}", 14, users(load)),
            repeat=repeat,
            result=replace(one.result, rate_per_s=one.result.rate_per_s * (1 + 0.03 * repeat)),
        )
        for stack in range(STACKS)
        for load in (1, 8)
        for repeat in range(3)
    ]
    source = Source.read(write_run(tmp_path / "run", every))
    found = comparisons.comparisons(source)
    assert found.count == 5 * 2 * STACKS * (STACKS - 1) // 2 > comparisons.COMPARISONS_MAX
    assert found.shown == 5 * 2 * (STACKS - 1)
    ratios, reasons = found.tables
    assert 2 * (STACKS - 1) <= len(ratios.rows) <= found.shown
    assert len(reasons.rows) < found.shown / 4, "comparisons with one reason share a row"
    text = page.render(source)
    assert f"The table has {found.shown} of {found.count:,} comparisons: in each setting" in text
    assert len(searched) <= 4 * found.shown
    assert len(to_json(every, 0.05)["comparisons"]) == found.count


def test_a_table_is_measured_once_whatever_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The template asks for every value whether the table is long."""
    measured = []

    def longest_word(text: str) -> int:
        measured.append(text)
        return len(text)

    monkeypatch.setattr(section, "longest_word", longest_word)
    rows = [[f"{row}.{column}" for column in range(10)] for row in range(250)]
    table = Table([f"column {n}" for n in range(10)], rows)
    assert all(table.long for _ in range(2500))
    assert len(measured) <= 10 + 2500
