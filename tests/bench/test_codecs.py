"""What the codec program says becomes ratios and judged times."""

from __future__ import annotations

from typing import Any

import pytest

from bench.bounds import MISSED, Ratio
from bench.rows import codecs

LOCK = """
[[package]]
name = "serde_json"
version = "1.0.154"
"""


def format_answer(message: str, peer: str | None, ours_ns: list[float]) -> dict[str, Any]:
    """The answer of a program that timed one case, its peer always at 1 us."""
    peer_ns = [1000.0] * len(ours_ns) if peer else []
    case = {
        "codec": "json",
        "message": message,
        "bytes": 391,
        "ours_ns": ours_ns,
        "peer": peer,
        "peer_ns": peer_ns,
    }
    return {"rounds": len(ours_ns), "cases": [case]}


def ratios(message: str, peer: str | None, ours_ns: list[float]) -> list[Ratio]:
    """Those of the one case."""
    (timed,) = codecs.read_times(format_answer(message, peer, ours_ns), codecs.versions(LOCK))
    return timed.ratios


def test_only_the_small_message_is_judged_by_its_time() -> None:
    """200 B may take 2 us; 1 MB may take as long as it takes."""
    judged, beside = ratios(codecs.JUDGED, "serde_json", [2500.0] * 6)
    assert judged.verdict == MISSED
    assert judged.median == pytest.approx(2.5)
    assert beside.verdict == ""
    assert beside.median == pytest.approx(2.5)
    assert [one.verdict for one in ratios("Submit 1 MB", "serde_json", [9e6] * 6)] == [""]


def test_the_peer_is_named_with_its_version() -> None:
    """The version is the one that was built: Cargo.lock's."""
    assert ratios("Submit 1 MB", "serde_json", [1.0])[0].peer == "serde_json 1.0.154"


def test_without_a_peer_there_is_no_ratio() -> None:
    """SOAP has none; its time is judged all the same."""
    (only,) = ratios(codecs.JUDGED, None, [1900.0] * 6)
    assert only.verdict == "holds"
    assert ratios("Submit 1 MB", None, [1.0]) == []
