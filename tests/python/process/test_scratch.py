"""A run's temporary folder: gone with the run, or with the next one after a killed lab."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from wirelab.process.scratch import Scratch

HOLDER = """\
import sys
from wirelab.process.scratch import Scratch
with Scratch() as scratch:
    print(scratch.folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> subprocess.Popen[str]:
    """A process with a scratch folder in ``tmp_path``."""
    paths = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": paths},
    )


def _folder(holder: subprocess.Popen[str]) -> Path:
    assert holder.stdout is not None
    return Path(holder.stdout.readline().strip())


def test_temporary_files_of_children_are_removed_with_the_folder(tmp_path: Path) -> None:
    before = os.environ.get("TMPDIR")
    with Scratch(tmp_path) as scratch:
        made = subprocess.run(["mktemp", "-d"], capture_output=True, text=True, check=True)
        assert Path(made.stdout.strip()).parent == scratch.folder
    assert os.environ.get("TMPDIR") == before
    assert not list(tmp_path.iterdir())


def test_the_next_start_removes_what_a_killed_lab_left(
    holder: subprocess.Popen[str], tmp_path: Path
) -> None:
    left = _folder(holder)
    (left / "tls").mkdir()
    with Scratch(tmp_path):
        assert left.is_dir(), "its owner lives"
    holder.kill()
    holder.communicate()
    assert left.is_dir()
    with Scratch(tmp_path):
        assert not left.exists()


def test_a_folder_that_somebody_holds_or_nobody_has_named_stays(tmp_path: Path) -> None:
    """Of another process namespace, with a process id that means nothing here."""
    held, foreign = tmp_path / "wirelab-999999999-x", tmp_path / "wirelab-mine"
    held.mkdir()
    foreign.mkdir()
    hold = os.open(held, os.O_RDONLY)
    fcntl.flock(hold, fcntl.LOCK_SH)
    with Scratch(tmp_path):
        assert held.is_dir()
    os.close(hold)
    with Scratch(tmp_path):
        assert not held.exists()
    assert foreign.is_dir()
