"""Where the peers come from: Debian's packages, and a Go module for ghz."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from wirelab.loadtools import tool

ROOT = Path(__file__).resolve().parent.parent
GO_BIN = ROOT / ".cache/bin"
GHZ = tool.GHZ.pin
DEBIAN = {
    "wrk": "wrk",
    "h2load": "nghttp2-client",
    "ab": "apache2-utils",
    "tshark": "tshark",
    "curl": "curl",
    "hyperfine": "hyperfine",
}


def find(program: str) -> str | None:
    """Path of a peer, installing it where that is possible; None with the reason printed."""
    path = shutil.which(program) or shutil.which(program, path=str(GO_BIN))
    if path:
        return path
    reason = _from_debian(DEBIAN[program]) if program in DEBIAN else _from_go()
    path = shutil.which(program) or shutil.which(program, path=str(GO_BIN))
    if path is None:
        print(f"{program} cannot be had: {reason}. Its rows are left out.", flush=True)
    return path


def _from_debian(package: str) -> str:
    if shutil.which("apt-get") is None:
        return f"install {package} by your system's package manager"
    if os.geteuid() != 0:
        return f"not root; sudo apt-get install {package}"
    print(f"installing {package} …", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-q"], capture_output=True, check=False)
    return _last_line(
        ["apt-get", "install", "-q", "-y", "--no-install-recommends", package], environment
    )


def _from_go() -> str:
    if shutil.which("go") is None:
        return "Go is not installed"
    print(f"building {GHZ} …", flush=True)
    GO_BIN.mkdir(parents=True, exist_ok=True)
    return _last_line(["go", "install", GHZ], {**os.environ, "GOBIN": str(GO_BIN)})


def _last_line(command: list[str], environment: dict[str, str]) -> str:
    """Runs an installer and returns the last thing that it said."""
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}"
