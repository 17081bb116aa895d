"""The comparison of rates of `make next-to-wrk`."""

from __future__ import annotations

import shutil

import pytest

from tools.next_to_wrk import SERVERS, Compared, compare_on, run_server


@pytest.mark.parametrize(
    ("ours", "is_met"), [((99.0, 96.0, 97.0), True), ((80.0, 90.0, 94.0), False)]
)
def test_bound_is_met_where_the_interval_reaches_it(ours: tuple[float, ...], is_met: bool) -> None:
    assert Compared(ours, (100.0, 100.0, 100.0)).is_met is is_met


@pytest.mark.parametrize("name", SERVERS)
def test_both_count_the_calls_of_a_server(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("wrk") is None:
        pytest.skip("wrk is not installed")
    monkeypatch.setattr("tools.next_to_wrk.SECONDS", 1)
    with run_server(name) as url:
        found = compare_on(url, pairs=1)
    assert 0.1 < found.ratio.median < 10.0
