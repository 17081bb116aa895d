"""Whole commands: how long they take, and what they cost apart from the programs they start."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.process import TICK_S, BenchError

WIRELAB = Path(__file__).resolve().parent.parent / ".venv/bin/wirelab"


@dataclass(frozen=True)
class Timing:
    """One run of one command."""

    wall_s: float
    own_cpu_s: float
    """User and system seconds of its own process, without those of its children: from proc(5),
    to the hundredth where it had any."""
    first_line_s: float
    """To the first line of its output; to the end where it printed none."""
    output: str


def timed(command: Sequence[str], exit_code: int = 0) -> Timing:
    """Runs a command to its end, wherever the kernel puts it.

    Raises:
        BenchError: it ended with another exit code.
    """
    with tempfile.TemporaryFile("w+") as errors:
        began = time.monotonic()
        with subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process:
            assert process.stdout is not None
            output = process.stdout.readline()
            first_line_s = time.monotonic() - began
            output += process.stdout.read()
            # Left unreaped until its children's share is read.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            wall_s = time.monotonic() - began
            children_s = _children_s(process.pid)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != exit_code:
            errors.seek(0)
            said = errors.read()[-300:].strip()
            raise BenchError(f"{' '.join(command)} ended with {process.returncode}: {said}")
    own_s = usage.ru_utime + usage.ru_stime - children_s
    return Timing(wall_s, max(0.0, own_s), first_line_s, output)


def _children_s(pid: int) -> float:
    """CPU seconds of the children that it has waited for (proc_pid_stat(5), cutime and cstime)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) * TICK_S
