"""Properties of the machine that results contain."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
from pathlib import Path

from wirelab import checkout

KERNEL_FILES = {
    "clocksource": "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "congestion_control": "/proc/sys/net/ipv4/tcp_congestion_control",
    "governor": "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "tcp_rmem": "/proc/sys/net/ipv4/tcp_rmem",
    "tcp_wmem": "/proc/sys/net/ipv4/tcp_wmem",
    "somaxconn": "/proc/sys/net/core/somaxconn",
}
"""Kernel settings that affect measurements, by the file that contains them."""
CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21}
"""Capabilities for links other than loopback, by bit (capabilities(7))."""
LIBRARIES = ("numpy", "pydantic", "PyYAML")


def describe() -> dict[str, str | int | None]:
    """The machine, its kernel and settings; None for values that the kernel does not provide."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return {
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "cpu": cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "open_files_max": soft,
        "open_files_hard_max": hard,
        "links": links_possible(),
        **{name: kernel_setting(name) for name in KERNEL_FILES},
    }


def links_possible() -> str:
    """Whether this process has the capabilities for links other than loopback."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return "loopback only (capabilities unknown)"
    line = next((ln for ln in status.splitlines() if ln.startswith("CapEff:")), "CapEff: 0")
    held = int(line.split()[1], 16)
    missing = [name for name, bit in CAPABILITIES.items() if not held & (1 << bit)]
    return f"loopback only: no {' and no '.join(missing)}" if missing else "possible"


def versions() -> dict[str, str]:
    """Versions of Python, wirelab and the libraries that compute figures."""
    from importlib import metadata  # a slow import (e-mail parser)

    found = {"python": platform.python_version(), "implementation": sys.implementation.name}
    for name in ("wirelab", *LIBRARIES):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed as a package"
    return found


def kernel_setting(name: str) -> str | None:
    """Value of one of :data:`KERNEL_FILES`."""
    try:
        return Path(KERNEL_FILES[name]).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None


def cpu_model() -> str | None:
    """Name of the CPU model, as the kernel reports it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model", "cpu model"):
            return value.strip()
    return None


def git_revision() -> str | None:
    """Revision of the checkout, with ``+changes`` if files were modified; None outside of one."""
    folder = checkout.find()
    if folder is None:
        return None
    try:
        revision = _git(folder, "rev-parse", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{revision}+changes" if changed else revision


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    return done.stdout.strip()
