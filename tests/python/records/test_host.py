"""What a server's threads did: planned, refused, recorded, shown."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from bench.ground_truth.host import play
from wirelab.documents.dissection import Elapsed, HostElapsed, HostWaits, Waits
from wirelab.errors import ExperimentError, LabError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.process import engine_binary
from wirelab.process.interruption import Interruption
from wirelab.records.host import NAME, HostRecord
from wirelab.records.line import from_line, to_line
from wirelab.records.trial import Trial
from wirelab.report.sections import packet_waits
from wirelab.stack import manifests
from wirelab.trial.reconciliation import CallLog
from wirelab.trial.stages import host
from wirelab.trial.stages.capture import Captures
from wirelab.trial.stages.link import Loopback
from wirelab.trial.taken_packets import TakenPackets

TEXT = """\
name: small
services: [rest@rust]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: 2}]
capture: [none, server]
host: true
window: {duration: 100 ms}
"""


CALLS = 5
SLEEP_S = 0.02


class Slow(http.server.BaseHTTPRequestHandler):
    """Answers late."""

    def do_GET(self) -> None:
        time.sleep(SLEEP_S)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def may_record(tmp_path: Path, real_engine: Path) -> None:
    """Skips where the machine cannot."""
    del real_engine
    try:
        with Interruption() as interruption:
            host.try_out(tmp_path, interruption)
    except LabError as error:
        pytest.skip(error.message)


def test_only_trials_with_packets_are_recorded() -> None:
    experiment = experiment_file.parse(TEXT)
    planned = planning.schedule(experiment, manifests.load())
    cells = {trial.cell.capture: trial.cell for trial in planned.trials}
    assert not cells["none"].records_host
    assert cells["server"].records_host
    assert cells["server"].point.options["host"] == "recorded"
    assert "host" not in cells["none"].point.options


def test_a_record_without_packets_is_refused() -> None:
    with pytest.raises(ExperimentError, match="add `capture: server`"):
        experiment_file.parse(TEXT.replace("[none, server]", "none"))


def test_experiments_without_a_record_keep_their_digest() -> None:
    experiment = experiment_file.parse(TEXT)
    plain = experiment.model_copy(update={"host": False})
    assert plain.digest() != experiment.digest()
    without = experiment_file.parse(TEXT.replace("host: true\n", ""))
    assert without.digest() == plain.digest()


def test_a_trial_keeps_what_was_recorded(measured_trial: Trial) -> None:
    record = HostRecord(records=12, drops=1, threads=2, parts_ms={"timer": 3.5}, cpu_s=0.25)
    for expected in (record, None):
        line = json.loads(json.dumps(to_line([replace(measured_trial, host=expected)])))
        (read,) = from_line(line)
        assert read.host == expected


@pytest.fixture
def measured_trial() -> Trial:
    """Any trial."""
    experiment = experiment_file.parse(TEXT)
    planned = planning.schedule(experiment, manifests.load()).trials[0]
    return Trial(planned.id, planned.cell.point, 0, 0, "measured")


def _waits(drops: int | None) -> Waits:
    server = HostElapsed(elapsed_ms=100.0, parts_ms={"timer": 60.0, "runnable": 39.9, "lock": 0.1})
    divided = HostWaits(server=server, think_time=server, left_out=0, drops=drops)
    exchanges = Elapsed(count=4, elapsed_ms=200.0, parts_ms={"server": 100.0, "path": 100.0})
    return Waits(
        connections=exchanges, exchanges=exchanges, longest=(), unattributed=(), host=divided
    )


def test_the_account_shows_what_the_threads_did() -> None:
    text = "\n".join(packet_waits.account(_waits(0)))
    for words in ("blocked: timer", "60 %", "runnable, not running", "40 %"):
        assert words in text
    # Of a thousandth of the time no row is made.
    assert "blocked: lock" not in text
    section = packet_waits.section(_waits(0))
    assert section is not None
    assert len(section.tables) == 2


def test_an_account_states_what_its_record_lacks() -> None:
    assert "dropped 3 records" in "\n".join(packet_waits.account(_waits(3)))
    assert "breaks off" in "\n".join(packet_waits.account(_waits(None)))


def test_a_process_without_the_right_is_refused_with_the_remedy(real_engine: Path) -> None:
    without: list[str] = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("setpriv of util-linux is needed to give up capabilities")
        without = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]
    done = subprocess.run(
        [*without, str(real_engine), "host", "--pid", str(os.getpid()), "--for", "0.1"],
        capture_output=True,
        text=True,
        timeout=30.0,
        check=False,
    )
    assert done.returncode == 2
    assert "CAP_BPF and CAP_PERFMON" in done.stderr
    assert json.loads(done.stdout)["refused"]["remedy"].startswith("run it as root")


def test_a_process_that_is_not_there_is_refused(may_record: None) -> None:
    command = [str(engine_binary.find()), "host", "--pid", "4194304", "--for", "0.1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30.0, check=False)
    assert done.returncode == 2
    assert "there is no process 4194304; name one that runs" in done.stderr.replace(" (", "; ")


def test_a_file_that_is_not_a_record_is_refused(tmp_path: Path, real_engine: Path) -> None:
    del real_engine
    file = tmp_path / "x.records"
    file.write_bytes(b"pcap" * 100)
    command = [str(engine_binary.find()), "dissect", str(file), "--host", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30.0, check=False)
    assert done.returncode == 2
    assert "it is not a record of a host" in done.stderr


def test_the_captures_of_a_trial_are_divided_by_its_record(
    may_record: None, tmp_path: Path
) -> None:
    divided = _measure_server_time(tmp_path)
    assert sum(divided["parts_ms"].values()) == pytest.approx(divided["elapsed_ms"])
    # A thread that another processor woke counts as sleeping, not as waiting for a disk. Of one
    # call the kernel may not report the switches (docs/reference/host.md, "Limits").
    assert divided["parts_ms"]["timer"] >= 0.9 * (CALLS - 1) * SLEEP_S * 1e3, divided
    whole = divided["parts_ms"]["timer"] + divided["parts_ms"].get("unknown", 0.0)
    assert whole >= 0.9 * CALLS * SLEEP_S * 1e3, divided


class WritesLate(http.server.BaseHTTPRequestHandler):
    """Writes the rest of a reply late, with Nagle's algorithm, and records when."""

    protocol_version = "HTTP/1.1"
    written_at: ClassVar[list[float]] = []

    def do_GET(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhe")
        time.sleep(SLEEP_S)
        self.written_at.append(time.monotonic())
        self.wfile.write(b"ld")

    def log_message(self, *_: object) -> None:
        """Nothing."""


def test_of_a_stall_only_the_time_after_the_write_is_certain(
    may_record: None, tmp_path: Path
) -> None:
    received_at: list[float] = []

    def call(port: int) -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=10.0) as connection:
            for _ in range(CALLS):
                connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                # The acknowledgment of the first part is delayed, by 40 ms on Linux.
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
                while not connection.recv(4096).endswith(b"ld"):
                    pass
                received_at.append(time.monotonic())

    WritesLate.written_at.clear()
    document = _record(WritesLate, call, tmp_path)
    (stall,) = [one for one in document["findings"] if one["cause"] == "nagle-delayed-ack"]
    times = zip(WritesLate.written_at, received_at, strict=True)
    held_ms = sum(received - written for written, received in times) * 1e3
    # What the server waited before its second write is not saved by any switch.
    assert stall["ms_total"] >= held_ms + 0.9 * CALLS * SLEEP_S * 1e3, (stall, held_ms)
    assert 0.8 * held_ms <= stall["test"]["ms_least"] <= held_ms, (stall, held_ms)
    assert "by the record of the host" in stall["test"]["predict"]


