"""``wirelab wrap``: foreign tools under capture, with the real binaries."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wirelab.interruption import Interruption
from wirelab.wrapping import process

Json = dict[str, Any]

URL = "http://{address}/transfer/hello"
SERVE = ("--serve", "rest@rust?codec=text")


@pytest.fixture(autouse=True)
def privileged() -> None:
    if os.geteuid() != 0:
        pytest.skip("packets cannot be captured: not root")


def _tool(name: str) -> str:
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    return name


def _wrap(*words: str) -> tuple[int, Json, str]:
    """Exit code, the document on standard output, and what stood on standard error."""
    command = [str(Path(sys.executable).with_name("wirelab")), "wrap", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    start = done.stdout.find("{\n")
    document = json.loads(done.stdout[start:]) if start >= 0 else {}
    return done.returncode, document, done.stdout[: max(0, start)] + done.stderr


def test_ab_opens_a_connection_per_request_unless_it_is_told_to_keep_them() -> None:
    ab = _tool("ab")
    for words, connections in (((), 200), (("-k",), 5)):
        code, document, _ = _wrap(
            "--json", *SERVE, "--", ab, "-q", *words, "-n", "200", "-c", "5", URL
        )
        assert code in (0, 1)
        wire = document["wire"]
        assert wire["exchanges"] == 200
        assert wire["connections"]["used"] == connections


def test_nothing_of_a_short_tools_output_is_lost(tmp_path: Path) -> None:
    """A tool that prints much and ends at once: its last words stand in the pipe still."""
    program = "import sys; sys.stdout.write('x' * 60000 + 'end'); sys.stderr.write('said')"
    for round_ in range(5):
        folder = tmp_path / str(round_)
        folder.mkdir()
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            ran = process.run(
                [sys.executable, "-S", "-c", program],
                namespace=None,
                folder=folder,
                out=out,
                err=err,
                seconds_max=20.0,
                interruption=Interruption(),
                on_tick=lambda: None,
            )
        assert (folder / "out").read_text(encoding="utf-8").endswith("xend")
        assert "said" in ran.output
        assert ran.ended.code == 0


def test_a_tool_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    program = "import subprocess, sys, time; subprocess.Popen(['sleep', '1000']); time.sleep(1000)"
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        ran = process.run(
            [sys.executable, "-S", "-c", program],
            namespace=None,
            folder=tmp_path,
            out=out,
            err=err,
            seconds_max=0.5,
            interruption=Interruption(),
            on_tick=lambda: None,
        )
    assert ran.how == "timeout"
    assert ran.seconds < 20.0


def test_a_tool_that_cannot_be_started_is_refused_by_name() -> None:
    code, _, said = _wrap(*SERVE, "--", "/no/such/tool", URL)
    assert code == 2
    assert "/no/such/tool" in said


def test_without_a_port_the_remedy_is_named() -> None:
    code, _, said = _wrap("--", "true")
    assert code == 2
    assert "--port" in said
