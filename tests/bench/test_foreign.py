"""`bench.foreign` lays dissections next to tshark: it agrees on an orderly capture, and lists what
differs with the milliseconds at stake."""

from __future__ import annotations

import shutil
import struct
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.foreign import __main__ as foreign
from bench.foreign import tshark
from bench.foreign.comparison import compare
from bench.foreign.turns import is_plain
from bench.foreign.way import measure_ways
from wirelab.documents.dissection import Dissection
from wirelab.process.interruption import Interruption
from wirelab.trial.dissection import Look, dissect

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")

SYN, FIN, PSH, ACK = 2, 1, 8, 16
REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CALLS = 3
WAIT_US = 5_000
WAY_US = 2_000
"""From the capture to the client and back."""


class Conversation:
    """Frames of Ethernet between two ends, as a pcap file."""

    def __init__(self) -> None:
        self.file = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
        self.client_port = 50000
        self._sent = [1000, 5000]
        self._at_us = 0

    def miss(self, side: int, payload: bytes) -> None:
        """A segment that the capture lacks."""
        self._sent[side] += len(payload)

    def send(self, side: int, flags: int, payload: bytes = b"", after_us: int = 100) -> None:
        """A segment of the client (0) or the server (1)."""
        self._at_us += after_us
        ports = (self.client_port, 80)[:: 1 if side == 0 else -1]
        addresses = (b"\x0a\0\0\x01", b"\x0a\0\0\x02")[:: 1 if side == 0 else -1]
        acknowledged = self._sent[1 - side] if flags & ACK else 0
        tcp = struct.pack(
            "!HHIIBBHHH", *ports, self._sent[side], acknowledged, 0x50, flags, 64000, 0, 0
        )
        length = 40 + len(payload)
        ip = struct.pack("!BBHHHBBH", 0x45, 0, length, len(self.file) & 0xFFFF, 0, 64, 6, 0)
        frame = b"\x02" * 12 + b"\x08\0" + ip + b"".join(addresses) + tcp + payload
        seconds, rest = divmod(self._at_us, 1_000_000)
        self.file += struct.pack("<IIII", seconds, rest, len(frame), len(frame)) + frame
        self._sent[side] += len(payload) + bool(flags & (SYN | FIN))


def orderly() -> bytes:
    """Calls whose replies come after 5 ms each, captured at the client."""
    made = Conversation()
    made.send(0, SYN)
    made.send(1, SYN | ACK)
    made.send(0, ACK, after_us=0)
    for _ in range(CALLS):
        made.send(0, PSH | ACK, REQUEST, 1_000)
        made.send(1, PSH | ACK, REPLY, WAIT_US)
        made.send(0, ACK, after_us=0)
    made.send(0, FIN | ACK)
    made.send(1, FIN | ACK)
    made.send(0, ACK, after_us=0)
    return made.file


def call_from_afar(made: Conversation, calls: int = CALLS) -> None:
    """A connection captured at the server. The client is :data:`WAY_US` away; the server closes
    after a while, and the kernel of the client acknowledges that sooner than anything else."""
    made.send(0, SYN, after_us=61_000_000)
    made.send(1, SYN | ACK)
    made.send(0, ACK, after_us=WAY_US)
    for _ in range(calls):
        made.send(0, PSH | ACK, REQUEST, 1_000)
        made.send(1, PSH | ACK, REPLY, WAIT_US)
        made.send(0, ACK, after_us=WAY_US)
    made.send(1, FIN | ACK, after_us=50_000)
    made.send(0, ACK, after_us=WAY_US // 4)
    made.send(0, FIN | ACK)
    made.send(1, ACK)


def examine(capture: Path) -> tuple[Dissection, tshark.Reading]:
    """What the two programs read."""
    with Interruption() as interruption:
        log = capture.with_suffix(".log")
        document = dissect(capture, Look(), log=log, interruption=interruption)
    return document, tshark.read(capture)


def test_the_way_of_replies_to_the_client_is_part_of_both_figures(tmp_path: Path) -> None:
    made = Conversation()
    call_from_afar(made)
    capture = tmp_path / "afar.pcap"
    capture.write_bytes(made.file)
    document, reading = examine(capture)
    # The last reply is followed by the end of the server, which waits for nothing.
    returned_ms = (CALLS - 1) * WAY_US / 1e3
    compared = compare(capture, document, reading)
    assert (compared.disagreements, compared.timed) == ([], 1)
    assert compared.returned_ms == pytest.approx([returned_ms])

    (number, stream), *_ = reading.streams.items()
    untimed = replace(
        stream, packets=[replace(packet, answered_ms=None) for packet in stream.packets]
    )
    without = replace(reading, streams={number: untimed})
    (found,) = compare(capture, document, without).disagreements
    assert found.figure == "request to first byte"
    assert found.ours - found.theirs == pytest.approx(returned_ms)


def test_the_way_to_a_client_is_the_shortest_and_shared_once_a_connection_ended(
    tmp_path: Path,
) -> None:
    made = Conversation()
    call_from_afar(made)
    made.client_port += 1
    call_from_afar(made, calls=1)
    capture = tmp_path / "twice.pcap"
    capture.write_bytes(made.file)
    first, second = measure_ways(tshark.read(capture)).values()
    assert first[0] == 0
    assert first[-1] == pytest.approx(WAY_US / 1e3), "the FIN alone times nothing"
    assert second[0] == pytest.approx(WAY_US / 1e3)


def test_a_connection_with_packets_that_the_capture_lacks_is_not_compared(tmp_path: Path) -> None:
    made = Conversation()
    made.send(0, SYN)
    made.send(1, SYN | ACK)
    made.send(0, ACK, after_us=0)
    for _ in range(CALLS):
        made.send(0, PSH | ACK, REQUEST, 1_000)
        made.send(1, PSH | ACK, REPLY[:-1], WAIT_US)
        made.miss(1, REPLY[-1:])
        made.send(0, ACK)
    capture = tmp_path / "missed.pcap"
    capture.write_bytes(made.file)
    (stream,) = tshark.read(capture).streams.values()
    assert not is_plain(stream)


def test_an_orderly_capture_agrees_in_every_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack/orderly.pcap").write_bytes(orderly())
    monkeypatch.setattr(sys, "argv", ["foreign", str(tmp_path), "--jobs", "1"])
    assert foreign.main() == 0
    shown = capsys.readouterr().out
    assert "1 files, 1 with at least 10 packets" in shown
    assert "1 agree in every figure" in shown
    assert "waits of 1 connections among them" in shown
    assert "0 of those waits hold the way of replies to the client, 0.0 ms" in shown


def test_what_tshark_reads_otherwise_is_listed_with_its_milliseconds(tmp_path: Path) -> None:
    capture = tmp_path / "orderly.pcap"
    capture.write_bytes(orderly())
    document, reading = examine(capture)
    (number, stream), *_ = reading.streams.items()
    assert stream.rtt_ms is not None
    slower = replace(stream, rtt_ms=stream.rtt_ms + 3.0)
    (found,) = compare(capture, document, replace(reading, streams={number: slower})).disagreements
    assert (found.figure, found.stream) == ("rtt", number)
    assert found.ms == pytest.approx(3.0)
    assert "rtt" in found.text()


def test_an_empty_folder_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["foreign", str(tmp_path)])
    assert foreign.main() == 2
    assert "has no files" in capsys.readouterr().err
