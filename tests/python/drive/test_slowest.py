"""The slowest exchanges of a capture, and the slowest calls of a drive: captures with known times,
and a server whose log is the truth."""

from __future__ import annotations

import http.server
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from wirelab.cli import main
from wirelab.documents.dissection import Slowest
from wirelab.documents.event import SlowestCalls
from wirelab.report.sections import packet_tail, slow_calls

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")
Json = dict[str, Any]

SYN, PUSH, ACK = 2, 8, 16
REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
REPLY = b"HTTP/1.1 204 No Content\r\n\r\n"
CLIENT_PORT, SERVER_PORT = 40_000, 8080
SERVER_US, TIMEOUT_US = 5_000, 200_000


@dataclass
class Capture:
    """A pcap file of one connection, by a capture at the client."""

    now_us: int = 1_700_000_000_000_000
    records: list[bytes] = field(default_factory=list)
    sent: list[int] = field(default_factory=lambda: [1_000, 5_000])
    """Next sequence numbers of client and server."""

    def put(self, side: int, flags: int, text: bytes = b"", after_us: int = 0) -> int:
        """A segment (RFC 791, RFC 9293; without checksums); returns its number."""
        self.now_us += after_us
        hosts = [b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02"]
        ports = [CLIENT_PORT, SERVER_PORT]
        known = self.sent[1 - side] if flags & ACK else 0
        numbers = struct.pack(">HHII", ports[side], ports[1 - side], self.sent[side], known)
        head = numbers + struct.pack(">BBHHH", 80, flags, 9999, 0, 0)
        length = 40 + len(text)
        ip = struct.pack(">BBHHHBBH", 0x45, 0, length, 0, 0, 64, 6, 0)
        ends = hosts[side] + hosts[1 - side]
        frame = bytes(12) + b"\x08\x00" + ip + ends + head + text
        seconds, us = divmod(self.now_us, 1_000_000)
        self.records.append(struct.pack("<IIII", seconds, us, len(frame), len(frame)) + frame)
        self.sent[side] += len(text) + bool(flags & SYN)
        return len(self.records)

    def open(self) -> None:
        """The handshake."""
        self.put(0, SYN)
        self.put(1, SYN | ACK, after_us=20)
        self.put(0, ACK, after_us=20)

    def call(self, *, lost: bool) -> tuple[int, int]:
        """One exchange of 5 ms; a lost request is sent again after 200 ms. Returns the numbers of
        its first packet and its last."""
        first = self.put(0, PUSH | ACK, REQUEST, after_us=1_000)
        if lost:
            self.sent[0] -= len(REQUEST)
            self.put(0, PUSH | ACK, REQUEST, after_us=TIMEOUT_US)
        last = self.put(1, PUSH | ACK, REPLY, after_us=SERVER_US)
        self.put(0, ACK, after_us=20)
        return first, last

    def write(self, file: Path) -> Path:
        """The file (draft-ietf-opsawg-pcap)."""
        head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)
        file.write_bytes(head + b"".join(self.records))
        return file


def write_calls(file: Path, *lost: int, calls: int = 300) -> dict[int, tuple[int, int]]:
    """A capture of that number of exchanges; the packets of the lost ones by their numbers."""
    capture = Capture()
    capture.open()
    packets = {number: capture.call(lost=number in lost) for number in range(1, calls + 1)}
    capture.write(file)
    return {number: packets[number] for number in lost}


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_the_numbers_and_packets_are_those_of_exchanges_that_lost_a_packet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.pcap"
    lost = write_calls(file, 37, 120, 251)
    document = json.loads(run(capsys, "dissect", str(file), "--slowest", "3", "--json"))
    slowest = document["slowest"]
    found = {one["number"]: tuple(one["packets"]) for one in slowest["list"]}
    assert found == lost
    for one in slowest["list"]:
        assert one["time"]["elapsed_ms"] == pytest.approx(205.0)
        assert one["time"]["parts_ms"]["loss-recovery"] == pytest.approx(200.0)
        words = ["--timeline", str(one["number"]), "--json"]
        shown = json.loads(run(capsys, "dissect", str(file), *words))
        assert shown["slowest"] is None
        rungs = [rung for rung in shown["timeline"] if rung["phase"] == "exchange"]
        assert rungs[0]["packet"] == one["packets"][0]
        assert rungs[1]["note"] == "retransmission"
    compared = slowest["compared"]
    assert (compared["slowest"]["count"], compared["median"]["count"]) == (3, 30)
    assert compared["slowest"]["parts_ms"]["loss-recovery"] == pytest.approx(600.0)
    assert "loss-recovery" not in compared["median"]["parts_ms"]


