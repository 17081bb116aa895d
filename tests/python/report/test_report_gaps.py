"""Histograms of the time between packets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from tests.python.synthetic_packets import change_dissection, make_dissection
from wirelab.documents.dissection import Bin
from wirelab.report.sections import packet_gaps
from wirelab.trial import dissected as dissections

Json = dict[str, Any]


def row(position: int, histogram: dict[float, int], mean: float) -> Json:
    return {
        "position": position,
        "direction": "reply",
        "flags": "FIN ACK",
        "bytes_median": 0,
        "gap_us": {"mean": mean, "deviation": 1.0, "n": sum(histogram.values())},
        "gap_histogram": [{"from_us": at, "n": n} for at, n in histogram.items()],
    }


def bins(histogram: dict[float, int]) -> tuple[Bin, ...]:
    return msgspec.convert(row(1, histogram, 1.0)["gap_histogram"], tuple[Bin, ...])


@pytest.mark.parametrize(
    "histogram",
    [
        {300_000.0: 40},
        {0.0: 39, 0.5: 1},
        {100_000.0 + 1_000.0 * n: n + 1 for n in range(100)},
        {7_900.0: 3, 439_000.0: 37},
        {1.0: 30, 1_000_000.0: 10},
    ],
)
def test_every_exchange_is_in_one_bar(histogram: dict[float, int]) -> None:
    edges, counts = packet_gaps.bars(bins(histogram))
    assert counts.sum() == sum(histogram.values())
    assert 1 <= counts.size <= packet_gaps.BARS_MAX
    assert edges.size == counts.size + 1
    assert (np.diff(edges) > 0).all()


def test_bars_are_no_finer_than_what_was_counted() -> None:
    """Else a smooth distribution would look like a comb."""
    steps = [40_000.0 * (1 + packet_gaps.BIN) ** n for n in range(6)]
    edges, counts = packet_gaps.bars(bins(dict.fromkeys(steps, 10)))
    assert counts.min() > 0
    assert np.diff(edges).min() >= steps[0] * packet_gaps.BIN


def test_the_longest_waits_are_drawn_in_the_order_of_their_packets() -> None:
    long = {40_000.0: 20, 44_000.0: 20}
    rows = [row(n, long, mean) for n, mean in enumerate((5.0, 300.0, 40.0, 90.0, 80.0, 1.0), 1)]
    drawn = packet_gaps.pictures(make_dissection(interarrival=rows), "SOAP")
    assert [picture.caption for picture in drawn] == [f"packet {n} of SOAP" for n in (2, 4, 5)]
    assert "40.0 ms to 44.3 ms" in drawn[0].alt


def test_few_exchanges_and_older_documents_have_no_picture(tmp_path: Path) -> None:
    few, older = row(1, {40.0: 19}, 40.0), row(1, {40.0: 40}, 40.0)
    del older["gap_histogram"]
    for rows in ([few], [older], []):
        file = tmp_path / "dissection.json"
        file.write_text(json.dumps(change_dissection(interarrival=rows)), encoding="utf-8")
        assert packet_gaps.pictures(dissections.read(file), "SOAP") == []
    assert len(packet_gaps.pictures(make_dissection(), "SOAP")) == 1
