"""The report's section on the services' runtimes."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.python.synthetic_run import GRPC, REST, World, point, trial, users, write_run
from wirelab.documents.event import TimePoint
from wirelab.records.trial import Trial
from wirelab.report import contents
from wirelab.report.charts.canvas import TITLE_LINE
from wirelab.report.charts.over_time import (
    COLOURS,
    STRIP,
    Quantity,
    Strip,
    draw_over_time,
)
from wirelab.report.page import write_page
from wirelab.report.sections import runtime
from wirelab.report.source import Source
from wirelab.trial import series
from wirelab.trial.series import Series

SECOND_NS = 1_000_000_000
REPEATS = 4
HEAP = {"mean": 4e7, "max": 5e7}


def make_trial(stack: str, repeat: int, paused_s: float = 0.0) -> Trial:
    """A trial whose service has a heap."""
    one = trial(point(stack, 14, users(4)), repeat, repeat, World())
    heap = {key: value * (1 + 0.01 * repeat) for key, value in HEAP.items()}
    found = {
        "heap_used_bytes": heap,
        "gc_pause_seconds_total": {"growth": paused_s},
        "threads": {"mean": 17.0, "max": 17.0},
    }
    return replace(one, service=replace(one.service, runtime_metrics=found))


def _series(folder: Path, one: Trial) -> None:
    made = Series()
    for second in range(8):
        heap = 4e7 + 1e6 * second
        made.add(
            second * SECOND_NS,
            {
                "heap_committed_bytes": 6e7,
                "heap_used_bytes": heap,
                "rss_bytes": 9e7,
                "rate_per_s": 1000.0 + second,
                "calls_total": 1000.0 * second,
                "call_seconds_total": 2.0 * second,
            },
        )
    made.open_window(2 * SECOND_NS)
    p50 = [
        TimePoint(start_s=0.5 * at, duration_s=0.5, calls=500, ns=2_000_000 + 100_000 * at)
        for at in range(8)
    ]
    p99 = TimePoint(start_s=0.0, duration_s=4.0, calls=4000, ns=80_000_000)
    made.response({"p50": p50, "p99": [p99]})
    made.write(folder / "trials" / one.id / series.NAME)


def write_sampled_run(folder: Path, every: list[Trial]) -> Path:
    """A run directory with the series of each trial."""
    write_run(folder, every)
    for one in every:
        _series(folder, one)
    return folder


@pytest.fixture
def every() -> list[Trial]:
    return [make_trial(REST, repeat, 0.05) for repeat in range(REPEATS)]


def test_a_table_has_intervals_over_the_repeats(tmp_path: Path, every: list[Trial]) -> None:
    made = runtime.section(Source.read(write_sampled_run(tmp_path / "run", every)))
    (table,) = made.tables
    assert table.columns == ["stack", "load", "heap used", "heap used, max", "GC pauses, %",
                             "threads, max"]  # fmt: skip
    ((_, _, used, most, paused, threads),) = table.rows
    assert used.startswith("40.6 MB\n39.")
    assert most.startswith("50.7 MB\n")
    assert paused == "2.50"
    assert threads == "17.0"


def test_pauses_of_zero_are_shown_as_zero(tmp_path: Path) -> None:
    none = [make_trial(REST, repeat) for repeat in range(REPEATS)]
    (table,) = runtime.section(Source.read(write_sampled_run(tmp_path / "none", none))).tables
    assert table.rows[0][4] == "0"
    some = [make_trial(REST, repeat, 0.1 * (repeat % 2)) for repeat in range(REPEATS)]
    (table,) = runtime.section(Source.read(write_sampled_run(tmp_path / "some", some))).tables
    assert table.rows[0][4].endswith("\n0 in 2 of 4")


def test_a_cell_is_drawn_over_time_next_to_its_rate(tmp_path: Path, every: list[Trial]) -> None:
    made = runtime.section(Source.read(write_sampled_run(tmp_path / "run", every)))
    (picture,) = made.figures
    assert "rate up to 1,010 calls/s" in picture.alt
    assert "p99 up to 80 ms, p50 up to 2.7 ms" in picture.alt
    assert "in service up to 2 ms" in picture.alt
    assert "committed up to 60 MB, used up to 47 MB, resident up to 90 MB" in picture.alt


def test_many_cells_are_not_all_drawn(tmp_path: Path) -> None:
    count = runtime.CHARTS_MAX // 2 + 1
    loads = [users(2 + number) for number in range(count)]
    many = [
        replace(
            make_trial(stack, 0), point=point(stack, 14, load), id=f"{number}-{stack.split('@')[0]}"
        )
        for number, load in enumerate(loads)
        for stack in (REST, GRPC)
    ]
    made = runtime.section(Source.read(write_sampled_run(tmp_path / "run", many)))
    assert len(made.figures) == runtime.CHARTS_MAX
    shown = f"The charts show the first {runtime.CHARTS_MAX} of {2 * count:,} cells"
    assert shown in made.paragraphs[-1]


def test_a_damaged_series_is_named_and_the_rest_is_drawn(
    tmp_path: Path, every: list[Trial]
) -> None:
    folder = write_sampled_run(tmp_path / "run", every)
    (folder / "trials" / every[0].id / series.NAME).write_bytes(b"torn")
    made = runtime.section(Source.read(folder))
    assert len(made.figures) == 1
    assert "Not drawn, because it cannot be read" in made.paragraphs[-1]


def test_the_page_has_the_section(tmp_path: Path, every: list[Trial]) -> None:
    page = write_page(write_sampled_run(tmp_path / "run", every)).read_text(encoding="utf-8")
    assert "Runtime of the services" in page


def test_a_run_of_an_older_lab_has_none(tmp_path: Path) -> None:
    old = [trial(point(REST), repeat, repeat, World()) for repeat in range(2)]
    source = Source.read(write_run(tmp_path / "run", old))
    assert not any("Runtime" in made.title for made in contents.list_further_sections(source))


def test_a_long_title_is_broken_and_its_picture_grows() -> None:
    strip = Strip("ms", [Quantity("p50", [[(0.0, 1.0), (1.0, 2.0)]])])

    def height(title: str) -> float:
        picture = draw_over_time([strip], title, 1.0)
        assert picture is not None
        found = re.search(r'viewBox="0 0 420 ([0-9.]+)"', picture.svg)
        assert found
        return float(found[1])

    short = height("rest@rust: Hello 14 B, 4 users")
    longer = height("grpc@rust: Hello 14 B, 100 users, from 0 to 20 in 2 s, 100 in 3 s, 0 in 1 s")
    assert longer == short + TITLE_LINE


@pytest.mark.parametrize("longest", [10.0, 1000.0])
def test_a_p50_next_to_a_much_longer_p99_does_not_lie_on_the_axis(longest: float) -> None:
    levels = {"p99": longest, "p50": 1.0}
    lines = [Quantity(name, [[(0.0, ms), (1.0, ms)]]) for name, ms in levels.items()]
    picture = draw_over_time([Strip("ms", lines, by_factors=True)], "times", 1.0)
    assert picture is not None
    p99, p50 = (
        float(re.findall(rf"M [\d.]+ ([\d.]+) L [^>]*stroke: {colour.lower()}", picture.svg)[0])
        for colour in COLOURS[:2]
    )
    axis = 34.0 + STRIP
    assert p99 < p50 < axis - 2.0
