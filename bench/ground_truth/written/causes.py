"""Captures of single causes: pauses, replies and connections. :mod:`.causes_of_packets` has those
of packets that are lost, late or too large."""

from __future__ import annotations

from bench.ground_truth.scripted.http2 import ACK as H2_ACK
from bench.ground_truth.scripted.http2 import (
    ASK,
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    MAX_CONCURRENT_STREAMS,
    OK,
    PING,
    PREFACE,
    SETTINGS,
    frame,
)
from bench.ground_truth.scripted.streams import END as LAST_CHUNK
from bench.ground_truth.scripted.streams import EVENT
from bench.ground_truth.scripted.streams import HEAD as STREAM_HEAD
from bench.ground_truth.written.conversation import (
    MS,
    SECOND,
    Connection,
    Conversation,
    write_reply,
    write_request,
)
from bench.ground_truth.written.kinds import BETWEEN, THINKS, call
from bench.ground_truth.written.scenario import Scenario

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
STREAM_HEAD_UNTIL_CLOSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


def _write_request(capture: Conversation, think_ms: tuple[float, float] = (0.1, 0.5)) -> Connection:
    """A connection with a request that the server has."""
    connection = capture.open()
    capture.pause(0.5, 2, "client-before-request")
    capture.ask(connection, write_request(capture.random))
    capture.pause(*think_ms, "server")
    return connection


def write_dribbled(capture: Conversation) -> None:
    """A reply in pieces."""
    connection = _write_request(capture)
    reply = write_reply(600)
    capture.answer(connection, reply[:-600], "server-stall")
    for _ in range(6):
        capture.pause(30, 100, "server-stall")
        capture.answer(connection, reply[-100:], "server-stall")


def uneven(capture: Conversation) -> None:
    """A stream of events, one of which is late."""
    connection = _write_request(capture)
    capture.answer(connection, STREAM_HEAD, "server-stall")
    late = capture.random.randrange(2, 11)
    for number in range(12):
        capture.pause(30, 50, "server-stall")
        if number == late:
            capture.pause(200, 600, "server-stall")
        capture.answer(connection, b"%x\r\n%s\r\n" % (len(EVENT), EVENT), "server-stall")
    capture.answer(connection, LAST_CHUNK, BETWEEN)


def _event(capture: Conversation, made_us: int | None) -> bytes:
    """An event of some size, with the time of its maker in milliseconds where it states one."""
    name = f"id: {made_us // MS}\n".encode() if made_us is not None else b""
    return name + b"data: " + b"x" * capture.random.randrange(40, 90) + b"\n\n"


def _stream_through(capture: Conversation, *, is_timed: bool, is_buffered: bool) -> None:
    """Events every 40 to 60 ms. A buffer passes them on when it is full, and cuts the last one."""
    connection = _write_request(capture)
    capture.answer(connection, STREAM_HEAD_UNTIL_CLOSE, "server-stall")
    size = capture.random.choice((1_024, 1_460)) if is_buffered else 1
    ahead_us = capture.random.randrange(-SECOND, SECOND)
    held = b""
    for _ in range(200):
        capture.pause(40, 60, "server-stall")
        held += _event(capture, capture.now_us + ahead_us if is_timed else None)
        if len(held) >= size:
            passed = size if is_buffered else len(held)
            capture.answer(connection, held[:passed], "server-stall")
            held = held[passed:]


def write_buffered(capture: Conversation) -> None:
    """Events with their times, through a buffer."""
    _stream_through(capture, is_timed=True, is_buffered=True)


def write_cut(capture: Conversation) -> None:
    """Events without times, through a buffer."""
    _stream_through(capture, is_timed=False, is_buffered=True)


def write_passed_on(capture: Conversation) -> None:
    """Events with their times that come as they are made."""
    _stream_through(capture, is_timed=True, is_buffered=False)


def split(capture: Conversation) -> None:
    """Head and body of each reply in two writes, one right behind the other."""
    connection = capture.open()
    for _ in range(capture.random.randrange(2, 6)):
        capture.pause(0.5, 2, BETWEEN)
        capture.ask(connection, write_request(capture.random))
        capture.pause(0.1, 0.5, "server")
        body = capture.random.randrange(100, 900)
        reply = write_reply(body)
        capture.send(connection, "server", reply[:-body])
        capture.wait(capture.random.randrange(10, 60), "reply-transfer")
        capture.answer(connection, reply[-body:], BETWEEN)
    capture.parts.clear()


