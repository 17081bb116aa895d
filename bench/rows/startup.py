"""How soon commands start and end: whole commands, on files that they have made themselves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.bounds import Ratio
from bench.process import TICK_S, BenchError, NotHere, busy_s
from bench.races import CLIENT_CORE, SERVER_CORE
from bench.servers import ENGINE, REST_SMALL, run_service
from wirelab.cli import COMMANDS
from wirelab.errors import TrialFailed
from wirelab.process.interruption import Interruption
from wirelab.process.managed import Refused
from wirelab.trial.stages.capture import Capture, CaptureSpec
from wirelab.trial.stages.link import End

WINDOW_S = 3
"""Window of `drive` and of wrk, seconds."""
CALLS = {"few": 3, "many": 95_000}
"""Calls in the two captures: about 15 packets, and about 190,000."""
PEERS = ("wrk", "curl", "hyperfine")

USAGE_ERRORS = (
    ("nosuch",),
    *((entry.name, "--nosuch") for entry in COMMANDS),
    ("demo", "--retry-failed"),
    ("run", "nosuch.yaml"),
    ("reproduce", "nosuch"),
    ("drive", "http://127.0.0.1:1/", "--poisson"),
    ("dissect", "nosuch"),
    ("wrap", "--link", "nosuch", "--", "curl"),
    ("verify", "rest@nosuch"),
    ("report", "nosuch"),
    ("schema", "nosuch"),
)
"""Each is refused with exit code 2, by click or by the command itself."""

MATRIX = """\
name: startup
repeats: {repeats}
services: {services}
messages:
{messages}
loads: {loads}
window: {{duration: {window}}}
warmup: {{min: 0 ms, max: 0 ms}}
"""


@dataclass(frozen=True)
class Started:
    """Every figure of every round, in seconds."""

    figures: list[Ratio]
    others_share: float
    """Of the two cores' time, what went to neither the commands nor their servers."""


@dataclass(frozen=True)
class Bed:
    """What the commands work on."""

    folder: Path
    url: str
    """Of a service of the lab that runs all the time."""
    rounds: int
    programs: dict[str, str]

    def __truediv__(self, name: str) -> str:
        return str(self.folder / name)

    def times(self, *commands: Sequence[str], exit_code: int = 0) -> list[list[Timing]]:
        """By round, of each of these commands in turn; a first round, which warms the file
        cache, is left out."""
        rounds = [
            [time_command(command, exit_code) for command in commands]
            for _ in range(1 + self.rounds)
        ]
        return rounds[1:]


def run(rounds: int, programs: dict[str, str]) -> Started:
    """Makes the files by the commands themselves, then takes every figure `rounds` times.

    `programs` are paths of the :data:`PEERS` that could be had.

    Raises:
        NotHere: no root.
        BenchError: a command did not end as it should.
    """
    if os.geteuid() != 0:
        raise NotHere("captures need root")
    cores = (SERVER_CORE, CLIENT_CORE)
    before, used = busy_s(cores), os.times()
    with _bed(rounds, programs) as bed:
        figures = [figure for take in FIGURES for figure in take(bed)]
    now = os.times()
    # Children and theirs, the service included.
    own_s = sum(now[:4]) - sum(used[:4])
    wall_s = now.elapsed - used.elapsed
    others_s = busy_s(cores) - before - own_s
    return Started(figures, max(0.0, others_s) / (len(cores) * wall_s))


@contextmanager
def _bed(rounds: int, programs: dict[str, str]) -> Iterator[Bed]:
    with tempfile.TemporaryDirectory() as scratch, run_service(REST_SMALL, SERVER_CORE) as served:
        bed = Bed(Path(scratch), f"http://{served.address}/transfer/hello", rounds, programs)
        for name, calls in CALLS.items():
            _capture(bed, int(served.address.rpartition(":")[2]), name, calls)
        _write_experiments(bed)
        time_command((str(WIRELAB), "run", bed / "large.yaml", "--out", bed / "large"))
        yield bed


def _capture(bed: Bed, port: int, name: str, calls: int) -> None:
    """The packets of that number of calls of `wirelab drive`."""
    try:
        with Capture(
            CaptureSpec("client", End(), bed.folder / f"{name}.pcapng", port=port),
            cores=(),
            log=bed.folder / "capture.log",
            interruption=Interruption(),
        ) as capture:
            time_command((str(WIRELAB), "drive", bed.url, "--calls", str(calls)))
            capture.finish()
    except (Refused, TrialFailed) as error:
        raise BenchError(f"nothing could be captured: {error}") from error


