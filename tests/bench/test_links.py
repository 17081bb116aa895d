"""What the emulator says of itself becomes bounds, and a page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from bench.pages import measurements
from bench.process import BenchError, NotHere
from bench.rows import links


def format_answer(
    tries: list[float], bound: str = "at most", promised: float = 0.8
) -> dict[str, Any]:
    """A line of the program."""
    name = "RTT 2.5 ms: p50 above nominal, ms"
    return {"name": name, "tries": tries, "bound": bound, "promised": promised}


def test_a_promise_is_broken_where_no_try_keeps_it() -> None:
    """One that keeps it leaves it open, as a busy machine can only make a figure worse."""
    assert links.figure(format_answer([0.9, 1.0, 3.0, 2.0, 0.81])).verdict == "BROKEN"
    assert links.figure(format_answer([0.9, 1.0, 3.0, 2.0, 0.8])).verdict == "undecided"
    assert links.figure(format_answer([0.1, 0.2, 3.0, 0.2, 0.1])).verdict == "undecided"
    assert links.figure(format_answer([0.1, 0.2, 0.3, 0.2, 0.1])).verdict == "holds"
    assert links.figure(format_answer([1.4] * 5, "at least", 1.5)).verdict == "BROKEN"
    assert links.figure(format_answer([1.6, 1.7, 1.6], "at least", 1.5)).verdict == "holds"


def test_a_bound_of_another_kind_is_refused() -> None:
    """It would be judged by nobody."""
    with pytest.raises(BenchError, match="about"):
        links.figure(format_answer([1.0], "about"))


def test_without_root_or_tun_the_row_is_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With what is missing, before anything is built."""
    monkeypatch.setattr(links, "TUN", tmp_path / "tun")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(NotHere, match="tun"):
        links.run()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(NotHere, match="root"):
        links.run()


def test_the_page_shows_the_best_the_median_and_the_verdict() -> None:
    """A p99 of an hour is that of echoes that never came."""
    figures = [
        {"figure": "RTT", "values": [0.3, 0.2, 3_599_986.2], "at_most": 0.8, "at_least": None},
        {"figure": "lost", "values": [3_599_986.2] * 3, "at_most": 0.8, "at_least": None},
        {"figure": "packets/s", "values": [9e4, 2e5], "at_most": None, "at_least": 150_000.0},
    ]
    machine = {"processor": "a processor", "cores": [0, 1], "kernel": "6", "revision": "abc"}
    row = {"others_share": 0.6, "ratios": figures}
    document = {"taken": "2026-01-02T03:04:05", "machine": machine, "rows": {"links": row}}
    page = measurements.links_parts(measurements.LINKS_PAGE.read_text(encoding="utf-8"), document)
    assert "| RTT | 0.200 | 0.300 | at most 0.8 | undecided |" in page
    assert "| lost | echoes lost | echoes lost | at most 0.8 | BROKEN |" in page
    assert "| packets/s | 200,000 | 145,000 | at least 150,000 | undecided |" in page
    assert "other work had 60%" in page
    assert measurements.links_parts(page, document) == page
