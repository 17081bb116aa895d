"""Checks with tshark that written captures are what they should be."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench.ground_truth.written.conversation import Conversation
from bench.ground_truth.written.frames import US_PER_S, Frame, pcap
from wirelab.errors import LabError

SECONDS_MAX = 300.0
FIELDS = (
    "frame.time_epoch",
    "frame.cap_len",
    "_ws.malformed",
    "tcp.checksum.status",
    "ip.checksum.status",
)
PREFERENCES = (
    "tcp.check_checksum:TRUE",
    "ip.check_checksum:TRUE",
    # It calls what is sent again malformed where it puts messages together.
    "tcp.desegment_tcp_streams:FALSE",
)
BAD = "0"
"""Of a checksum."""


def check(name: str, written: Sequence[Conversation], folder: Path) -> list[str]:
    """What tshark reads differently in all captures of a scenario; empty where it reads the same
    times and lengths, no malformed packet and no wrong checksum. Raises :class:`LabError` without
    tshark."""
    if not written:
        return []
    snap = min(capture.snap for capture in written)
    frames = [frame for capture in written for frame in capture.frames]
    path = folder / "all.pcap"
    path.write_bytes(pcap(frames, snap))
    command = ["tshark", "-n", "-r", str(path), "-T", "fields", "-E", "separator=/t"]
    for preference in PREFERENCES:
        command += ["-o", preference]
    for field in FIELDS:
        command += ["-e", field]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS_MAX, check=False)
    except FileNotFoundError as error:
        raise LabError("tshark is not installed", "apt-get install tshark") from error
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    path.unlink()
    if len(lines) != len(frames):
        return [f"{name}: tshark reads {len(lines)} packets of {len(frames)}"]
    return [
        f"{name}: packet {number}: {words}"
        for number, (line, frame) in enumerate(zip(lines, frames, strict=True), 1)
        if (words := _differs(line.split("\t"), frame, snap))
    ]


def _differs(values: list[str], frame: Frame, snap: int) -> str:
    at, length, malformed, *sums = values
    at_us = round(float(at.partition(".")[0])) * US_PER_S + int(at.partition(".")[2][:6])
    if at_us != frame.at_us:
        return f"at {at_us} instead of {frame.at_us} us"
    if int(length) != min(len(frame.data), snap):
        return f"{length} B instead of {len(frame.data)}"
    if malformed:
        return "malformed"
    if any(BAD in value.split(",") for value in sums):
        return "wrong checksum"
    return ""