def _write_experiments(bed: Bed) -> None:
    """Two trials of 300 ms; 48 short ones; a file with a typo; a file of 2 MB with a typo at its
    end."""
    hello = "  - {operation: Hello, bytes: 14 B}\n"
    small = {"services": "[rest@rust]", "loads": "[{closed: {users: 1}}]", "window": "300 ms"}
    two = MATRIX.format(repeats=2, messages=hello, **small)
    large = MATRIX.format(
        repeats=4,
        services="[rest@rust, grpc@rust]",
        messages=hello
        + "  - {operation: Hello, bytes: 1 kB}\n  - {operation: HelloBytes, bytes: 9 kB}\n",
        loads="[{closed: {users: 1}}, {closed: {users: 32}}]",
        window="100 ms",
    )
    many = "".join(
        f"  - {{operation: Hello, bytes: {size} B}}  # {'comment ' * 4}\n" for size in range(28_000)
    )
    for name, text in (
        ("two", two),
        ("large", large),
        ("typo", two.replace("services", "servces")),
        ("2mb", MATRIX.format(repeats=2, messages=many, **small) + "seeed: 1\n"),
    ):
        (bed.folder / f"{name}.yaml").write_text(text)


def _wall(name: str, times: list[Timing], at_most: float | None) -> Ratio:
    return Ratio(f"{name}, s", "", tuple(one.wall_s for one in times), at_most)


def _cpu(name: str, times: list[Timing], at_most: float) -> Ratio:
    return Ratio(f"{name}, s of CPU", "", tuple(one.own_cpu_s for one in times), at_most)


def _more(name: str, peer: str, rounds: list[list[Timing]], at_most: float) -> Ratio:
    """How much longer the first of each round takes than the second, by the peer's name."""
    more = tuple(ours.wall_s - theirs.wall_s for ours, theirs in rounds)
    return Ratio(f"{name}, s more than {peer}", "", more, at_most)


def _starts(bed: Bed) -> Iterator[Ratio]:
    versions = bed.times((str(WIRELAB), "--version"))
    yield _cpu("--version", [one for (one,) in versions], 0.15)
    pages = [(str(WIRELAB), "--help"), *((str(WIRELAB), e.name, "--help") for e in COMMANDS)]
    slowest = [max(one, key=lambda t: t.own_cpu_s) for one in bed.times(*pages)]
    yield _cpu(f"--help, slowest of {len(pages)}", slowest, 0.15)
    errors = bed.times(*((str(WIRELAB), *words) for words in USAGE_ERRORS), exit_code=2)
    slowest = [max(one, key=lambda t: t.wall_s) for one in errors]
    yield _wall(f"usage error, slowest of {len(USAGE_ERRORS)}", slowest, 0.5)
    findings = tuple(one.first_line_s for (one,) in bed.times((str(WIRELAB), "doctor")))
    yield Ratio("doctor, s to its first line", "", findings, 0.5)


def _instrument(bed: Bed) -> Iterator[Ratio]:
    """The same as hyperfine has it, which starts commands through no shell here."""
    if "hyperfine" not in bed.programs:
        return
    file = bed / "hyperfine.json"
    words = ("-N", "--warmup", "1", "--runs", str(max(2, bed.rounds)), "--export-json", file)
    time_command((bed.programs["hyperfine"], *words, f"{WIRELAB} --version"))
    found = json.loads(Path(file).read_text())["results"][0]["times"]
    yield Ratio("--version, s by hyperfine", "", tuple(map(float, found)))


def _drives(bed: Bed) -> Iterator[Ratio]:
    length = ("--duration", f"{WINDOW_S}s")
    for target, name in ((bed.url, "URL"), ("rest@rust", "rest@rust")):
        times = [one for (one,) in bed.times((str(WIRELAB), "drive", target, *length))]
        yield _wall(f"drive {name} of {WINDOW_S} s", times, WINDOW_S + 0.3)
        yield _cpu(f"drive {name} of {WINDOW_S} s", times, 0.4)
    if "wrk" in bed.programs:
        words = (bed.programs["wrk"], "-t1", "-c1", f"-d{WINDOW_S}s", bed.url)
        yield _wall(f"wrk of {WINDOW_S} s", [one for (one,) in bed.times(words)], None)


