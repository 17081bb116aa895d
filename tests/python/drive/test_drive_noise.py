"""A crowded machine: the engine has its share of the caller's session, and a server that is kept
off the processors is reported."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from wirelab.cli import main
from wirelab.documents.event import Process
from wirelab.drive.advice import noise
from wirelab.drive.server_noise import KeptOff
from wirelab.process.children import Child, ProcessOptions
from wirelab.process.listeners import find_listeners
from wirelab.process.process_tree import wait_for_end
from wirelab.records.group import GroupResult

pytestmark = pytest.mark.usefixtures("no_orphans")

SERVER = """
import http.server, sys

class Handler(http.server.BaseHTTPRequestHandler):
    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        sum(range(int(sys.argv[2])))
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *_):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _is_open(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@dataclass(frozen=True)
class _Started:
    pid: int
    port: int


@contextlib.contextmanager
def _server(tmp_path: Path, work: int, *, cores: set[int] | None = None) -> Iterator[_Started]:
    """A server in a process of its own."""
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    port = _free_port()
    process = subprocess.Popen(
        [sys.executable, str(script), str(port), str(work)], start_new_session=True
    )
    if cores:
        os.sched_setaffinity(process.pid, cores)
    try:
        deadline = time.monotonic() + 60.0
        while not _is_open(port) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert _is_open(port), "the server does not listen"
        yield _Started(process.pid, port)
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def _crowd(count: int, core: int) -> Iterator[None]:
    """Processes that use all that they get of one core."""
    hogs = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
        for _ in range(count)
    ]
    for hog in hogs:
        os.sched_setaffinity(hog.pid, {core})
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def test_a_caller_has_the_session_of_wirelab_and_a_group_of_its_own(tmp_path: Path) -> None:
    options = ProcessOptions(log=tmp_path / "log")
    for own_session in (False, True):
        child = Child(["sleep", "60"], options, own_session=own_session)
        try:
            assert os.getpgid(child.pid) == child.pid
            is_shared = os.getsid(child.pid) == os.getsid(0)
            assert is_shared is not own_session
        finally:
            child.kill()
    # A caller that started another process leaves none behind: the whole group ends.
    child = Child(["sh", "-c", "sleep 60 & echo $!; wait"], options, own_session=False)
    grandchild = int(child.line(10.0) or b"0")
    child.kill()
    wait_for_end([grandchild], 10.0)
    assert not psutil.pid_exists(grandchild) or (
        psutil.Process(grandchild).status() == psutil.STATUS_ZOMBIE
    )


@pytest.mark.usefixtures("real_engine")
def test_the_engine_is_started_in_the_session_of_its_caller(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with _server(tmp_path, 0) as server:
        sessions: set[int] = set()
        watched = _watch_engines(sessions)
        with watched:
            main(["drive", f"http://127.0.0.1:{server.port}/", "--duration", "1s"])
        capsys.readouterr()
    assert sessions == {os.getsid(0)}


@contextlib.contextmanager
def _watch_engines(sessions: set[int]) -> Iterator[None]:
    """Collects the sessions of this process's children that are engines."""
    import threading

    over = threading.Event()

    def look() -> None:
        own = os.getpid()
        while not over.wait(0.02):
            for one in Path("/proc").iterdir():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    words = (one / "stat").read_text().rpartition(")")[2].split()
                    if int(words[1]) == own and b"wirelab-engine" in (
                        (one / "cmdline").read_bytes()
                    ):
                        sessions.add(int(words[3]))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_the_processes_behind_a_port_are_found_with_their_workers(tmp_path: Path) -> None:
    with _server(tmp_path, 0) as server:
        assert find_listeners(f"127.0.0.1:{server.port}") == (server.pid,)
    assert find_listeners(f"127.0.0.1:{server.port}") == ()
    assert find_listeners("unix:/nowhere") == ()
    script = "import os, socket, time\n"
    script += "one = socket.create_server(('127.0.0.1', 0))\n"
    script += "worker = os.fork()\n"
    script += "print(one.getsockname()[1], worker, flush=True) if worker else one.close()\n"
    script += "time.sleep(60)\n"
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    port, worker = parent.stdout.readline().split()
    try:
        # The worker holds no listening socket any more, but may get connections.
        assert find_listeners(f"[::1]:{port}") == tuple(sorted({parent.pid, int(worker)}))
    finally:
        os.kill(int(worker), 9)
        parent.kill()
        parent.communicate()


def _drive_json(port: int, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    url = f"http://127.0.0.1:{port}/"
    main(["drive", url, "--duration", "2s", "--users", "4", "--json"])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


@pytest.mark.usefixtures("real_engine")
def test_a_server_that_shares_its_core_with_a_crowd_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    core = min(os.sched_getaffinity(0))
    with _server(tmp_path, 20_000, cores={core}) as server, _crowd(3, core):
        noisy = _drive_json(server.port, capsys)
    found = [line for line in noisy["noise"] if line.startswith("the server's threads waited")]
    assert len(found) == 1, noisy["noise"]
    assert "other programs used" in found[0]


def test_waiting_for_each_other_is_not_noise() -> None:
    group = GroupResult(window_s=10.0)
    process = Process(
        cpu_user_s=0.0,
        cpu_system_s=0.0,
        steal_s=0.0,
        rss_max_bytes=0,
        switches_involuntary=0,
        cores=(),
    )
    # Eight threads of one server wait for each other on a machine without other work.
    assert noise(group, process, KeptOff(waited_s=8.0, others_s=0.1)) == []
    assert noise(group, process, KeptOff(waited_s=0.1, others_s=8.0)) == []
    assert noise(group, process, None) == []
    (line,) = noise(group, process, KeptOff(waited_s=3.0, others_s=8.0))
    assert "waited 3 s" in line
