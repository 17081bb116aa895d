"""A report of many trials: its work grows with the trials, not with their square."""

from __future__ import annotations

import cProfile
import pstats
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.python.synthetic_run import (
    GRPC,
    REST,
    World,
    point,
    remove_histograms,
    trial,
    trials,
    users,
    write_run,
)
from wirelab.records.load import LoadRecord
from wirelab.records.trial import Check, Trial
from wirelab.report import explorer, page, section
from wirelab.report.charts.load_panels import PANELS_MAX
from wirelab.report.export import to_json
from wirelab.report.section import Table
from wirelab.report.sections import comparisons
from wirelab.report.source import Source
from wirelab.statistics import comparison, mean
from wirelab.statistics.figure import RATE

REPEATS = 15
FEW, MANY = 2, 8
"""Loads of the smaller and of the larger run: 60 and 240 trials."""
STEEPEST = 4
"""Times the calls for four times the trials. A table that is measured for every value: 6.9."""


def _run(folder: Path, loads: int) -> Source:
    """Two stacks under that number of loads: copies of two trials, each with a mark of its own, so
    that the table of checks has a row for each."""
    made = [remove_histograms(trial(point(stack), 0, 0, World())) for stack in (REST, GRPC)]
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
    """Calls of functions while the page of that number of loads is written. They are counted, for
    the clock of a busy machine shows nothing."""
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
    one = remove_histograms(trial(point(REST), 0, 0, World()))
    every = [
        replace(
            one,
            id=f"t-{stack}-{load}-{repeat}",
            point=point(f"rest@rust?connection=pool={stack + 2}", 14, users(load)),
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


SETTINGS = 1_000
CPU_S_MAX, MEMORY_MB_MAX = 20.0, 400
# Not ru_maxrss: that begins with the peak of the process that forked this one.
WRITE = """
import re, sys, time
from pathlib import Path
from wirelab.report import page
path = page.write_page(Path(sys.argv[1]))
peak_kb = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
print(time.process_time(), int(peak_kb) / 1e3, path)
"""


def test_a_page_of_a_thousand_settings_takes_seconds(tmp_path: Path) -> None:
    """250 messages under 4 loads, by two stacks; the browser draws what has no static picture."""
    folder = tmp_path / "many"
    kept = [trial(point(stack), 0, 0, World()) for stack in (REST, GRPC)]
    every = [
        replace(
            one,
            id=f"{at}-{size}-{load}",
            point=replace(
                one.point, bytes=14 + size, load=LoadRecord(kind="closed", users=2**load)
            ),
        )
        for at, one in enumerate(kept)
        for size in range(SETTINGS // 4)
        for load in range(4)
    ]
    write_run(folder, every)
    words = [sys.executable, "-c", WRITE, str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=500)
    cpu_s, memory_mb, written = done.stdout.split()
    assert float(cpu_s) < CPU_S_MAX
    assert float(memory_mb) < MEMORY_MB_MAX
    text = Path(written).read_text(encoding="utf-8")
    assert f"{PANELS_MAX} of 250 pictures are here" in text
    assert f"{PANELS_MAX} of 1,000 pictures are here" in text
    assert text.count("<figure") <= 6 * PANELS_MAX
    source = Source.read(folder)
    assert len(explorer.data(source, RATE)["cells"]) == 2 * SETTINGS  # type: ignore[arg-type]


def test_a_page_of_a_few_settings_has_a_picture_of_each(tmp_path: Path) -> None:
    world = World(sizes=tuple(range(14, 14 + PANELS_MAX)), loads=(users(1),), repeats=1)
    text = page.render(Source.read(write_run(tmp_path / "few", trials(world))))
    assert "pictures are here" not in text
    assert text.count("<figure") == 6 * PANELS_MAX


@pytest.mark.parametrize("draws", [1, 1_999, 10**9])
def test_the_size_of_parts_does_not_change_an_interval(
    draws: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with all resamples at once, which takes 80 kB for each value."""
    values = np.exp(np.random.default_rng(7).normal(0.0, 0.3, size=23))
    whole = mean.mean_interval(values)
    monkeypatch.setattr(mean, "DRAWS_MAX", draws)
    assert mean.mean_interval(values) == whole
