"""Runs on the scripted engine: order, journal, resume, and every way in which a trial can
fail without the run failing."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from wirelab.cli import main
from wirelab.documents.event import Progress as EngineProgress
from wirelab.errors import (
    EngineMissing,
    EngineRefused,
    Interrupted,
    RunDirectoryError,
    StorageError,
)
from wirelab.experiment import loading as experiment_file
from wirelab.experiment.model import Experiment
from wirelab.process import engine, services, system_noise
from wirelab.process.interruption import Interruption
from wirelab.records.noise import NoiseRecord
from wirelab.records.trial import Trial
from wirelab.report.page import write_page
from wirelab.run import directory as run_directory
from wirelab.run import runner as running
from wirelab.run.progress import Silent
from wirelab.run.repeating import SHARE
from wirelab.run.runner import Run

TEXT = """\
name: small
services: [rest@rust, grpc@rust]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: 2}]
window: {duration: 100 ms}
warmup: {min: 0 s, max: 0 s}
repeats: 2
"""
Misbehave = Callable[..., None]

pytestmark = pytest.mark.usefixtures("no_orphans")


def _experiment(text: str = TEXT) -> Experiment:
    return experiment_file.parse(text)


def _run(out: Path, text: str = TEXT) -> Run:
    return running.run(_experiment(text), out, source=text)


class StopAfter(Silent):
    """Asks for a stop when ``count`` trials have finished, or in the middle of the next."""

    def __init__(self, count: int, interruption: Interruption, *, inside: bool = False) -> None:
        self.left = count
        self.interruption = interruption
        self.within = inside

    def end_trial(self, trial: Trial) -> None:
        self.left -= 1
        self.interruption.requested |= self.left == 0 and not self.within

    def update(self, progress: EngineProgress) -> None:
        self.interruption.requested |= self.left == 0


@pytest.mark.usefixtures("stand_in")
def test_a_run_directory_holds_everything(tmp_path: Path) -> None:
    run = _run(tmp_path / "run")
    assert [trial.status for trial in run.trials] == ["measured"] * 4
    assert [trial.order for trial in run.trials] == [0, 1, 2, 3]
    manifest = json.loads((run.folder / "manifest.json").read_text())
    assert manifest["seed"] == 1
    assert manifest["machine"]["cores"] >= 1
    trial = run.trials[0]
    assert trial.service.calls_seen == 0  # the stand-in's counter does not move
    assert trial.service.sha256
    assert trial.placement.rule == "pinned"
    assert trial.result.times["response"].hdr is None
    folder = run.folder / "trials" / trial.id
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "plan.json",
        "service.json",
        "result.json",
        "histograms.hlog",
        "metrics-before.txt",
        "metrics-after.txt",
        "series.parquet",
        "service.log",
        "engine.log",
    }
    assert running.read(run.folder) == run


@pytest.mark.usefixtures("stand_in")
def test_a_finished_run_repeats_nothing(tmp_path: Path) -> None:
    first = _run(tmp_path / "run")
    journal = (first.folder / "trials.jsonl").read_bytes()
    assert _run(tmp_path / "run").trials == first.trials
    assert (first.folder / "trials.jsonl").read_bytes() == journal


@pytest.mark.parametrize("inside", [False, True])
def test_an_interrupted_run_goes_on_to_the_same_set_of_trials(
    tmp_path: Path, stand_in: Misbehave, inside: bool
) -> None:
    stand_in(seconds=0.3)
    whole = _run(tmp_path / "whole")
    stop = Interruption()
    with pytest.raises(Interrupted, match="2 of 4 trials are kept"):
        running.run(
            _experiment(),
            tmp_path / "cut",
            source=TEXT,
            progress=StopAfter(2, stop, inside=inside),
            interruption=stop,
        )
    kept = running.read(tmp_path / "cut").trials
    assert len(kept) == 2
    resumed = _run(tmp_path / "cut")
    assert resumed.trials[:2] == kept
    assert [trial.id for trial in resumed.trials] == [trial.id for trial in whole.trials]
    aside = list((tmp_path / "cut" / "trials").glob("*.unfinished-1"))
    assert len(aside) == int(inside)


@pytest.mark.usefixtures("stand_in")
def test_a_torn_journal_line_costs_only_its_own_trial(tmp_path: Path) -> None:
    first = _run(tmp_path / "run")
    journal = first.folder / "trials.jsonl"
    journal.write_bytes(journal.read_bytes()[:-20])
    resumed = _run(tmp_path / "run")
    assert resumed.trials[:3] == first.trials[:3]
    assert resumed.trials[3].id == first.trials[3].id
    assert (first.folder / "trials.jsonl.torn").stat().st_size > 100


@pytest.mark.usefixtures("stand_in")
def test_another_experiment_does_not_mix_with_it(tmp_path: Path) -> None:
    _run(tmp_path / "run")
    with pytest.raises(RunDirectoryError, match="another experiment"):
        _run(tmp_path / "run", TEXT.replace("repeats: 2", "repeats: 1"))


@pytest.mark.usefixtures("stand_in")
def test_more_repeats_are_measured_on_top(tmp_path: Path) -> None:
    first = _run(tmp_path / "run")
    longer = _run(tmp_path / "run", TEXT.replace("repeats: 2", "repeats: 3"))
    assert longer.trials[: len(first.trials)] == first.trials
    assert len(longer.trials) == len(first.trials) * 3 // 2
    assert longer.planned == len(longer.trials)
    assert "repeats: 3" in (longer.folder / "experiment.yaml").read_text()


@pytest.mark.usefixtures("stand_in")
def test_two_runs_cannot_share_a_directory(tmp_path: Path) -> None:
    refused: list[BaseException] = []

    class Second(Silent):
        def end_trial(self, trial: Trial) -> None:
            if not refused:
                with pytest.raises(RunDirectoryError, match="in use by another run") as caught:
                    _run(tmp_path / "run")
                refused.append(caught.value)

    running.run(_experiment(), tmp_path / "run", source=TEXT, progress=Second())
    assert refused


@pytest.mark.usefixtures("stand_in")
def test_a_directory_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(RunDirectoryError, match="is not a run directory"):
        _run(tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("below", ["", "run"])
def test_a_file_is_not_accepted_as_a_run_directory(tmp_path: Path, below: str) -> None:
    (tmp_path / "thesis.txt").write_text("x")
    with pytest.raises(RunDirectoryError, match="is a file, or is below a file"):
        _run(tmp_path / "thesis.txt" / below)


@pytest.mark.usefixtures("stand_in")
def test_a_run_that_was_killed_before_its_manifest_begins_again(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").write_text("4711")
    (tmp_path / "run" / ".manifest.json.unfinished").write_text('{"for')
    assert len(_run(tmp_path / "run").trials) == 4


def test_failed_trials_are_measured_again_when_asked(tmp_path: Path, stand_in: Misbehave) -> None:
    """The journal keeps every line, the folders stay, and the later line counts."""
    stand_in("service-fails")
    failed = _run(tmp_path / "run")
    before = (tmp_path / "run" / "trials.jsonl").read_bytes()
    stand_in()
    assert _run(tmp_path / "run").trials == failed.trials
    again = running.run(_experiment(), tmp_path / "run", source=TEXT, retry_failed=True)
    assert [trial.status for trial in again.trials] == ["measured"] * 4
    assert again.repeated == failed.trials
    assert (tmp_path / "run" / "trials.jsonl").read_bytes().startswith(before)
    folders = sorted(path.name for path in (tmp_path / "run" / "trials").iterdir())
    ids = [trial.id for trial in failed.trials]
    assert folders == sorted([*ids, *(f"{each}.failed-1" for each in ids)])
    assert "4 trials failed and were measured again" in " ".join(again.incomplete)
    assert "measured again" in write_page(again.folder).read_text()
    done = running.run(_experiment(), tmp_path / "run", source=TEXT, retry_failed=True)
    assert done == again


def test_spoilt_trials_are_repeated_once(
    tmp_path: Path, stand_in: Misbehave, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are in the journal, and the later one counts, also where it is spoilt too."""
    monkeypatch.setenv(SHARE, "0")
    stand_in("engine-paused")
    run = _run(tmp_path / "run")
    lines = (tmp_path / "run" / "trials.jsonl").read_text().splitlines()
    assert len(lines) == 8
    assert [bool(trial.repeats) for trial in run.trials] == [True] * 4
    assert all("engine pauses" in trial.repeats for trial in run.trials)
    assert len(run.repeated) == 4
    folders = {path.name for path in (tmp_path / "run" / "trials").iterdir()}
    assert {f"{trial.id}.spoilt-1" for trial in run.trials} < folders
    assert "4 trials met other work of the machine" in " ".join(run.incomplete)
    page = write_page(run.folder).read_text()
    assert "machine too busy: 2 repeated" in page
    assert 'href="#trials-measured-again"' in page
    assert 'id="trials-measured-again"' in page
    assert "The run is not complete" not in page
    assert _run(tmp_path / "run") == run


