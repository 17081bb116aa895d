"""What ``wirelab dissect`` says of files that hold nothing it can read."""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from click.testing import CliRunner

from wirelab.cli import app
from wirelab.errors import LabError, UsageError
from wirelab.process.interruption import Interruption
from wirelab.trial.dissection import Look, dissect

ETHERNET, USER0 = 1, 147
FRAME = b"\x00" * 12 + b"\x08\x06" + b"\x00" * 46
"""An ARP packet in outline: not TCP."""


def _pcap(file: Path, link_type: int, *frames: bytes) -> Path:
    """A capture in the classic format (draft-ietf-opsawg-pcap)."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, link_type)
    records = [struct.pack("<IIII", 1, 0, len(frame), len(frame)) + frame for frame in frames]
    file.write_bytes(head + b"".join(records))
    return file


@pytest.mark.parametrize(
    ("link_type", "frames", "said"),
    [
        (ETHERNET, (), "The capture holds no packets."),
        (ETHERNET, (FRAME,), "No packet carries TCP"),
        (USER0, (FRAME,), "1 packet in user0 is not read"),
    ],
)
def test_a_capture_that_can_show_nothing_is_not_acquitted(
    tmp_path: Path, link_type: int, frames: tuple[bytes, ...], said: str
) -> None:
    file = _pcap(tmp_path / "x.pcap", link_type, *frames)
    result = CliRunner().invoke(app, ["dissect", str(file)])
    assert result.exit_code == 0
    assert said in result.output
    assert "Nothing found" not in result.output


SNAPPED = Path(__file__).parents[3] / "crates/trace/corpus/capture/snapped.pcapng"
"""One exchange on one connection."""


def test_a_port_that_no_connection_has_is_said_and_nothing_is_acquitted() -> None:
    result = CliRunner().invoke(app, ["dissect", str(SNAPPED), "--port", "1"])
    assert "No connection uses port 1; the capture has 80." in result.output
    assert "Nothing found" not in result.output


def test_an_exchange_that_is_not_there_cannot_be_shown() -> None:
    result = CliRunner().invoke(app, ["dissect", str(SNAPPED), "--timeline", "2"])
    assert result.exit_code == 2
    assert "--timeline 2: no more than 1 exchange can be seen" in " ".join(result.stderr.split())


def test_a_file_that_is_not_a_capture_is_refused_with_one_remedy(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("no capture at all")
    with pytest.raises(UsageError, match="not a capture file: it begins with") as refused:
        _dissect(tmp_path / "x")
    assert "standard input" not in str(refused.value)
    assert refused.value.remedy == "give a capture in the format pcap or pcapng"


@pytest.mark.parametrize(
    ("content", "said", "remedy"),
    [
        (b"", "is empty", "capture again"),
        (b"\xd4\xc3\xb2\xa1", "cut at byte 4, within the pcap header of 24 bytes", "capture again"),
        (b"\x0a\x0d\x0d\x0a", "cut at byte 4, within the pcapng section header", "capture again"),
        (b"\x1f\x8b\x08\x00", "the gzip file cannot be read further", "copy it again"),
        (b"\xfd7zXZ\x00", "compressed with xz", "unxz"),
    ],
)
def test_a_capture_cut_within_its_header_is_refused_with_the_missing_part(
    tmp_path: Path, content: bytes, said: str, remedy: str
) -> None:
    (tmp_path / "x.pcap").write_bytes(content)
    with pytest.raises(UsageError, match=said) as refused:
        _dissect(tmp_path / "x.pcap")
    assert remedy in refused.value.remedy
    assert str(refused.value).count(remedy) == 1, "one remedy, in one place"


SYN, PUSH, ACK = 2, 8, 16


def _segment(source: int, target: int, numbers: tuple[int, int], flags: int, text: bytes) -> bytes:
    """An Ethernet frame with IPv4 and TCP (RFC 791, RFC 9293), without checksums; the client
    has the higher port."""
    sequence, acknowledged = numbers
    client, server = b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02"
    ends = client + server if source > target else server + client
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + len(text), 0, 0, 64, 6, 0) + ends
    ports = struct.pack(">HHII", source, target, sequence, acknowledged)
    return (
        b"\x00" * 12 + b"\x08\x00" + ip + ports + struct.pack(">BBHHH", 80, flags, 999, 0, 0) + text
    )


def test_a_capture_of_one_direction_states_what_it_cannot_show(tmp_path: Path) -> None:
    requested = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    frames = [
        _segment(40_000, 80, (100, 0), SYN, b""),
        _segment(40_000, 80, (101, 501), ACK, b""),
        _segment(40_000, 80, (101, 501), ACK | PUSH, requested),
        _segment(40_000, 80, (101 + len(requested), 601), ACK, b""),
    ]
    result = CliRunner().invoke(
        app, ["dissect", str(_pcap(tmp_path / "x.pcap", ETHERNET, *frames))]
    )
    assert result.exit_code == 0
    words = " ".join(result.output.split())
    assert "of 1 of 1 connection only the packets of the client were captured" in words
    assert "latency, round-trip times" in words
    assert "To have both, capture at one of the two ends" in words
    assert "Nothing found" not in words


def test_messages_without_a_counterpart_are_reported(tmp_path: Path) -> None:
    """The second of six requests is lost; the capture shows the third too late."""
    requested = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    answered = b"HTTP/1.1 204 No Content\r\n\r\n"
    frames = [
        _segment(40_000, 80, (100, 0), SYN, b""),
        _segment(80, 40_000, (500, 101), SYN | ACK, b""),
        _segment(40_000, 80, (101, 501), ACK, b""),
    ]
    for call in range(6):
        client, server = 101 + call * len(requested), 501 + call * len(answered)
        request = _segment(40_000, 80, (client, server), ACK | PUSH, requested)
        frames += [request] if call != 1 else []
        frames += [_segment(80, 40_000, (server, client + len(requested)), ACK | PUSH, answered)]
    result = CliRunner().invoke(
        app, ["dissect", str(_pcap(tmp_path / "x.pcap", ETHERNET, *frames))]
    )
    assert result.exit_code == 0, result.output
    words = " ".join(result.output.split())
    assert "5 exchanges on 1 connection" in words
    assert "1 request and 2 replies are not paired" in words


def test_standard_input_is_left_to_the_engine() -> None:
    result = CliRunner().invoke(app, ["dissect", "-"])
    assert result.exit_code == 2
    assert "wirelab-engine dissect -" in result.output


def test_an_engine_of_another_version_is_not_taken_for_a_bad_capture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = tmp_path / "engine"
    said = "error: unexpected argument '--calls'\n\nUsage: x"
    engine.write_text(f'#!/bin/sh\necho "{said}" >&2\nexit 2\n')
    engine.chmod(0o755)
    monkeypatch.setenv("WIRELAB_ENGINE", str(engine))
    with pytest.raises(LabError, match="unexpected argument '--calls'") as failed:
        _dissect(_pcap(tmp_path / "x.pcap", ETHERNET))
    assert "make setup" in failed.value.remedy


def _dissect(file: Path) -> None:
    with Interruption() as interruption:
        dissect(file, Look(), log=file.with_suffix(".log"), interruption=interruption)


@pytest.mark.usefixtures("real_engine")
def test_a_drawing_is_readable_on_light_and_dark_backgrounds(tmp_path: Path) -> None:
    file = tmp_path / "x.svg"
    result = CliRunner().invoke(
        app, ["dissect", str(SNAPPED), "--timeline", "1", "--svg", str(file)]
    )
    assert result.exit_code == 0
    drawing = ElementTree.parse(file).getroot()
    (style,) = drawing.findall("{http://www.w3.org/2000/svg}style")
    assert "prefers-color-scheme: dark" in str(style.text)
    lines = [one.get("fill") or one.get("stroke") for one in drawing if one is not style]
    for colour in set(lines) - {"#999999", "#D55E00"}:  # grey and orange are legible on both
        assert f'"{colour}"' in str(style.text), colour
