"""The page that compares the engine with other tools shows the content of a run's file."""

from __future__ import annotations

from typing import Any

import pytest

from bench.pages import measurements, publish


def ratio(figure: str, peer: str, *values: float, **bound: float) -> dict[str, Any]:
    """A ratio as a run's file keeps it."""
    bounds = {"at_most": None, "at_least": None, "aim": False, **bound}
    return {"figure": figure, "peer": peer, "values": list(values), **bounds}


def document() -> dict[str, Any]:
    """A run of all rows of the page, on a quiet machine."""
    machine = {"processor": "a processor", "cores": [0, 1], "kernel": "6", "revision": "abc"}
    rows: dict[str, Any] = {
        key: {"title": key, "others_share": 0.01, "ratios": []} for key in measurements.PEERS_ROWS
    }
    rows["http"]["ratios"] = [
        ratio("CPU per call", "wrk", 0.9, 1.0, 1.2, 0.9, 1.0, 1.0, at_most=1.1),
        ratio("CPU per call, decode", "wrk", 2.0, 2.0),
    ]
    rows["grpc"]["ratios"] = [ratio("requests/s", "ghz", *[2.0] * 6, at_least=3.0)]
    rows["packets"] = {"packets": 4_000_000, "others_share": 0.01, "ratios": []}
    rows["packets"]["ratios"] = [ratio("M packets/s of a core", "", *[2.0] * 6, at_least=1.5)]
    peers = {"wrk": "wrk 4.1.0 Copyright (C) 2012", "h2load": "h2load 1.52"}
    return {"taken": "2026-01-02T03:04:05", "machine": {**machine, "peers": peers}, "rows": rows}


def test_every_ratio_is_shown_with_its_promise_and_verdict() -> None:
    page = measurements.peers_parts(measurements.PEERS_PAGE.read_text(encoding="utf-8"), document())
    assert "| http | CPU per call / wrk | 1.00 [0.90 … 1.20] | at most 1.1 | undecided |" in page
    assert "| http | CPU per call, decode / wrk | 2.00 [2.00 … 2.00] |  |  |" in page
    assert "| grpc | requests/s / ghz | 2.00 [2.00 … 2.00] | at least 3 | BROKEN |" in page
    assert "| a capture of 4,000,000 packets | M packets/s of a core | 2.00" in page
    assert "Versions that the peers report: wrk: wrk 4.1.0; h2load: h2load 1.52." in page
    assert measurements.peers_parts(page, document()) == page


def test_a_part_of_the_rows_is_not_published() -> None:
    assert publish.reason_not_to_publish(["http", "grpc"], quick=False) is not None
    assert publish.reason_not_to_publish(list(measurements.PEERS_ROWS), quick=False) is None


def test_a_page_without_its_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="where"):
        measurements.peers_parts("# nothing", document())
