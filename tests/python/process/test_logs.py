"""Logs of processes that print without end: bounded on the disk and in memory, and still of use."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from wirelab.experiment import loading
from wirelab.process import logs
from wirelab.process.children import Child, ProcessOptions
from wirelab.process.logs import KEPT_BYTES, RELEASE_BYTES, BoundedLog
from wirelab.run import runner

MB = 1_000_000


def _disk_bytes(path: Path) -> int:
    return path.stat().st_blocks * 512


def _number_lines(first: int, last: int) -> bytes:
    """Lines of 100 bytes."""
    return b"".join(b"%099d\n" % number for number in range(first, last))


@pytest.mark.parametrize("releases", [True, False], ids=["holes", "no-holes"])
def test_start_and_end_of_a_long_log_stay_in_whole_lines(
    releases: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not releases:
        monkeypatch.setattr(logs, "_release", lambda *_: False)
    log = BoundedLog(tmp_path / "log")
    with log.path.open("ab", buffering=0) as file:
        for block in range(100):
            file.write(_number_lines(block * 10_000, (block + 1) * 10_000))
            log.trim()
            assert log.size() == (block + 1) * MB
            assert _disk_bytes(log.path) <= 2 * KEPT_BYTES + RELEASE_BYTES + 2 * MB
    log.finish()
    content = log.path.read_bytes()
    assert len(content) <= 2 * KEPT_BYTES + 200
    lines = content.decode().splitlines()
    (note,) = [line for line in lines if line.startswith("…")]
    numbers = [int(line) for line in lines if line != note]
    at = lines.index(note)
    assert numbers[:at] == list(range(at))
    assert numbers[at:] == list(range(1_000_000 - len(numbers[at:]), 1_000_000))
    left_out = (1_000_000 - len(numbers)) * 100 / 1e6
    assert note == f"… {left_out:,.1f} MB left out …"
    assert log.tail(1) == lines[-1]
    log.finish()
    assert log.path.read_bytes() == content


def test_a_short_log_stays_as_it_is(tmp_path: Path) -> None:
    log = BoundedLog(tmp_path / "log")
    content = _number_lines(0, 2 * KEPT_BYTES // 100)
    log.path.write_bytes(content)
    log.trim()
    log.finish()
    assert log.path.read_bytes() == content


def test_the_end_of_a_large_log_is_read_without_the_rest(tmp_path: Path) -> None:
    """The file is sparse: 40 GB that no memory holds."""
    path = tmp_path / "log"
    with path.open("wb") as file:
        file.truncate(40_000 * MB)
        file.seek(0, os.SEEK_END)
        file.write(b"\nbefore\nlast line\n")
    assert BoundedLog(path).tail(2) == "before | last line"


def test_a_child_that_prints_without_end_is_bounded_while_it_runs(tmp_path: Path) -> None:
    script = (
        "import os\nline = b'x' * 999_999 + b'\\n'\n"
        "for _ in range(600): os.write(2, line)\nos.write(2, b'end\\n')"
    )
    log = tmp_path / "log"
    child = Child([sys.executable, "-c", script], ProcessOptions(log=log), stdin=subprocess.DEVNULL)
    largest = 0
    while child.wait(0.02) is None:
        largest = max(largest, _disk_bytes(log))
    child.end(0.0)
    assert largest < 400 * MB
    assert log.stat().st_size < 9 * MB
    assert child.log_tail(1) == "end"


FLOOD = """
import http.server, os, sys, threading
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()
os.write(1, b"first words\\n")
def flood():
    block = b"?" * (1 << 20)  # no line ends
    for _ in range(int(os.environ["MIB"])):
        os.write(1, block)
    os.write(1, b"\\nlast words\\n")
    done.set()
done = threading.Event()
server = http.server.ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Handler)
threading.Thread(target=flood, daemon=True).start()
threading.Thread(target=server.serve_forever, daemon=True).start()
done.wait()
threading.Event().wait()
"""


@pytest.mark.usefixtures("no_orphans", "real_engine")
def test_a_service_that_floods_its_output_leaves_a_small_log_and_no_memory(tmp_path: Path) -> None:
    service = {
        "name": "own",
        "command": [sys.executable, "-c", FLOOD],
        "http": {"path": "/"},
        "env": {"MIB": "1200"},
        "stop": "2 s",
    }
    content = {
        "name": "own",
        "repeats": 1,
        "services": [service],
        "loads": [{"constant": {"rate": 20, "in_flight_max": 50}}],
        "window": {"duration": "6 s"},
        "warmup": {"min": "0 s", "max": "0 s"},
    }
    text = yaml.safe_dump(content)
    # Resets the peak (proc_pid_clear_refs(5)).
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    experiment = loading.parse(text, str(tmp_path / "x.yaml"))
    (trial,) = runner.run(experiment, tmp_path / "run", source=text).trials
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb
    assert trial.status == "measured"
    assert trial.result.ok > 100
    assert grown_kb < 300_000  # the log as a whole has 1.2 GB
    (log,) = (tmp_path / "run").rglob("service.log")
    kept = log.read_bytes()
    assert len(kept) < 9 * MB
    assert kept.startswith(b"first words\n")
    assert kept.endswith(b"\nlast words\n")
    assert b"MB left out" in kept
