"""A build shows what it does, since when, and how long it may still take."""

from __future__ import annotations

import fcntl
import io
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirelab import installation
from wirelab.errors import BuildError, Interrupted, LabError
from wirelab.format.console import Console, Ticker
from wirelab.process import builds
from wirelab.process.build_progress import BuildReport, usual_seconds
from wirelab.process.interruption import Interruption
from wirelab.process.services import Programs
from wirelab.run.progress import OnConsole
from wirelab.stack import manifests
from wirelab.stack.manifests import Manifest
from wirelab.stack.reference import Stack

SERVED = {"binding": "rest", "codecs": ["json"], "transports": ["http/1.1"]}
BUILDER = """\
echo 'go: downloading example.org/far v1.2.3' >&2
sleep 0.7
for name in bytes net/http a.org/near; do echo $name >&2; sleep 0.7; done
printf '#!/bin/sh\\n' >"$1"
chmod +x "$1"
"""


COMPILING = """\
[INFO] Building core 1  [3/17]
[INFO]
[INFO] --- compiler:3.15.0:compile (default-compile) @ wirelab-java-core ---
[INFO] Compiling 40 source files
"""


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def interruption() -> Iterator[Interruption]:
    with Interruption() as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Services of one language whose builder prints and sleeps; the cache is empty."""
    monkeypatch.setattr(installation, "cache", lambda: tmp_path / "cache")
    tiny = tmp_path / "services" / "tiny"
    tiny.mkdir(parents=True)
    (tiny / "build.sh").write_text(BUILDER)
    manifest = {
        "language": "tiny",
        "build": ["sh", "build.sh", "{out}"],
        "build_seconds": 50,
        "start": ["{out}"],
        "serves": [SERVED],
    }
    (tiny / "service.json").write_text(json.dumps(manifest))
    return tiny


def _program(folder: Path, interruption: Interruption) -> list[str]:
    """What the build of the service reports."""
    lines: list[str] = []
    programs = Programs(manifests.load(folder.parent), lines.append)
    programs.program(Stack.parse("rest@rust").with_axes({"language": "tiny"}), interruption)
    return lines


def _log(folder: Path, text: str) -> Path:
    log = folder / "build.log"
    log.write_text(text)
    return log


def test_a_first_build_shows_its_steps_and_the_stated_time(
    folder: Path, interruption: Interruption
) -> None:
    lines = _program(folder, interruption)
    assert lines[-1] == ""
    found = [re.fullmatch(r"(.*): \d+ s, \d+ s left(?:; (.*))?", one) for one in lines[:-1]]
    assert {one[1] for one in found if one} == {"building the service in tiny"}
    assert list(dict.fromkeys(one[2] for one in found if one and one[2])) == [
        "downloading example.org/far",
        "1 package, now bytes",
        "2 packages, now net/http",
        "3 packages, now a.org/near",
    ]
    assert any(", 49 s left" in one for one in lines)


def test_a_later_build_expects_the_time_of_the_last_one(
    folder: Path, interruption: Interruption
) -> None:
    _program(folder, interruption)
    record = folder.parents[1] / "cache" / "services" / "tiny.seconds"
    assert 2.0 < float(record.read_text()) < 20.0
    record.write_text("400.0")
    (folder / "source").write_text("changed")
    assert any(", 400 s left" in one for one in _program(folder, interruption))
    assert float(record.read_text()) < 20.0


def test_a_program_that_was_built_reports_nothing(folder: Path, interruption: Interruption) -> None:
    _program(folder, interruption)
    assert not any(_program(folder, interruption))


def test_a_failed_build_is_reported_as_an_error_and_leaves_no_time(
    folder: Path, interruption: Interruption
) -> None:
    (folder / "build.sh").write_text("echo 'no such package' >&2; exit 3")
    lines: list[str] = []
    programs = Programs(manifests.load(folder.parent), lines.append)
    with pytest.raises(BuildError, match=r"failed \(exit code 3\): no such package"):
        programs.program(Stack.parse("rest@rust").with_axes({"language": "tiny"}), interruption)
    assert lines[-1] == ""
    assert not list((folder.parents[1] / "cache" / "services").glob("*.seconds"))


def test_a_build_of_another_process_is_waited_for_and_can_be_interrupted(
    folder: Path, interruption: Interruption
) -> None:
    cache = folder.parents[1] / "cache" / "services"
    cache.mkdir(parents=True)
    lines: list[str] = []
    programs = Programs(manifests.load(folder.parent), lines.append)
    timer = threading.Timer(0.5, lambda: setattr(interruption, "requested", True))
    with (cache / "tiny.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        timer.start()
        with pytest.raises(Interrupted):
            programs.program(Stack.parse("rest@rust").with_axes({"language": "tiny"}), interruption)
    timer.join()
    assert set(lines) == {"waiting for another process that builds the service in tiny"}


@pytest.mark.parametrize(
    ("log", "step"),
    [
        ("", ""),
        ("\x1b[0m\x1b[0m[INFO] Scanning for projects...\n", ""),
        ("[INFO] Building wirelab-java-core 1  [3/17]\n", "module 3 of 17"),
        (
            COMPILING,
            "module 3 of 17, compile",
        ),
        (
            "Downloading from central: https://index.invalid/a/b/far-1.jar\n",
            "downloading far-1.jar",
        ),
        ("   Compiling serde v1.0.0\n   Comp", "1 package, now serde"),
        ("# net/http\nnet/http.go:3: undefined: x\n", "net/http.go:3: undefined: x"),
    ],
)
def test_the_step_is_the_last_that_the_log_has(tmp_path: Path, log: str, step: str) -> None:
    report = BuildReport("it", _log(tmp_path, log), None, Clock())
    assert report.line() == (f"building it: 0 s; {step}" if step else "building it: 0 s")


def test_the_time_left_ends_with_the_usual_time(tmp_path: Path) -> None:
    clock = Clock()
    report = BuildReport("it", tmp_path / "none", 70.0, clock)
    shown = []
    for clock.now in (0.0, 34.0, 69.9, 71.0):
        shown.append(report.line().removeprefix("building it: "))
    assert shown == [
        "0 s, 70 s left",
        "34 s, 36 s left",
        "70 s, 1 s left",
        "71 s, usually 70 s",
    ]


def test_a_line_fits_eighty_columns_and_has_no_control_characters(tmp_path: Path) -> None:
    name = "/".join(["example.org"] + ["long"] * 40)
    title = "the caller in java"
    report = BuildReport(title, _log(tmp_path, f"{name}\n"), 1_799.0, Clock())
    assert len(report.line()) < 80
    assert report.line().endswith("now …/long/long/long")
    report = BuildReport(title, _log(tmp_path, "a \x1b[2J b\n"), 1_799.0, Clock())
    assert "\x1b" not in report.line()


@pytest.mark.parametrize(("text", "seconds"), [("12.5", 12.5), ("", 70.0), ("x", 70.0)])
def test_a_damaged_record_of_the_last_build_is_not_used(
    tmp_path: Path, text: str, seconds: float
) -> None:
    assert usual_seconds(_log(tmp_path, text), 70.0) == seconds
    assert usual_seconds(tmp_path / "none", None) is None


def test_a_pipe_gets_a_line_at_least_every_ten_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    clock = Clock()
    ticker = Ticker(Console(), clock)
    for tick in range(70):
        clock.now = tick / 2
        ticker.show(f"after {clock.now:g} s {'x' * 100}")
    ticker.show("")
    lines = capsys.readouterr().out.splitlines()
    times = [float(line.split()[1]) for line in lines]
    assert times == [9.5, 19.0, 28.5]
    assert {len(line) for line in lines} == {80}
    clock.now += 9.0
    ticker.show("another")
    assert capsys.readouterr().out == "", "a short wait prints nothing"


def test_a_terminal_shows_the_present_line_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown = Terminal()
    monkeypatch.setattr(Console, "file", shown)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    progress = OnConsole(Console())
    for text in ("one", "two", ""):
        progress.building(text)
    assert shown.getvalue() == "one\r\x1b[2Ktwo\r\x1b[2K"


@pytest.mark.parametrize("seconds", [0, -1, "70"])
def test_a_manifest_states_a_positive_build_time(folder: Path, seconds: object) -> None:
    path = folder / "service.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"build_seconds": seconds}))
    with pytest.raises(LabError, match="build_seconds"):
        manifests.load(folder.parent)


def test_services_that_are_compiled_state_how_long_that_takes() -> None:
    built = [one for one in manifests.load().by_language.values() if one.build]
    assert {one.language for one in built} >= {"go", "java"}
    assert all(one.build_seconds for one in built)


def test_the_builds_of_go_and_maven_print_their_steps() -> None:
    found: list[Manifest | manifests.CallerManifest] = [
        *manifests.load().by_language.values(),
        *(manifest for manifest, _ in manifests.callers().values()),
    ]
    for manifest in found:
        if manifest.build[:1] == ("go",):
            assert "-v" in manifest.build
        assert "-q" not in manifest.build


def test_a_build_without_an_observer_prints_nothing(
    folder: Path, interruption: Interruption, capfd: pytest.CaptureFixture[str]
) -> None:
    manifest = manifests.load(folder.parent).by_language["tiny"]
    out = builds.build(manifest, folder, interruption)
    assert out.is_file()
    assert capfd.readouterr() == ("", "")
