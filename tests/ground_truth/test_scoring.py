"""What counts as right, false and missed, and how the page takes it up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.ground_truth import page, scoring
from bench.ground_truth.captures.corpus import Case
from bench.ground_truth.labels import occurrence as causes
from bench.ground_truth.labels.occurrence import Occurrence
from bench.ground_truth.scoring import Finding
from wirelab.errors import TrialFailed
from wirelab.statistics.distributions import binomial_interval, cluster_share

STACK = "rest@rust"


def case(aim: str, *occurrences: Occurrence, stack: str = STACK) -> Case:
    """A capture of two connections of ten exchanges each."""
    keys = frozenset((port, ordinal) for port in (1, 2) for ordinal in range(10))
    about = {"name": f"{aim}-000", "recipe": {"aim": aim, "stack": stack}, "calls": 20}
    return Case(Path(), about, 80, occurrences, keys, frozenset((1, 2)), frozenset())


def make_finding(cause: str, port: int, ordinal: int) -> Finding:
    return Finding(cause, (port, ordinal), 40.0, (7, 9))


def test_occurrences_are_matched_by_connection_exchange_and_cause() -> None:
    truth = case(
        causes.NAGLE,
        Occurrence(causes.NAGLE, 1, 0, 44.0),
        Occurrence(causes.NAGLE, 1, 1, 44.0),
        Occurrence(causes.NAGLE, 1, 2, 15.0, is_certain=False),
    )
    found = [make_finding(causes.NAGLE, 1, ordinal) for ordinal in (1, 2, 3)]
    total = scoring.score([(truth, found)])
    tally = total.tallies[causes.NAGLE]
    assert (tally.right, tally.missed, tally.false, tally.either) == (1, 1, 1, 1)
    assert tally.captures == 1
    missed, false = (one.words for one in total.disagreements)
    assert missed.endswith("nagle-delayed-ack: missed, port 1 exchange 0, 44.0 ms")
    assert false.endswith("false alarm, port 1 exchange 3, 40.0 ms packets 7, 9")


def test_the_right_exchange_with_the_wrong_cause_is_wrong_twice() -> None:
    truth = case(causes.THINK, Occurrence(causes.THINK, 2, 4, 30.0))
    total = scoring.score([(truth, [make_finding(causes.NAGLE, 2, 4)])])
    assert total.tallies[causes.THINK].missed == 1
    assert total.tallies[causes.NAGLE].false == 1


def test_flows_of_others_are_not_judged() -> None:
    total = scoring.score([(case("clean"), [make_finding(causes.NAGLE, 77, 0)])])
    assert total.disagreements == []


def test_false_alarms_on_clean_captures_are_counted_by_exchange() -> None:
    found = [
        make_finding(causes.NAGLE, 1, 1),
        make_finding(causes.SPLIT, 1, 1),
        make_finding(causes.SPLIT, 2, 1),
    ]
    total = scoring.score([(case("clean"), found), (case("clean"), [])])
    assert (total.clean_captures, total.clean_exchanges) == (2, 40)
    assert (total.clean_alarms, total.clean_captures_alarmed) == (2, 1)
    assert "false alarms on clean captures: 0.050" in page.short_of_aim(total)


def test_a_dissection_that_leaves_occurrences_out_is_refused() -> None:
    document = {
        "flows": {"list": [{"flow": 0, "client": "198.18.0.1:40000"}]},
        "findings": [
            {
                "cause": causes.NAGLE,
                "occurrences": 2,
                "where": [{"flow": 0, "exchange": 3, "packets": [4], "ms": 40.0}],
            }
        ],
    }
    with pytest.raises(TrialFailed, match="2 occurrences, 1 listed"):
        scoring.read(document)
    document["findings"][0]["occurrences"] = 1  # type: ignore[index]
    assert scoring.read(json.loads(json.dumps(document))) == [
        Finding(causes.NAGLE, (40_000, 3), 40.0, (4,))
    ]


def test_the_page_has_a_place_for_every_part() -> None:
    """The part that is written again lies between its markers."""
    text = page.PAGE.read_text()
    for name in ("where", "score", "corpus"):
        begin, end = f"<!-- {name}: made by bench -->", f"<!-- end of {name} -->"
        assert text.index(begin) < text.index(end)


def test_small_shares_have_two_significant_digits() -> None:
    """2 of 16,560 false alarms are not zero, and neither are the exact limits."""
    assert page._share(binomial_interval(2, 16_560)) == "0.00012 [0.00001, 0.00044]"


def test_captures_are_the_units_of_precision_and_recall() -> None:
    """5 occurrences that one capture lacks together weigh less than 5 of 5 captures."""
    together = scoring.Tally(units=[(9, 1, 0), (0, 5, 0), (3, 0, 1)])
    assert together.recall == cluster_share([(9, 10), (0, 5), (3, 3)])
    assert together.precision == cluster_share([(9, 9), (3, 4)])
    assert together.recall is not None
    alone = binomial_interval(12, 18)
    assert (together.recall.low or 0.0) < (alone.low or 0.0)
    assert scoring.Tally().recall is None
