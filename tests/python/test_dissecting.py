"""What ``wirelab dissect`` says of files that hold nothing it can read."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wirelab.cli import app
from wirelab.dissection import Look, dissect
from wirelab.errors import LabError, UsageError
from wirelab.interruption import Interruption

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
        (USER0, (FRAME,), "linktype-147 is not known here"),
    ],
)
def test_a_capture_that_can_show_nothing_is_not_acquitted(
    tmp_path: Path, link_type: int, frames: tuple[bytes, ...], said: str
) -> None:
    file = _pcap(tmp_path / "x.pcap", link_type, *frames)
    told = CliRunner().invoke(app, ["dissect", str(file)])
    assert told.exit_code == 0
    assert said in told.output
    assert "Nothing found" not in told.output


def test_a_file_that_is_no_capture_is_refused_with_one_remedy(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("no capture at all")
    with pytest.raises(UsageError, match="no capture: it begins with") as refused:
        _dissect(tmp_path / "x")
    assert "standard input" not in str(refused.value)
    assert refused.value.remedy == "give a capture in the format pcap or pcapng"


def test_standard_input_is_left_to_the_engine() -> None:
    told = CliRunner().invoke(app, ["dissect", "-"])
    assert told.exit_code == 2
    assert "wirelab-engine dissect -" in told.output


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
