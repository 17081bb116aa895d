"""A CPU quota gives a side its share of a core, and leaves nothing behind."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from wirelab.errors import LabError
from wirelab.process import cgroups
from wirelab.process.cgroups import Controller, Quota
from wirelab.process.children import Child, ProcessOptions

SPIN = "import time\nend = time.monotonic() + 0.6\nwhile time.monotonic() < end: pass"


def _controller() -> Controller:
    try:
        return cgroups.find()
    except LabError as error:
        pytest.skip(str(error))


def test_a_busy_process_gets_its_share_and_no_more(tmp_path: Path) -> None:
    """A fifth of a core: 0.6 s of spinning cost 0.12 s of CPU, and starting up with it."""
    with Quota(20, "test", _controller()) as quota:
        began = time.monotonic()
        command = [sys.executable, "-S", "-c", SPIN]
        child = Child(command, ProcessOptions(log=tmp_path / "log", group=quota.folder))
        while (ended := child.reap()) is None:
            time.sleep(0.01)
        lasted = time.monotonic() - began
        child.kill()
    used = ended.cpu_user_s + ended.cpu_system_s
    assert ended.code == 0
    assert 0.02 <= used <= 0.2 * lasted + 0.03
    assert not quota.folder.exists()


def test_a_side_without_a_quota_has_no_group() -> None:
    with cgroups.group(None, "client") as group:
        assert group is None


def test_groups_of_dead_processes_are_removed_at_the_next_start() -> None:
    controller = _controller()
    dead = controller.root / "wirelab-4194304999-client"
    dead.mkdir()
    with Quota(50, "sweep", controller):
        assert not dead.exists()


def test_without_a_controller_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="CPU controller") as refused:
        cgroups.find(tmp_path / "v1", tmp_path / "v2")
    assert "server.cpu=all" in refused.value.remedy


def test_version_2_of_cgroups_has_its_own_format(tmp_path: Path) -> None:
    group = tmp_path / "wirelab-1-x"
    group.mkdir()
    Controller(tmp_path, 2).limit(group, 2_500)
    assert (group / "cpu.max").read_text() == "2500 10000"
