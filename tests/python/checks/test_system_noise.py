"""What the machine did besides a trial is measured, and only that spoils a trial.

The worlds are other programs: busy loops on chosen cores, with their own account of the CPU time
that they got, and processes that are stopped by a signal.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.python.synthetic_run import World, point
from tests.python.synthetic_run import trial as make_trial
from wirelab.checks import load as load_checks
from wirelab.checks.system_noise import spoilt_by
from wirelab.documents.event import Pauses
from wirelab.process import system_noise
from wirelab.process.metrics import cpu_seconds
from wirelab.process.process_tree import cpu_seconds_of_trees
from wirelab.process.system_noise import RunDelay, SystemNoiseSampler, busy_seconds
from wirelab.records.group import Times
from wirelab.records.line import from_line, to_line
from wirelab.records.load import LoadRecord
from wirelab.records.noise import NoiseRecord
from wirelab.records.trial import Check, Trial

LOOP = "import os; os.sched_setaffinity(0, {CORE})\nwhile True: pass"
COMMAND = [sys.executable, "-c", "import sys; from wirelab.cli import main; sys.exit(main())"]
CORES = sorted(os.sched_getaffinity(0))
"""Those that the test may use."""


@contextmanager
def _busy(core: int) -> Iterator[subprocess.Popen[bytes]]:
    """A program that uses all of a core that it gets."""
    with subprocess.Popen([sys.executable, "-c", LOOP.replace("CORE", str(core))]) as loop:
        try:
            yield loop
        finally:
            loop.kill()


def _cpu_s(process: subprocess.Popen[bytes]) -> float:
    used = cpu_seconds(process.pid)
    assert used is not None
    return used


def test_run_delay_is_the_time_that_a_busy_process_did_not_get() -> None:
    """Whoever never sleeps either runs or waits."""
    with _busy(CORES[0]) as one, _busy(CORES[0]):
        time.sleep(0.5)  # Python has started
        delay = RunDelay()
        began, used, waited = time.monotonic(), _cpu_s(one), delay.look([one.pid])
        time.sleep(1.0)
        wall, used_now, waited_now = time.monotonic() - began, _cpu_s(one), delay.look([one.pid])
    assert waited is not None
    assert waited_now is not None
    missing = wall - (used_now - used)
    assert missing > 0.3, "the other process took no CPU time: the test shows nothing"
    # Ticks of the hypervisor are neither.
    assert waited_now - waited == pytest.approx(missing, abs=0.1 * wall)


def test_run_delay_of_ended_threads_stays() -> None:
    delay = RunDelay()
    with _busy(CORES[0]) as one, _busy(CORES[0]):
        time.sleep(0.7)
        waited = delay.look([one.pid])
    assert waited
    assert delay.look([one.pid]) == waited


def test_processes_that_do_not_belong_to_the_trial_are_counted() -> None:
    """The loop is a child of a shell that has ended, so that nobody here is its parent."""
    code = LOOP.replace("CORE", str(CORES[0]))
    started = subprocess.run(
        ["/bin/sh", "-c", '"$0" -c "$1" >/dev/null 2>&1 & echo $!', sys.executable, code],
        capture_output=True,
        text=True,
        check=True,
    )
    loop = psutil.Process(int(started.stdout))
    try:
        sampler = SystemNoiseSampler([CORES[0]], lambda: [os.getpid()])
        time.sleep(0.5)
        began_ns, used = time.monotonic_ns(), loop.cpu_times()
        sampler.mark()
        time.sleep(1.0)
        sampler.mark()
        ended_ns, used_now = time.monotonic_ns(), loop.cpu_times()
        sampler.mark()
    finally:
        loop.kill()
    took = used_now.user + used_now.system - used.user - used.system
    assert took > 0.1
    found = sampler.findings(began_ns, ended_ns).other_cpu_s
    assert found is not None
    # Others may run too.
    assert found > 0.8 * took


def test_children_are_not_others() -> None:
    with _busy(CORES[0]) as child:
        time.sleep(0.5)
        busy, own = busy_seconds([CORES[0]]), cpu_seconds_of_trees({os.getpid()})
        used = _cpu_s(child)
        time.sleep(1.0)
        grown = cpu_seconds_of_trees({os.getpid()}) - own
        assert grown >= _cpu_s(child) - used - 0.05
    assert busy is not None


class Clock:
    """A clock that jumps where the script has a jump."""

    def __init__(self) -> None:
        self.now_ns = 10**12
        self.offset_ns = 10**18

    def sampler(self) -> SystemNoiseSampler:
        return SystemNoiseSampler(
            [CORES[0]],
            list,
            clock_ns=lambda: self.now_ns,
            offset_ns=lambda: self.offset_ns,
        )

    def ticks(self, sampler: SystemNoiseSampler, count: int) -> None:
        for _ in range(count):
            self.now_ns += 50_000_000
            sampler.tick()


def test_a_time_without_ticks_is_a_pause_of_wirelab() -> None:
    clock = Clock()
    sampler = clock.sampler()
    start_ns = clock.now_ns
    clock.ticks(sampler, 20)
    clock.now_ns += 2_000_000_000
    clock.ticks(sampler, 20)
    assert sampler.findings(start_ns, clock.now_ns).lab_pause_s == pytest.approx(2.05)
    assert sampler.findings(start_ns, start_ns + 10**9).lab_pause_s == pytest.approx(0.05)


@pytest.mark.parametrize("step_s", [0.25, -3600.0])
def test_a_clock_that_is_set_is_noticed(step_s: float) -> None:
    clock = Clock()
    sampler = clock.sampler()
    start_ns = clock.now_ns
    clock.ticks(sampler, 20)
    clock.offset_ns += round(step_s * 1e9)
    clock.ticks(sampler, 20)
    assert sampler.findings(start_ns, clock.now_ns).clock_step_s == step_s


def test_a_clock_that_ntp_slews_is_not_set() -> None:
    clock = Clock()
    sampler = clock.sampler()
    start_ns = clock.now_ns
    for _ in range(100):
        clock.offset_ns += 25_000  # 500 ppm, the most that the kernel slews
        clock.ticks(sampler, 1)
    step_s = sampler.findings(start_ns, clock.now_ns).clock_step_s
    assert _check("system clock", NoiseRecord((0,), clock_step_s=step_s)).outcome == "ok"


def test_the_clocks_of_this_machine_run_evenly() -> None:
    offsets = [system_noise.clock_offset_ns() for _ in range(200)]
    assert max(offsets) - min(offsets) < 1_000_000


def _pauses(count: int, total_s: float, longest_s: float, longest_at_s: float) -> Pauses:
    return Pauses(count=count, total_s=total_s, longest_s=longest_s, longest_at_s=longest_at_s)


# -- checks ------------------------------------------------------------------------------------

QUIET = NoiseRecord((0, 1), other_cpu_s=0.01, lab_pause_s=0.1)
NO_PAUSES = _pauses(0, 0.0, 0.0, 0.0)


def _trial(
    noise: NoiseRecord | None = QUIET,
    *,
    pauses: Pauses | None = NO_PAUSES,
    delays: tuple[float | None, float | None] = (0.01, 0.02),
    **changes: Any,
) -> Trial:
    """A trial with a window of 10 s."""
    made = make_trial(point("rest@go"), 0, 0, World())
    made = replace(
        made,
        noise=noise,
        result=replace(made.result, window_s=10.0, **changes),
        engine=replace(made.engine, run_delay_s=delays[0], pauses=pauses),
        service=replace(made.service, run_delay_s=delays[1]),
    )
    return replace(made, checks=load_checks.check(made))


def _find_check(trial: Trial, name: str) -> Check:
    return next(check for check in trial.checks if check.name == name)


def _check(name: str, noise: NoiseRecord, **options: Any) -> Check:
    return _find_check(_trial(noise, **options), name)


def test_a_quiet_machine_spoils_nothing() -> None:
    trial = _trial()
    assert spoilt_by(trial) == ""
    named = {check.name: check.outcome for check in trial.checks}
    assert named["waiting for a core"] == named["engine pauses"] == "ok"
    assert named["wirelab pauses"] == named["system clock"] == "ok"
    assert "other runs" not in named


@pytest.mark.parametrize(
    ("delays", "other_cpu_s", "outcome"),
    [
        ((0.1, 0.1), 5.0, "ok"),
        ((0.1, 0.2), 5.0, "marked"),
        # A service whose own threads share a core waits without others.
        ((0.0, 8.0), 0.2, "ok"),
        # Others on the cores do no harm to one who does not wait for them.
        ((0.0, 0.1), 9.0, "ok"),
        ((None, 8.0), 9.0, "not-measurable"),
        ((0.1, None), 9.0, "not-measurable"),
        ((0.1, 8.0), None, "not-measurable"),
    ],
)
def test_waiting_counts_where_others_used_the_cores(
    delays: tuple[float | None, float | None], other_cpu_s: float | None, outcome: str
) -> None:
    noise = replace_noise(other_cpu_s=other_cpu_s)
    assert _check("waiting for a core", noise, delays=delays).outcome == outcome


def replace_noise(**changes: Any) -> NoiseRecord:
    return NoiseRecord(**{"cores": (0, 1), "other_cpu_s": 0.01, **changes})


@pytest.mark.parametrize(
    ("pauses", "outcome"),
    [
        (_pauses(3, 0.06, 0.03, 1.0), "ok"),
        (_pauses(1, 2.0, 2.0, 1.0), "marked"),
        (_pauses(8, 0.2, 0.03, 1.0), "marked"),
    ],
)
def test_long_pauses_of_the_engine_are_marked(pauses: Pauses, outcome: str) -> None:
    check = _check("engine pauses", QUIET, pauses=pauses)
    assert check.outcome == outcome
    assert ("the engine's, not the service's" in check.reason) == (outcome == "marked")


@pytest.mark.parametrize(
    ("pauses", "is_repeated"),
    [
        (_pauses(12, 0.2, 0.03, 1.0), False),
        (_pauses(12, 0.3, 0.03, 1.0), True),
        (_pauses(1, 0.15, 0.15, 1.0), True),
    ],
)
def test_pauses_that_affect_the_p99_alone_are_marked_and_not_repeated(
    pauses: Pauses, is_repeated: bool
) -> None:
    trial = _trial(pauses=pauses)
    assert _find_check(trial, "engine pauses").outcome == "marked"
    assert bool(spoilt_by(trial)) == is_repeated


@pytest.mark.parametrize(("lag_s", "outcome"), [(0.05, "ok"), (2.0, "marked")])
def test_the_largest_lag_is_enough(lag_s: float, outcome: str) -> None:
    """Of 800 calls no 99.9th percentile is known; a caller that counts no pauses has lags."""
    lag = Times(800, 1e4, 0, round(lag_s * 1e9), {"p50": 10_000, "p99": 20_000})
    made = _trial(pauses=None)
    load = LoadRecord(kind="constant", rate=200.0)
    made = replace(
        made,
        point=replace(made.point, load=load),
        result=replace(made.result, times={**made.result.times, "lag": lag}),
    )
    made = replace(made, checks=load_checks.check(made))
    assert _find_check(made, "engine pauses").outcome == outcome
    assert _find_check(made, "schedule lag").outcome != "not-measurable"


def test_a_run_that_shares_its_cores_is_marked_and_not_repeated() -> None:
    trial = _trial(replace_noise(sharing="another run (process 7)"))
    assert _find_check(trial, "other runs").outcome == "marked"
    assert spoilt_by(trial) == ""


def test_records_of_earlier_versions_have_no_such_check() -> None:
    names = {check.name for check in _trial(None).checks}
    assert not names & {"waiting for a core", "engine pauses", "wirelab pauses", "system clock"}


def test_a_record_is_read_as_it_was_written() -> None:
    trial = replace(
        _trial(replace_noise(lab_pause_s=0.2, sharing="x"), pauses=_pauses(1, 2.0, 2.0, 0.5)),
        repeats="engine pauses: it was stopped",
    )
    assert from_line(json.loads(json.dumps(to_line([trial])))) == (trial,)


# -- seeded worlds -----------------------------------------------------------------------------

EXPERIMENT = """\
name: noise
services: [rest@rust]
messages: [{operation: Hello, bytes: 14 B}]
loads: [%s]
window: {duration: 3 s}
warmup: {min: 100 ms, max: 100 ms}
repeats: 1
"""
OPEN = "constant: {rate: 200, in_flight_max: 64}"
CLOSED = "closed: {users: 2}"

Disturb = Callable[[psutil.Process], None]


def _measure(folder: Path, load: str, disturb: Disturb) -> Trial:
    """A trial, with ``disturb`` called in its window with wirelab's process."""
    (folder / "noise.yaml").write_text(EXPERIMENT % load)
    out = folder / "run"
    command = [*COMMAND, "run", str(folder / "noise.yaml"), "--out", str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as lab:
        assert lab.stdout is not None
        reader = threading.Thread(target=lab.stdout.read)
        reader.start()
        try:
            disturb(psutil.Process(lab.pid))
            lab.wait(120.0)
        finally:
            lab.kill()
            reader.join()
    line = (out / "trials.jsonl").read_text().splitlines()[-1]
    (found,) = from_line(json.loads(line))
    assert found.status == "measured", found.reason
    return found


def _find(lab: psutil.Process, name: str, word: str = "") -> psutil.Process:
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        for child in lab.children(recursive=True):
            try:
                if child.name().startswith(name) and (not word or word in child.cmdline()):
                    return child
            except psutil.Error:
                continue
        time.sleep(0.02)
    raise AssertionError(f"{name} {word} did not start")


def _stop(process: psutil.Process, seconds: float) -> None:
    time.sleep(0.7)  # in the window, after start and warm-up
    process.send_signal(signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        process.send_signal(signal.SIGCONT)


@pytest.mark.usefixtures("real_engine")
@pytest.mark.parametrize("load", [OPEN, CLOSED])
def test_a_stopped_engine_is_charged_to_the_engine(tmp_path: Path, load: str) -> None:
    trial = _measure(tmp_path, load, lambda lab: _stop(_find(lab, "wirelab-engine", "drive"), 0.8))
    check = _find_check(trial, "engine pauses")
    assert check.outcome == "marked"
    assert "the engine's, not the service's" in check.reason


@pytest.mark.usefixtures("real_engine")
def test_a_stopped_service_is_not_charged_to_the_engine(tmp_path: Path) -> None:
    trial = _measure(tmp_path, OPEN, lambda lab: _stop(_find(lab, "wirelab-rust"), 0.8))
    assert (trial.time_ns("service", "max") or 0.0) > 0.6e9
    assert trial.engine.pauses is not None
    assert trial.engine.pauses.longest_s < 0.4


@pytest.mark.usefixtures("real_engine")
def test_a_stopped_wirelab_is_noticed(tmp_path: Path) -> None:
    def disturb(lab: psutil.Process) -> None:
        _find(lab, "wirelab-engine", "drive")
        _stop(lab, 2.0)

    assert _find_check(_measure(tmp_path, CLOSED, disturb), "wirelab pauses").outcome == "marked"


@pytest.mark.usefixtures("real_engine")
def test_a_trial_next_to_a_busy_loop_is_marked(tmp_path: Path) -> None:
    """On the first core, which the rule `pinned` gives to the service."""
    with _busy(CORES[0]):
        trial = _measure(tmp_path, CLOSED, lambda _: None)
    assert _find_check(trial, "waiting for a core").outcome == "marked"
