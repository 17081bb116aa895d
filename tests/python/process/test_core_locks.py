"""Two runs on the same cores: the second waits, or both are marked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirelab import installation
from wirelab.errors import Interrupted
from wirelab.experiment import loading as experiment_file
from wirelab.process.core_locks import CoreLocks
from wirelab.process.interruption import Interruption
from wirelab.run import runner as running
from wirelab.run.progress import Silent
from wirelab.run.repeating import SHARE

TEXT = """\
name: small
services: [rest@rust]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: 2}]
window: {duration: 100 ms}
warmup: {min: 0 s, max: 0 s}
repeats: 2
placement: {service: [0], engine: [1]}
"""
HOLDER = """
import sys, time
from pathlib import Path
from wirelab import installation
from wirelab.process.core_locks import CoreLocks
from wirelab.process.interruption import Interruption
installation.state = lambda: Path(sys.argv[1])
locks = CoreLocks([0, 1], share=False, interruption=Interruption(), on_note=print)
with locks:
    print("locked", flush=True)
    time.sleep(60)
"""


class Heard(Silent):
    """Keeps the messages."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of the test's own."""
    monkeypatch.setattr(installation, "state", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def holder(state: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the locks of the cores 0 and 1."""
    command = [sys.executable, "-c", HOLDER, str(state)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        yield process
        process.kill()


def _locks(*cores: int, share: bool = False, notes: list[str] | None = None) -> CoreLocks:
    heard = [] if notes is None else notes
    return CoreLocks(cores, share=share, interruption=Interruption(), on_note=heard.append)


def test_a_run_alone_neither_waits_nor_is_marked() -> None:
    notes: list[str] = []
    for share in (False, True):
        with _locks(0, 1, share=share, notes=notes) as locks:
            assert locks.others() == ""
    assert notes == []


def test_a_second_run_waits_and_names_the_first(holder: subprocess.Popen[str]) -> None:
    notes: list[str] = []
    interruption = Interruption()
    threading.Timer(1.0, setattr, (interruption, "requested", True)).start()
    with (
        pytest.raises(Interrupted),
        CoreLocks([1, 2], share=False, interruption=interruption, on_note=notes.append),
    ):
        pytest.fail("it did not wait")
    assert len(notes) == 1
    assert f"process {holder.pid}" in notes[0]
    assert "--share" in notes[0]


def test_locks_of_a_killed_run_are_free(holder: subprocess.Popen[str]) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    notes: list[str] = []
    with _locks(0, 1, notes=notes) as locks:
        assert locks.others() == ""
    assert notes == []


def test_runs_on_other_cores_do_not_wait(holder: subprocess.Popen[str]) -> None:
    notes: list[str] = []
    with _locks(2, 3, notes=notes) as locks:
        assert locks.others() == ""
    assert (holder.poll(), notes) == (None, [])


def test_a_sharing_run_notices_the_first(holder: subprocess.Popen[str]) -> None:
    with _locks(1, share=True) as locks:
        assert locks.others() == f"another run (process {holder.pid})"
        holder.kill()
        holder.wait()
        assert locks.others() == ""


def test_a_run_notices_one_that_shares_its_cores_later() -> None:
    with _locks(0, 1) as first:
        with _locks(1, share=True):
            assert first.others() == f"a run with --share (process {os.getpid()})"
        assert first.others() == ""


def test_two_sharing_runs_notice_each_other() -> None:
    with _locks(0, share=True) as first, _locks(0, share=True) as second:
        for _ in range(2):
            assert first.others() == second.others() == "another run with --share"


def test_children_of_a_run_do_not_keep_its_locks() -> None:
    locks = _locks(0)
    with locks:
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        notes: list[str] = []
        with _locks(0, notes=notes):
            assert notes == []
    finally:
        child.kill()
        child.wait()


@pytest.mark.usefixtures("stand_in", "no_orphans", "holder")
def test_every_trial_of_a_sharing_run_is_marked(tmp_path: Path) -> None:
    run = running.run(experiment_file.parse(TEXT), tmp_path / "run", source=TEXT, share=True)
    marks = [check for trial in run.trials for check in trial.checks if check.name == "other runs"]
    assert [mark.outcome for mark in marks] == ["marked"] * 2


@pytest.mark.usefixtures("stand_in", "no_orphans")
def test_a_run_begins_when_the_other_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holder: subprocess.Popen[str]
) -> None:
    monkeypatch.setenv(SHARE, "0")
    progress = Heard()
    threading.Timer(1.0, holder.kill).start()
    run = running.run(experiment_file.parse(TEXT), tmp_path / "run", source=TEXT, progress=progress)
    assert f"another run (process {holder.pid}) measures on the same cores" in progress.notes[0]
    names = {check.name for trial in run.trials for check in trial.checks}
    assert len(run.trials) == 2
    assert "other runs" not in names


def test_without_a_state_folder_the_run_continues_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(installation, "state", lambda: tmp_path / "file")
    notes: list[str] = []
    with _locks(0, notes=notes) as locks:
        assert locks.others() == ""
    assert "are not noticed" in notes[0]
