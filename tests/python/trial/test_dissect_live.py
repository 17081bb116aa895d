"""``wirelab dissect --live``: the packets that pass, until its end."""

from __future__ import annotations

import http.client
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirelab.errors import LabError
from wirelab.process.interruption import Interruption
from wirelab.trial.stages import host

PAUSE_S = 0.05
CALLS = 8
pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")


class Slow(http.server.BaseHTTPRequestHandler):
    """Answers late."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        time.sleep(PAUSE_S)
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    """Of a server in this process."""
    if os.geteuid() != 0:
        pytest.skip("live captures need root")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def _calls(port: int, count: int = CALLS) -> None:
    """One after the other on one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for _ in range(count):
        connection.request("GET", "/")
        connection.getresponse().read()
    connection.close()


RUN = [
    sys.executable,
    "-c",
    "import sys; from wirelab.cli import main; sys.exit(main(sys.argv[1:]))",
]


def _live(*options: str) -> subprocess.Popen[str]:
    """Started; packets are watched from its first line on."""
    command = [*RUN, "dissect", "--live", "--interface", "lo", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _await_watching(started: subprocess.Popen[str]) -> None:
    """From here on no packet is missed."""
    assert started.stderr is not None
    assert "watching lo" in started.stderr.readline()


def _read_until(started: subprocess.Popen[str], words: str) -> str:
    """What is printed up to the first line with these words."""
    assert started.stdout is not None
    lines = []
    for line in started.stdout:
        lines.append(line)
        if words in line:
            return "".join(lines)
    raise AssertionError(lines)


def test_calls_are_accounted_for_while_they_are_made(port: int, tmp_path: Path) -> None:
    kept = tmp_path / "kept.pcapng"
    started = _live("--port", str(port), "--write", str(kept))
    _await_watching(started)
    _calls(port)
    _read_until(started, f"{CALLS} exchanges")
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=30)
    assert started.returncode == 0, err
    assert "server, until its first byte" in out
    assert "server-think-time" in out
    assert "dropped" not in out
    again = subprocess.run(
        [*RUN, "dissect", str(kept), "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(again.stdout)["exchanges"]["count"] == CALLS


CALLER = f"""
import sys
from tests.python.trial.test_dissect_live import _calls
port, connections = map(int, sys.argv[1:])
sys.stdin.readline()
for _ in range(connections):
    _calls(port, {CALLS} // connections)
sys.stdin.readline()
"""


@pytest.mark.parametrize("connections", [1, CALLS])
def test_only_the_sockets_of_a_process_count(port: int, connections: int) -> None:
    """The process makes calls; another one, which is not watched, makes the same."""
    words = [sys.executable, "-c", CALLER, str(port), str(connections)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, text=True) as caller:
        started = _live("--pid", str(caller.pid), "--for", "2s", "--json")
        _await_watching(started)
        assert caller.stdin is not None
        caller.stdin.write("\n")
        caller.stdin.flush()
        _calls(port)
        out, err = started.communicate(timeout=30)
        caller.stdin.close()
    assert started.returncode == 0, err
    document = json.loads(out)
    assert document["exchanges"]["count"] == CALLS
    assert document["waits"]["exchanges"]["parts_ms"]["server"] >= CALLS * PAUSE_S * 1e3
    assert document["flows"]["count"] == connections, document["flows"]


def test_the_time_of_a_server_is_divided_by_what_its_threads_did(port: int, tmp_path: Path) -> None:
    try:
        with Interruption() as interruption:
            host.try_out(tmp_path, interruption)
    except LabError as error:
        pytest.skip(error.message)
    started = _live("--pid", str(os.getpid()), "--host", "--for", "3s", "--json")
    _await_watching(started)
    _calls(port)
    out, err = started.communicate(timeout=30)
    assert started.returncode == 0, err
    waits = json.loads(out)["waits"]
    divided = waits["host"]["server"]
    assert divided["elapsed_ms"] == pytest.approx(waits["exchanges"]["parts_ms"]["server"])
    assert sum(divided["parts_ms"].values()) == pytest.approx(divided["elapsed_ms"])
    assert divided["parts_ms"]["timer"] >= 0.9 * CALLS * PAUSE_S * 1e3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--interface", "nowhere"], 'no interface "nowhere"'),
        (["--pid", "4194000"], "no process 4194000"),
        (["--interface", "eth0", "--write", "x"], "--write needs one interface"),
        (["--for", "-1s"], "--for"),
        (["--host"], "--host needs a process"),
        (["--test"], "--live takes no FILE"),
    ],
)
def test_a_live_capture_that_cannot_start_is_refused(
    options: list[str], said: str, tmp_path: Path, port: int
) -> None:
    started = _live(*options)
    _, err = started.communicate(timeout=30)
    assert started.returncode == 2
    assert said in " ".join(err.split())


def test_options_of_live_alone_are_refused_without_it() -> None:
    for option in (["--pid", "1"], ["--for", "3s"], ["--write", "x"], []):
        done = subprocess.run(
            [*RUN, "dissect", *option],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert "--live" in done.stderr
