"""Retransmissions and their like, counted as tshark counts them, in captures of several kinds."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from wirelab.documents.dissection import Dissection
from wirelab.experiment import loading as experiment_file
from wirelab.process.interruption import Interruption
from wirelab.run import runner as running
from wirelab.trial.dissection import Look, dissect
from wirelab.trial.stages.capture import Capture, CaptureSpec
from wirelab.trial.stages.link import End

pytestmark = [
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("ip") is None or not Path("/dev/net/tun").exists(),
        reason="captures and links need root, iproute2 and /dev/net/tun",
    ),
    pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed"),
    pytest.mark.usefixtures("no_orphans", "real_engine"),
]

FLAGS = {
    "retransmissions": "tcp.analysis.retransmission",
    "fast_retransmissions": "tcp.analysis.fast_retransmission",
    "spurious_retransmissions": "tcp.analysis.spurious_retransmission",
    "out_of_order": "tcp.analysis.out_of_order",
    "duplicate_acknowledgments": "tcp.analysis.duplicate_ack",
    "zero_windows": "tcp.analysis.zero_window",
    "resets": "tcp.flags.reset",
}
"""By name in the dissection: the field of tshark that is there, or true, where it counts."""

EXPERIMENT = """\
name: agreement
services: [{services}]
messages: [{{operation: Hello, bytes: {bytes}}}]
loads: [closed: {{users: 3}}]
links: [{link}]
capture: both
window: {{duration: 600 ms}}
warmup: {{min: 0 s, max: 0 s}}
repeats: 1
"""
KINDS = {
    "loopback": ("rest@rust", "loopback", "14 B"),
    "veth": ("grpc@rust", "lan", "100 kB"),
    "loss": (
        "rest@rust",
        "{name: lossy, both: {delay_ms: 3, loss: {kind: random, percent: 3}}}",
        "60 kB",
    ),
    "reordering": ("rest@rust", "{name: mixed, both: {delay_ms: 3, reorder_percent: 5}}", "60 kB"),
    "duplicates": ("rest@rust", "{name: twice, both: {delay_ms: 3, duplicate_percent: 4}}", "9 kB"),
    "TLS": (
        "'rest@rust?security=tls'",
        "{name: lossy-tls, both: {delay_ms: 2, loss: {kind: random, percent: 3}}}",
        "20 kB",
    ),
    "small windows": ("'rest@rust?client.tcp_window=4096'", "wlan", "60 kB"),
}
"""Service, link and size of the replies."""
REPEATED = frozenset({"loss", "reordering", "TLS"})
"""Where there must be something to agree on."""


def _theirs(capture: Path) -> tuple[Counter[str], Counter[int]]:
    """By name, and retransmissions by connection."""
    fields = [word for flag in FLAGS.values() for word in ("-e", flag)]
    command = ["tshark", "-n", "-T", "fields", "-E", "separator=,", "-E", "occurrence=f"]
    done = subprocess.run(
        [*command, "-e", "tcp.stream", *fields, "-r", str(capture), "tcp"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    counts: Counter[str] = Counter()
    streams: Counter[int] = Counter()
    for line in done.stdout.splitlines():
        stream, *flags = line.split(",")
        counts.update(name for name, flag in zip(FLAGS, flags, strict=True) if _is_set(flag))
        streams[int(stream)] += _is_set(flags[0])
    return counts, streams


def _is_set(flag: str) -> bool:
    return flag not in ("", "0", "False")


def _agree(capture: Path, document: Dissection) -> int:
    """Returns what was sent again or overtaken, in all."""
    counts, streams = _theirs(capture)
    tcp = document.capture.tcp
    ours = {name: getattr(tcp, name) for name in FLAGS}
    assert ours == {name: counts[name] for name in FLAGS}, capture.name
    for flow in document.flows.list:
        assert flow.retransmissions == streams[flow.flow], (capture.name, flow.flow)
    print(f"{capture.name}: {document.capture.tcp_packets} packets, {ours}")
    return tcp.retransmissions + tcp.out_of_order


def _dissect(capture: Path) -> Dissection:
    with Interruption() as interruption:
        log = capture.with_suffix(".log")
        return dissect(capture, Look(flows=1_000), log=log, interruption=interruption)


@pytest.mark.parametrize("kind", KINDS)
def test_captured_trials_are_counted_as_tshark_does(tmp_path: Path, kind: str) -> None:
    service, link, size = KINDS[kind]
    text = EXPERIMENT.format(services=service, link=link, bytes=size)
    running.run(experiment_file.parse(text), tmp_path / "run", source=text, unverified=True)
    captures = sorted((tmp_path / "run").rglob("capture-*.pcapng"))
    assert captures
    found = sum(_agree(capture, _dissect(capture)) for capture in captures)
    assert found > 0 or kind not in REPEATED


def test_ipv6_is_counted_as_tshark_does(tmp_path: Path) -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    file = tmp_path / "v6.pcapng"
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as listener:
        serving = threading.Thread(target=_serve, args=(listener,), daemon=True)
        serving.start()
        with Interruption() as interruption:
            spec = CaptureSpec("client", End(), file, port=listener.getsockname()[1])
            log = tmp_path / "capture.log"
            with Capture(spec, cores=(), log=log, interruption=interruption) as capture:
                for _ in range(5):
                    _call(listener.getsockname())
                time.sleep(0.2)
                assert not capture.finish().drops
    document = _dissect(file)
    assert document.flows.count == 5
    _agree(file, document)


REPLY_BYTES = 2_000_000


def _serve(listener: socket.socket) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.recv(100)
            connection.sendall(bytes(REPLY_BYTES))


def _call(address: tuple[str, int]) -> None:
    """Reads slowly at first, so that the window closes; the last bytes are not read."""
    with socket.create_connection(address[:2]) as connection:
        connection.sendall(b"ask")
        time.sleep(0.05)
        left = REPLY_BYTES - 1
        while left:
            left -= len(connection.recv(min(left, 65_536)))