def _dissections(bed: Bed) -> Iterator[Ratio]:
    for name in CALLS:
        file = bed / f"{name}.pcapng"
        rounds = bed.times(
            (str(WIRELAB), "dissect", file), (str(ENGINE), "dissect", "--json", file)
        )
        packets = json.loads(rounds[0][1].output)["capture"]["packets"]
        if name == "few":
            yield _wall(f"dissect, {packets:,} packets", [ours for ours, _ in rounds], 0.3)
        yield _more(f"dissect, {packets:,} packets", "the engine", rounds, 0.3)


def _wraps(bed: Bed) -> Iterator[Ratio]:
    if "curl" in bed.programs:
        curl = (bed.programs["curl"], "-s", bed.url)
        rounds = bed.times((str(WIRELAB), "wrap", "--", *curl), curl)
        yield _more("wrap -- curl URL", "curl", rounds, 1.0)


def _files(bed: Bed) -> Iterator[Ratio]:
    for name, words, at_most in (("typo", "a typo in a file", 0.5), ("2mb", "a file of 2 MB", 2.0)):
        command = (str(WIRELAB), "run", bed / f"{name}.yaml", "--out", bed / "never")
        yield _wall(words, [one for (one,) in bed.times(command, exit_code=2)], at_most)


def _runs(bed: Bed) -> Iterator[Ratio]:
    """Without the trials' own seconds and those of the report, which has a figure of its own."""
    run = (str(WIRELAB), "run", bed / "two.yaml", "--out", bed / "two")
    fresh, again = [], []
    for _ in range(1 + bed.rounds):
        shutil.rmtree(bed / "two", ignore_errors=True)
        first, second = time_command(run), time_command(run)
        shown, start = (
            time_command((str(WIRELAB), "report", bed / "two")),
            time_command((str(WIRELAB), "--version")),
        )
        report_s = shown.wall_s - start.wall_s
        fresh.append(first.wall_s - report_s - _trials_s(bed.folder / "two"))
        again.append(second.wall_s - report_s)
    yield Ratio("run, s without its 2 trials and the report", "", tuple(fresh[1:]), 1.0)
    yield Ratio("run that is finished, s without the report", "", tuple(again[1:]), 1.0)


def _trials_s(run: Path) -> float:
    lines = (run / "trials.jsonl").read_text().splitlines()
    return sum(float(json.loads(line)["seconds"]) for line in lines)


def _reports(bed: Bed) -> Iterator[Ratio]:
    times = bed.times((str(WIRELAB), "report", bed / "large"))
    yield _wall("report of 48 trials", [one for (one,) in times], 3.0)


FIGURES: tuple[Callable[[Bed], Iterator[Ratio]], ...] = (
    *(_starts, _instrument, _drives, _dissections, _wraps, _files, _runs, _reports),
)


WIRELAB = Path(__file__).resolve().parents[2] / ".venv/bin/wirelab"


@dataclass(frozen=True)
class Timing:
    """One run of one command."""

    wall_s: float
    own_cpu_s: float
    """User and system seconds of its own process, without those of its children: from proc(5),
    to the hundredth where it had any."""
    first_line_s: float
    """To the first line of its output; to the end where it printed none."""
    output: str


def time_command(command: Sequence[str], exit_code: int = 0) -> Timing:
    """Runs a command to its end, wherever the kernel puts it.

    Raises:
        BenchError: it ended with another exit code.
    """
    with tempfile.TemporaryFile("w+") as errors:
        began = time.monotonic()
        with subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process:
            assert process.stdout is not None
            output = process.stdout.readline()
            first_line_s = time.monotonic() - began
            output += process.stdout.read()
            # Left unreaped until its children's share is read.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            wall_s = time.monotonic() - began
            children_s = _children_s(process.pid)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != exit_code:
            errors.seek(0)
            said = errors.read()[-300:].strip()
            raise BenchError(f"{' '.join(command)} ended with {process.returncode}: {said}")
    own_s = usage.ru_utime + usage.ru_stime - children_s
    return Timing(wall_s, max(0.0, own_s), first_line_s, output)


def _children_s(pid: int) -> float:
    """CPU seconds of the children that it has waited for (proc_pid_stat(5), cutime and cstime)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) * TICK_S
