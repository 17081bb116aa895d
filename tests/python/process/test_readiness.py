"""A process that makes progress is waited for; one that does not is given up."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from wirelab.cli import COMMANDS, main
from wirelab.errors import EXIT_USAGE, Interrupted, TrialFailed
from wirelab.process import readiness
from wirelab.process.children import Child, ProcessOptions
from wirelab.process.interruption import Interruption
from wirelab.process.managed import ManagedProcess
from wirelab.process.readiness import ReadyWait
from wirelab.trial.stages.link import Link

SPIN = "import time; end = time.monotonic() + {0}\nwhile time.monotonic() < end: pass\n"
PRINT = "print('{\"ready\": true}')"
NEVER_S = 600


class Started(msgspec.Struct, frozen=True):
    """Its ready line."""

    ready: bool


class Slow(ManagedProcess[Started]):
    """A process that is ready late or never."""

    noun = "the service"
    model = Started
    stop_s = 0.1
    ready_remedy = readiness.READY_REMEDY


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Slow]]:
    """Starts a script in Python that prints its ready line at the end."""
    with Interruption() as interruption:

        def run(script: str, timeout_s: float) -> Slow:
            command = [sys.executable, "-S", "-E", "-c", f"{script}\n{PRINT}"]
            options = ProcessOptions(log=tmp_path / "log", ready_timeout_s=timeout_s)
            with Slow(command, {}, options, interruption=interruption) as service:
                return service

        yield run


@pytest.mark.parametrize(
    "script",
    [
        SPIN.format(2.5),
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {SPIN.format(2.5)!r}])",
        "import sys, time\nfor _ in range(12): time.sleep(0.2); print('x', file=sys.stderr)",
        "import time\nfor _ in range(12): time.sleep(0.2); print(end=' ', flush=True)",
    ],
    ids=["it-uses-cpu", "its-child-uses-cpu", "it-writes-its-log", "it-writes-a-part-of-its-line"],
)
def test_a_process_that_makes_progress_is_waited_for(
    start: Callable[..., Slow], script: str
) -> None:
    began = time.monotonic()
    assert start(script, 1.0).ready.ready
    assert time.monotonic() - began > 2.0, "it was ready only after twice its timeout"


def test_an_idle_process_is_given_up_with_what_it_reached(start: Callable[..., Slow]) -> None:
    script = f"import sys, time\nprint('reading the table', file=sys.stderr)\ntime.sleep({NEVER_S})"
    began = time.monotonic()
    with pytest.raises(TrialFailed) as caught:
        start(script, 2.0)
    assert time.monotonic() - began < 20.0
    assert re.fullmatch(
        r"the service was not ready after [\d.]+ s, the last [\d.]+ s without progress \(CPU time "
        r"so far: \d\.\d\d s; last line: reading the table\); give a longer --ready-timeout if "
        r"the machine is slow",
        caught.value.reason,
    )


def test_a_line_of_an_earlier_process_is_not_its_own(
    start: Callable[..., Slow], tmp_path: Path
) -> None:
    (tmp_path / "log").write_text("the line of another process\n")
    with pytest.raises(TrialFailed, match="no output"):
        start(f"import time; time.sleep({NEVER_S})", 0.5)


def test_a_process_that_spins_forever_is_given_up(start: Callable[..., Slow]) -> None:
    with pytest.raises(TrialFailed, match=r"limit for a process that makes progress \(2 s\)"):
        start(SPIN.format(NEVER_S), 0.2)


def test_a_wait_can_be_interrupted(tmp_path: Path) -> None:
    options = ProcessOptions(log=tmp_path / "log")
    with Interruption() as interruption:
        interruption.requested = True
        with pytest.raises(Interrupted):
            Slow(["sleep", str(NEVER_S)], {}, options, interruption=interruption)


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def idle(tmp_path: Path) -> Iterator[Child]:
    child = Child(["sleep", str(NEVER_S)], ProcessOptions(log=tmp_path / "log"))
    yield child
    child.kill()


def test_the_time_without_progress_begins_again_with_progress(idle: Child) -> None:
    clock = Clock()
    wait = ReadyWait(idle, 120.0, clock=clock)
    clock.now = 119.0
    assert not wait.failure()
    idle.log.path.write_text("half\n")
    clock.now = 121.0
    assert not wait.failure(), "it printed"
    clock.now = 240.9
    assert not wait.failure()
    clock.now = 241.5
    assert "after 242 s, the last 120 s without progress" in wait.failure()


def test_progress_that_does_not_count_does_not_prolong_the_wait(idle: Child) -> None:
    clock = Clock()
    wait = ReadyWait(idle, 120.0, clock=clock)
    for second in range(0, 120, 10):
        clock.now = second
        idle.log.path.write_text("x" * second)
        assert not wait.failure(counts_progress=False)
    clock.now = 120.0
    assert "the last 120 s without progress" in wait.failure(counts_progress=False)


def test_a_slow_trickle_of_output_reaches_the_bound(idle: Child) -> None:
    clock = Clock()
    wait = ReadyWait(idle, 120.0, clock=clock)
    for second in range(0, 1200, 60):
        clock.now = second
        idle.log.path.write_text("x" * (second + 1))
        assert not wait.failure()
    clock.now = 1200.0
    idle.log.path.write_text("x")
    assert "the limit for a process that makes progress (1200 s)" in wait.failure()


def test_services_get_two_minutes_and_links_three() -> None:
    assert (ManagedProcess.ready_timeout_s, Link.ready_timeout_s) == (120.0, 180.0)


STARTING = ("run", "reproduce", "demo", "compare", "explain", "limit", "verify", "drive")


@pytest.mark.parametrize("command", STARTING)
def test_commands_that_start_services_have_the_option(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command in {entry.name for entry in COMMANDS}
    for text, why in (("0s", "is not above 0"), ("5", "has no unit")):
        assert main([command, "--ready-timeout", text]) == EXIT_USAGE
        assert f"Invalid value for '--ready-timeout': {text!r}" in (shown := _err(capsys))
        assert why in shown


def test_a_url_has_no_ready_timeout(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["drive", "http://127.0.0.1:1/", "--ready-timeout", "5s"]) == EXIT_USAGE
    assert "a server at a URL is running already" in _err(capsys)


@pytest.mark.parametrize(
    "words",
    [
        ["run", "connection-reuse", "--unverified", "--out", "out"],
        ["demo", "--out", "out"],
        ["compare", "rest@rust", "grpc@rust", "--unverified", "--pairs", "2", "--out", "out"],
        ["explain", "rest@rust", "grpc@rust", "--unverified", "--repeats", "2", "--out", "out"],
        ["limit", "rest@rust", "--objective", "p99<50ms", "--unverified", "--out", "out"],
        ["reproduce", "hamo2023", "--quick", "--out", "out"],
        ["verify", "rest@rust", "--contract", "transfer"],
        ["drive", "rest@rust"],
    ],
    ids=lambda words: words[0],
)
def test_the_option_reaches_the_service(
    words: list[str],
    stand_in: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every service is asked for its options; none is started."""
    timeouts: list[float | None] = []

    def refuse(_: object, __: object, ___: object, options: ProcessOptions, **____: object) -> None:
        timeouts.append(options.ready_timeout_s)
        raise Interrupted("seen", "")

    stand_in()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ManagedProcess, "__init__", refuse)
    main([*words, "--ready-timeout", "7min"])
    assert set(timeouts) == {420.0}


def _err(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().err.split())