def test_a_spoilt_trial_of_a_killed_run_is_repeated_when_it_continues(
    tmp_path: Path, stand_in: Misbehave, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in("engine-paused")
    shared = _run(tmp_path / "run")
    assert not any(trial.repeats for trial in shared.trials)
    stand_in()
    monkeypatch.setenv(SHARE, "0")
    again = _run(tmp_path / "run")
    assert again.repeated == shared.trials
    assert all(trial.repeats for trial in again.trials)


def test_undisturbed_trials_are_not_repeated(
    tmp_path: Path, stand_in: Misbehave, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SHARE, "0")
    # A window of the scripted engine is too short to know what others used of the cores.
    quiet = NoiseRecord((0, 1), other_cpu_s=0.0, lab_pause_s=0.05)
    monkeypatch.setattr(system_noise.SystemNoiseSampler, "findings", lambda *_: quiet)
    stand_in()
    run = _run(tmp_path / "run")
    assert (len(run.trials), run.repeated) == (4, ())


def test_a_retry_that_was_cut_short_keeps_the_failed_trial(
    tmp_path: Path, stand_in: Misbehave
) -> None:
    stand_in("service-fails")
    failed = _run(tmp_path / "run")
    stand_in()
    stop = Interruption()
    with pytest.raises(Interrupted, match="4 of 4 trials are kept"):
        running.run(
            _experiment(),
            tmp_path / "run",
            source=TEXT,
            progress=StopAfter(1, stop, inside=True),
            interruption=stop,
            retry_failed=True,
        )
    kept = running.read(tmp_path / "run")
    assert [trial.status for trial in kept.trials] == ["failed"] * 3 + ["measured"]
    assert kept.repeated == failed.trials[:1]
    second = failed.trials[1].id
    assert (tmp_path / "run" / "trials" / f"{second}.failed-1" / "service.log").exists()
    running.run(_experiment(), tmp_path / "run", source=TEXT, retry_failed=True)
    names = {path.name for path in (tmp_path / "run" / "trials").glob(f"{second}*")}
    assert names == {second, f"{second}.failed-1", f"{second}.unfinished-1"}


def test_a_failure_is_reported_once_with_its_remedy(
    tmp_path: Path, stand_in: Misbehave, capsys: pytest.CaptureFixture[str]
) -> None:
    """When it happens; a report that is made later reports it itself."""
    stand_in("service-fails")
    (tmp_path / "x.yaml").write_text(TEXT)
    words = [str(tmp_path / "x.yaml"), "--out", str(tmp_path / "run")]
    assert main(["run", *words]) == 1
    shown = capsys.readouterr()
    assert (shown.err.count("failed: "), shown.out.count("failed: ")) == (4, 0)
    assert "use --retry-failed with the same --out" in shown.out
    assert main(["report", str(tmp_path / "run")]) == 1
    assert capsys.readouterr().out.count("failed: ") == 3
    assert main(["run", words[0], "--retry-failed"]) == 2
    assert "add --out DIR" in " ".join(capsys.readouterr().err.split())
    stand_in()
    assert main(["run", *words, "--retry-failed"]) == 0
    assert "! 4 trials failed and were measured again" in capsys.readouterr().out


@pytest.mark.usefixtures("stand_in")
def test_a_picture_makes_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = _run(tmp_path / "run")
    missing = tmp_path / "nowhere" / "x.svg"
    assert main(["report", str(run.folder), "--picture", str(missing)]) == 2
    assert "does not exist" in " ".join(capsys.readouterr().err.split())
    assert not missing.parent.exists()
    assert not (run.folder / "report.html").exists(), "refused before any work"


@pytest.mark.usefixtures("stand_in")
def test_a_report_of_an_unfinished_run_states_how_much_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = _run(tmp_path / "run")
    assert run.incomplete == ()
    journal = run.folder / "trials.jsonl"
    journal.write_bytes(journal.read_bytes()[:-20])
    assert main(["report", str(run.folder)]) == 0
    page = (run.folder / "report.html").read_text()
    shown = " ".join(capsys.readouterr().out.split())
    for place in (shown, page):
        assert "The run is not finished: 3 of 4 trials are done." in place
        assert "The last line of the journal is incomplete" in place
    assert "3 of 4 trials, 0 failed" in shown
    assert "3 of 4, 1 to 2 per cell" in page
    assert main(["report", str(run.folder), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["trials"], printed["trials_planned"], printed["torn"]) == (3, 4, True)
    assert not (run.folder / "trials.jsonl.torn").exists(), "a report changes no data"


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("service-fails", "exit code 70 before it was ready (no use)"),
        ("service-refuses", "refused listen: port is taken; use port 0"),
        ("service-garbage", "printed 'hello?' instead of a ready line"),
        ("service-dies", "the service ended with exit code 70"),
        ("engine-dies", "signal SIGKILL and without a result (the engine had enough)"),
        ("engine-limit", "too many open files; fewer users"),
    ],
)
def test_a_trial_that_fails_is_kept_with_its_reason_and_the_run_goes_on(
    tmp_path: Path, stand_in: Misbehave, word: str, reason: str
) -> None:
    stand_in(word)
    run = _run(tmp_path / "run")
    assert [trial.status for trial in run.trials] == ["failed"] * 4
    assert all(reason in trial.reason for trial in run.trials)
    assert len(run.failed) == 4
    assert _run(tmp_path / "run").trials == run.trials