def connection_per_call(capture: Conversation) -> None:
    """A connection for each of several calls, over a path of some length."""
    for _ in range(capture.random.randrange(3, 8)):
        connection = capture.open(to_server_us=capture.random.randrange(5, 30) * MS)
        capture.wait(100, "client-before-request")
        capture.ask(connection, write_request(capture.random))
        capture.wait(100, "server")
        capture.answer(connection, write_reply(90), "before-closing")
        capture.end(connection, "client")
        capture.wait(connection.to_server_us, "closing")
        capture.end(connection, "server")
        capture.wait(20)
    capture.parts.clear()


def write_redirected(capture: Conversation) -> None:
    """A reply that sends the client elsewhere."""
    connection = _write_request(capture, (20, 100))
    status = capture.random.choice(["301 Moved Permanently", "302 Found", "307 Temporary Redirect"])
    capture.answer(connection, write_reply(0, status, "Location: /other\r\n"), BETWEEN)
    call(capture, connection)


def write_pipelined(capture: Conversation) -> None:
    """Three requests at once, whose replies come one after the other."""
    connection = capture.open()
    capture.wait(300, "client-before-request")
    capture.ask(connection, b"".join(write_request(capture.random) for _ in range(3)))
    for _ in range(3):
        capture.pause(50, 200, "server")
        capture.answer(connection, write_reply(90), "server")


def far(capture: Conversation) -> None:
    """A long way."""
    connection = capture.open(to_server_us=capture.random.randrange(60, 300) * MS)
    for _ in range(capture.random.randrange(2, 6)):
        call(capture, connection)


def cut_short(capture: Conversation) -> None:
    """The server resets the connection instead of an answer."""
    connection = _write_request(capture, (100, 900))
    capture.reset(connection, "server")


def write_given_up(capture: Conversation) -> None:
    """The client closes before an answer has come."""
    connection = _write_request(capture, (0.1, 0.2))
    capture.ack(connection, "server")
    capture.pause(300, 3_000, "server")
    capture.end(connection, "client")
    capture.wait(connection.to_server_us, "closing")
    capture.end(connection, "server")


def idle(capture: Conversation) -> None:
    """A connection that nobody uses for a while."""
    connection = capture.open()
    capture.pause(150, 3_000, "client-before-request")
    capture.ask(connection, write_request(capture.random))
    capture.pause(0.1, 0.5, "server")
    capture.answer(connection, write_reply(90), BETWEEN)


def _upload_head(capture: Conversation, connection: Connection, body: int) -> None:
    fields = f"Content-Length: {body}\r\nExpect: 100-continue\r\n"
    capture.send(connection, "client", write_request(capture.random, "POST", fields))


def write_expecting(capture: Conversation) -> None:
    """A body that waits for 100 (Continue), which comes late or never."""
    connection = capture.open()
    capture.pause(0.5, 2, "client-before-request")
    body = capture.random.randrange(100, 1_200)
    _upload_head(capture, connection, body)
    capture.wait(connection.to_server_us, "expect-continue")
    if capture.random.random() < 0.5:
        capture.ack(connection, "server")
        capture.wait(SECOND, "expect-continue")
    else:
        capture.pause(100, 900, "expect-continue")
        capture.send(connection, "server", CONTINUE)
        capture.wait(capture.random.randrange(30, 90), "expect-continue")
    capture.ask(connection, b"x" * body)
    capture.pause(0.1, 0.5, "server")
    capture.answer(connection, write_reply(10), BETWEEN)


def write_permitted(capture: Conversation) -> None:
    """100 (Continue) at once, and a server that thinks afterwards."""
    connection = capture.open()
    capture.pause(0.5, 2, "client-before-request")
    body = capture.random.randrange(100, 1_200)
    _upload_head(capture, connection, body)
    capture.wait(connection.to_server_us + 50, "path")
    capture.send(connection, "server", CONTINUE)
    capture.wait(50, "request-transfer")
    capture.ask(connection, b"x" * body)
    capture.pause(100, 900, "server")
    capture.answer(connection, write_reply(10), BETWEEN)


def _request(stream: int) -> bytes:
    return frame(HEADERS, END_STREAM | END_HEADERS, stream, ASK)


def _reply(stream: int) -> bytes:
    return frame(HEADERS, END_HEADERS, stream, OK) + frame(DATA, END_STREAM, stream, b"x" * 300)


