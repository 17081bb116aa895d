"""`wirelab drive` against servers of WebSocket of another maker, whose own log is the truth."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from wirelab.cli import main
from wirelab.process import scratch

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")
Json = dict[str, Any]


@dataclass
class Log:
    """What a server saw."""

    port: int = 0
    connections: int = 0
    messages: list[str | bytes] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)


Answer = Callable[[ServerConnection, str | bytes], None]


@contextmanager
def server(answer: Answer, **options: Any) -> Iterator[Log]:
    """A server that gives each message to ``answer``."""
    log = Log()

    def handle(connection: ServerConnection) -> None:
        log.connections += 1
        assert connection.request is not None
        log.headers.update(connection.request.headers.raw_items())
        try:
            for message in connection:
                log.messages.append(message)
                answer(connection, message)
        except ConnectionClosed:
            pass

    with serve(handle, "127.0.0.1", 0, compression=None, **options) as running:
        log.port = running.socket.getsockname()[1]
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            yield log
        finally:
            running.shutdown()
            thread.join(10)


def echo(connection: ServerConnection, message: str | bytes) -> None:
    connection.send(message)


def drive(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Json:
    assert main(["drive", *words, "--json"]) == code, capsys.readouterr().err
    result: Json = json.loads(capsys.readouterr().out)
    return result


@pytest.mark.parametrize("scheme", ["ws", "http"])
def test_each_call_is_a_message_and_its_reply(
    capsys: pytest.CaptureFixture[str], scheme: str
) -> None:
    with server(echo) as log:
        words = (f"{scheme}://127.0.0.1:{log.port}/chat?room=1", "--data", '{"a":1}')
        result = drive(
            capsys, *words, "--websocket", "--calls", "200", "--connections", "4", "--users", "4"
        )
    assert (result["ok"], result["errors"]) == (200, 0), result["error_examples"]
    # The calls before the window are not in the result.
    assert len(log.messages) >= 200
    assert set(log.messages) == {'{"a":1}'}
    assert log.connections == 4
    assert result["streams"]["messages"] == 200
    assert not any("no call asked" in hint for hint in result["hints"])


def test_times_of_several_replies_are_those_of_the_server(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sent: list[float] = []

    def answer(connection: ServerConnection, message: str | bytes) -> None:
        for number in range(5):
            time.sleep(0.02)
            sent.append(time.monotonic())
            connection.send(f"reply {number}")

    with server(answer) as log:
        words = (f"ws://127.0.0.1:{log.port}/", "--data", "go", "--expect-messages", "5")
        result = drive(capsys, *words, "--expect-text", "reply 4", "--calls", "4")
    assert (result["ok"], result["errors"]) == (4, 0), result["error_examples"]
    streams = result["streams"]
    gaps = [
        later - earlier
        for call in range(0, len(sent), 5)
        for earlier, later in zip(sent[call : call + 4], sent[call + 1 : call + 5], strict=True)
    ]
    assert streams["messages"] == 20
    assert streams["gap_ms"]["mean"] / 1e3 == pytest.approx(sum(gaps) / len(gaps), rel=0.2)
    assert streams["first_message_ms"]["min"] >= 20.0


def test_messages_that_are_not_text_are_binary(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    body = tmp_path / "message"
    body.write_bytes(b"\x00\xff" * 70_000)
    with server(echo, max_size=1 << 20) as log:
        words = (f"ws://127.0.0.1:{log.port}/", "--body", str(body), "--calls", "3")
        result = drive(capsys, *words, "--header", "X-Token: 7")
    assert (result["ok"], result["errors"]) == (3, 0), result["error_examples"]
    assert set(log.messages) == {body.read_bytes()}
    assert log.headers["x-token"] == "7"


def test_lines_of_a_file_are_messages_in_turn(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lines = [json.dumps({"say": f"${{word}} {number}"}) for number in range(10)]
    file = tmp_path / "messages"
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")
    with server(echo) as log:
        words = (f"ws://127.0.0.1:{log.port}/", "--messages", str(file))
        result = drive(capsys, *words, "--calls", "50")
    assert (result["ok"], result["errors"]) == (50, 0), result["error_examples"]
    first = lines.index(str(log.messages[0]))
    turns = [lines[(first + place) % len(lines)] for place in range(len(log.messages))]
    assert log.messages == turns


def test_tls_is_spoken_below_websocket(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    made = scratch.make_certificates(tmp_path / "tls")
    files = made.of_service("tls")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files["certificate"], files["key"])
    with server(echo, ssl=context) as log:
        words = (f"wss://127.0.0.1:{log.port}/", "--data", "x", "--calls", "5")
        result = drive(capsys, *words, "--ca", made.of_client("tls")["ca"])
    assert (result["ok"], result["errors"]) == (5, 0), result["error_examples"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda connection, _: connection.close(1011, "no room"), "WebSocket status 1011"),
        (lambda connection, _: connection.close(), "connection closed"),
        (lambda connection, _: connection.send("other"), "the text that is expected"),
        (lambda connection, _: connection.send("x" * 5000), "largest size accepted"),
        (lambda _, __: time.sleep(0.6), "no complete reply"),
    ],
    ids=["closed with a status", "closed", "wrong text", "too long", "silent"],
)
def test_a_failed_call_names_its_reason(
    capsys: pytest.CaptureFixture[str], answer: Answer, reason: str
) -> None:
    with server(answer) as log:
        words = (f"ws://127.0.0.1:{log.port}/", "--data", "x", "--calls", "2", "--timeout", "300ms")
        result = drive(capsys, *words, "--expect-text", "right", "--message-max", "4 kB", code=1)
    assert result["ok"] == 0
    assert reason in json.dumps(result["error_examples"]), result["error_examples"]


def test_a_server_without_websocket_is_named_with_its_status(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse(connection: ServerConnection, request: Any) -> Any:
        return connection.respond(404, "nothing here\n")

    with server(echo, process_request=refuse) as log:
        words = (f"ws://127.0.0.1:{log.port}/", "--data", "x", "--calls", "2")
        result = drive(capsys, *words, code=1)
    assert "no upgrade to WebSocket: HTTP status 404" in json.dumps(result["error_examples"])


def test_pings_of_the_server_are_answered(capsys: pytest.CaptureFixture[str]) -> None:
    waited: list[float] = []

    def answer(connection: ServerConnection, message: str | bytes) -> None:
        begun = time.monotonic()
        if connection.ping().wait(5):
            waited.append(time.monotonic() - begun)
        connection.send(message)

    with server(answer) as log:
        words = (f"ws://127.0.0.1:{log.port}/", "--data", "x", "--calls", "3")
        result = drive(capsys, *words)
    assert (result["ok"], result["errors"]) == (3, 0), result["error_examples"]
    assert len(waited) >= 3


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("ws://127.0.0.1:1/",), "needs its message"),
        (("ws://127.0.0.1:1/", "--messages", "/nowhere/messages"), "--messages"),
        (("http://127.0.0.1:1/", "--messages", "/dev/null"), "needs --websocket"),
        (("http://127.0.0.1:1/", "--websocket", "--data", "x", "--sse"), "--sse"),
        (("http://127.0.0.1:1/", "--websocket", "--data", "x", "--http2"), "--http2"),
        (("grpc://127.0.0.1:1/a.B/C", "--websocket", "--data", "{}"), "--websocket"),
        (("ws://127.0.0.1:1/", "--data", "x", "--header", "Upgrade: h2c"), "upgrade"),
        (("ws://127.0.0.1:1/", "--data", "x", "--in-flight", "2"), "leave --in-flight out"),
        (("ws://127.0.0.1:1/", "--data", "x", "--follow"), "leave --follow out"),
        (("ws://127.0.0.1:1/", "--data", "x", "--stop-time", "1s"), "leave --stop-time out"),
        (("ws://127.0.0.1:1/", "--data", "x", "--header", "Sec-WebSocket-Protocol: a"), "protocol"),
    ],
)
def test_options_that_websocket_lacks_are_refused(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], reason: str
) -> None:
    assert main(["drive", *words, "--calls", "1"]) == 2
    assert reason in capsys.readouterr().err


def test_frames_that_break_the_protocol_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    frames = {
        b"\x81\x85abcdHello": "does not mask",
        b"\x83\x00": "opcode",
        b"\x81\x01\xff": "is UTF-8",
        b"\x89\x7e\x00\x7e": "control frame",
        b"\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff": "largest size",
    }
    for frame, rule in frames.items():
        listener = socket.create_server(("127.0.0.1", 0))

        def serve_once(listener: socket.socket = listener, frame: bytes = frame) -> None:
            connection, _ = listener.accept()
            with connection:
                asked = b""
                while b"\r\n\r\n" not in asked:
                    asked += connection.recv(4096)
                key = asked.lower().partition(b"sec-websocket-key: ")[0]
                key = asked[len(key) :].partition(b": ")[2].partition(b"\r\n")[0]
                guid = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
                accept = base64.b64encode(hashlib.sha1(key + guid).digest())
                connection.sendall(
                    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                    b"Connection: Upgrade\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n"
                )
                connection.recv(4096)
                connection.sendall(frame)
                while connection.recv(4096):
                    pass

        thread = threading.Thread(target=serve_once)
        thread.start()
        port = listener.getsockname()[1]
        words = (f"ws://127.0.0.1:{port}/", "--data", "x", "--calls", "1", "--warmup", "0s")
        result = drive(capsys, *words, "--timeout", "2s", code=1)
        listener.close()
        thread.join(10)
        assert rule in json.dumps(result["error_examples"]), (rule, result["error_examples"])


def test_more_replies_than_expected_fail_the_call(capsys: pytest.CaptureFixture[str]) -> None:
    def answer(connection: ServerConnection, message: str | bytes) -> None:
        # One segment: both replies come in one read.
        connection.socket.sendall(b"\x81\x02hi" * 2)

    with server(answer) as log:
        words = (f"ws://127.0.0.1:{log.port}/", "--data", "x", "--calls", "3", "--warmup", "0s")
        result = drive(capsys, *words, code=1)
    assert result["ok"] == 0
    assert "expected number of messages" in json.dumps(result["error_examples"])


def test_messages_that_no_call_asked_for_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    def answer(connection: ServerConnection, message: str | bytes) -> None:
        connection.send(message)
        time.sleep(0.02)
        connection.send("by itself")

    with server(answer) as log:
        words = (f"ws://127.0.0.1:{log.port}/", "--data", "x", "--rate", "5", "--calls", "6")
        result = drive(capsys, *words, "--warmup", "0s")
    assert result["connections_opened"] > 1
    (hint,) = (hint for hint in result["hints"] if "no call asked" in hint)
    assert "--expect-messages" in hint


def test_a_url_in_capitals_is_one_of_websocket(capsys: pytest.CaptureFixture[str]) -> None:
    with server(echo) as log:
        result = drive(capsys, f"WS://127.0.0.1:{log.port}/", "--data", "x", "--calls", "3")
    assert (result["ok"], result["errors"]) == (3, 0), result["error_examples"]
    assert result["streams"]["messages"] == 3


def test_connections_of_one_call_are_closed_as_they_should(
    capsys: pytest.CaptureFixture[str],
) -> None:
    closed: list[int | None] = []

    def answer(connection: ServerConnection, message: str | bytes) -> None:
        connection.send(message)
        try:
            connection.recv(5)
        except ConnectionClosed as end:
            closed.append(None if end.rcvd is None else end.rcvd.code)
            raise

    with server(answer) as log:
        words = (f"ws://127.0.0.1:{log.port}/", "--data", "x", "--calls", "5", "--close")
        result = drive(capsys, *words, "--warmup", "0s")
    assert (result["ok"], result["errors"]) == (5, 0), result["error_examples"]
    assert closed == [1000] * 5
    assert not any("no call asked" in hint for hint in result["hints"])
