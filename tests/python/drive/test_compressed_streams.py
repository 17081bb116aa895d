"""Streams under a content coding, measured by ``wirelab drive``: of a server that compresses with
zlib and flushes each event, and of the services, whose library may keep items."""

from __future__ import annotations

import json
import time
import zlib
from typing import Any

import pytest

from tests.python.stream_server import Answer, Request, stream_server
from wirelab.cli import main

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")
Json = dict[str, Any]

GZIP = 31
"""``wbits`` of zlib for a header and a trailer of gzip."""
FRAMING = "transfer-encoding: chunked\r\ncontent-encoding: gzip"
ASKS = ("--sse", "--header", "accept-encoding: gzip")
GAP_S = 0.05


def drive(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Json:
    assert main(["drive", *words, "--json"]) == code, capsys.readouterr().err
    result: Json = json.loads(capsys.readouterr().out)
    return result


def send_events(count: int, *, flushes: bool = True, cut: int = 0) -> Answer:
    """Events, each flushed by the compressor or not, of whose last bytes ``cut`` are not sent."""

    def answer(request: Request) -> None:
        packer = zlib.compressobj(wbits=GZIP)
        request.head(FRAMING)
        for number in range(count):
            time.sleep(GAP_S)
            packed = packer.compress(f"id: {number}\ndata: {number}\n\n".encode())
            if flushes:
                packed += packer.flush(zlib.Z_SYNC_FLUSH)
            if packed:
                request.message(packed)
        end = packer.flush()
        request.chunk(end[: len(end) - cut])
        request.end()

    return answer


def test_events_that_a_server_flushes_are_seen_when_they_come(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with stream_server(send_events(8)) as server:
        streams = drive(capsys, server.url, *ASKS, "--calls", "2", "--expect-text", "1234567")[
            "streams"
        ]
    assert streams["messages"] == 16
    assert streams["bytes"] == 2 * 8 * len("id: 0\ndata: 0\n\n")
    assert streams["gap_ms"]["mean"] == pytest.approx(GAP_S * 1e3, rel=0.3)


def test_events_that_a_compressor_keeps_come_with_its_block(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with stream_server(send_events(8, flushes=False)) as server:
        result = drive(capsys, server.url, *ASKS, "--calls", "2")
    assert result["errors"] == 0
    assert result["streams"]["first_message_ms"]["min"] >= 7 * GAP_S * 1e3
    assert result["streams"]["read_messages_max"] == 8


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (send_events(2, cut=5), "ends too early"),
        # 64 MiB in one line, of some 64 kB.
        (
            lambda request: (
                request.head(FRAMING),
                request.chunk(zlib.compress(b"data: " + bytes(64 << 20), wbits=GZIP)),
                request.end(),
            ),
            "more than 4194304 bytes",
        ),
        (
            lambda request: (request.head(FRAMING), request.chunk(b"data: 1\n\n"), request.end()),
            "RFC 1952",
        ),
        (
            lambda request: (
                request.head(FRAMING.replace("gzip", "br")),
                request.chunk(b"data: 1\n\n"),
                request.end(),
            ),
            "encoding",
        ),
    ],
    ids=["cut", "bomb", "plain", "unknown"],
)
def test_bodies_that_are_not_what_their_coding_says_are_named(
    capsys: pytest.CaptureFixture[str], answer: Answer, words: str
) -> None:
    with stream_server(answer) as server:
        result = drive(capsys, server.url, *ASKS, "--calls", "1", code=1)
    assert (result["ok"], result["errors"]) == (0, 1)
    assert words in json.dumps(result["error_examples"])


@pytest.mark.parametrize(
    "service",
    ["sse@rust?compression=gzip", "rest@rust?compression=zstd&transport=http/2", "rest@rust"],
)
def test_items_of_a_compressed_feed_have_a_lateness(
    capsys: pytest.CaptureFixture[str], service: str
) -> None:
    words = ("--operation", "Feed", "--items", "10", "--item-gap", "20ms", "--calls", "3")
    result = drive(capsys, service, *words)
    assert (result["ok"], result["errors"]) == (3, 0), result["error_examples"]
    streams = result["streams"]
    assert streams["messages"] == 30
    # Items are not kept for each other.
    assert streams["first_message_ms"]["min"] < 9 * 20.0


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_pushed_lines_are_compressed_as_one_body(
    capsys: pytest.CaptureFixture[str], coding: str
) -> None:
    words = ("--operation", "Push", "--items", "50", "--calls", "5")
    result = drive(capsys, f"rest@rust?compression={coding}", *words)
    assert (result["ok"], result["errors"]) == (5, 0), result["error_examples"]


@pytest.mark.parametrize(
    ("service", "reason"),
    [
        ("sse@java?flush=library", "Spring MVC flushes every event itself"),
        ("sse@rust?flush=library&compression=gzip", "a compressor that is not flushed"),
        ("grpc@rust?flush=library", "the libraries of the other bindings"),
    ],
)
def test_a_stack_that_cannot_flush_so_is_refused_with_its_reason(
    capsys: pytest.CaptureFixture[str], service: str, reason: str
) -> None:
    assert main(["drive", service, "--items", "1", "--calls", "1"]) == 2
    assert reason in " ".join(capsys.readouterr().err.split())
