"""Histograms leave the journal and are kept in a file, all of them."""

from __future__ import annotations

from wirelab.trial import record
from wirelab.trial.record import Json


def _group() -> Json:
    """With sequences, of which one ended by a failed call."""

    def times(count: int) -> Json:
        return {"count": count, "max_ns": 5_000_000, "hdr": f"histogram of {count}"}

    return {
        "window_start_ns": 2_000_000_000,
        "window_s": 1.0,
        "times": {"response": times(10), "response_good": times(9), "response_failed": times(1)},
        "operations": [{"operation": "Reserve", "times": {"response": times(5)}}],
        "sequences": {"count": 3, "response": times(3), "response_good": times(2)},
    }


def test_no_histogram_stays_in_the_journal() -> None:
    assert "hdr" not in str(record.without_histograms(_group()))


def test_every_histogram_is_a_tagged_line_of_the_file() -> None:
    tags = [line.split(",")[0] for line in record.histogram_log(_group()).splitlines()[3:]]
    assert tags == [
        "Tag=response",
        "Tag=response_good",
        "Tag=response_failed",
        "Tag=Reserve.response",
        "Tag=sequence.response",
        "Tag=sequence.response_good",
    ]
