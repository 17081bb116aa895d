"""Each check by packets passes on what was declared, marks what was not, and says where it
cannot tell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from tests.python.synthetic_run import REST, World, point, trial, with_result
from wirelab.checks.load import check
from wirelab.documents.axes import Axes
from wirelab.records.trial import Check, Json, Trial
from wirelab.records.wire import WireRecord

CLOSED: Json = {"kind": "closed", "users": 10}
OPEN: Json = {"kind": "constant", "rate": 500.0, "in_flight_max": 64}
CALLS = 2_000
AXES = {"in_flight": "1", "client.writes": "joined", "server.writes": "joined"}


def whole(axes: dict[str, str] | None = None, load: Json = CLOSED) -> Trial:
    """A trial whose packets show what its stack declares: one connection per user."""
    at = point(REST, 14, load)
    at = replace(at, axes=Axes.of({**at.axes.texts, **AXES, **(axes or {})}))
    made = trial(at, 0, 1, World())
    wire = {
        "exchanges": CALLS,
        "connections": {"used": 10, "used_once": 0, "in_flight_max": 1},
        "writes": {
            "requests_joined": CALLS,
            "requests_split": 0,
            "replies_joined": CALLS,
            "replies_split": 0,
        },
        "protocols": ["http1"],
        "damaged": None,
    }
    result = replace(made.result, calls_whole_run=CALLS, connections_opened=10)
    return replace(made, result=result, wire=WireRecord.of(wire), checks=())


def _wire(given: Trial) -> WireRecord:
    assert given.wire is not None
    return given.wire


def change_wire(given: Trial, **values: Any) -> Trial:
    """The trial with other words of its packets."""
    return replace(given, wire=WireRecord.of({**_wire(given).to_json(), **values}))


def change_connections(given: Trial, **values: int) -> Trial:
    """The trial with connections that were used otherwise."""
    return change_wire(
        given, connections={**msgspec.structs.asdict(_wire(given).connections), **values}
    )


def change_writes(given: Trial, **values: int) -> Trial:
    """The trial with messages that came otherwise."""
    return change_wire(given, writes={**msgspec.structs.asdict(_wire(given).writes), **values})


def change_counts(given: Trial, **values: int) -> Trial:
    """The trial with other counts of the engine."""
    return with_result(given, **values)


def checks_by_name(given: Trial) -> dict[str, Check]:
    """All its checks."""
    return {found.name: found for found in check(given)}


def outcome(given: Trial, name: str) -> str:
    """What one check says."""
    return checks_by_name(given)[name].outcome


def test_a_trial_without_packets_has_no_such_check() -> None:
    names = set(checks_by_name(replace(whole(), wire=None)))
    assert not {name for name in names if "wire" in name or "packets" in name}


def test_a_whole_capture_holds_all_calls() -> None:
    assert outcome(whole(), "packets") == "ok"
    assert outcome(change_wire(whole(), exchanges=CALLS - 1), "packets") == "marked"
    damaged = checks_by_name(change_wire(whole(), damaged="a block is torn"))["packets"]
    assert damaged.outcome == "marked"
    assert "a block is torn" in damaged.reason


@pytest.mark.parametrize(
    ("axes", "count", "expected"),
    [
        ({"connection": "keep"}, 10, "ok"),
        ({"connection": "keep"}, 11, "marked"),
        ({"connection": "keep", "in_flight": "multiplex=5"}, 2, "ok"),
        ({"connection": "pool=4"}, 4, "ok"),
        ({"connection": "pool=4"}, 5, "marked"),
    ],
)
def test_connections_that_stay(axes: dict[str, str], count: int, expected: str) -> None:
    """The limit is what was declared, whatever the engine says that it opened."""
    given = change_counts(change_connections(whole(axes), used=count), connections_opened=1_000)
    found = checks_by_name(given)["policy on the wire"]
    assert found.outcome == expected
    assert f"on {count} connections" in found.reason


@pytest.mark.parametrize("policy", ["keep", "pool=10"])
def test_failed_calls_may_cost_connections(policy: str) -> None:
    """Three failed calls are worth three connections, not four."""
    given = change_counts(whole({"connection": policy}), errors=3)
    for count, expected in ((13, "ok"), (14, "marked")):
        found = checks_by_name(change_connections(given, used=count))["policy on the wire"]
        assert found.outcome == expected
        assert "3 in place of connections lost to failed calls" in found.reason


def test_a_foreign_tool_warms_up_on_connections_of_its_own() -> None:
    """Each of its runs has one connection per user."""
    given = whole({"caller": "ghz"})
    given = replace(given, engine=replace(given.engine, runs=2))
    assert outcome(change_connections(given, used=20), "policy on the wire") == "ok"
    assert outcome(change_connections(given, used=21), "policy on the wire") == "marked"


def test_a_connection_per_call_carries_one_exchange() -> None:
    given = change_connections(whole({"connection": "close"}), used=CALLS, used_once=CALLS)
    assert outcome(given, "policy on the wire") == "ok"
    found = checks_by_name(change_connections(given, used_once=CALLS - 1))["policy on the wire"]
    assert found.outcome == "marked"
    assert "some carried more" in found.reason


def test_an_open_load_fixes_no_number_of_connections() -> None:
    """Where connections are kept; a pool has its number under every load."""
    found = checks_by_name(whole(load=OPEN))["policy on the wire"]
    assert found.outcome == "not-measurable"
    assert "keep fixes no number of connections in an open load" in found.reason
    assert outcome(whole({"connection": "pool=10"}, OPEN), "policy on the wire") == "ok"


@pytest.mark.parametrize(
    ("in_flight", "most", "expected"),
    [
        ("1", 1, "ok"),
        ("1", 2, "marked"),
        ("pipeline=4", 4, "ok"),
        ("pipeline=4", 5, "marked"),
        ("multiplex=8", 8, "ok"),
    ],
)
def test_exchanges_under_way_on_a_connection(in_flight: str, most: int, expected: str) -> None:
    given = change_connections(whole({"in_flight": in_flight}), in_flight_max=most)
    assert outcome(given, "in flight on the wire") == expected


def test_a_call_without_a_reply_has_no_end_in_its_packets() -> None:
    """Its report says when it was processed, and comes for many at a time."""
    given = change_connections(
        whole({"reply": "one-way", "in_flight": "pipeline=64"}), in_flight_max=1_024
    )
    assert outcome(given, "in flight on the wire") == "not-measurable"


@pytest.mark.parametrize(("side", "kind"), [("client", "requests"), ("server", "replies")])
@pytest.mark.parametrize(
    ("declared", "joined", "split", "expected"),
    [
        ("joined", 2_000, 0, "ok"),
        ("joined", 1_980, 20, "ok"),
        ("joined", 1_979, 21, "marked"),
        ("split", 0, 2_000, "ok"),
        ("split", 21, 1_979, "marked"),
    ],
)
def test_messages_written_at_once_or_in_two(
    side: str, kind: str, declared: str, joined: int, split: int, expected: str
) -> None:
    """One in a hundred may be the network's doing."""
    given = whole({f"{side}.writes": declared})
    given = change_writes(given, **{f"{kind}_joined": joined, f"{kind}_split": split})
    assert outcome(given, f"{side} writes on the wire") == expected


