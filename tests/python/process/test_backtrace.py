"""The engine that users get: small, and with names in its backtraces."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

BYTES_MAX = 40_000_000


def test_a_panic_names_the_functions_that_led_to_it(real_engine: Path) -> None:
    done = subprocess.run(
        [real_engine, "panic"],
        env={**os.environ, "RUST_BACKTRACE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 101
    assert "the command line asked for it" in done.stderr
    assert re.search(r": \S*main\n +at \S*crates/engine/src/lib\.rs:\d+", done.stderr), done.stderr


def test_the_engine_has_at_most_40_mb(real_engine: Path) -> None:
    if "debug" in real_engine.parts:
        pytest.skip(f"{real_engine} is a debug build")
    assert real_engine.stat().st_size <= BYTES_MAX
