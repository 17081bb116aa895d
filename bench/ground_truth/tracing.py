"""Programs under strace(1), and the capture beside them."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from bench.ground_truth.syscalls import PREFIX_BYTES, TRACED
from wirelab.errors import TrialFailed
from wirelab.links import End
from wirelab.processes import Child

SNIFFER_S_MAX = 20.0
SETTLE_S = 0.3
"""For the last packets to pass, FIN and its acknowledgment, after the processes' last call,
and for dumpcap to take them: it forgets what its ring holds when it is ended."""


def strace(out: Path) -> tuple[str, ...]:
    """What a command is started with to be traced, threads and all."""
    return (
        "strace",
        *("-f", "--seccomp-bpf", "-qq", "-yy", "-T"),
        *("-s", str(PREFIX_BYTES)),
        "--absolute-timestamps=format:unix,precision:ns",
        *("-e", f"trace={TRACED}"),
        *("-o", str(out)),
        "--",
    )


def lacking() -> str | None:
    """What is missing on this machine, in words; None when captures can be made."""
    for program, package in (
        ("strace", "strace"),
        ("dumpcap", "wireshark-common"),
        ("ip", "iproute2"),
    ):
        if shutil.which(program) is None:
            return f"{program} is not installed (Debian: {package})"
    return None


class Sniffer:
    """dumpcap(1) on one interface. Use as a context manager; its file is complete afterwards."""

    def __init__(self, end: End, port: int, out: Path, log: Path) -> None:
        """Returns when it captures. Raises :class:`TrialFailed` when it does not."""
        command = ["dumpcap", "-q", "-i", end.interface, "-f", f"tcp port {port}", "-w", str(out)]
        self._child = Child(command, log=log, namespace=end.namespace)
        self._log = log
        deadline = time.monotonic() + SNIFFER_S_MAX
        while "File:" not in log.read_text(errors="replace"):
            if self._child.wait(0.01) is not None or time.monotonic() > deadline:
                self._child.kill()
                raise TrialFailed(f"dumpcap did not start: {self._child.log_tail()}")

    def __enter__(self) -> Sniffer:
        return self

    def __exit__(self, *_: object) -> None:
        time.sleep(SETTLE_S)
        self._child.process.terminate()
        self._child.end(5.0)
