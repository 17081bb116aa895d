"""A CPU quota gives a side its share of a core, and leaves nothing behind."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from wirelab import quotas
from wirelab.errors import LabError
from wirelab.quotas import Controller, Quota

SPIN = "import time\nend = time.monotonic() + 0.6\nwhile time.monotonic() < end: pass"


def _controller() -> Controller:
    try:
        return quotas.find()
    except LabError as error:
        pytest.skip(str(error))


def test_a_busy_process_gets_its_share_and_no_more() -> None:
    """A fifth of a core: 0.6 s of spinning cost 0.12 s of CPU, and starting up with it."""
    with Quota(20, "test", _controller()) as quota:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        subprocess.run(quota.around([sys.executable, "-S", "-c", SPIN]), check=True)
        lasted = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert used <= 0.2 * lasted + 0.03
    assert used >= 0.02
    assert not quota.folder.exists()


def test_a_command_keeps_its_words_and_its_exit_code() -> None:
    with Quota(50, "words", _controller()) as quota:
        words = ["/bin/sh", "-c", 'printf "%s|" "$@"; exit 7', "name", "two words", "$HOME"]
        done = subprocess.run(quota.around(words), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, "two words|$HOME|")


def test_groups_of_dead_processes_are_removed_at_the_next_start() -> None:
    controller = _controller()
    dead = controller.root / "wirelab-4194304999-client"
    dead.mkdir()
    with Quota(50, "sweep", controller):
        assert not dead.exists()


def test_without_a_controller_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="CPU controller") as refused:
        quotas.find(tmp_path / "v1", tmp_path / "v2")
    assert "server.cpu=all" in refused.value.remedy


def test_version_2_is_written_in_its_own_words(tmp_path: Path) -> None:
    group = tmp_path / "wirelab-1-x"
    group.mkdir()
    Controller(tmp_path, 2).limit(group, 2_500)
    assert (group / "cpu.max").read_text() == "2500 10000"
