"""A capture's price is taken from real loads under real captures."""

from __future__ import annotations

import os
from typing import Any

import pytest

from bench.pages import measurements
from bench.process import NotHere
from bench.rows import captures
from bench.servers import ENGINE


@pytest.mark.skipif(os.geteuid() != 0, reason="captures and links need root")
@pytest.mark.skipif(not ENGINE.exists(), reason="make setup builds the engine")
def test_every_load_is_captured_whole() -> None:
    """Each stack over each link, with and without; every call is two packets at least, and
    their replies are counted by the engine itself."""
    found = captures.run(1, 0.2)
    assert [(one.link, one.stack) for one in found] == [
        (link, stack.name) for link in captures.LINKS for stack in captures.STACKS
    ]
    for one in found:
        (rnd,), (captured,) = one.rounds, one.captured
        assert list(rnd) == [captures.WITHOUT, captures.WITH]
        assert all(reading.p50_us and reading.p50_us > 0 for reading in rnd.values())
        connections = next(s.load.connections for s in captures.STACKS if s.name == one.stack)
        assert captured.packets + captured.drops > 2 * connections
        assert [ratio.figure for ratio in one.ratios] == list(captures.FIGURES)


def test_without_root_the_row_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the reason, and as no failure."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(NotHere, match="root"):
        captures.run(1, 0.2)


def ablation(ratio: float, others_share: float) -> dict[str, Any]:
    """As a run saves it, six rounds alike."""
    figures = [
        {"figure": name, "peer": "rest@rust over lan", "values": [ratio] * 6}
        for name in captures.FIGURES
    ]
    return {
        "stack": "rest@rust",
        "link": "lan",
        "packets_per_s": 81_234.5,
        "capture_us": 0.71,
        "drops": 3,
        "others_share": others_share,
        "rounds": [{captures.WITHOUT: {"rate_per_s": 20_000.0}}] * 6,
        "ratios": figures,
    }


def document(ratio: float, others_share: float = 0.02) -> dict[str, Any]:
    """The file of a run."""
    machine = {"processor": "a processor", "cores": [0, 1], "kernel": "6", "revision": "abc"}
    rows = {measurements.CAPTURE_ROW: {"ablations": [ablation(ratio, others_share)]}}
    return {"taken": "2026-01-02T03:04:05+00:00", "machine": machine, "rows": rows}


def test_the_page_shows_ratios_drops_and_disturbance() -> None:
    """What was there before is gone; the same document gives the same page."""
    page = measurements.CAPTURE_PAGE.read_text(encoding="utf-8")
    made = measurements.capture_parts(page, document(0.93))
    for words in ("2026-01-02", "0.93 [0.93 … 0.93]", "81,234", "0.71 µs", "| 3 |", "20,000"):
        assert words in made
    assert "not quiet" not in made
    again = measurements.capture_parts(made, document(0.93, others_share=0.4))
    assert "other work had 40% of the two cores" in again
    assert measurements.capture_parts(again, document(0.93)) == made
