"""Programs of the project that measure a part of it alone: examples of its crates."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from bench.process import BenchError

ROOT = Path(__file__).resolve().parent.parent


def build(package: str, example: str) -> str:
    """Path of the program, built as the product is.

    Raises:
        BenchError: cargo is not there, or it cannot be built.
    """
    command = [
        *("cargo", "build", "--release", "--locked", "--message-format=json"),
        *("-p", package, "--example", example),
    ]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise BenchError("cargo is not there: install Rust by rustup.rs") from error
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    built = [one["executable"] for one in told if one.get("executable")]
    if done.returncode != 0 or not built:
        raise BenchError(f"{' '.join(command)}: {done.stderr.strip().splitlines()[-1:]}")
    return str(built[-1])
