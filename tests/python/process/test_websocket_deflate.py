"""`wirelab drive --permessage-deflate` against servers of another maker, whose own log is the
truth, and against servers that break RFC 7692."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import socket
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from tests.python.compressed_frames import RecordingFactory
from wirelab.cli import main

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")
Json = dict[str, Any]
LONG = "a text that repeats itself, " * 4000
OFFER = "permessage-deflate; client_no_context_takeover"
FORGETFUL = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"


@dataclass
class Log:
    """What a server saw."""

    port: int = 0
    offers: set[str] = field(default_factory=set)
    messages: list[str | bytes] = field(default_factory=list)
    seen: list[bool] = field(default_factory=list)
    """Of each message under an agreed extension: whether it came compressed."""

    @property
    def compressed(self) -> int:
        """Messages that came compressed."""
        return sum(self.seen)


@contextmanager
def server(agreed: Json | None, pieces: int = 1) -> Iterator[Log]:
    """A server that sends each message back, in that number of fragments. It agrees to compress
    with these parameters; None: it declines."""
    log = Log()

    def handle(connection: ServerConnection) -> None:
        assert connection.request is not None
        log.offers.update(connection.request.headers.get_all("Sec-WebSocket-Extensions"))
        try:
            for message in connection:
                log.messages.append(message)
                length = max(1, -(-len(message) // pieces))
                parts = [message[at : at + length] for at in range(0, len(message), length)]
                connection.send(message if pieces == 1 else iter(parts))
        except ConnectionClosed:
            pass

    factories = [] if agreed is None else [RecordingFactory(log.seen, **agreed)]
    with serve(handle, "127.0.0.1", 0, compression=None, extensions=factories) as running:
        log.port = running.socket.getsockname()[1]
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            yield log
        finally:
            running.shutdown()
            thread.join(10)


def drive(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Json:
    assert main(["drive", *words, "--json"]) == code, capsys.readouterr().err
    result: Json = json.loads(capsys.readouterr().out)
    return result


@pytest.mark.parametrize(
    ("options", "agreed"),
    [
        ({}, OFFER),
        (
            {"server_no_context_takeover": True},
            FORGETFUL,
        ),
        ({"server_max_window_bits": 9}, f"{OFFER}; server_max_window_bits=9"),
        (
            {"server_max_window_bits": 12, "server_no_context_takeover": True},
            f"{FORGETFUL}; server_max_window_bits=12",
        ),
    ],
    ids=["defaults", "no takeover", "9 bits", "12 bits, no takeover"],
)
@pytest.mark.parametrize("pieces", [1, 7])
def test_messages_are_compressed_both_ways_with_what_the_server_agrees_to(
    capsys: pytest.CaptureFixture[str], options: Json, agreed: str, pieces: int
) -> None:
    with server(options, pieces) as log:
        words = (f"ws://127.0.0.1:{log.port}/", "--data", LONG, "--permessage-deflate")
        result = drive(capsys, *words, "--expect-text", LONG, "--calls", "20", "--warmup", "0s")
    assert (result["ok"], result["errors"]) == (20, 0), result["error_examples"]
    assert log.offers == {OFFER}
    assert set(log.messages) == {LONG}
    assert log.compressed == len(log.messages) == 20
    assert result["websocket_extensions"] == {agreed: 1}
    # Both ways it is a hundredth of the text, or less.
    assert result["bytes_sent"] < 20 * len(LONG) / 100
    assert result["bytes_received"] < 20 * len(LONG) / 20


def test_bytes_that_do_not_shrink_are_the_same_on_both_sides(
    capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    body = tmp_path / "message"
    body.write_bytes(os.urandom(300_000))
    digest = hashlib.sha256(body.read_bytes()).hexdigest()
    with server({}) as log:
        words = (f"ws://127.0.0.1:{log.port}/", "--body", str(body), "--permessage-deflate")
        result = drive(capsys, *words, "--calls", "5")
    assert (result["ok"], result["errors"]) == (5, 0), result["error_examples"]
    found = {
        hashlib.sha256(bytes(message, "l1") if isinstance(message, str) else message).hexdigest()
        for message in log.messages
    }
    assert found == {digest}
    assert log.compressed == len(log.messages)


def test_a_server_that_declines_gets_plain_messages_and_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with server(None) as log:
        words = (f"ws://127.0.0.1:{log.port}/", "--data", LONG, "--permessage-deflate")
        result = drive(capsys, *words, "--expect-text", LONG, "--calls", "6", "--connections", "2")
    assert (result["ok"], result["errors"]) == (6, 0), result["error_examples"]
    assert set(log.messages) == {LONG}
    assert log.compressed == 0
    assert list(result["websocket_extensions"]) == ["none"]
    assert any("declined permessage-deflate" in hint for hint in result["hints"])


def test_nothing_is_offered_unless_it_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with server({}) as log:
        result = drive(capsys, f"ws://127.0.0.1:{log.port}/", "--data", LONG, "--calls", "3")
    assert result["ok"] == 3
    assert (log.offers, log.compressed, result["websocket_extensions"]) == (set(), 0, {})
    assert main(["drive", "http://127.0.0.1:1/", "--permessage-deflate"]) == 2
    assert "--websocket" in capsys.readouterr().err


def deflate(text: bytes) -> bytes:
    """As RFC 7692 section 7.2.1 has it."""
    compressor = zlib.compressobj(wbits=-15)
    return (compressor.compress(text) + compressor.flush(zlib.Z_SYNC_FLUSH))[:-4]


def frame(first: int, payload: bytes) -> bytes:
    assert len(payload) < 1 << 16
    length = (
        bytes([len(payload)]) if len(payload) < 126 else b"\x7e%c%c" % divmod(len(payload), 256)
    )
    return bytes([first]) + length + payload


BOMB = deflate(bytes(40 << 20))
HOSTILE = {
    "an unknown extension": ("x-other", b"", "that was offered"),
    "an unknown parameter": ("permessage-deflate; x=1", b"", "four parameters"),
    "a parameter given twice": (
        "permessage-deflate; server_max_window_bits=9; server_max_window_bits=10",
        b"",
        "given once",
    ),
    "a window that was not offered": (
        "permessage-deflate; client_max_window_bits=10",
        b"",
        "where it was offered",
    ),
    "two extensions": ("permessage-deflate, permessage-deflate", b"", "one offer"),
    "no agreement": ("", frame(0xC1, deflate(b"hi")), "without an extension"),
    "a marked continuation": (
        "permessage-deflate",
        frame(0x41, deflate(b"hi")) + frame(0xC0, b"\0"),
        "first frame of a message alone",
    ),
    "a compressed ping": ("permessage-deflate", frame(0xC9, b"\0"), "a control frame"),
    "not deflate": ("permessage-deflate", frame(0xC1, b"\xff\xff"), "is DEFLATE"),
    "a window of before": (
        "permessage-deflate; server_no_context_takeover",
        frame(0xC1, b"\xf2\x00\x11\x00\x00"),
        "is DEFLATE",
    ),
    "no block": ("permessage-deflate", frame(0xC1, b""), "has a block"),
    "not UTF-8": ("permessage-deflate", frame(0xC1, deflate(b"\xff")), "is UTF-8"),
    "a bomb": ("permessage-deflate", frame(0xC1, BOMB), "largest size accepted"),
}


def _serve_once(listener: socket.socket, extensions: str, reply: bytes) -> None:
    connection, _ = listener.accept()
    with connection:
        asked = b""
        while b"\r\n\r\n" not in asked:
            asked += connection.recv(4096)
        fields = dict(line.split(b": ", 1) for line in asked.lower().splitlines()[1:] if line)
        at = asked.lower().index(b"sec-websocket-key: ") + len(b"sec-websocket-key: ")
        key = asked[at:].split(b"\r\n", 1)[0]
        assert fields[b"sec-websocket-extensions"] == OFFER.encode()
        accept = hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        lines = [
            b"HTTP/1.1 101 Switching Protocols",
            b"Upgrade: websocket",
            b"Connection: Upgrade",
            b"Sec-WebSocket-Accept: " + base64.b64encode(accept),
        ]
        if extensions:
            lines.append(b"Sec-WebSocket-Extensions: " + extensions.encode())
        connection.sendall(b"\r\n".join([*lines, b"", b""]))
        try:
            connection.recv(4096)
            connection.sendall(reply)
            while connection.recv(4096):
                pass
        except OSError:
            pass


@pytest.mark.parametrize("name", HOSTILE)
def test_a_broken_rule_of_the_extension_fails_the_call(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    extensions, reply, rule = HOSTILE[name]
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=_serve_once, args=(listener, extensions, reply))
    thread.start()
    words = (f"ws://127.0.0.1:{listener.getsockname()[1]}/", "--data", "x", "--permessage-deflate")
    limits = ("--calls", "1", "--warmup", "0s", "--timeout", "2s", "--message-max", "1 MB")
    result = drive(capsys, *words, *limits, code=1)
    listener.close()
    thread.join(10)
    assert rule in json.dumps(result["error_examples"]), result["error_examples"]


@pytest.mark.parametrize("codec", ["json", "protobuf"])
@pytest.mark.parametrize("language", ["go", "java"])
@pytest.mark.parametrize("operation", ["Feed", "Push", "Chat"])
def test_services_agree_and_every_stream_is_right(
    capsys: pytest.CaptureFixture[str], language: str, operation: str, codec: str
) -> None:
    stack = f"websocket@{language}?codec={codec}&compression=permessage-deflate"
    gap = ("--item-gap", "1ms") if operation == "Feed" else ()
    words = ("--operation", operation, "--size", "2 kB", "--items", "30", *gap)
    result = drive(capsys, stack, *words, "--calls", "8", "--users", "2", "--warmup", "0s")
    assert (result["ok"], result["errors"]) == (8, 0), result["error_examples"]
    assert sum(result["websocket_extensions"].values()) == 2
    (agreed,) = result["websocket_extensions"]
    assert agreed.startswith("permessage-deflate")


def test_the_service_in_rust_states_why_it_does_not_compress(
    capsys: pytest.CaptureFixture[str],
) -> None:
    stack = "websocket@rust?compression=permessage-deflate"
    assert main(["drive", stack, "--calls", "1"]) == 2
    assert "tokio-tungstenite does not have the extension" in capsys.readouterr().err