def test_messages_without_a_body_are_not_split() -> None:
    """There is nothing that the check could apply to."""
    given = change_writes(whole(), requests_joined=0)
    assert "client writes on the wire" not in checks_by_name(given)
    assert outcome(given, "server writes on the wire") == "ok"


def test_frames_of_http2_hide_writes() -> None:
    found = checks_by_name(change_wire(whole(), protocols=["http2"]))
    for name in ("client writes on the wire", "server writes on the wire"):
        assert found[name].outcome == "not-measurable"
        assert "HTTP/2 frames share segments" in found[name].reason
    assert found["policy on the wire"].outcome == "ok"


def test_encrypted_connections_hide_exchanges() -> None:
    """A trial under TLS is not marked for it, and every check says why it cannot tell."""
    given = change_connections(
        change_wire(whole({"security": "tls"}), exchanges=0, protocols=[]), used=0, in_flight_max=0
    )
    found = checks_by_name(change_writes(given, requests_joined=0, replies_joined=0))
    writes = ("client writes on the wire", "server writes on the wire")
    for name in ("packets", "policy on the wire", "in flight on the wire", *writes):
        assert found[name].outcome == "not-measurable"
        assert "the connections are encrypted" in found[name].reason


def test_a_foreign_tool_may_count_what_it_never_sent() -> None:
    """Without failures its calls are compared with the packets as the engine's are."""
    given = whole({"caller": "ghz"})
    assert outcome(given, "packets") == "ok"
    assert outcome(change_wire(given, exchanges=CALLS - 1), "packets") == "marked"
    assert outcome(change_counts(given, errors=1), "packets") == "not-measurable"


def test_a_capture_without_recognised_exchanges_shows_no_policy() -> None:
    """Calls without encryption of which the packets show none: the capture lacks them."""
    found = checks_by_name(change_wire(whole(), exchanges=0))
    assert found["packets"].outcome == "marked"
    assert "no exchange was recognised" in found["policy on the wire"].reason
