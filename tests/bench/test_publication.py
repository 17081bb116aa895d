"""What is published is what was measured: page and data come from one run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench.bounds import MISSED
from bench.pages import engine_tax, publish
from bench.rows import tax
from bench.run import FULL


def make_reading(cpu_us: float, moved: float) -> dict[str, float]:
    """A reading as the bench saves it, as far as it is published."""
    return {"client_us_per_call": cpu_us, "bytes_per_call": moved, "others_share": 0.04}


def row(reference: str, ratio: float | None) -> dict[str, Any]:
    """A row of six alike rounds."""
    rnd = {name: make_reading(5.0, 700.0) for name in (tax.FRAME, tax.DECODE, tax.SMALL)}
    rnd |= {tax.EQUAL: make_reading(6.0, 1000.0), tax.REST_EQUAL: make_reading(5.0, 1010.0)}
    found = {"values": [ratio] * 6, "at_most": 1.2, "at_least": 0.8}
    return {"stack": reference, "rounds": [rnd] * 6, "ratios": [] if ratio is None else [found]}


def document(ratio: float = 1.3) -> dict[str, Any]:
    """The file of a run."""
    rows: dict[str, Any] = {
        key: row(reference, None if reference == tax.REST else ratio)
        for key, reference in tax.STACKS.items()
    }
    case = {"message": "Submit 200 B", "bytes": 391}
    rows["codecs"] = {
        "cases": [
            {"codec": "json", "ours_us": [3.0] * 6, "peer": "p 1", "peer_us": [2.0] * 6, **case},
            {"codec": "soap-rpc", "ours_us": [3.0] * 6, "peer": None, "peer_us": [], **case},
        ]
    }
    machine = {"processor": "a processor", "cores": [0, 1], "kernel": "6", "revision": "abc"}
    return {"taken": "2026-01-02T03:04:05+00:00", "machine": machine, "rows": rows}


PAGE = "".join(
    f"{name} <!-- {name}: made by bench -->old<!-- end of {name} -->\n"
    for name in ("where", "tax", "codecs")
)


def test_a_missed_aim_is_published_as_missed() -> None:
    """1.3 in six rounds is beyond 0.8 to 1.2, in the data and on the page."""
    data = engine_tax.select_published(document(1.3))
    assert data["stacks"][0]["beside_rest"] is None
    assert {row["beside_rest"]["verdict"] for row in data["stacks"][1:]} == {MISSED}
    page = engine_tax.with_tables(PAGE, data)
    assert page.count(f"0.8 to 1.2: {MISSED}") == len(tax.STACKS) - 1
    assert page.count(f"at most 2 µs: {MISSED}") == 2, "both codecs took 3 µs"
    assert "holds" not in page


def test_the_page_says_where_and_when_and_against_whom() -> None:
    """Machine, date, revision, peers; old figures are gone, the words around them stay."""
    page = engine_tax.with_tables(PAGE, engine_tax.select_published(document()))
    for words in (
        "2026-01-02",
        "abc",
        "a processor",
        "1.50 of p 1, 2.00 µs",
        "no peer",
        "1,000 and 1,010",
    ):
        assert words in page
    assert "old" not in page
    assert engine_tax.with_tables(page, engine_tax.select_published(document())) == page


def test_a_disturbed_run_is_marked() -> None:
    """Where other work had a fifth of the cores, figures are dearer than they should be."""
    data = engine_tax.select_published(document())
    assert "not quiet" not in engine_tax.with_tables(PAGE, data)
    assert "had 20% of the two" in engine_tax.with_tables(PAGE, {**data, "others_share": 0.2})


def test_a_page_without_its_markers_is_refused() -> None:
    """Nothing is appended somewhere."""
    with pytest.raises(ValueError, match="codecs"):
        engine_tax.with_tables(
            PAGE.replace("end of codecs", ""), engine_tax.select_published(document())
        )


def test_a_quick_or_partial_run_is_not_published() -> None:
    """The remedy is named."""
    every = [*tax.STACKS, "codecs"]
    assert publish.reason_not_to_publish(every, quick=False) is None
    assert "--quick" in (publish.reason_not_to_publish(every, quick=True) or "")
    assert "tax-iiop" in (publish.reason_not_to_publish(["codecs"], quick=False) or "")
    assert FULL.pairs >= 6, "fewer rounds have no 95 % interval"


def test_the_committed_page_is_that_of_the_committed_data() -> None:
    """Nobody edits a figure by hand."""
    data = json.loads(engine_tax.DATA.read_text(encoding="utf-8"))
    page = engine_tax.PAGE.read_text(encoding="utf-8")
    assert engine_tax.with_tables(page, data) == page
    assert [row["stack"] for row in data["stacks"]] == list(tax.STACKS.values())


def test_a_page_is_published_by_its_own_rows_alone() -> None:
    """Rows of no page have nothing to publish; a row that was not taken is reported."""
    assert publish.reason_not_to_publish(["capture"], quick=False) is None
    assert publish.reason_not_to_publish(["links", "capture"], quick=False) is None
    assert "capture" in (publish.reason_not_to_publish(["of no page"], quick=False) or "")
    assert publish.publish({"rows": {}}, ["links"]) == [
        "links.md is not written: links was not taken"
    ]
