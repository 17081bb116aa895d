"""What a figure depends on apart from the code: machine, kernel, versions."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from bench.servers import ENGINE

ROOT = Path(__file__).resolve().parent.parent


Programs = dict[str, tuple[str, tuple[str, ...]]]
"""A peer's path, and the arguments that make it say its version."""


def facts(programs: Programs) -> dict[str, Any]:
    """Machine and versions, and how busy the machine was beforehand."""
    return {
        "processor": _processor(),
        "cores": sorted(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "load_average": os.getloadavg(),
        "revision": _first_line(["git", "-C", str(ROOT), "describe", "--always", "--dirty"]),
        "engine": _first_line([str(ENGINE), "--version"]),
        "peers": {name: _first_line([path, *args]) for name, (path, args) in programs.items()},
    }


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _first_line(command: list[str]) -> str:
    """The first line that a program says; `wrk -v` exits with 1 and says it all the same."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except FileNotFoundError:
        return f"{command[0]} is not installed"
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[0].strip() if lines else ""
