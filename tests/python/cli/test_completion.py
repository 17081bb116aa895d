"""The Tab key completes commands and options, as docs/guide.md sets it up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = f"""#!{sys.executable}
import sys
from wirelab.cli import main
sys.exit(main())
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment with `wirelab` in PATH, of this checkout."""
    program = tmp_path / "wirelab"
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("wirelab com", {"compare"}),
        ("wirelab compare --fig", {"--figure"}),
        ("wirelab reproduce ha", {"hamo2023"}),
        ("wirelab compare --figure ra", {"rate"}),
        ("wirelab explain --figure resp", {"response_p50", "response_p99"}),
        ("wirelab history --figure service_c", {"service_cpu"}),
        ("wirelab facts gr", {"grpc@go", "grpc@java", "grpc@rust"}),
        ("wirelab run con", {"connection-reuse"}),
    ],
)
def test_bash_completes(words: str, expected: set[str], env: dict[str, str]) -> None:
    script = f"""
        eval "$(_WIRELAB_COMPLETE=bash_source wirelab)"
        COMP_WORDS=({words})
        COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        _wirelab_completion wirelab
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "-c", script], env=env, capture_output=True, text=True, timeout=60, check=True
    )
    assert set(done.stdout.split()) == expected, done.stderr


@pytest.mark.parametrize(
    ("shell", "first"), [("zsh", "#compdef wirelab"), ("fish", "function _wirelab_completion;")]
)
def test_zsh_and_fish_get_their_script(shell: str, first: str, env: dict[str, str]) -> None:
    done = subprocess.run(
        ["wirelab"],
        env={**env, "_WIRELAB_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.startswith(first)
