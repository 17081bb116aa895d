"""`wirelab dissect --messages`: a server of another implementation, captured live, whose own log is
the truth; and what a terminal and a page show."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import threading
import time
from html import unescape
from pathlib import Path

import pytest
from websockets.sync.client import connect
from websockets.sync.server import ServerConnection, serve

from bench.ground_truth.written.conversation import Conversation
from bench.ground_truth.written.kinds_of_messages import (
    collect_in_proxy,
    lose_before_others,
)
from wirelab.cli import main
from wirelab.documents.dissection import Dissection, MessageGroupSum
from wirelab.process.interruption import Interruption
from wirelab.report.sections import packet_messages
from wirelab.trial.dissection import Look, dissect
from wirelab.trial.stages.capture import Capture, CaptureSpec
from wirelab.trial.stages.link import End

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")

MESSAGES = 25
PAUSE_S = 0.03
LONG_S = 0.3
SETTLE_S = 0.2


def _send_many(log: list[float], connection: ServerConnection) -> None:
    """Answers one message with many, of which one comes late; longer than one frame's short length,
    and compressed where the client accepts that."""
    connection.recv()
    for number in range(MESSAGES):
        time.sleep(LONG_S if number == MESSAGES // 2 else PAUSE_S)
        log.append(time.monotonic())
        connection.send(f"message {number} " * 40)


def _contexts(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Of a server with a fresh certificate, and of a client that writes its secrets."""
    file = folder / "server.pem"
    key = ["-newkey", "rsa:2048", "-nodes", "-keyout", str(file), "-subj", "/CN=localhost"]
    made = subprocess.run(["openssl", "req", "-x509", *key], capture_output=True, check=True)
    file.write_bytes(file.read_bytes() + made.stdout)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_mode = ssl.CERT_NONE
    client.keylog_filename = str(folder / "keys.log")
    return server, client


def _group(document: Dissection, direction: str) -> MessageGroupSum:
    assert document.messages is not None
    (found,) = (one for one in document.messages.groups if one.direction == direction)
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="captures need root")
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
@pytest.mark.parametrize("is_tls", [False, True], ids=["plain", "tls"])
def test_messages_of_a_live_server_are_those_of_its_log(tmp_path: Path, is_tls: bool) -> None:
    contexts = _contexts(tmp_path) if is_tls else None
    log: list[float] = []
    file = tmp_path / "capture.pcapng"
    with (
        serve(
            lambda connection: _send_many(log, connection),
            "127.0.0.1",
            0,
            ssl=contexts[0] if contexts else None,
        ) as server,
        Interruption() as interruption,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.socket.getsockname()[1]
        spec = CaptureSpec("client", End(), file, port=port)
        recording = tmp_path / "capture.log"
        scheme = "wss" if contexts else "ws"
        with Capture(spec, cores=(), log=recording, interruption=interruption) as capture:
            with connect(
                f"{scheme}://127.0.0.1:{port}/feed", ssl=contexts[1] if contexts else None
            ) as client:
                client.send("begin")
                received = [client.recv() for _ in range(MESSAGES)]
            time.sleep(SETTLE_S)
            assert not capture.finish().drops
        server.shutdown()
        keylog = tmp_path / "keys.log" if contexts else None
        look = Look(messages=MESSAGES, keylog=keylog)
        document = dissect(file, look, log=tmp_path / "log", interruption=interruption)
    assert len(received) == MESSAGES
    asked, told = _group(document, "request"), _group(document, "reply")
    assert (asked.framing, asked.count, asked.bytes) == ("websocket", 1, len("begin") + 2)
    assert (told.framing, told.count, told.streams) == ("websocket", MESSAGES, 1)
    # The library compresses every message, and their length is that on the wire.
    assert (asked.compressed, told.compressed) == (1, MESSAGES)
    assert told.bytes < sum(map(len, received)) / 2
    assert told.gap_us is not None
    assert told.gap_us.n == MESSAGES - 1
    elapsed_s = log[-1] - log[0]
    assert told.gap_us.max / 1e6 == pytest.approx(LONG_S, rel=0.5)
    assert document.messages is not None
    times = [one for one in document.messages.slowest if one.direction == "reply"]
    between = sum(one.time.elapsed_ms for one in times) - _first_ms(document)
    assert between / 1e3 == pytest.approx(elapsed_s, rel=0.2)
    # The longest is the one that the server slept before.
    assert sorted(times, key=lambda one: one.number)[MESSAGES // 2] == times[0]


def _first_ms(document: Dissection) -> float:
    """The time before the first message of the server."""
    assert document.messages is not None
    told = [one for one in document.messages.slowest if one.direction == "reply"]
    return min(told, key=lambda one: one.number).time.elapsed_ms


def _write(folder: Path, seed: str) -> Path:
    capture = Conversation(seed)
    (lose_before_others if seed == "loss" else collect_in_proxy)(capture)
    file = folder / "x.pcap"
    file.write_bytes(capture.file())
    return file


def test_the_terminal_and_the_page_show_where_the_time_before_messages_went(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "x.html"
    file = _write(tmp_path, "loss")
    assert main(["dissect", str(file), "--messages", "2", "--report", str(page)]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    shown = unescape(page.read_text(encoding="utf-8"))
    assert "messages in streams count gap p50 p99 max" in words
    assert "The 2 longest times before one of" in words
    assert "loss recovery" in words[words.index("The 2 longest times") :]
    assert "could be read only together" in words
    assert "Messages inside streams" in shown
    assert "came longest after the one before them" in shown


def test_a_proxy_with_both_sides_in_the_capture_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _write(tmp_path, "proxy")
    assert main(["dissect", str(file), "--messages", "1"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "also seen behind a proxy, which held them" in words
    assert "a proxy had a message of a stream" in words


def test_a_capture_without_messages_is_reported_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capture = Conversation("none")
    capture.open()
    file = tmp_path / "x.pcap"
    file.write_bytes(capture.file())
    assert main(["dissect", str(file), "--messages", "1"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert packet_messages.NOTHING in words
    assert main(["dissect", str(file), "--messages", "0"]) == 2
