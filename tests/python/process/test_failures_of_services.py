"""The real command in failures: interrupted, killed, out of room, and on services that die,
hang, reset, or answer garbage. Each ends in a message, an exit code, and no orphan."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from wirelab.errors import ExperimentError
from wirelab.experiment import loading as experiment_file
from wirelab.process import open_files
from wirelab.records.trial import Trial
from wirelab.run import runner as running
from wirelab.run.runner import Run

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")

TEXT = """\
name: bad-day
services: [rest@rust, grpc@rust]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: 2}]
window: {duration: 400 ms}
warmup: {min: 0 s, max: 100 ms}
timeout: 300 ms
drain: 1 s
repeats: 3
"""
TRIALS = 6
COMMAND = [sys.executable, "-c", "import sys; from wirelab.cli import main; sys.exit(main())"]


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "bad-day.yaml"
    path.write_text(TEXT)
    return path


PATHS = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _start(experiment: Path, out: Path) -> subprocess.Popen[str]:
    words = [*COMMAND, "run", str(experiment), "--out", str(out), "--json"]
    return subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **PATHS},
    )


def _wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def _lines(out: Path) -> int:
    journal = out / "trials.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def _engines(lab: subprocess.Popen[str]) -> list[psutil.Process]:
    children = psutil.Process(lab.pid).children(recursive=True)
    return [child for child in children if "drive" in child.cmdline()]


@pytest.fixture
def in_mid_trial(experiment: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A lab with at least one trial in its journal, that has an engine at work."""
    out = tmp_path / "run"
    lab = _start(experiment, out)
    _wait_until(lambda: _lines(out) >= 1 and bool(_engines(lab)))
    yield lab, out
    lab.kill()
    lab.communicate()


def _resume(experiment: Path, out: Path, kept: tuple[Trial, ...]) -> Run:
    lab = _start(experiment, out)
    said, shown = lab.communicate(timeout=120)
    assert lab.returncode == 0, shown
    assert json.loads(said)["trials"] == TRIALS
    run = running.read(out)
    assert run.trials[: len(kept)] == kept
    assert len({trial.id for trial in run.trials}) == len(run.trials) == TRIALS
    return run


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_ends_cleanly_and_the_run_goes_on_later(
    in_mid_trial: tuple[subprocess.Popen[str], Path], experiment: Path, number: signal.Signals
) -> None:
    lab, out = in_mid_trial
    lab.send_signal(number)
    _, shown = lab.communicate(timeout=30)
    shown = " ".join(shown.split())
    assert lab.returncode == 130
    kept = running.read(out).trials
    assert f"interrupted; {len(kept)} of {TRIALS} trials are kept" in shown
    assert "same --out to continue" in shown
    assert "Traceback" not in shown
    _resume(experiment, out, kept)


def test_a_killed_lab_leaves_no_process(
    in_mid_trial: tuple[subprocess.Popen[str], Path], experiment: Path
) -> None:
    lab, out = in_mid_trial
    children = psutil.Process(lab.pid).children(recursive=True)
    assert len(children) >= 2
    lab.kill()
    lab.communicate()
    _, alive = psutil.wait_procs(children, timeout=5)
    assert not [child for child in alive if child.status() != psutil.STATUS_ZOMBIE]
    _resume(experiment, out, running.read(out).trials)


def test_a_killed_engine_costs_its_own_trial_only(
    in_mid_trial: tuple[subprocess.Popen[str], Path],
) -> None:
    lab, out = in_mid_trial
    _engines(lab)[0].kill()
    said, _ = lab.communicate(timeout=60)
    assert lab.returncode == 1
    failed = json.loads(said)["failed"]
    assert len(failed) == 1
    assert "the engine ended with signal SIGKILL" in failed[0]["reason"]
    assert len(running.read(out).trials) == TRIALS


def test_a_second_run_in_the_directory_is_refused(
    in_mid_trial: tuple[subprocess.Popen[str], Path], experiment: Path
) -> None:
    lab, out = in_mid_trial
    lab.send_signal(signal.SIGSTOP)  # so that it cannot end before the second one begins
    second = _start(experiment, out)
    _, shown = second.communicate(timeout=60)
    lab.send_signal(signal.SIGCONT)
    shown = " ".join(shown.split())
    assert second.returncode == 2
    assert f"in use by another run (process {lab.pid})" in shown


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for a few trials."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"no small file system without root: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_reported_and_finished_trials_stay(
    experiment: Path, small_disk: Path
) -> None:
    out = small_disk / "run"
    (small_disk / "ballast").write_bytes(b"x" * 150_000)
    lab = _start(experiment, out)
    _, shown = lab.communicate(timeout=120)
    shown = " ".join(shown.split())
    assert lab.returncode == 4, shown
    assert "No space left on device" in shown
    assert "finished trials are kept; free disk space" in shown
    assert "Traceback" not in shown
    kept = running.read(out).trials
    assert 0 < len(kept) < TRIALS
    (small_disk / "ballast").unlink()
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    _resume(experiment, out, kept)


def test_a_capture_without_disk_space_does_not_fail_the_trial(
    tmp_path: Path, small_disk: Path
) -> None:
    """Packets are what fills a disk; the journal may still find room in its last block. Whether
    the capture or the journal is the first to find none is chance (test_captures.py)."""
    experiment = tmp_path / "packets.yaml"
    text = TEXT.replace("14 B", "1 MB").replace("{duration: 400 ms}", "{calls: 10}")
    text = text.replace("max: 100 ms", "max: 0 s")
    experiment.write_text(f"{text}capture: client\n")
    out = small_disk / "run"
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
    lab = _start(experiment, out)
    _, shown = lab.communicate(timeout=120)
    shown = " ".join(shown.split())
    assert lab.returncode == 4, shown
    assert "cannot be written" in shown
    assert "No space left on device" in shown
    assert "free disk space and repeat the command" in shown
    assert running.read(out).trials == ()
    subprocess.run(["mount", "-o", "remount,size=400m", str(small_disk)], check=True)
    _resume(experiment, out, ())