def test_the_terminal_and_the_page_name_what_makes_the_slowest_slow(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = tmp_path / "x.pcap", tmp_path / "x.html"
    write_calls(file, 37, 120, 251)
    text = run(capsys, "dissect", str(file), "--slowest", "2", "--report", str(page))
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    words = " ".join(text.split())
    assert "The 2 slowest of 300 exchanges (--timeline N shows one)" in words
    sentences = (
        "The slowest 1 % (3 exchanges, 205 ms on average): 98 % loss recovery (200 ms).",
        "Those around the median (30, 5.00 ms on average): 100 % server, until its first byte",
        "The difference between them: 100 % loss recovery (200 ms).",
    )
    shown = unescape(page.read_text(encoding="utf-8"))
    for sentence in sentences:
        assert sentence in words
        assert sentence in shown
    assert "Slowest exchanges" in shown
    rows = [line.split()[0] for line in lines if "98 % loss recovery" in line and "packets" in line]
    assert set(rows) <= {"37", "120", "251"}
    assert len(rows) == 2
    assert "Slowest" not in run(capsys, "dissect", str(file))


def test_equal_exchanges_are_not_compared_part_by_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.pcap"
    write_calls(file)
    words = " ".join(run(capsys, "dissect", str(file), "--slowest", "1").split())
    assert (
        "The slowest 1 % (3 exchanges) take 5.00 ms on average, about as long as those around the "
        "median (5.00 ms)."
    ) in words
    assert "The difference between them" not in words


def test_few_exchanges_are_listed_and_not_compared_and_none_is_stated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.pcap"
    write_calls(file, 4, calls=9)
    words = " ".join(run(capsys, "dissect", str(file), "--slowest", "1").split())
    assert "The slowest of 9 exchanges" in words
    assert packet_tail.WORDING.too_few() in words
    assert "slowest 1 % (" not in words
    opened = Capture()
    opened.open()
    opened.write(file)
    assert packet_tail.NOTHING in run(capsys, "dissect", str(file), "--slowest", "1")
    Capture().write(file)
    assert packet_tail.NOTHING in run(capsys, "dissect", str(file), "--slowest", "1")


@pytest.mark.parametrize("number", ["0", "1001"])
def test_a_number_that_cannot_be_listed_is_refused(
    number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["dissect", str(tmp_path)], ["drive", "http://127.0.0.1:1/"]):
        assert main([*command, "--slowest", number]) == 2
        assert "--slowest" in capsys.readouterr().err


def test_a_long_name_stays_within_80_columns() -> None:
    time_ms = {"count": 1, "elapsed_ms": 7.0, "parts_ms": {"server": 7.0}}
    one = {
        "number": 1_234_567,
        "flow": 0,
        "exchange": 3,
        "name": "GET /" + 110 * "x",
        "protocol": "http1",
        "at_ms": 12_345.6,
        "has_opening": True,
        "packets": [123_456_789, 123_456_999],
        "time": time_ms,
    }
    document = msgspec.convert({"of": 1, "list": [one], "compared": None}, Slowest)
    lines = list(packet_tail.lines(document))
    assert max(map(len, lines)) <= 80
    words = " ".join(" ".join(lines).split())
    assert "1234567" in words
    assert "with the opening of its connection" in words


def test_times_that_the_clock_of_a_capture_did_not_show_have_no_parts() -> None:
    none = {"count": 100, "elapsed_ms": 0.0, "parts_ms": {}}
    slow = {"count": 10, "elapsed_ms": 10.0, "parts_ms": {"server": 10.0}}
    compared = {"slowest": slow, "median": none, "resolution": 1 / 64}
    one = {
        "number": 1,
        "flow": 0,
        "exchange": 0,
        "name": "GET /",
        "protocol": "http1",
        "at_ms": 0.0,
        "has_opening": False,
        "packets": [4, 5],
        "time": {**none, "count": 1},
    }
    document = msgspec.convert({"of": 1000, "list": [one], "compared": compared}, Slowest)
    assert " 0  packets 4–5, GET /" in list(packet_tail.lines(document))[2]
    assert list(packet_tail.sentences(document))[1:] == [
        "Those around the median (100, 0 on average).",
        "The difference between them: 100 % server, until its first byte (1.00 ms).",
    ]


class Call(NamedTuple):
    """One request as the server saw it."""

    port: int
    """Of the client."""
    number: int
    """On its connection, from 1."""


class Log:
    """What the server did; every hundredth request, from the 50th on, is slow."""

    def __init__(self) -> None:
        self.seen: list[Call] = []
        self.slow: set[Call] = set()
        self._lock = threading.Lock()

    def add(self, call: Call) -> bool:
        """Adds a request; returns whether it is to be slow."""
        with self._lock:
            self.seen.append(call)
            is_slow = len(self.seen) % 100 == 50
            if is_slow:
                self.slow.add(call)
            return is_slow


SLOW_S = 1.0
"""Longer than a busy machine stops a process."""


class Handler(http.server.BaseHTTPRequestHandler):
    """Notes each request, and answers every hundredth late."""

    # Otherwise a reply waits 40 ms for the ACK of its header.
    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"
    log: Log
    number = 0

    def do_GET(self) -> None:
        self.number += 1
        if Handler.log.add(Call(self.client_address[1], self.number)):
            time.sleep(SLOW_S)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    """Of a server in this process."""
    Handler.log = Log()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def list_calls(result: Json) -> set[Call]:
    """The calls that a drive names."""
    return {Call(one["port"], one["ordinal"] + 1) for one in result["slowest"]["list"]}


@pytest.mark.parametrize("connections", [1, 4])
def test_a_drive_names_the_calls_that_the_server_answered_late(
    connections: int, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"http://127.0.0.1:{port}/"
    load = ["--connections", str(connections), "--calls", "300"]
    result = json.loads(run(capsys, "drive", url, *load, "--slowest", "3", "--json"))
    assert len(Handler.log.slow) == 3
    assert list_calls(result) == Handler.log.slow
    slowest = result["slowest"]
    assert slowest["of"] == result["calls"] == 300
    for one in slowest["list"]:
        assert one["response_ns"] >= SLOW_S * 1e9
        assert sum(one["phases"].values()) == one["response_ns"]
        assert one["phases"]["wait_ns"] >= SLOW_S * 1e9
    compared = slowest["compared"]
    assert compared["slowest"]["count"] == 3
    assert compared["slowest"]["phases"]["wait_ns"] >= 3 * SLOW_S * 1e9
    median = compared["median"]
    assert median["response_ns"] / median["count"] < SLOW_S * 1e9 / 2


def test_a_drive_prints_its_slowest_calls_and_states_that_it_has_no_packets(
    port: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "x.html"
    words = ["--calls", "300", "--slowest", "2", "--report", str(page)]
    text = run(capsys, "drive", f"http://127.0.0.1:{port}/", *words)
    assert max(map(len, text.splitlines())) <= 80
    shown = unescape(page.read_text(encoding="utf-8"))
    joined = " ".join(text.split())
    assert "the 2 slowest of 300 calls" in joined
    assert "waiting for the first byte" in joined
    assert slow_calls.NO_PACKETS in joined
    for sentence in ("The slowest 1 % (3 calls", "The difference between them"):
        assert sentence in joined
        assert sentence in shown
    assert "Slowest calls" in shown


def test_a_drive_without_the_option_lists_nothing(
    port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"http://127.0.0.1:{port}/"
    assert json.loads(run(capsys, "drive", url, "--calls", "5", "--json"))["slowest"] is None
    assert "slowest" not in run(capsys, "drive", url, "--calls", "5")


def test_calls_before_the_window_are_not_listed(
    port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--warmup", "300ms", "--rate", "200", "--duration", "400ms", "--slowest", "1000"]
    result = json.loads(run(capsys, "drive", f"http://127.0.0.1:{port}/", *words, "--json"))
    listed = result["slowest"]["list"]
    assert len(listed) == result["slowest"]["of"] == result["calls"]
    assert len(Handler.log.seen) > result["calls"] > 0
    assert all(0 <= one["intended_ns"] <= 0.4e9 for one in listed)


def test_equal_calls_are_not_compared_phase_by_phase() -> None:
    phases = {"queueing_ns": 0, "write_ns": 0, "wait_ns": 50, "read_ns": 50}
    one = {"operation": "GET", "connection": 0, "port": 0, "ordinal": 4, "intended_ns": 7}
    listed = {**one, "response_ns": 100, "phases": phases, "failed": True}
    sums = [
        {
            "count": count,
            "response_ns": count * 100,
            "phases": {name: count * ns for name, ns in phases.items()},
        }
        for count in (2, 20)
    ]
    compared = {"slowest": sums[0], "median": sums[1]}
    document = msgspec.convert({"of": 200, "list": [listed], "compared": compared}, SlowestCalls)
    (sentence,) = slow_calls.sentences(document)
    assert sentence.endswith("about as long as those around the median (0.1 µs).")
    (row,) = slow_calls.rows(document)
    assert "failed: call 5 from connection 0" in row


COMMAND = [sys.executable, "-c", "import sys; from wirelab.cli import main; sys.exit(main())"]


def test_server_log_drive_and_capture_name_the_same_calls(
    port: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if os.geteuid() != 0:
        pytest.skip("live captures need root")
    kept = tmp_path / "kept.pcapng"
    command = [*COMMAND, "dissect", "--live", "--interface", "lo", "--port", str(port)]
    with subprocess.Popen(
        [*command, "--write", str(kept)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as capture:
        assert capture.stdout is not None
        assert capture.stderr is not None
        assert "watching lo" in capture.stderr.readline()
        url = f"http://127.0.0.1:{port}/"
        driven = json.loads(run(capsys, "drive", url, "--calls", "300", "--slowest", "3", "--json"))
        assert any("300 exchanges" in line for line in capture.stdout)
        capture.send_signal(signal.SIGINT)
        capture.communicate(timeout=30)
        assert capture.returncode == 0
    document = json.loads(run(capsys, "dissect", str(kept), "--slowest", "3", "--json"))
    assert document["exchanges"]["count"] == len(Handler.log.seen) == 300
    clients = {flow["flow"]: flow["client"] for flow in document["flows"]["list"]}
    found = set()
    for one in document["slowest"]["list"]:
        # Of a single connection: its calls are all that there are.
        assert one["number"] == one["exchange"] + 1
        found.add(Call(int(clients[one["flow"]].rpartition(":")[2]), one["number"]))
        assert one["time"]["parts_ms"]["server"] >= SLOW_S * 1e3 * 0.95
    assert found == Handler.log.slow == list_calls(driven)
