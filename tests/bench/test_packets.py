"""What readers of a capture say becomes speeds, and memory that must not grow."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from bench.process import Finished
from bench.rows import packets
from bench.rows.packets import DISSECT, FEWER, READING, TSHARK, Pass
from bench.servers import ENGINE

CAPTURE_HEAD = bytes.fromhex("d4c3b2a10200040000000000000000000000040001000000")
"""A pcap file of Ethernet (draft-ietf-opsawg-pcap), without packets yet."""


def tcp_packet(second: int) -> bytes:
    """A SYN from 198.18.0.1 to 198.18.0.2 at that time, as a record of a pcap file."""
    ip = bytes.fromhex("450000280000400040060000c6120001c6120002")
    tcp = bytes.fromhex("4e201f9000000001000000005002ffff00000000")
    frame = bytes.fromhex("0200000000010200000000020800") + ip + tcp
    length = len(frame).to_bytes(4, "little")
    return second.to_bytes(4, "little") + bytes(4) + length * 2 + frame


def run_command(command: list[str]) -> Finished:
    """What the program said."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Finished(tuple(command), 0, done.stdout, done.stderr, 1.0, 1.0, 0)


@pytest.mark.parametrize("name", [DISSECT, TSHARK])
def test_each_program_says_how_many_packets_it_saw(name: str, tmp_path: Path) -> None:
    """So that one that reads less than the others cannot win."""
    if name == DISSECT and not ENGINE.exists():
        pytest.skip("make setup builds the engine")
    tshark = shutil.which("tshark")
    if name == TSHARK and tshark is None:
        pytest.skip("tshark is not installed")
    capture = tmp_path / "three.pcap"
    capture.write_bytes(CAPTURE_HEAD + b"".join(map(tcp_packet, range(3))))
    (reader,) = (
        one for one in packets.readers("read_speed", capture, 3, tshark) if one.name == name
    )
    assert reader.packets(run_command(list(reader.command))) == 3


def one_pass(name: str, count: int, cpu_s: float, peak: int = 0) -> Pass:
    """A pass with those figures."""
    return Pass(name, count, cpu_s, 1.0, peak, 0.0)


def test_speed_is_by_cpu_time_and_both_have_a_bound() -> None:
    """The whole dissection, with the account of time, too."""
    slow = {
        READING: one_pass(READING, 3_000_000, 0.5),
        DISSECT: one_pass(DISSECT, 3_000_000, 3.0),
        TSHARK: one_pass(TSHARK, 400_000, 4.3),
        FEWER[DISSECT]: one_pass(FEWER[DISSECT], 1_000_000, 1.0),
        FEWER[TSHARK]: one_pass(FEWER[TSHARK], 100_000, 1.3),
    }
    reading, dissect, beside = packets.speeds([slow] * 6)
    assert (reading.median, reading.verdict) == (6.0, "holds")
    assert (dissect.median, dissect.verdict) == (1.0, "BROKEN")
    # The 0.3 s in which tshark starts are not in it: 10 µs a packet over 1 µs.
    assert beside.median == pytest.approx(10.0)
    slower = {**slow, READING: one_pass(READING, 3_000_000, 3.0)}
    assert packets.speeds([slower] * 6)[0].verdict == "BROKEN"
    del slow[TSHARK]
    assert len(packets.speeds([slow] * 6)) == 2, "without tshark there is no comparison"


def test_decryption_is_read_by_cipher_suite() -> None:
    lines = (
        '{"suite": "TLS13_A", "decrypted_mb_per_s": 512.5, "encrypted_mb_per_s": 900.0}\n'
        '{"suite": "TLS13_B", "decrypted_mb_per_s": 410.0, "encrypted_mb_per_s": 901.0}\n'
    )
    assert packets.parse_decryption(lines) == {"TLS13_A": 512.5, "TLS13_B": 410.0}


def test_memory_that_grows_with_the_capture_breaks_its_bound() -> None:
    """Each longer capture is compared with the shorter one before it."""
    held = [
        one_pass(name, count, 1.0, peak)
        for _ in range(3)
        for count, reading, dissect in ((1_000, 100, 200), (4_000, 102, 260))
        for name, peak in ((READING, reading), (DISSECT, dissect))
    ]
    reading, dissect = packets.growth(held, 4_000)
    assert reading.values == (1.02,) * 3
    assert reading.verdict == "holds"
    assert dissect.verdict == "BROKEN"