@pytest.mark.parametrize(("free", "begun"), [(1_000, False), (5_000, False), (9_000, True)])
def test_a_disk_too_full_to_begin_leaves_nothing_or_a_run_that_goes_on(
    experiment: Path, small_disk: Path, free: int, begun: bool
) -> None:
    """The manifest is what makes a run: without it there is no trace of one."""
    out = small_disk / "run"
    (small_disk / "ballast").write_bytes(b"x" * (300 * 1024 - free))
    lab = _start(experiment, out)
    _, shown = lab.communicate(timeout=120)
    shown = " ".join(shown.split())
    assert lab.returncode == 4, shown
    assert "No space left on device" in shown
    assert ("finished trials are kept" in shown) == begun
    assert ("nothing was started; free disk space" in shown) != begun
    assert (out / "manifest.json").exists() == out.exists() == begun
    (small_disk / "ballast").unlink()
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    _resume(experiment, out, ())
    assert (out / "experiment.yaml").read_text() == TEXT


def test_a_report_that_does_not_fit_on_the_disk_is_reported(
    experiment: Path, small_disk: Path
) -> None:
    out = small_disk / "run"
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    _resume(experiment, out, ())
    (out / "report.html").unlink()
    with contextlib.suppress(OSError), (small_disk / "ballast").open("wb", buffering=0) as file:
        while file.write(b"x" * 65536):
            pass
    done = subprocess.run(
        [*COMMAND, "report", str(out)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **PATHS},
    )
    assert done.returncode == 4
    assert "report.html cannot be written: No space" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert not list(out.glob("*report*"))


def test_results_that_cannot_be_written_are_reported() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "doctor", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            env={**os.environ, **PATHS},
        )
    assert done.returncode == 4
    assert "No space left on device" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["studies"], ["schema"], ["drive", "rest@rust", "--calls", "9"]])
def test_a_reader_that_went_away_ends_the_command_in_silence(words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, *words],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        env={**os.environ, **PATHS},
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (4, "")


def test_a_low_limit_of_open_files_is_reported(tmp_path: Path) -> None:
    words = ["drive", "rest@rust", "--connections", "200", "--calls", "2000", "--json"]
    done = subprocess.run(
        ["sh", "-c", 'ulimit -n 100; exec "$@"', "sh", *COMMAND, *words],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **PATHS},
    )
    assert done.returncode == 2, done.stdout
    assert "200 concurrent connections" in done.stderr
    assert "the limit of 100 open files" in " ".join(done.stderr.split())
    assert "ulimit -n" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_load_with_too_many_connections_is_refused_before_the_first_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_files, "limit", lambda: 1000)
    text = TEXT.replace("loads: [", "loads: [closed: {users: 900}, ")
    with pytest.raises(ExperimentError) as caught:
        running.run(experiment_file.parse(text), tmp_path / "run", source=text)
    assert sorted(problem.partition(": ")[0] for problem in caught.value.problems[:2]) == [
        "grpc@rust, closed users=900",
        "rest@rust, closed users=900",
    ]
    assert "raise the limit (ulimit -n 1156)" in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_services_may_open_as_many_files_as_the_machine_allows(tmp_path: Path) -> None:
    """More connections than the soft limit of the lab itself."""
    words = ["drive", "rest@rust", "--connections", "300", "--calls", "3000", "--json"]
    done = subprocess.run(
        ["sh", "-c", 'ulimit -S -n 200; exec "$@"', "sh", *COMMAND, *words],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **PATHS},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ok"] == 3000


def _faulty(tmp_path: Path, faults: str) -> Run:
    text = TEXT.replace("repeats: 3", f"repeats: 1\nfaults: {faults}")
    return running.run(experiment_file.parse(text), tmp_path / "run", source=text)


@pytest.mark.parametrize(
    ("faults", "reason"),
    [
        ("{fail_start: true}", "exit code 70 before it was ready"),
        ("{exit_at_call: 50}", "the service ended with exit code 70"),
    ],
)
def test_a_service_that_dies_fails_its_trial(tmp_path: Path, faults: str, reason: str) -> None:
    run = _faulty(tmp_path, faults)
    assert [trial.status for trial in run.trials] == ["failed", "failed"]
    assert all(reason in trial.reason for trial in run.trials)


@pytest.mark.parametrize(
    ("faults", "kinds"),
    [
        ("{hang: {every: 20}}", {"timeout"}),
        ("{endless: {every: 20}}", {"timeout"}),
        ("{garbage: {every: 20}}", {"protocol"}),
        ("{reset: {every: 20}}", {"reset"}),
        ("{close_mid_reply: {every: 20}}", {"closed"}),
        ("{wrong: {every: 20, what: content}}", {"wrong"}),
        ("{wrong: {every: 20, what: status}}", {"application"}),
    ],
)
def test_a_service_that_misbehaves_is_measured_as_such(
    tmp_path: Path, faults: str, kinds: set[str]
) -> None:
    run = _faulty(tmp_path, faults)
    assert not [trial.reason for trial in run.failed]
    for trial in run.trials:
        counted = {kind for kind, count in trial.result.errors_by_kind.items() if count}
        assert counted == kinds, trial.point.stack
        assert trial.result.ok > 0
        times = {name: one.count for name, one in trial.result.times.items()}
        assert times["response"] == trial.result.calls
        assert times["response_good"] == trial.result.ok
        assert times["response_failed"] == trial.result.errors
