"""The row of the build: cargo's own timings, and the page that is written from them."""

from __future__ import annotations

from typing import Any

import pytest

from bench.pages import measurements, publish
from bench.process import BenchError, NotHere
from bench.rows import build

TIMINGS = """\
<script>
const UNIT_DATA = [
  {"i": 0, "name": "ring", "target": " build-script (run)", "duration": 2.5},
  {"i": 1, "name": "wirelab-wire", "target": "", "duration": 80.04}
];
const CONCURRENCY_DATA = [];
</script>
"""


def test_units_are_listed_by_their_time() -> None:
    assert build.parse_units(TIMINGS) == [
        build.Unit("wirelab-wire", "", 80.04),
        build.Unit("ring", "build-script (run)", 2.5),
    ]


def test_a_page_without_units_is_an_error() -> None:
    with pytest.raises(BenchError, match="no UNIT_DATA"):
        build.parse_units("<html></html>")


def test_a_quick_run_says_why_it_has_no_build() -> None:
    with pytest.raises(NotHere, match="leave --quick out"):
        build.run(quick=True)


def _document() -> dict[str, Any]:
    machine = {"processor": "a processor", "cores": [0, 1], "kernel": "6", "revision": "abc"}
    aim = {"figure": "wall time of the build, s", "values": [437.06], "at_most": 288.3}
    ratio = {**aim, "peer": "", "at_least": None, "aim": True}
    units = [{"name": "ring", "target": "build-script (run)", "seconds": 2.5}]
    row = {"others_share": 0.01, "ratios": [ratio], "units": units, "unit_count": 1}
    return {
        "taken": "2026-01-02T03:04:05",
        "machine": machine,
        "rows": {measurements.BUILD_ROW: row},
    }


def test_the_page_states_what_misses_its_bound() -> None:
    before = measurements.BUILD_PAGE.read_text(encoding="utf-8")
    page = measurements.build_parts(before, _document())
    assert "| wall time of the build, s | 437 | at most 288.3 | missed |" in page
    assert "| `ring` build-script (run) | 2.5 |" in page
    assert measurements.build_parts(page, _document()) == page


def test_the_row_alone_is_enough_to_publish() -> None:
    assert publish.reason_not_to_publish([measurements.BUILD_ROW], quick=False) is None
