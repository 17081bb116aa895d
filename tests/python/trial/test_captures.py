"""A capture that finds no room for its packets."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirelab.errors import StorageError
from wirelab.process.interruption import Interruption
from wirelab.trial.stages.capture import Capture, CaptureSpec
from wirelab.trial.stages.link import End

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="captures need root"),
    pytest.mark.usefixtures("no_orphans", "real_engine"),
]

DEATH_MAX_S = 20.0
ROOM = "64k"
"""Of the file system: the file's head fits, and no more than some packets."""
NO_ROOM = "client's end cannot be written: .*No space left"


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.fixture
def capture(tmp_path: Path, server: socket.socket) -> Iterator[Capture]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(disk)]
    done = subprocess.run(mount, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"no small file system here: {done.stderr.strip()}")
    with Interruption() as interruption:
        started = Capture(
            CaptureSpec(
                "client", End(), disk / "capture.pcapng", port=int(server.getsockname()[1])
            ),
            cores=(),
            log=tmp_path / "capture.log",
            interruption=interruption,
        )
        with started:
            yield started
    subprocess.run(["umount", str(disk)], check=True)


def _send(server: socket.socket, count: int) -> None:
    """Sends ``count`` bytes over one connection."""
    with socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        with accepted:
            sender = threading.Thread(target=client.sendall, args=(b"x" * count,))
            sender.start()
            left = count
            while left:
                left -= len(accepted.recv(min(left, 1 << 20)))
            sender.join()


def test_a_write_error_at_the_end_is_reported_as_a_full_disk(
    capture: Capture, server: socket.socket
) -> None:
    """Less than the megabyte that is written at a time."""
    _send(server, 500_000)
    with pytest.raises(StorageError, match=NO_ROOM):
        capture.finish()


def test_a_write_error_within_the_trial_is_reported_as_a_full_disk(
    capture: Capture, server: socket.socket
) -> None:
    _send(server, 8_000_000)
    capture.child.wait(DEATH_MAX_S)
    with pytest.raises(StorageError, match=NO_ROOM):
        capture.tick()


def test_a_write_error_at_the_start_is_reported_as_a_full_disk(tmp_path: Path) -> None:
    """/dev/full is always full (full(4)): not even the file's head is written."""
    log, full = tmp_path / "capture.log", Path("/dev/full")
    with Interruption() as interruption, pytest.raises(StorageError, match=NO_ROOM):
        Capture(
            CaptureSpec("client", End(), full, port=1),
            cores=(),
            log=log,
            interruption=interruption,
        )
