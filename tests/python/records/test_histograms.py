"""Histograms leave the journal and are kept in a file, all of them."""

from __future__ import annotations

import json

from wirelab.records.group import GroupResult, histogram_log
from wirelab.records.trial import Json


def _group() -> GroupResult:
    """With sequences, of which one ended by a failed call."""

    def times(count: int) -> Json:
        return {"count": count, "max_ns": 5_000_000, "hdr": f"histogram of {count}"}

    group = {
        "window_start_ns": 2_000_000_000,
        "window_s": 1.0,
        "times": {"response": times(10), "response_good": times(9), "response_failed": times(1)},
        "operations": [{"operation": "Reserve", "times": {"response": times(5)}}],
        "sequences": {"count": 3, "response": times(3), "response_good": times(2)},
    }
    return GroupResult.of(group)


def test_no_histogram_stays_in_the_journal() -> None:
    assert "hdr" not in str(_group().remove_histograms().to_json())


def test_every_histogram_is_a_tagged_line_of_the_file() -> None:
    tags = [line.split(",")[0] for line in histogram_log(_group()).splitlines()[3:]]
    assert tags == [
        "Tag=response",
        "Tag=response_good",
        "Tag=response_failed",
        "Tag=Reserve.response",
        "Tag=sequence.response",
        "Tag=sequence.response_good",
    ]


def test_a_result_is_written_with_the_keys_it_was_read_with() -> None:
    """Null where the load has no such thing; left out where the caller did not record it."""
    group: Json = {
        "name": "main",
        "load": "closed",
        "window_s": 1.0,
        "calls_planned": None,
        "calls": 3,
        "ok": 3,
        "errors": 0,
        "errors_by_kind": {},
        "errors_by_code": {},
        "error_examples": [],
        "rate_per_s": 3.0,
        "rate_planned_per_s": None,
        "warmup": {"seconds": 0.0, "calls": 0},
        "times": {
            "response": {
                "count": 3,
                "mean_ns": 2.5,
                "min_ns": 1,
                "max_ns": 4,
                "percentiles_ns": {"p50": 2},
            }
        },
        "series": [3],
        "operations": [],
        "sequences": None,
    }
    written = GroupResult.of({**group, "of_a_later_lab": 1}).to_json()
    assert json.loads(json.dumps(written)) == group
    assert GroupResult().to_json() == {}
