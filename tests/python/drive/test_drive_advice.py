"""Hints of `wirelab drive`: what a result shows, and what to do about it."""

from __future__ import annotations

import json
import socket
import threading
from concurrent import futures
from contextlib import suppress
from typing import Any

import grpc
import pytest

from wirelab.cli import main
from wirelab.drive.advice import hints
from wirelab.drive.amount import Amount
from wirelab.records.group import GroupResult
from wirelab.stack import targets

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")
Json = dict[str, Any]


def group_of(**changes: object) -> GroupResult:
    """A run without anything to hint at."""
    group: Json = {
        "load": "closed",
        "calls_planned": None,
        "calls": 600,
        "ok": 600,
        "errors": 0,
        "ended": 600,
        "connections_opened": 10,
        "connections_peak": 10,
        "bytes_received": 6000,
        "errors_by_kind": {},
        "errors_by_code": {},
        "error_examples": [],
        "window_s": 3.0,
        "series": [40] * 30,
        "times": {"response": {"count": 600, "mean_ns": 1e6}},
        "warmup": {"seconds": 0.0},
        **changes,
    }
    return GroupResult.of(group)


def list_hints(
    target: str, group: GroupResult, *, keeps: bool = True, interrupted: bool = False
) -> list[str]:
    parsed = targets.parse(target)
    amount = Amount(connections=10)
    return hints(parsed, group, amount, keeps=keeps, interrupted=interrupted)


def test_a_rate_that_moves_is_pointed_out() -> None:
    """As that of a virtual machine that compiles while it is measured."""
    assert list_hints("rest@rust", group_of()) == []
    moving = [*range(2, 17), *[40] * 15]
    (hint,) = list_hints("rest@rust", group_of(series=moving))
    assert "not steady" in hint
    assert "--warmup 5s" in hint
    warmed = group_of(series=moving, warmup={"seconds": 5.0})
    assert "longer than 5s" in list_hints("rest@rust", warmed)[0]
    assert list_hints("rest@rust", warmed, interrupted=True) == []
    unkept = group_of(connections_opened=610)
    assert "610 were opened for 600 calls" in list_hints("rest@rust", unkept)[0]
    assert list_hints("rest@rust", unkept, keeps=False) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"calls_planned": 1000}, "after 600 of the 1,000 that --calls asked for"),
        ({"ended": 0}, "--duration longer than a call"),
        ({"ended": 0, "calls_planned": 600}, "more --calls"),
        ({"load": "open", "ended": 400}, "200 of 600 calls had not ended"),
        (
            {"errors_by_kind": {"closed": 5}, "errors_by_code": {"not_processed": 5}},
            "keepalive_requests",
        ),
        (
            # Not its rate that moves: there is none to be steady.
            {
                "errors": 30,
                "errors_by_kind": {"refused": 30},
                "errors_by_code": {"connection_refused": 30},
                "series": [*[40] * 15, *[0] * 15],
            },
            "its port refused 30 calls",
        ),
    ],
)
def test_a_result_that_needs_words_has_them(changes: Json, words: str) -> None:
    (hint,) = list_hints("http://127.0.0.1:1/", group_of(**changes))
    assert words in hint


def test_calls_under_way_are_not_a_backlog() -> None:
    assert list_hints("rest@rust", group_of(load="open", ended=590)) == []


def test_a_refused_certificate_is_reported_with_the_remedy() -> None:
    failed: Json = {"ok": 0, "errors": 5, "ended": 5, "calls": 5}
    for cause, words in (
        ("certificate_unknown_issuer", "with --ca FILE"),
        ("certificate_ca_as_end_entity", "--ca FILE, or --insecure"),
    ):
        errors: Json = {"errors_by_code": {cause: 5}, "errors_by_kind": {"refused": 5}}
        (hint,) = list_hints("https://localhost:1/", group_of(**failed, **errors))
        assert words in hint


@pytest.mark.parametrize(
    ("target", "cause", "words"),
    [
        ("http://127.0.0.1:1/", "peer_speaks_http2", "grpc://HOST:PORT/package.Service/Method"),
        ("http://127.0.0.1:1/", "peer_speaks_http2", "--http2"),
        ("grpc://127.0.0.1:1/a.B/C", "peer_speaks_http1", "call it as http://"),
        ("http://127.0.0.1:1/", "peer_speaks_http1", "call it without --http2"),
    ],
)
def test_the_other_version_of_http_has_a_hint(target: str, cause: str, words: str) -> None:
    failed: Json = {
        "ok": 0,
        "errors": 600,
        "errors_by_kind": {"protocol": 600},
        "errors_by_code": {cause: 600},
    }
    (hint,) = list_hints(target, group_of(**failed))
    assert words in hint


def test_a_result_of_an_older_engine_has_no_advice_by_cause() -> None:
    older = GroupResult.of({"calls": 5, "errors": 5, "errors_by_kind": {"refused": 5}})
    assert list_hints("http://127.0.0.1:1/", older) == []


def test_pauses_before_attempts_to_connect_are_stated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The server closes every connection at once, so that the pauses grow: 1, 2, 4 ms and so on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10.0)

        def close_all() -> None:
            with suppress(OSError):
                while True:
                    server.accept()[0].close()

        thread = threading.Thread(target=close_all, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        assert main(["drive", url, "--calls", "12", "--json"]) == 1
        paused = json.loads(capsys.readouterr().out)
        assert main(["drive", url, "--calls", "12", "--reconnect-delay", "0s", "--json"]) == 1
        unpaused = json.loads(capsys.readouterr().out)
    assert any("--reconnect-delay" in hint for hint in paused["hints"])
    assert not any("--reconnect-delay" in hint for hint in unpaused["hints"])


def test_a_server_of_grpc_that_is_asked_in_http_1_is_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = grpc.server(futures.ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        assert main(["drive", f"http://127.0.0.1:{port}/", "--calls", "2", "--json"]) == 1
    finally:
        server.stop(None)
    (hint,) = json.loads(capsys.readouterr().out)["hints"]
    assert "begins as one of HTTP/2 does" in hint