def _measure_server_time(folder: Path) -> dict[str, Any]:
    """The server's time in a captured and recorded trial of ``CALLS`` calls."""

    def call(port: int) -> None:
        for _ in range(CALLS):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10.0).read()

    server_time: dict[str, Any] = _record(Slow, call, folder)["waits"]["host"]["server"]
    return server_time


def _record(
    handler: type[http.server.BaseHTTPRequestHandler], call: Callable[[int], None], folder: Path
) -> dict[str, Any]:
    """The dissection of a captured and recorded trial of ``CALLS`` calls."""
    with (
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        Interruption() as interruption,
    ):
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        port = server.server_address[1]
        with (
            Captures(
                "server",
                Loopback(),
                folder,
                port=port,
                cores=(),
                interruption=interruption,
            ) as captures,
            host.HostRecording(
                (os.getpid(),), folder / NAME, log=folder / "host.log", interruption=interruption
            ) as recording,
        ):
            call(port)
            captures.tick()
            recording.tick()
            time.sleep(0.3)
            taken, recorded = captures.finish(), recording.finish()
        server.shutdown()
        assert recorded.records > 0
        packets = TakenPackets(folder, taken, recorded, folder / "keys", is_direct=True)
        wire = packets.dissect(CallLog(None), interruption)
    assert wire is not None
    assert wire.exchanges == CALLS
    document: dict[str, Any] = json.loads(next(folder.glob("dissection-*.json")).read_text())
    return document


COUNT = 12


def test_a_service_that_knows_why_it_was_late_is_believed(may_record: None, tmp_path: Path) -> None:
    """The ground truth at a small scale; docs/reference/host.md has the whole."""
    with Interruption() as interruption:
        total = play.measure(COUNT, 7, tmp_path, interruption)
    clear = sum(tally.occurrences for tally in total.tallies.values())
    right = sum(tally.right for tally in total.tallies.values())
    print(*play.table(total), *total.disagreements, sep="\n", file=sys.stderr)
    assert clear >= COUNT
    assert right >= 0.8 * clear, total.disagreements


def test_a_truth_without_a_clear_cause_is_left_out() -> None:
    total = play.Total()
    play._compare(total, "burn", {"running": 5.0, "runnable": 4.0}, {"running": 9.0}, "")
    play._compare(total, "burn", {"running": 9.0, "runnable": 1.0}, {"runnable": 9.0}, "")
    play._compare(total, "sleep", {"timer": 9.0}, {"timer": 8.5}, "")
    play._compare(total, "sleep", {"timer": 9.0}, None, "")
    assert total.unclear == 1
    running, runnable, timer = (total.tallies[name] for name in ("running", "runnable", "timer"))
    assert (running.missed, runnable.false) == (1, 1)
    assert (timer.right, timer.missed, timer.off_ms) == (1, 1, [0.5])
    assert any(line.startswith("lock: 0 occurrences") for line in play.misses(total))
