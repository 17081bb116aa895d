"""Replies that are streams of messages, measured by ``wirelab drive``: against the log of the
server that sent them, and what broken ones come to."""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from tests.python.stream_server import (
    EVENTS,
    Answer,
    Request,
    StreamServer,
    frame,
    stream_server,
)
from wirelab.cli import main
from wirelab.drive.amount import Amount
from wirelab.drive.session import Call, drive_server
from wirelab.drive.stream import StreamSpec
from wirelab.process.interruption import Interruption
from wirelab.stack import targets

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")
Json = dict[str, Any]

TIMESTAMPNS = 35
"""SO_TIMESTAMPNS: the kernel's time of each packet (socket(7))."""
PAUSE_S = 0.15
"""In the middle of the seeded schedule."""


def draw_gaps(seed: int, count: int = 20) -> list[float]:
    """Times before messages: random ones of some milliseconds, and one long pause."""
    source = random.Random(seed)
    gaps = [source.uniform(0.001, 0.006) for _ in range(count)]
    gaps[count // 2] = PAUSE_S
    return gaps


def answer_by_schedule(
    gaps: list[float], content: str = "data: {}\n\n", kind: str = EVENTS
) -> Answer:
    """An answer that sends a message after each of these times."""

    def answer(request: Request) -> None:
        request.head(kind=kind)
        for number, gap in enumerate(gaps):
            time.sleep(gap)
            request.message(content.replace("{}", str(number)).encode())
        request.end()

    return answer


def drive(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Json:
    assert main(["drive", *words, "--json"]) == code, capsys.readouterr().err
    result: Json = json.loads(capsys.readouterr().out)
    return result


@pytest.fixture
def driven(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[Json, StreamServer]]:
    """Drives one server of an answer."""

    def run(answer: Answer, *words: str, code: int = 0) -> tuple[Json, StreamServer]:
        with stream_server(answer) as server:
            return drive(capsys, server.url, *words, code=code), server

    return run


def gaps_of(server: StreamServer) -> list[float]:
    """By the server's own log, milliseconds."""
    logs = [request.sent_ns for request in server.requests]
    return [(b - a) / 1e6 for log in logs for a, b in pairwise(log)]


@pytest.mark.parametrize(
    ("option", "content", "kind"),
    [
        ("--sse", "id: {}\ndata: m\n: c\n\n", EVENTS),
        ("--ndjson", '{"n": {}}\n', "application/x-ndjson"),
    ],
)
def test_figures_are_those_of_the_servers_own_log(
    driven: Any, option: str, content: str, kind: str
) -> None:
    answer = answer_by_schedule(draw_gaps(1), content, kind)
    result, server = driven(answer, option, "--calls", "4", "--connections", "2")
    streams, truth = result["streams"], gaps_of(server)
    assert (result["ok"], result["errors"], len(server.requests)) == (4, 0, 4)
    assert (streams["messages"], streams["empty"], streams["stopped"]) == (80, 0, 0)
    sent = sum(len(content) + len(str(n)) - 2 for n in range(20)) * 4
    assert streams["bytes"] == sent
    # No message is read before it is sent, however busy the machine is.
    first = min(r.sent_ns[0] - r.received_ns for r in server.requests) / 1e6
    assert streams["first_message_ms"]["min"] >= 0.99 * first - 1.0
    # A late read before the pause makes it shorter, and none of a stream can hide it.
    assert streams["longest_gap_ms"]["max"] >= 0.9 * PAUSE_S * 1e3
    assert streams["longest_gap_ms"]["min"] >= 0.5 * PAUSE_S * 1e3
    # The mean of gaps is the time from first to last over their number: one late read of a
    # stream of 20 moves it by a 19th of its lateness.
    mean = sum(truth) / len(truth)
    assert streams["gap_ms"]["mean"] == pytest.approx(mean, rel=0.25)
    assert streams["with_token"] is None


def test_an_even_stream_has_no_stall(driven: Any) -> None:
    result, server = driven(answer_by_schedule([0.01] * 20), "--sse", "--calls", "3")
    longest = max(gaps_of(server))
    assert result["streams"]["longest_gap_ms"]["max"] <= longest + 0.9 * PAUSE_S * 1e3 / 2


def test_messages_of_one_segment_are_counted_as_one_read(driven: Any) -> None:
    def together(request: Request) -> None:
        request.head()
        for _ in range(4):
            request.message(b"data: a\n\ndata: b\n\ndata: c\n\n")
            time.sleep(0.03)
        request.end()

    result, _ = driven(together, "--sse", "--calls", "2")
    streams = result["streams"]
    assert (streams["messages"], streams["read_messages_max"]) == (24, 3)
    assert streams["messages_per_read"] == 3.0
    # Two of three messages come with the one before them.
    assert streams["gap_ms"]["min"] == 0
    assert streams["gap_ms"]["p50"] == 0
    alone, _ = driven(answer_by_schedule([0.03] * 4), "--sse", "--calls", "2")
    assert alone["streams"]["messages_per_read"] == 1.0


@pytest.mark.parametrize("framing", ["chunked", "until-close"])
def test_a_message_that_is_cut_at_every_byte_comes_once_and_with_its_last_byte(
    driven: Any, framing: str
) -> None:
    body = "\ufeffdata: ä\r\n\r\ndata: b\rdata: c\r\r: end\n".encode()

    def cut(request: Request) -> None:
        is_chunked = framing == "chunked"
        request.head("transfer-encoding: chunked" if is_chunked else "connection: close")
        for at in range(len(body)):
            (request.chunk if is_chunked else request.raw)(body[at : at + 1])
            time.sleep(0.002)
        if is_chunked:
            request.end()
        else:
            request.connection.shutdown(1)

    result, _ = driven(cut, "--sse", "--calls", "2", "--expect-text", "äb\nc")
    streams = result["streams"]
    assert (result["errors"], streams["messages"]) == (0, 4)
    # 13 bytes before the end of the first event, 2 ms apart.
    assert streams["message_read_ms"]["max"] >= 20.0


def test_events_over_http_2(driven: Any) -> None:
    def answer(request: Request) -> None:
        # SETTINGS, its acknowledgement, then `:status: 200` and the type, each a literal.
        type_field = b"\x0f\x10" + bytes([len(EVENTS)]) + EVENTS.encode()
        settings = frame(4, 0, 0, b"") + frame(4, 1, 0, b"")
        request.raw(settings + frame(1, 4, 1, b"\x88" + type_field))
        for number in range(5):
            time.sleep(0.01)
            # Cut within a frame, too.
            content = frame(0, 0, 1, f"data: {number}\n\n".encode())
            request.raw(content[:13])
            time.sleep(0.005)
            request.raw(content[13:])
            request.sent_ns.append(time.monotonic_ns())
        request.raw(frame(0, 1, 1, b""))

    words = ("--sse", "--http2", "--calls", "1", "--expect-messages", "5")
    result, _ = driven(answer, *words)
    assert (result["errors"], result["streams"]["messages"]) == (0, 5)
    assert result["streams"]["message_read_ms"]["max"] >= 4.0


def endless(content: bytes, pause: float = 0.0) -> Answer:
    def answer(request: Request) -> None:
        request.head()
        while True:
            request.chunk(content)
            time.sleep(pause)

    return answer


def once(*chunks: bytes, end: str = "end", kind: str = EVENTS, head: str = "") -> Answer:
    """Sends these chunks, then ends as named."""

    def answer(request: Request) -> None:
        request.head(**({"framing": head} if head else {}), kind=kind)
        for chunk in chunks:
            request.chunk(chunk)
            time.sleep(0.01)
        if end == "end":
            request.end()
        elif end == "reset":
            request.reset()
        elif end == "fin":
            request.connection.shutdown(1)
        else:
            # Silent until the client closes.
            request.connection.recv(1)

    return answer


EVENT, TOKEN = b"data: a\n\n", b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
LONG = b"x" * 1_000_000


@pytest.mark.parametrize(
    ("option", "answer", "kind", "words"),
    [
        ("--sse", endless(LONG), "protocol", "more than 4194304 bytes"),
        ("--ndjson", endless(LONG), "protocol", "more than 4194304 bytes"),
        ("--openai", endless(LONG), "protocol", "more than 4194304 bytes"),
        ("--sse", once(EVENT, b"data: \xff\n\n"), "protocol", "UTF-8"),
        ("--ndjson", once(b'"\xff"\n'), "protocol", "UTF-8"),
        ("--sse", once(EVENT, end="fin"), "closed", "closed in mid-reply"),
        ("--sse", once(EVENT, end="reset"), "reset", "Connection reset"),
        ("--sse", once(EVENT, end="silence"), "timeout", "did not end within 0.5 s; 1 messages"),
        ("--sse", endless(EVENT, 0.01), "timeout", "did not end within 0.5 s"),
        ("--sse", once(EVENT, b"data: b\n"), "protocol", "bytes of an event"),
        ("--sse", once(b": nothing\n\n"), "wrong", "no message came"),
        (
            "--sse",
            once(EVENT, kind="application/json"),
            "wrong",
            "content-type is application/json",
        ),
        ("--ndjson", once(b"1\n<html>\n"), "wrong", "a line is not JSON"),
        ("--openai", once(TOKEN), "wrong", "without [DONE]"),
        ("--openai", once(b"data: [DONE]\n\n"), "wrong", "no message came"),
        ("--openai", once(TOKEN, b"data: {1}\n\n"), "wrong", "is a chunk"),
        (
            "--openai",
            once(TOKEN, b'data: {"error": {"message": "out of memory"}}\n\n'),
            "application",
            "an event with an error: out of memory",
        ),
    ],
)
def test_a_broken_stream_fails_by_name_and_takes_no_memory(
    driven: Any, option: str, answer: Answer, kind: str, words: str
) -> None:
    result, server = driven(answer, option, "--calls", "2", "--timeout", "500ms", code=1)
    assert (result["ok"], result["errors_by_kind"]) == (0, {kind: 2}), result["error_examples"]
    assert words in result["error_examples"][0]
    assert result["client_rss_max_bytes"] < 100e6
    # A stream without an end is ended from this side. What sockets hold is a part of it.
    assert all(request.size < 30e6 for request in server.requests)


def test_a_message_that_claims_to_be_longer_than_accepted_fails(driven: Any) -> None:
    answer = once(b"data: " + b"x" * 2_000 + b"\n\n")
    result, _ = driven(answer, "--sse", "--calls", "2")
    assert result["errors"] == 0
    result, _ = driven(answer, "--sse", "--calls", "2", "--message-max", "1 kB", code=1)
    assert "more than 1000 bytes" in result["error_examples"][0]


@pytest.mark.parametrize(
    ("words", "messages"),
    [
        (("--stop-messages", "7"), (21, 21)),
        (("--stop-bytes", "63 B"), (21, 21)),
        (("--stop-time", "100ms"), (3, 60)),
    ],
)
def test_an_endless_stream_is_ended_as_requested(
    driven: Any, words: tuple[str, ...], messages: tuple[int, int]
) -> None:
    result, _ = driven(endless(EVENT, 0.01), "--sse", "--calls", "3", *words)
    streams = result["streams"]
    assert (result["ok"], result["errors"], streams["stopped"]) == (3, 0, 3)
    assert messages[0] <= streams["messages"] <= messages[1]
    assert result["connections_failed"] == 0
    assert not [hint for hint in result["hints"] if "keep-alive" in hint]


@pytest.mark.parametrize("load", [("--rate", "20"), ("--rate", "20", "--poisson")])
def test_open_loads_of_streams(driven: Any, load: tuple[str, ...]) -> None:
    words = ("--sse", "--connections", "20", "--duration", "1s", *load)
    result, server = driven(answer_by_schedule([0.01] * 5), *words)
    assert result["errors"] == 0
    assert result["streams"]["messages"] == 5 * result["ok"] == 5 * len(server.requests)
    # From when a stream was due, so that it is no shorter than from when it was sent.
    assert result["streams"]["first_message_ms"]["min"] >= 9.0


def test_the_terminal_shows_streams_in_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    with stream_server(answer_by_schedule([0.01] * 4)) as server:
        assert main(["drive", server.url, "--sse", "--calls", "3"]) == 0
    shown = capsys.readouterr().out
    for line in (
        r"  3 streams in .*, 0 failed",
        r"  12 messages, .*/s, 108 B",
        r"  time to first message: mean .*, max .*",
        r"  gap: mean .*",
        r"  longest gap of a stream: mean .*",
    ):
        assert re.search(line, shown), shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("http://127.0.0.1:1/", "--sse", "--ndjson"), "exclude each other"),
        (("http://127.0.0.1:1/", "--stop-messages", "3"), "need the format"),
        (("http://127.0.0.1:1/", "--sse", "--model", "m"), "--model needs --openai"),
        (("http://127.0.0.1:1/", "--openai", "--prompt", "a", "--data", "{}"), "exclude"),
        (("grpc://127.0.0.1:1/a.B/C", "--sse", "--data", "{}"), "belongs to http://"),
        (("rest@rust", "--sse"), "applies to URLs only"),
        (("http://127.0.0.1:1/", "--sse", "--in-flight", "2"), "pipeline"),
        (("http://127.0.0.1:1/", "--sse", "--stop-bytes", "1 GB/s"), "--stop-bytes"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    assert main(["drive", *words]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_stamps_are_those_of_packets() -> None:
    """Against the kernel's own times of the packets that carried the messages."""
    if os.geteuid() != 0:
        pytest.skip("packets can be seen by root only")
    gaps = [0.001 + 0.0003 * number for number in range(20)]
    with (
        stream_server(answer_by_schedule(gaps)) as server,
        socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3)) as packets,
    ):
        packets.bind(("lo", 0))
        packets.setsockopt(socket.SOL_SOCKET, TIMESTAMPNS, 1)
        packets.setblocking(False)
        target = targets.parse(server.url)
        assert isinstance(target, targets.Server)
        with Interruption() as interruption:
            outcome = drive_server(
                target,
                Call(stream=StreamSpec(format="sse")),
                Amount(calls=1),
                any_target=False,
                interruption=interruption,
                on_progress=None,
            )
        arrived = sorted(set(_messages(packets, server.port)))
    truth = sorted(b - a for a, b in pairwise(arrived))
    histogram = HdrHistogram.decode(outcome.groups[0].times["gap"].hdr)
    measured = [
        item.value_iterated_to
        for item in histogram.get_recorded_iterator()
        for _ in range(item.count_at_value_iterated_to)
    ]
    assert len(truth) == len(measured) == 19
    errors = sorted(abs(a - b) for a, b in zip(measured, truth, strict=True))
    print("error of a gap, us:", [round(error / 1e3) for error in errors])
    # A sleeping thread has to be woken, which takes longer where others use its core.
    assert errors[len(errors) // 2] < 500_000


def _messages(packets: socket.socket, port: int) -> Iterator[int]:
    """Times of packets with an event from that port, which come twice on loopback."""
    with suppress(BlockingIOError):
        while True:
            content, control, _, address = packets.recvmsg(65536, 256)
            is_received = address[2] != socket.PACKET_OUTGOING
            header = 4 * (content[0] & 15)
            sender = int.from_bytes(content[header : header + 2], "big")
            if is_received and sender == port and b"data: " in content:
                seconds, nanoseconds = struct.unpack("qq", control[0][2])
                yield seconds * 1_000_000_000 + nanoseconds


def test_a_foreign_client_sees_the_same_stream(driven: Any) -> None:
    gaps = draw_gaps(2)
    with stream_server(answer_by_schedule(gaps)) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.request("GET", "/")
        reply = connection.getresponse()
        stamps = []
        while line := reply.readline():
            stamps += [time.monotonic_ns()] if line == b"\n" else []
        connection.close()
    foreign = [(b - a) / 1e6 for a, b in pairwise(stamps)]
    result, _ = driven(answer_by_schedule(gaps), "--sse", "--calls", "1")
    streams = result["streams"]
    assert streams["messages"] == len(stamps) == 20
    assert streams["gap_ms"]["mean"] == pytest.approx(sum(foreign) / 19, rel=0.25)
    assert streams["longest_gap_ms"]["max"] == pytest.approx(max(foreign), rel=0.5)


def test_conditions_on_streams(driven: Any) -> None:
    answer = answer_by_schedule(draw_gaps(3))
    for condition, code in (("stall.max>100ms", 1), ("stall.max>60s", 0), ("ttfm.mean>60s", 0)):
        words = ("--sse", "--calls", "2", "--fail-if", condition)
        result, _ = driven(answer, *words, code=code)
        assert result["conditions"][0]["condition"] == condition
