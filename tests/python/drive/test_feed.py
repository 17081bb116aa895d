"""The contract stream, from the command line: the services in Rust, driven and examined."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.python.feed_model import Feed
from wirelab.cli import main
from wirelab.experiment.messages import Message
from wirelab.identity.verifying import choose_points, verify

Json = dict[str, Any]
VECTORS = Path(__file__).parents[3] / "contracts" / "vectors" / "streams.json"
WEBSOCKET = ("websocket@rust", "websocket@rust?codec=protobuf")
CONNECT = ("connect@rust", "connect@rust?transport=http/2", "connect@rust?compression=gzip")
SERVICES = (
    "sse@rust",
    "sse@rust?transport=http/2",
    "sse@rust?flush=library",
    "sse@rust?compression=gzip",
    "rest@rust",
    "rest@rust?flush=library",
    "rest@rust?compression=zstd",
    "grpc@rust",
    *WEBSOCKET,
    *CONNECT,
)


def drive(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Json:
    assert main(["drive", *words, "--json"]) == code, capsys.readouterr().err
    result: Json = json.loads(capsys.readouterr().out)
    return result


@pytest.mark.parametrize(
    "vector", json.loads(VECTORS.read_bytes())["feeds"], ids=lambda v: v["name"]
)
def test_the_vectors_are_what_the_contract_says(vector: Json) -> None:
    feed = Feed(**vector["request"])
    items = [
        {"index": index, "due_ns": due_ns, "text": feed.text(index)}
        for index, due_ns in enumerate(feed.due_ns())
    ]
    assert items == vector["items"]


@pytest.mark.parametrize("service", SERVICES)
def test_feeds_are_driven_and_every_item_has_a_lateness(
    real_engine: object, capsys: pytest.CaptureFixture[str], service: str
) -> None:
    words = ("--operation", "Feed", "--size", "64 B", "--items", "25", "--item-gap", "2ms")
    result = drive(
        capsys, service, *words, "--item-pattern", "tokens", "--calls", "6", "--users", "3"
    )
    assert (result["ok"], result["errors"]) == (6, 0), result["error_examples"]
    streams = result["streams"]
    assert streams["messages"] == 6 * 25
    late, sent, delivered = (
        streams[f"{name}_ms"] for name in ("lateness", "service_late", "delivery")
    )
    # No item is sent before it is due, and none is read before it is sent.
    assert late["min"] >= sent["min"] >= 0.0
    assert delivered["min"] > 0.0
    assert late["mean"] == pytest.approx(sent["mean"] + delivered["mean"], rel=0.02)


@pytest.mark.parametrize("service", ["sse@rust", "websocket@rust"])
def test_streams_call_feed_without_an_operation(
    real_engine: object, capsys: pytest.CaptureFixture[str], service: str
) -> None:
    result = drive(capsys, service, "--items", "5", "--item-gap", "0s", "--calls", "2")
    assert result["streams"]["messages"] == 10


@pytest.mark.parametrize("service", ["rest@rust", "grpc@rust", *WEBSOCKET, *CONNECT])
def test_pushed_items_are_answered_with_their_digest(
    real_engine: object, capsys: pytest.CaptureFixture[str], service: str
) -> None:
    words = ("--operation", "Push", "--size", "100 B", "--items", "50", "--calls", "5")
    result = drive(capsys, service, *words)
    assert (result["ok"], result["errors"]) == (5, 0), result["error_examples"]


@pytest.mark.parametrize("service", ["grpc@rust", "connect@rust?transport=http/2", *WEBSOCKET])
@pytest.mark.parametrize("items", [1, 20])
def test_items_of_a_chat_are_answered_one_by_one(
    real_engine: object, capsys: pytest.CaptureFixture[str], service: str, items: int
) -> None:
    words = ("--operation", "Chat", "--size", "100 B", "--items", str(items), "--calls", "40")
    result = drive(capsys, service, *words, "--users", "4")
    assert (result["ok"], result["errors"]) == (40, 0), result["error_examples"]
    streams = result["streams"]
    assert streams["messages"] == 40 * items
    late, sent, delivered = (
        streams[f"{name}_ms"] for name in ("lateness", "service_late", "delivery")
    )
    assert late["mean"] == pytest.approx(sent["mean"] + delivered["mean"], rel=0.02)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("rest@rust", "--items", "5"), "has no items"),
        (("sse@rust", "--operation", "Hello"), "sse"),
        (("sse@rust", "--operation", "Push"), "not available with sse"),
        (("websocket@rust", "--operation", "Hello"), "Feed, Push and Chat"),
        (("rest@rust", "--operation", "Chat"), "not available with rest"),
        (("connect@rust", "--operation", "Chat"), "needs HTTP/2"),
        (("connect@rust", "--operation", "Download"), "not available with connect"),
        (("grpc@rust", "--operation", "Chat", "--items", "100000", "--size", "64 B"), "4 MiB"),
        (("soap@rust", "--operation", "Feed"), "not available with soap"),
        (("grpc@rust", "--operation", "Feed", "--items", "100000", "--item-gap", "1s"), "3600 s"),
        (("sse@rust", "--item-gap", "soon"), "--item-gap"),
        (("http://127.0.0.1:1/", "--items", "5"), "applies only to services of wirelab"),
    ],
)
def test_a_load_that_the_contract_does_not_have_is_refused(
    real_engine: object,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    reason: str,
) -> None:
    assert main(["drive", *words, "--calls", "1"]) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("service", SERVICES)
def test_the_services_in_rust_are_as_the_model(real_engine: object, service: str) -> None:
    (verdict,) = verify(choose_points([service], "stream"))
    assert verdict.passed, verdict


def test_keys_of_a_message_become_items_of_the_plan() -> None:
    message = Message.model_validate(
        {
            "operation": "Feed",
            "bytes": "64 B",
            "items": 50,
            "item_gap": "5 ms",
            "item_pattern": "tokens",
        }
    )
    assert message.name == "Feed with 50 items (tokens, 5 ms)"
    assert message.called == ("Feed",)
    workload = message.workload()
    assert workload["items"] == {"count": 50, "gap_us": 5_000, "pattern": "tokens"}
    assert Message.model_validate({"operation": "Feed", "bytes": "64 B"}).name == "Feed"
    chat = Message.model_validate({"operation": "Chat", "bytes": "64 B", "items": 3})
    assert chat.name == "Chat with 3 items"


@pytest.mark.parametrize(
    "keys",
    [
        {"operation": "Submit", "items": 5},
        {"operation": "Feed", "items": 0},
        {"operation": "Feed", "items": 1_000_001},
        {"operation": "Feed", "item_gap": "2 min"},
        {"operation": "Feed", "item_pattern": "random"},
        {"sequence": "Credit", "items": 5},
        {"operation": "Chat", "item_gap": "5 ms"},
        {"operation": "Push", "item_pattern": "tokens"},
    ],
)
def test_impossible_items_of_a_message_are_refused(keys: Json) -> None:
    size = {} if "sequence" in keys else {"bytes": "64 B"}
    with pytest.raises(ValueError, match="item"):
        Message.model_validate({**keys, **size})


EXPERIMENT = """\
name: feed
services: ["sse@rust", "rest@rust"]
messages: [{operation: Feed, bytes: 16 B, items: 10, item_gap: 1 ms, item_pattern: tokens}]
loads: [{closed: {users: 2}}]
repeats: 1
window: {duration: 200 ms}
warmup: {min: 100 ms, max: 100 ms}
"""


def test_a_report_shows_how_late_items_were(real_engine: object, tmp_path: Path) -> None:
    file, run = tmp_path / "feed.yaml", tmp_path / "run"
    file.write_text(EXPERIMENT, encoding="utf-8")
    assert main(["run", str(file), "--out", str(run)]) == 0
    page = (run / "report.html").read_text(encoding="utf-8")
    section = page[page.index('id="streams"') :].partition("</table>")[0]
    assert "Feed with 10 items (tokens, 1 ms) 16 B, 2 users" in section
    for words in ("sse@rust", "rest@rust", "lateness, p50", "sent late by the service, p99"):
        assert words in section
