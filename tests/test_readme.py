"""The first screen of README: what it shows, in which order, and whether its commands work."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SILENT_S_MAX = 30.0
"""A line names the crates under way every 10 s; a machine with other work gets three times that."""


def _first_commands() -> list[str]:
    """Those of the first block of commands, without their comments."""
    block = re.search(r"```console\n(.*?)```", README, re.DOTALL)
    assert block is not None
    return [line.partition("#")[0].removeprefix("$").strip() for line in block[1].splitlines()]


def test_the_first_commands_are_those_of_a_fresh_clone() -> None:
    assert _first_commands() == ["make demo", "make test"]


def test_the_commands_state_how_long_they_take() -> None:
    block = README[: README.index("make test")]
    assert re.search(r"make demo +#.*\d+ minutes on two cores", block)


def test_the_first_screen_has_its_parts_in_order() -> None:
    marks = ("make demo", "```text\n", "![", "make wheel", "pip install dist/", "| command |")
    places = [README.index(mark) for mark in marks]
    assert places == sorted(places)


def test_every_command_of_the_first_screen_is_a_target() -> None:
    for command in (*_first_commands(), "make wheel"):
        done = subprocess.run(
            [*command.split(), "--dry-run"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.timeout(3600)
def test_the_demo_runs_in_a_fresh_clone(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True, timeout=120)
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("WIRELAB", "PYTHON", "VIRTUAL_ENV", "UV_", "MAKE", "CARGO_TARGET"))
    }
    command = _first_commands()[0].split()
    with subprocess.Popen(
        command,
        cwd=clone,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines, silent_s, heard = [], 0.0, time.monotonic()
        for line in process.stdout:
            lines.append(line)
            now = time.monotonic()
            silent_s, heard = max(silent_s, now - heard), now
    printed = "".join(lines)
    assert process.returncode == 0, printed[-3000:]
    assert any("crates done after" in line for line in lines), printed[:3000]
    building = [line for line in lines if "crates done" in line]
    assert "wirelab-services" in "".join(building)
    assert silent_s < SILENT_S_MAX
    assert "report.html" in printed
    assert not (clone / ".venv/bin/mypy").exists()
