"""Programs under strace(1), and the capture beside them."""

from __future__ import annotations

import shutil
from pathlib import Path

from bench.ground_truth.syscalls import PREFIX_BYTES, TRACED

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
    if shutil.which("strace") is None:
        return "strace is not installed (Debian: strace)"
    return None
