"""Runs that end when their time is up stay unfinished, and the same command continues them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from wirelab.documents.event import Progress as EngineProgress
from wirelab.errors import RunDirectoryError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment.matrix import PlannedTrial
from wirelab.process import machine
from wirelab.run import runner as running
from wirelab.run.progress import Silent
from wirelab.run.runner import Run
from wirelab.run.time_limit import TimeLimit

TEXT = """\
name: small
services: [rest@rust, grpc@rust]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: 2}]
window: {duration: 100 ms}
warmup: {min: 0 s, max: 0 s}
repeats: 3
"""

pytestmark = pytest.mark.usefixtures("no_orphans")


class Clock:
    """Advances only when a test advances it."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Heard(Silent):
    """Keeps what is reported, and lets every trial take 2 s of its clock."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.clock = Clock()
        self.trials = 0

    def note(self, text: str) -> None:
        self.lines.append(text)

    def update(self, progress: EngineProgress) -> None:
        self.clock.now = max(self.clock.now, 100.0 + 2.0 * self.trials)

    def trial(self, planned: PlannedTrial) -> None:
        self.trials += 1


def _run(out: Path, limit: TimeLimit | None = None, progress: Silent | None = None) -> Run:
    experiment = experiment_file.parse(TEXT)
    return running.run(experiment, out, source=TEXT, limit=limit, progress=progress)


def test_a_trial_is_allowed_while_its_planned_time_is_left() -> None:
    clock = Clock()
    limit = TimeLimit(10.0, clock=clock)
    assert limit.allows(10.0)
    assert not limit.allows(10.1)
    with limit.count_trial(4.0):
        clock.now += 4.0
    assert limit.allows(6.0)
    assert not limit.allows(6.1)


def test_trials_that_take_longer_than_planned_make_the_next_ones_longer() -> None:
    """Two busy loops halve a core; shorter trials than planned promise nothing."""
    clock = Clock()
    limit = TimeLimit(10.0, clock=clock)
    with limit.count_trial(2.0):
        clock.now += 4.0
    assert limit.allows(3.0)
    assert not limit.allows(3.1)
    quick = TimeLimit(10.0, clock=clock)
    with quick.count_trial(4.0):
        clock.now += 2.0
    assert not quick.allows(8.1)


@pytest.mark.parametrize("counts", [True, False])
def test_preparation_counts_only_where_it_is_meant_to(counts: bool) -> None:
    clock = Clock()
    limit = TimeLimit(10.0, counts_preparation=counts, clock=clock)
    with limit.count_preparation():
        clock.now += 8.0
    assert limit.left_s == (2.0 if counts else 10.0)


def test_without_a_number_there_is_no_limit() -> None:
    assert TimeLimit().allows(1e9)


def test_a_run_whose_time_is_up_stays_unfinished_and_continues(
    tmp_path: Path, stand_in: Callable[..., None]
) -> None:
    """As many trials as fit, each of 2 s by a clock that the engine's end advances."""
    stand_in()
    heard = Heard()
    cut = _run(tmp_path / "run", TimeLimit(5.0, clock=heard.clock), heard)
    assert len(cut.trials) == 2
    assert "time is up: the limit is 5 s" in heard.lines
    (missing,) = cut.incomplete
    assert missing.startswith("The run is not finished: 2 of 6 trials are done.")
    whole = _run(tmp_path / "run")
    assert whole.trials[:2] == cut.trials
    assert len(whole.trials) == 6
    assert whole.incomplete == ()


@pytest.mark.usefixtures("stand_in")
def test_a_run_is_not_continued_on_another_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it changes; on the first CPU, or an unknown one, it continues."""
    folder = _run(tmp_path / "run").folder
    journal = (folder / "trials.jsonl").read_bytes()
    manifest = (folder / "manifest.json").read_bytes()
    begun = json.loads(manifest)["machine"]["cpu"]
    monkeypatch.setattr(machine, "cpu_model", lambda: "Another CPU")
    with pytest.raises(RunDirectoryError, match=r"was begun on .* this machine has Another CPU"):
        _run(folder)
    assert (folder / "manifest.json").read_bytes() == manifest
    for model in (begun, None):
        monkeypatch.setattr(machine, "cpu_model", lambda model=model: model)
        _run(folder)
    assert (folder / "trials.jsonl").read_bytes() == journal
