"""Published figures find the cells that were measured, packet by packet too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from pydantic import ValidationError

from tests.python.synthetic_ladder import trial
from wirelab.explain.cell_selector import CellSelector
from wirelab.records.trial import Trial
from wirelab.records.wire import WireRecord
from wirelab.study import catalogue as studies
from wirelab.study import published_comparison
from wirelab.study.model import PublishedMap
from wirelab.study.published_comparison import Line
from wirelab.study.sections import _compare_published

FOUND = studies.load("elfwing2002")


def capture_trials(arm: str, gaps_us: Sequence[float]) -> list[Trial]:
    """Three trials of an arm whose packets came at these intervals, 1 % apart."""
    expected = CellSelector.of({"stack": FOUND.study.arms[arm].stack, "users": 1}).change(
        {"operation": "CreditControl"}
    )
    return [
        replace(
            trial(expected, 0.34, repeat),
            wire=WireRecord(gaps_us=tuple(gap * (1.0 + 0.01 * repeat) for gap in gaps_us)),
        )
        for repeat in (1, 2, 3)
    ]


def packet_lines(trials: list[Trial]) -> dict[tuple[str, ...], Line]:
    """By packet and arms."""
    entries = [entry for entry in FOUND.study.published if "packets" in entry.parts]
    lines = [
        line
        for entry in entries
        for line in published_comparison.lines(FOUND.published, trials, entry, FOUND.study.arms)
    ]
    return {(line.operation, *(pair.arm for pair in line.pairs)): line for line in lines}


SHIPPED, LENGTH = (FOUND.study.arms[name].label for name in ("shipped", "length"))


def test_each_packet_is_next_to_its_own_interval() -> None:
    trials = capture_trials("shipped", [0, 15, 80, 25, 400, 42_000, 180, 20, 299_000, 200, 30])
    lines = packet_lines(trials)
    head = lines["packet 6 TCP ACK", SHIPPED, LENGTH].pairs[0]
    assert head.published == 152.7
    assert head.measured is not None
    assert head.measured.estimate == pytest.approx(42.8, abs=0.1)
    close = lines["packet 9 TCP FIN/ACK", SHIPPED].pairs[0]
    assert (close.published, close.measured and round(close.measured.estimate)) == (339.7, 305)


def test_a_packet_that_no_trial_holds_is_not_made_up() -> None:
    """The commonest sequence was shorter than the study's."""
    lines = packet_lines(capture_trials("shipped", [0, 15, 80]))
    assert lines["packet 4 HTTP", SHIPPED, LENGTH].pairs[0].measured is not None
    assert lines["packet 12 TCP ACK", SHIPPED].pairs[0].measured is None


def test_packets_of_two_stacks_have_one_table_and_those_of_one_their_own() -> None:
    [section] = _compare_published(
        list(packet_lines(capture_trials("shipped", [0.0, 15.0])).values())
    )
    assert [len(table.columns) for table in section.tables] == [8, 4, 4]
    assert all(len(row) == len(table.columns) for table in section.tables for row in table.rows)


def test_an_operation_cannot_name_a_figure_that_there_is_not() -> None:
    entry = FOUND.study.published[0].model_dump()
    wrong = {"one call": {"operation": "CreditControl", "figure": "gap_99"}}
    with pytest.raises(ValidationError, match="gap_99"):
        PublishedMap.model_validate({**entry, "operations": wrong})