def test_silence_of_the_service_ends(tmp_path: Path, stand_in: Misbehave) -> None:
    stand_in("service-silent")
    one = TEXT.replace(", grpc@rust", "").replace("repeats: 2", "repeats: 1")
    run = running.run(_experiment(one), tmp_path / "run", source=one, ready_timeout_s=2.0)
    (trial,) = run.trials
    assert re.search(r"the service was not ready after [\d.]+ s", trial.reason)
    assert "without progress" in trial.reason
    assert "--ready-timeout" in trial.reason


def test_silence_of_the_engine_ends(
    tmp_path: Path, stand_in: Misbehave, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in("engine-hangs")
    monkeypatch.setattr(engine, "SILENCE_S_MAX", 0.3)
    assert "printed no progress" in _run(tmp_path / "run").trials[0].reason


def test_an_engine_beyond_its_bounds_is_ended(
    tmp_path: Path, stand_in: Misbehave, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(seconds=60)
    monkeypatch.setattr(engine, "limit_seconds", lambda plan: 0.3)
    assert "exceeded the plan's time limit" in _run(tmp_path / "run").trials[0].reason


def test_a_service_that_clings_to_life_is_killed(
    tmp_path: Path, stand_in: Misbehave, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in("service-clings")
    monkeypatch.setattr(services.Service, "stop_s", 0.2)
    one = TEXT.replace(", grpc@rust", "").replace("repeats: 2", "repeats: 1")
    assert _run(tmp_path / "run", one).trials[0].status == "measured"


def test_a_stop_is_possible_although_the_engine_hangs(
    tmp_path: Path, stand_in: Misbehave, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in("engine-hangs")
    monkeypatch.setattr(engine, "STOP_S", 0.3)
    stop = Interruption()
    timer = threading.Timer(0.5, lambda: setattr(stop, "requested", True))
    timer.start()
    with pytest.raises(Interrupted, match="0 of 4"):
        running.run(_experiment(), tmp_path / "run", source=TEXT, interruption=stop)
    timer.join()


@pytest.mark.parametrize("word", ["refuse-plan", "engine-garbage"])
def test_a_lab_that_cannot_work_stops_the_run(
    tmp_path: Path, stand_in: Misbehave, word: str
) -> None:
    stand_in(word)
    with pytest.raises(EngineRefused):
        _run(tmp_path / "run")
    assert running.read(tmp_path / "run").trials == ()


def test_without_an_engine_nothing_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIRELAB_ENGINE", str(tmp_path / "nothing"))
    with pytest.raises(EngineMissing, match="is not an executable file"):
        _run(tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("stand_in")
def test_a_full_disk_stops_the_run_and_keeps_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    class Fill(Silent):
        """After the second trial no file of ours may grow beyond what the journal has."""

        left = 2

        def end_trial(self, trial: Trial) -> None:
            self.left -= 1
            if self.left == 0:
                size = (tmp_path / "run" / "trials.jsonl").stat().st_size
                resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, hard))

    try:
        with pytest.raises(StorageError, match="free disk space"):
            running.run(_experiment(), tmp_path / "run", source=TEXT, progress=Fill())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    kept = running.read(tmp_path / "run").trials
    assert len(kept) == 2
    assert _run(tmp_path / "run").trials[:2] == kept


PREPARED = """\
name: prepared
services: [rest@rust]
messages: [{operation: ListPetTypes}]
loads: [closed: {users: 1}]
window: {calls: 5}
warmup: {min: 0 s, max: 0 s}
repeats: 1
"""


@pytest.mark.usefixtures("real_engine")
def test_calls_fill_a_service_before_its_trial(tmp_path: Path) -> None:
    """They are there when the window opens, and none is measured."""
    plain = _run(tmp_path / "plain", PREPARED).trials[0]
    filled = PREPARED + "prepare: [{operation: AddPetType, calls: 100}]\n"
    trial = _run(tmp_path / "filled", filled).trials[0]
    assert (plain.status, trial.status) == ("measured", "measured")
    assert trial.result.ok == plain.result.ok == 5
    before, after = plain.result.bytes_received, trial.result.bytes_received
    assert before
    assert after
    one_type = 20  # bytes of the shortest: {"id":100,"name":"x"},
    assert after > before + 5 * 100 * one_type


@pytest.mark.usefixtures("real_engine")
def test_a_trial_whose_preparation_fails_is_not_measured(tmp_path: Path) -> None:
    """The record says how many calls succeeded."""
    text = (
        PREPARED + "prepare: [{operation: AddPetType, calls: 100}]\nfaults: {hang: {every: 50}}\n"
    )
    trial = _run(tmp_path / "run", text + "timeout: 300 ms\ndrain: 100 ms\n").trials[0]
    assert trial.status == "failed"
    assert re.fullmatch(r"prepare: \d+ of 100 calls of AddPetType succeeded", trial.reason)


@pytest.mark.usefixtures("real_engine")
def test_a_database_gives_up_before_the_caller_does(tmp_path: Path) -> None:
    """The service gets nine tenths of the time that the caller waits."""
    text = PREPARED.replace("rest@rust", "rest@rust?store=sqlite") + "timeout: 4 s\n"
    run = _run(tmp_path / "run", text)
    written = (run.folder / "trials" / run.trials[0].id / "service.json").read_text()
    assert json.loads(written)["configuration"]["store"]["timeout_ms"] == 3_600


def test_the_demo_takes_the_repeats_that_its_advice_names(
    stand_in: Callable[..., None], tmp_path: Path
) -> None:
    stand_in()
    folder = tmp_path / "demo"
    main(["demo", "--quick", "--repeats", "2", "--share", "--out", str(folder)])
    assert run_directory.read_manifest(folder).experiment["repeats"] == 2
