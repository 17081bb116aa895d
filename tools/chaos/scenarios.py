"""The disturbances. Each returns what did not hold; the run directory is judged afterwards."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import yaml

from tools.chaos.truth import MARK

WIRELAB = (sys.executable, "-c", "import sys; from wirelab.cli import main; sys.exit(main())")
REPEATS = 3
SERVICES = 2
PLANNED = REPEATS * SERVICES
"""Trials of a whole run."""
USERS = 4
RUN_S_MAX = 240.0
"""Time limit of one command, seconds."""
START_S_MAX = 60.0
"""Time limit until ``browse`` answers, seconds."""
NO_WALL_CLOCK = (
    "shifts of the wall clock: time namespaces have none, and with libfaketime 0.9.10 every sleep "
    "of Python fails if the monotonic clock is left alone"
)
UNDISTURBED = "no process was there to be disturbed"
DISK_BYTES = 1 << 20
"""Size of the small disk; a whole run needs more."""
EXITS_OF_A_STOP = (0, 1, 130)
FULL = 4
"""Exit code for a full disk."""


@dataclass
class Round:
    """One round: its folder, its random numbers and its mark."""

    folder: Path
    random: random.Random
    mark: str
    must_end: bool = True
    """Whether the last command completes the run."""

    @property
    def out(self) -> Path:
        """The run directory."""
        return self.folder / "out" / "run"

    @property
    def notes(self) -> Path:
        """Where servers note their replies."""
        return self.folder / "notes"

    def prepare(self) -> None:
        """Writes the experiment."""
        self.notes.mkdir(parents=True)
        (self.folder / "out").mkdir()
        found = {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
        command = [sys.executable, "-m", "tools.chaos.server", str(self.notes)]
        content = {
            "name": "chaos",
            "repeats": REPEATS,
            "services": [
                {
                    "name": name,
                    "command": command,
                    "http": {"path": "/"},
                    "stop": "1 s",
                    "env": found,
                }
                for name in ("first", "second")[:SERVICES]
            ],
            "loads": [{"closed": {"users": USERS}}],
            "window": {"duration": "1 s"},
            "warmup": {"min": "0 s", "max": "0 s"},
        }
        self.file.write_text(yaml.safe_dump(content), encoding="utf-8")

    @property
    def file(self) -> Path:
        """The experiment file."""
        return self.folder / "experiment.yaml"

    def start(self, *words: object, **variables: str) -> subprocess.Popen[bytes]:
        """Starts a command of wirelab."""
        log = (self.folder / "commands.log").open("ab")
        command = [*WIRELAB, *map(str, words)]
        environment = {**os.environ, MARK: self.mark, **variables}
        with log:
            return subprocess.Popen(command, stdout=log, stderr=log, env=environment)

    def run(self) -> subprocess.Popen[bytes]:
        """Starts or continues the run."""
        return self.start("run", self.file, "--out", self.out)

    def complete(self, *, may_fail: bool = False) -> list[str]:
        """Continues the run to its end, as often as a user would: twice. ``may_fail``: trials may
        have failed for good."""
        code = None
        for _ in range(2):
            code = end(self.run())
            if code == 0:
                return []
        is_right = may_fail and code == 1
        return [] if is_right else [f"the continued run ended with {code}"]

    def wait_a_while(self, most_s: float = 12.0) -> None:
        """A random time: before, within or between trials."""
        time.sleep(self.random.uniform(0.2, most_s))


def end(process: subprocess.Popen[bytes]) -> int | None:
    """Its exit code; None if it did not end in time, and was killed."""
    try:
        return process.wait(RUN_S_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def kill_front(now: Round) -> list[str]:
    """``run`` is killed, and continued."""
    lab = now.run()
    now.wait_a_while()
    lab.kill()
    lab.wait()
    return now.complete()


def stop_front(now: Round) -> list[str]:
    """``run`` gets Ctrl-C or SIGTERM, and is continued."""
    lab = now.run()
    now.wait_a_while()
    lab.send_signal(now.random.choice((signal.SIGINT, signal.SIGTERM)))
    code = end(lab)
    wrong = [] if code in EXITS_OF_A_STOP else [f"a stopped run ended with {code}"]
    return wrong + now.complete()


def kill_child(now: Round) -> list[str]:
    """A server or the engine is killed; the run goes on."""
    lab = now.run()
    wrong = [] if _hit(now, lab, lambda child: child.kill()) else [UNDISTURBED]
    code = end(lab)
    if code not in (0, 1):
        wrong.append(f"the run ended with {code} after a killed child")
    return wrong


def pause_child(now: Round) -> list[str]:
    """A server, the engine or ``run`` itself is stopped for a moment."""

    def pause(child: psutil.Process) -> None:
        child.suspend()
        time.sleep(now.random.uniform(0.1, 1.5))
        child.resume()

    lab = now.run()
    wrong = [] if _hit(now, lab, pause, with_itself=True) else [UNDISTURBED]
    code = end(lab)
    if code not in (0, 1):
        wrong.append(f"the run ended with {code} after a pause")
    return wrong


def _hit(
    now: Round,
    lab: subprocess.Popen[bytes],
    strike: Callable[[psutil.Process], None],
    *,
    with_itself: bool = False,
) -> bool:
    """Strikes a random process of the run, at a random time; False if none was there."""
    now.wait_a_while(8.0)
    try:
        front = psutil.Process(lab.pid)
        found = [*front.children(recursive=True), *([front] if with_itself else [])]
        if found:
            strike(now.random.choice(found))
        return bool(found)
    except psutil.Error:
        return False  # it has ended meanwhile


def fill_disk(now: Round) -> list[str]:
    """The run directory is on a disk that becomes full; afterwards there is room again."""
    out = now.folder / "out"
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(out)], check=True
    )
    try:
        (out / "ballast").write_bytes(bytes(DISK_BYTES - now.random.randrange(4, 200) * 1024))
        code = end(now.run())
        wrong = [] if code in (0, 1, FULL) else [f"a full disk ended the run with {code}"]
        subprocess.run(["mount", "-o", "remount,size=64m", str(out)], check=True)
        return wrong + now.complete(may_fail=True)
    finally:
        subprocess.run(["cp", "-a", f"{out}/.", str(now.folder / "kept")], check=False)
        subprocess.run(["umount", str(out)], check=True)
        subprocess.run(["cp", "-a", f"{now.folder / 'kept'}/.", str(out)], check=False)


def run_twice(now: Round) -> list[str]:
    """A second run in the same directory is refused; one elsewhere waits for its cores."""
    first = now.run()
    time.sleep(now.random.uniform(0.5, 3.0))
    second = now.run()
    third = now.start("run", now.file, "--out", now.folder / "other")
    codes = [end(one) for one in (second, first, third)]
    wrong = [] if codes[0] == 2 else [f"a second run in the directory ended with {codes[0]}"]
    return wrong + [f"a run ended with {code}" for code in codes[1:] if code not in (0, 1)]


def kill_compare(now: Round) -> list[str]:
    """``compare`` is killed, and continued with the same command."""
    words = ("compare", now.file, "--pairs", "3", "--out", now.out)
    lab = now.start(*words)
    now.wait_a_while()
    lab.kill()
    lab.wait()
    code = end(now.start(*words))
    now.must_end = False  # it ends once it is decided
    return [] if code in (0, 1, 5) else [f"the continued comparison ended with {code}"]


def browse_meanwhile(now: Round) -> list[str]:
    """``browse`` answers while a run is killed and continued below its folder."""
    port = _free_port()
    pages = now.start("browse", now.folder / "out", "--port", port)
    wrong: list[str] = []
    try:
        _wait_for(port)
        lab = now.run()
        until = time.monotonic() + now.random.uniform(2.0, 10.0)
        while time.monotonic() < until:
            wrong += _ask(port)
            time.sleep(0.3)
        lab.kill()
        lab.wait()
        wrong += now.complete() + _ask(port)
    finally:
        pages.send_signal(signal.SIGINT)
        code = end(pages)
    return [*dict.fromkeys(wrong), *([] if code in (0, 130) else [f"browse ended with {code}"])]


def _ask(port: int) -> list[str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30) as reply:
            return [] if reply.status == 200 else [f"browse answered {reply.status}"]
    except OSError as error:
        return [f"browse: {error}"]


def _wait_for(port: int) -> None:
    """Until it answers; a first answer that fails is found by the next request."""
    deadline = time.monotonic() + START_S_MAX
    while _ask(port) and time.monotonic() < deadline:
        time.sleep(0.2)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def shift_uptime(now: Round) -> list[str]:
    """``run`` lives in a time namespace, whose clocks since boot are ahead (time_namespaces(7))."""
    ahead = str(now.random.randrange(1, 10_000_000))
    words = ["unshare", "--time", "--monotonic", ahead, "--boottime", ahead, *WIRELAB]
    environment = {**os.environ, MARK: now.mark}
    with (now.folder / "commands.log").open("ab") as log:
        command = [*words, "run", str(now.file), "--out", str(now.out)]
        lab = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    code = end(lab)
    return [] if code in (0, 1) else [f"the run ended with {code} in a time namespace"]


Scenario = Callable[[Round], list[str]]


def usable() -> tuple[dict[str, Scenario], list[str]]:
    """The scenarios that are possible here, and why others are not."""
    found: dict[str, Scenario] = {
        "`run` killed, then continued": kill_front,
        "`run` stopped by a signal, then continued": stop_front,
        "a server or the engine killed": kill_child,
        "a process paused for 0.1 to 1.5 s": pause_child,
        "two runs at once": run_twice,
        "`compare` killed, then continued": kill_compare,
        "`browse` open while a run is killed and continued": browse_meanwhile,
    }
    lacks = []
    if os.geteuid() == 0:
        found["the disk full, then extended"] = fill_disk
        found["clocks since boot shifted (time namespace)"] = shift_uptime
    else:
        lacks.append("full disks and time namespaces: they need root")
    return found, [*lacks, NO_WALL_CLOCK]