def _limit(streams: int) -> bytes:
    value = MAX_CONCURRENT_STREAMS.to_bytes(2, "big") + streams.to_bytes(4, "big")
    return frame(SETTINGS, 0, 0, value)


def _begin_http2(capture: Conversation, connection: Connection, settings: bytes) -> None:
    """Both sides' SETTINGS, without a wait for them."""
    capture.wait(200, "client-before-request")
    capture.send(connection, "client", PREFACE + frame(SETTINGS, 0, 0))
    capture.wait(connection.to_server_us)
    capture.send(connection, "server", settings + frame(SETTINGS, H2_ACK, 0))
    capture.pause(20, 40)
    capture.send(connection, "client", frame(SETTINGS, H2_ACK, 0))


def settings_awaited(capture: Conversation) -> None:
    """A client that asks only when the server's SETTINGS have come, late."""
    connection = capture.open()
    capture.wait(200, "client-before-request")
    capture.send(connection, "client", PREFACE + frame(SETTINGS, 0, 0))
    capture.wait(connection.to_server_us, "client-before-request")
    capture.pause(20, 200, "client-before-request")
    capture.send(connection, "server", _limit(100) + frame(SETTINGS, H2_ACK, 0))
    capture.wait(100, "client-before-request")
    capture.ask(connection, frame(SETTINGS, H2_ACK, 0) + _request(1))
    capture.pause(0.1, 0.5, "server")
    capture.answer(connection, _reply(1), BETWEEN)
    capture.parts.clear()


def ping_awaited(capture: Conversation) -> None:
    """A client that tests a kept connection by PING before it asks."""
    connection = capture.open()
    _begin_http2(capture, connection, _limit(100))
    capture.pause(1, 3)
    capture.ask(connection, _request(1))
    capture.answer(connection, _reply(1), BETWEEN)
    capture.pause(100, 900, BETWEEN)
    capture.send(connection, "client", frame(PING, 0, 0, bytes(8)))
    capture.wait(connection.to_server_us)
    capture.pause(20, 200)
    capture.send(connection, "server", frame(PING, H2_ACK, 0, bytes(8)))
    capture.wait(capture.random.randrange(50, 200))
    capture.ask(connection, _request(3))
    capture.answer(connection, _reply(3), BETWEEN)
    capture.parts.clear()


def streams_limited(capture: Conversation) -> None:
    """Three calls of which the server allows two at a time."""
    connection = capture.open()
    _begin_http2(capture, connection, _limit(2))
    capture.pause(5, 20)
    capture.send(connection, "client", _request(1) + _request(3))
    capture.wait(connection.to_server_us)
    capture.pause(50, 300)
    capture.answer(connection, _reply(1), "server")
    capture.wait(100)
    capture.send(connection, "client", _request(5))
    capture.wait(connection.to_server_us)
    for stream in (3, 5):
        capture.pause(50, 300)
        capture.answer(connection, _reply(stream), "server")
    capture.parts.clear()


CAUSES: tuple[Scenario, ...] = (
    Scenario("dribbled writes", write_dribbled, ("dribbled-writes",)),
    Scenario("uneven stream", uneven, ("uneven-stream", "dribbled-writes")),
    Scenario("buffered stream", write_buffered, ("events-in-bursts",)),
    Scenario("buffered stream without times", write_cut, ("events-in-bursts",)),
    Scenario("stream at once", write_passed_on),
    Scenario("split writes", split, ("split-writes",)),
    Scenario("connection per call", connection_per_call, ("connection-per-call",)),
    Scenario("redirect", write_redirected, ("redirect", *THINKS)),
    Scenario("pipelining", write_pipelined, ("head-of-line", *THINKS)),
    Scenario("long path", far, ("long-path",)),
    Scenario("reset", cut_short, ("connection-reset",)),
    Scenario("unanswered", write_given_up, ("unanswered",)),
    Scenario("idle before a request", idle, ("client-idle",)),
    Scenario("expectation", write_expecting, ("expect-continue",)),
    Scenario("expectation at once", write_permitted, THINKS),
    Scenario("wait for SETTINGS", settings_awaited, ("h2-settings-wait",)),
    Scenario("wait for PING", ping_awaited, ("h2-ping-wait",)),
    Scenario("limit of streams", streams_limited, ("h2-stream-limit", *THINKS)),
)
