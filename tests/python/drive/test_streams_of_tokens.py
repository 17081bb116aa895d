"""Streams of tokens from the example of a model server, whose times are known, and of gRPC."""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time
from collections.abc import Iterator
from concurrent import futures
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.interop.driving import free_port, run_server
from wirelab.cli import main

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")
Json = dict[str, Any]

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "model-server" / "server.py"
TOKENS, FIRST_S, GAP_S, PAUSE_S = 20, 0.05, 0.005, 0.2
SILENT = 98
"""A count that no message comes for."""
PROTO = """\
syntax = "proto3";
package feed;
service Feed {
  rpc Watch (Ask) returns (stream Item);
  rpc One (Ask) returns (Item);
}
message Ask { int32 count = 1; }
message Item { int32 number = 1; }
"""


def drive(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Json:
    assert main(["drive", *words, "--json"]) == code, capsys.readouterr().err
    result: Json = json.loads(capsys.readouterr().out)
    return result


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The example, once it listens."""
    schedule = {"--tokens": TOKENS, "--first": FIRST_S, "--gap": GAP_S, "--pause": PAUSE_S}
    options = [str(word) for pair in schedule.items() for word in pair]
    port = free_port()
    command = [sys.executable, str(EXAMPLE), "--port", str(port), *options]
    with run_server(command, tmp_path_factory.mktemp("model") / "log", port):
        yield f"http://127.0.0.1:{port}"


def test_tokens_and_their_times_are_those_of_the_schedule(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--openai", "--calls", "4", "--expect-text", "1 2 3 4", "--connections", "2")
    result = drive(capsys, model, *words)
    streams = result["streams"]
    assert (result["ok"], result["errors"]) == (4, 0), result["error_examples"]
    # Each has a role, its tokens and the usage.
    assert (streams["messages"], streams["with_token"]) == (4 * (TOKENS + 2), 4 * TOKENS)
    assert (streams["tokens"], streams["counted"]) == (4 * TOKENS, 4)
    # The server sends nothing before it is due.
    assert streams["first_token_ms"]["min"] >= 0.999 * FIRST_S * 1e3
    assert streams["first_message_ms"]["min"] < FIRST_S * 1e3
    assert streams["longest_gap_ms"]["max"] >= 0.9 * PAUSE_S * 1e3
    lasts = (TOKENS - 1) * GAP_S + PAUSE_S
    assert streams["per_token_ms"]["mean"] == pytest.approx(lasts / (TOKENS - 1) * 1e3, rel=0.2)


def test_a_foreign_client_reads_the_same_tokens(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    body = {"stream": True, "stream_options": {"include_usage": True}, "max_tokens": 7}
    headers = {"content-type": "application/json"}
    with closing(http.client.HTTPConnection(model.removeprefix("http://"))) as connection:
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        lines = connection.getresponse().read().decode().split("\n\n")
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]
    deltas = [choice["delta"].get("content") for c in chunks for choice in c["choices"]]
    text = "".join(filter(None, deltas))
    words = ("--openai", "--calls", "2", "--max-tokens", "7", "--expect-text", text)
    result = drive(capsys, model, *words, "--expect-messages", str(len(chunks)))
    assert (result["errors"], result["streams"]["tokens"]) == (0, 14)
    assert chunks[-1]["usage"] == {"completion_tokens": 7}


def test_content_that_is_not_expected_fails(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--openai", "--calls", "2", "--expect-text", "4 3 2")
    result = drive(capsys, model, *words, code=1)
    assert result["errors_by_kind"] == {"wrong": 2}
    assert "did not come: 4 3 2" in result["error_examples"][0]


def test_a_body_of_ones_own_and_a_path_of_ones_own(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"{model}/v1/chat/completions"
    words = ("--openai", "--calls", "1", "--data", '{"stream": true, "max_tokens": 3}')
    streams = drive(capsys, url, *words)["streams"]
    assert (streams["with_token"], streams["tokens"], streams["counted"]) == (3, 0, 0)
    wrong = drive(capsys, f"{model}/v2", "--openai", "--calls", "1", code=1)
    assert "HTTP status 404" in wrong["error_examples"][0]


@pytest.fixture
def feed(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A server of gRPC that streams as many items as it is asked for, and its .proto file."""
    proto = tmp_path / "feed.proto"
    proto.write_text(PROTO)

    def watch(ask: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        count = ask[1] if ask else 0
        if count == SILENT:
            over = threading.Event()
            context.add_callback(over.set)
            over.wait()
            return
        for number in range(1, count + 1):
            time.sleep(0.12 if number == 5 else 0.005)
            yield bytes([8, number])
        if count == 99:
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "enough")

    handlers = {
        "Watch": grpc.unary_stream_rpc_method_handler(watch),
        "One": grpc.unary_unary_rpc_method_handler(lambda ask, _: bytes([8, 1])),
    }
    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("feed.Feed", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"grpc://127.0.0.1:{port}/feed.Feed", proto
    finally:
        server.stop(None).wait()


def test_a_method_of_grpc_that_returns_a_stream_is_measured_as_one(
    feed: tuple[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    url, proto = feed
    words = ("--proto", str(proto), "--calls", "3", "--data")
    result = drive(capsys, f"{url}/Watch", *words, '{"count": 8}', "--expect-messages", "8")
    streams = result["streams"]
    assert (result["errors"], streams["messages"], streams["empty"]) == (0, 24, 0)
    assert streams["longest_gap_ms"]["max"] >= 100.0
    # A prefix of 5 bytes and 2 of the message.
    assert streams["bytes"] == 24 * 7
    # Without a message it is right, by its status.
    none = drive(capsys, f"{url}/Watch", *words, "{}")
    assert (none["errors"], none["streams"]["empty"]) == (0, 3)
    assert drive(capsys, f"{url}/One", *words, "{}")["streams"] is None


def test_a_stream_of_grpc_that_ends_with_an_error_fails(
    feed: tuple[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    url, proto = feed
    words = ("--proto", str(proto), "--calls", "2", "--data", '{"count": 99}')
    result = drive(capsys, f"{url}/Watch", *words, code=1)
    assert result["errors_by_kind"] == {"application": 2}
    assert result["streams"]["messages"] == 198
    stopped = drive(capsys, f"{url}/Watch", *words, "--stop-messages", "3")
    assert (stopped["streams"]["stopped"], stopped["streams"]["messages"]) == (2, 6)
    # Others on the connection go on.
    assert stopped["connections_opened"] == 1


def test_a_silent_stream_of_grpc_is_ended_by_time_as_requested(
    feed: tuple[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    url, proto = feed
    words = ("--proto", str(proto), "--calls", "2", "--data", f'{{"count": {SILENT}}}')
    result = drive(capsys, f"{url}/Watch", *words, "--stop-time", "100ms")
    streams = result["streams"]
    assert (result["errors"], streams["messages"]) == (0, 0), result["error_examples"]
    assert (streams["stopped"], streams["empty"]) == (2, 2)
