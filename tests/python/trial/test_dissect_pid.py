"""`wirelab dissect --live --pid`: only the connections of the process and its children are kept,
next to a busy process that must not be seen."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.python.trial.test_dissect_live import RUN, _await_watching, _live

pytestmark = [pytest.mark.usefixtures("real_engine", "no_orphans")]

CALLS = 12
"""In connections that live 250 ms: sockets that are closed within 10 ms may be missed."""
SERVER = """
import http.client, http.server, sys, threading, time
class Hello(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "5")
        self.end_headers()
        self.wfile.write(b"hello")
    def log_message(self, *_):
        pass
def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hello)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    return server.server_port
def call(port, count=1, lives_s=0.25):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.connect()
    own = connection.sock.getsockname()[1]
    for _ in range(count):
        connection.request("GET", "/")
        connection.getresponse().read()
    time.sleep(lives_s)
    connection.close()
    return own
def log(**line):
    import json
    print(json.dumps(line), flush=True)
"""
BUSY = f"""{SERVER}
port, calls = serve(), 0
log(port=port)
def stop():
    sys.stdin.readline()
    log(calls=calls)
    import os
    os._exit(0)
threading.Thread(target=stop, daemon=True).start()
while True:
    call(port, 20, 0.0)
    calls += 20
"""
CALLER = f"""{SERVER}
port, calls, connections = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
sys.stdin.readline()
log(ports=[call(port, calls // connections) for _ in range(connections)], calls=calls)
sys.stdin.readline()
"""
PARENT = """
import subprocess, sys
sys.exit(subprocess.call([sys.executable, "-c", *sys.argv[1:]]))
"""
SERVING = f"""{SERVER}
log(port=serve())
sys.stdin.readline()
"""


@contextmanager
def process(script: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A process that logs JSON lines and ends with its input."""
    command = [sys.executable, "-c", script, *words]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def say(started: subprocess.Popen[str]) -> None:
    """Sends a line, for which it waits."""
    assert started.stdin is not None
    started.stdin.write("\n")
    started.stdin.flush()


def read_log_line(started: subprocess.Popen[str]) -> dict[str, Any]:
    """The next line of its log."""
    assert started.stdout is not None
    return dict(json.loads(started.stdout.readline()))


@pytest.fixture
def busy() -> Iterator[subprocess.Popen[str]]:
    """A server and its caller in one process, as fast as they can."""
    if os.geteuid() != 0:
        pytest.skip("live captures need root")
    with process(BUSY) as started:
        started.port = read_log_line(started)["port"]  # type: ignore[attr-defined]
        yield started
        say(started)
        assert read_log_line(started)["calls"] > 100, "it was busy"


def interrupt(live: subprocess.Popen[str]) -> dict[str, Any]:
    """Interrupts the capture; its document."""
    live.send_signal(signal.SIGINT)
    out, err = live.communicate(timeout=60)
    assert live.returncode == 0, err
    return dict(json.loads(out))


def dissect(file: Path) -> dict[str, Any]:
    """What the written packets hold."""
    done = subprocess.run([*RUN, "dissect", str(file), "--json"], capture_output=True, check=True)
    return dict(json.loads(done.stdout))


def check(document: dict[str, Any], ports: list[int], calls: int) -> None:
    """All calls and connections of the process, and nothing else."""
    flows = document["flows"]
    assert document["exchanges"]["count"] == calls
    assert sorted(int(one["client"].rpartition(":")[2]) for one in flows["list"]) == sorted(ports)
    assert document["capture"]["packets"] == sum(one["packets"] for one in flows["list"])


@pytest.mark.parametrize("connections", [1, 3])
def test_only_connections_of_the_process_are_kept_and_written(
    busy: subprocess.Popen[str], connections: int, tmp_path: Path
) -> None:
    """They are opened after the start, to a server that also serves the busy process's like."""
    file = tmp_path / "kept.pcapng"
    port = str(busy.port)  # type: ignore[attr-defined]
    with process(CALLER, port, str(CALLS), str(connections)) as quiet:
        live = _live("--pid", str(quiet.pid), "--write", str(file), "--json")
        _await_watching(live)
        say(quiet)
        own = read_log_line(quiet)
        time.sleep(0.5)
        document = interrupt(live)
    check(document, own["ports"], CALLS)
    check(dissect(file), own["ports"], CALLS)


def test_connections_that_the_process_accepts_are_kept(
    busy: subprocess.Popen[str], tmp_path: Path
) -> None:
    file = tmp_path / "kept.pcapng"
    with process(SERVING) as quiet:
        port = str(read_log_line(quiet)["port"])
        live = _live("--pid", str(quiet.pid), "--write", str(file), "--json")
        _await_watching(live)
        with process(CALLER, port, str(CALLS), "3") as caller:
            say(caller)
            own = read_log_line(caller)
        time.sleep(0.5)
        document = interrupt(live)
    check(document, own["ports"], CALLS)
    check(dissect(file), own["ports"], CALLS)


def test_connections_of_a_child_are_kept(busy: subprocess.Popen[str]) -> None:
    port = str(busy.port)  # type: ignore[attr-defined]
    with process(PARENT, CALLER, port, str(CALLS), "3") as parent:
        live = _live("--pid", str(parent.pid), "--json")
        _await_watching(live)
        say(parent)
        own = read_log_line(parent)
        time.sleep(0.5)
        document = interrupt(live)
        say(parent)
        parent.wait(timeout=20)
    check(document, own["ports"], CALLS)


def test_calls_of_a_process_that_exits_are_kept_and_its_ports_are_given_up(
    busy: subprocess.Popen[str], tmp_path: Path
) -> None:
    file = tmp_path / "kept.pcapng"
    port = str(busy.port)  # type: ignore[attr-defined]
    with process(CALLER, port, str(CALLS), "1") as quiet:
        live = _live("--pid", str(quiet.pid), "--write", str(file), "--json")
        _await_watching(live)
        say(quiet)
        own = read_log_line(quiet)
        say(quiet)
        quiet.wait(timeout=20)
        time.sleep(1.0)
        # Calls from now on belong to another process.
        with process(CALLER, port, str(CALLS), "1") as later:
            say(later)
            read_log_line(later)
        time.sleep(0.5)
        document = interrupt(live)
    check(document, own["ports"], CALLS)
    check(dissect(file), own["ports"], CALLS)


def test_a_process_that_exits_without_a_connection_gives_an_empty_account(
    busy: subprocess.Popen[str],
) -> None:
    with process(SERVING) as quiet:
        live = _live("--pid", str(quiet.pid), "--for", "2s", "--json")
        _await_watching(live)
        time.sleep(0.3)
        say(quiet)
        quiet.wait(timeout=20)
        out, err = live.communicate(timeout=60)
    assert live.returncode == 0, err
    assert json.loads(out)["capture"]["packets"] == 0


def test_a_process_that_does_not_exist_is_refused(busy: subprocess.Popen[str]) -> None:
    ended_before = subprocess.Popen([sys.executable, "-c", ""])
    ended_before.wait()
    live = _live("--pid", str(ended_before.pid))
    _, err = live.communicate(timeout=60)
    assert live.returncode == 2
    assert f"there is no process {ended_before.pid} name one that runs" in " ".join(err.split())
    assert "watching" not in err
