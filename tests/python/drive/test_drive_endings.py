"""Calls of ``wirelab drive`` end with their connection, by servers of the test's own."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.python.truth_server import THINK_S, run_server
from wirelab.cli import main

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")
Json = dict[str, Any]
PREFACE_BYTES = len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
HEAD_BYTES = 9
SETTINGS, HEADERS = 4, 1
"""Types of frames (RFC 9113 section 6)."""


def _drive(capsys: pytest.CaptureFixture[str], port: int, *arguments: str) -> Json:
    url = f"http://127.0.0.1:{port}/"
    options = ("--timeout", "20s", "--reconnect-delay", "10ms", "--json")
    main(["drive", url, *arguments, *options])
    result: Json = json.loads(capsys.readouterr().out)
    return result


def _mean_s(result: Json) -> float:
    """How long a call was under way, by Little's law."""
    whole_s: float = result["concurrency"] * result["window_s"]
    calls: int = result["ended_in_window"]
    return whole_s / calls


@pytest.mark.parametrize("every", [1, 4])
def test_a_call_without_a_reply_ends_with_its_connection(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, every: int
) -> None:
    with run_server(tmp_path, drop_every=every) as (port, log):
        result = _drive(capsys, port, "--calls", "200", "--connections", "4")
    truth = json.loads(log.read_text(encoding="utf-8"))
    assert truth["dropped"] == 200 // every
    assert (result["calls"], result["ok"]) == (truth["requests"], truth["replies"])
    assert result["errors_by_kind"] == {"closed": truth["dropped"]}
    assert THINK_S <= _mean_s(result) < 20 * THINK_S
    assert result["concurrency"] <= 4.0


def test_a_call_without_a_reply_is_under_way_as_long_as_others(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with run_server(tmp_path, drop_every=4) as (port, _):
        result = _drive(capsys, port, "--calls", "200", "--connections", "4")
    service_s = result["service_time_ms"]["mean"] / 1e3
    assert _mean_s(result) == pytest.approx(service_s, rel=0.02)


class Closing(socketserver.BaseRequestHandler):
    """Closes each connection of HTTP/2 at its first request."""

    def handle(self) -> None:
        self.server.connections.append(self.client_address)  # type: ignore[attr-defined]
        self.request.sendall(bytes([0, 0, 0, SETTINGS, 0, 0, 0, 0, 0]))
        received = b""
        while HEADERS not in _frame_types(received[PREFACE_BYTES:]):
            block = self.request.recv(1 << 16)
            if not block:
                return
            received += block


def _frame_types(content: bytes) -> list[int]:
    found = []
    while len(content) >= HEAD_BYTES:
        found.append(content[3])
        content = content[HEAD_BYTES + int.from_bytes(content[:3]) :]
    return found


@contextmanager
def _serve_closing() -> Iterator[Any]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Closing) as server:
        server.connections = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_streams_of_http2_end_with_their_connection(capsys: pytest.CaptureFixture[str]) -> None:
    """Up to four on each; none waits for its timeout."""
    amount = ("--calls", "80", "--connections", "2", "--in-flight", "4", "--http2")
    with _serve_closing() as server:
        result = _drive(capsys, server.server_address[1], *amount)
    assert (result["calls"], result["ok"], result["errors"]) == (80, 0, 80)
    assert result["errors_by_kind"].keys() <= {"closed", "reset"}
    assert 80 / 4 <= len(server.connections) <= result["connections_opened"] < 80
    assert _mean_s(result) < 1.0
    assert result["concurrency"] <= 8.0
