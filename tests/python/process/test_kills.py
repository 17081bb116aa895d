"""kill -9 in mid-trial, of the service, the engine, the database and the lab: finished trials stay
in the journal, the same command goes on, no process, folder or control group is left behind, and
every row that was acknowledged is in the database."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from wirelab.errors import LabError
from wirelab.process import cgroups
from wirelab.process.databases import Cluster, Database, Installation
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import PREFIX
from wirelab.records.trial import Trial
from wirelab.run import runner as running
from wirelab.run.runner import Run

pytestmark = [pytest.mark.usefixtures("real_engine", "no_orphans"), pytest.mark.timeout(600)]

TEXT = """\
name: kills
services: ['rest@go?{axes}']
messages: [{{operation: Allocate}}]
loads: [closed: {{users: 2}}]
window: {{duration: {window}}}
warmup: {{min: 0 s, max: 0 s}}
timeout: 2 s
drain: 2 s
repeats: {repeats}
"""
FINISHED = 1
"""Trials in the journal when something is killed."""
COMMAND = [sys.executable, "-c", "import sys; from wirelab.cli import main; sys.exit(main())"]
WAIT_S_MAX = 60.0
"""Guards against hanging only; the first run may have to build and verify the service."""
BUILD_S_MAX = 300.0
FIRST_GROUP = 879_253
"""Of the first new row (contracts/README.md, records)."""
ACKNOWLEDGED = 20
"""This number of our own rows is acknowledged before something is killed."""
QUERY = f"SELECT groupid FROM allocations WHERE groupid >= {FIRST_GROUP}"

Json = dict[str, Any]


class Lab:
    """`wirelab run` of the experiment, and callers of our own who share its service."""

    def __init__(
        self, folder: Path, axes: str, *options: str, finished: int = FINISHED, window: str = "2 s"
    ) -> None:
        """In mid-trial there are ``finished`` trials before that one, which is the last."""
        self.out = folder / "run"
        self.trials = finished + 1
        self._experiment = folder / "kills.yaml"
        self._experiment.write_text(TEXT.format(axes=axes, window=window, repeats=self.trials))
        self._options = options
        self.start()

    def start(self, *options: str) -> None:
        words = [*COMMAND, "run", str(self._experiment), "--out", str(self.out), "--json"]
        paths = os.pathsep.join(filter(None, sys.path))
        self.process = subprocess.Popen(
            [*words, *self._options, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": paths},
        )

    def wait_for_the_last_trial(self) -> Path:
        """Its folder, once the engine makes calls."""
        finished = self.trials - 1
        self._wait_until(lambda: self._lines() == finished and bool(self._plans()), BUILD_S_MAX)
        self._wait_until(
            lambda: len(self._plans()) == self.trials and bool(self.engines()), WAIT_S_MAX
        )
        return max(self._plans(), key=lambda path: path.stat().st_mtime_ns).parent

    def _plans(self) -> list[Path]:
        return list(self.out.glob("trials/*/plan.json"))

    def _wait_until(self, condition: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline, "waited in vain"
            time.sleep(0.01)

    def _lines(self) -> int:
        journal = self.out / "trials.jsonl"
        return journal.read_bytes().count(b"\n") if journal.exists() else 0

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def engines(self) -> list[psutil.Process]:
        return [child for child in self.children() if "drive" in _words(child)]

    def postmaster(self) -> psutil.Process:
        """Processes it has just forked bear its command line until they set their own title."""
        database = [child for child in self.children() if "-D" in _words(child)]
        pids = {process.pid for process in database}
        (found,) = (process for process in database if process.ppid() not in pids)
        return found

    def end(self) -> Json:
        """What it prints at its end."""
        said, told = self.process.communicate(timeout=BUILD_S_MAX)
        assert "Traceback" not in told
        return dict(json.loads(said), code=self.process.returncode)

    def go_on(self, kept: tuple[Trial, ...], *options: str) -> Run:
        """The same command makes up what is missing and repeats nothing."""
        self.start(*options)
        assert self.end()["code"] == 0
        run = running.read(self.out)
        assert run.trials[: len(kept)] == kept
        assert [trial.status for trial in run.trials] == ["measured"] * self.trials
        return run

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def _words(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []


class Callers:
    """Threads that allocate in the service of a trial until they are stopped."""

    def __init__(self, trial: Path) -> None:
        ready = json.loads((trial / "service.json").read_text())["ready"]
        self.address, self.pid = ready["address"], int(ready["pid"])
        self.acknowledged: list[int] = []
        """Groups of the rows that were answered with 200."""
        self.failed = 0
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._call, daemon=True) for _ in range(4)]
        for thread in self._threads:
            thread.start()

    def _call(self) -> None:
        with contextlib.closing(http.client.HTTPConnection(self.address, timeout=5)) as connection:
            self._call_over(connection)

    def _call_over(self, connection: http.client.HTTPConnection) -> None:
        body = json.dumps({"name": "Alice", "id": 113517, "courseCode": "CS31245"})
        headers = {"Content-Type": "application/json"}
        while not self._stop.is_set():
            try:
                connection.request("POST", "/records/allocate", body, headers)
                reply = connection.getresponse()
                content = reply.read()
            except (OSError, http.client.HTTPException):
                connection.close()
                self.failed += 1
                time.sleep(0.01)
                continue
            if reply.status == 200:
                self.acknowledged.append(int(json.loads(content)["teamDetails"]["groupId"]))
            else:
                assert (reply.status, content) == (503, b'{"error":"database unavailable"}')
                self.failed += 1

    def wait_for_rows(self) -> None:
        """Until more of them are acknowledged."""
        enough = len(self.acknowledged) + ACKNOWLEDGED
        deadline = time.monotonic() + WAIT_S_MAX
        while len(self.acknowledged) < enough:
            assert time.monotonic() < deadline, f"{len(self.acknowledged)} of {enough} rows"
            time.sleep(0.01)

    def stop(self) -> set[int]:
        """The groups that were acknowledged."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        assert len(set(self.acknowledged)) == len(self.acknowledged)
        return set(self.acknowledged)


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., Lab]]:
    """Starts labs, which end with the test."""
    labs: list[Lab] = []

    def start(axes: str, *options: str, **settings: Any) -> Lab:
        labs.append(Lab(tmp_path, axes, *options, **settings))
        return labs[-1]

    yield start
    for lab in labs:
        lab.close()


@pytest.fixture(scope="module")
def installation() -> Installation:
    """The server of this machine; in CI its absence is a failure."""
    try:
        return Installation.find()
    except LabError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no PostgreSQL server: {error}")


@pytest.fixture
def database(installation: Installation, tmp_path: Path) -> Iterator[Database]:
    """A server that outlives the lab."""
    with (
        Interruption() as interruption,
        Cluster(installation, interruption=interruption) as cluster,
        Database(cluster, log=tmp_path / "postgres.log") as running_database,
    ):
        yield running_database


def _groups(database: Database) -> set[int]:
    command = ["psql", database.url, "--no-psqlrc", "--tuples-only", "--no-align", "-c", QUERY]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return set(map(int, done.stdout.split()))


@pytest.mark.parametrize(
    ("victim", "reason"),
    [
        ("service", "the service ended with signal SIGKILL"),
        ("engine", "the engine ended with signal SIGKILL"),
    ],
)
def test_a_killed_process_costs_its_own_trial_alone(
    started: Callable[..., Lab], database: Database, victim: str, reason: str
) -> None:
    lab = started("store=postgres", "--postgres", database.url)
    callers = Callers(lab.wait_for_the_last_trial())
    callers.wait_for_rows()
    killed = psutil.Process(callers.pid) if victim == "service" else lab.engines()[0]
    killed.kill()
    ended = lab.end()
    acknowledged = callers.stop()
    assert acknowledged <= _groups(database)
    assert ended["code"] == 1
    (failed,) = ended["failed"]
    assert reason in failed["reason"]
    kept = running.read(lab.out).trials
    assert [trial.status for trial in kept] == ["measured", "failed"]


def test_a_database_that_crashes_and_returns_is_measured_as_such(
    started: Callable[..., Lab], database: Database
) -> None:
    """Errors are counted, calls go well again, and the rows are those acknowledged."""
    lab = started("store=postgres", "--postgres", database.url, finished=0, window="6 s")
    callers = Callers(lab.wait_for_the_last_trial())
    callers.wait_for_rows()
    database.kill()
    database.restart()
    callers.wait_for_rows()
    acknowledged = callers.stop()
    assert lab.end()["code"] == 0
    stored = _groups(database)
    assert acknowledged <= stored
    assert callers.failed
    (trial,) = running.read(lab.out).trials
    assert {kind for kind, count in trial.result.errors_by_kind.items() if count} == {"application"}
    # Our own callers' and the engine's, whose failed calls may have stored a row each.
    surely = len(acknowledged) + trial.result.ok
    assert surely <= len(stored) <= surely + callers.failed + trial.result.errors


def test_a_database_of_the_lab_that_dies_fails_its_trial(
    started: Callable[..., Lab], installation: Installation
) -> None:
    """The postmaster alone is killed, and its processes are to end by themselves."""
    lab = started("store=postgres")
    lab.wait_for_the_last_trial()
    postmaster = lab.postmaster()
    family = postmaster.children(recursive=True)
    data = _data(postmaster)
    postmaster.kill()
    (failed,) = lab.end()["failed"]
    assert "PostgreSQL ended with signal SIGKILL during the trial" in failed["reason"]
    assert _have_ended(family)
    assert not data.parent.exists()
    kept = running.read(lab.out).trials
    assert [trial.status for trial in kept] == ["measured", "failed"]
    lab.go_on(kept[:1], "--retry-failed")


def test_a_killed_lab_leaves_every_acknowledged_row_and_the_next_start_cleans_up(
    started: Callable[..., Lab], installation: Installation
) -> None:
    """The data directory is read before the next start removes it."""
    quota = _quota()
    lab = started(f"store=postgres{quota}")
    callers = Callers(lab.wait_for_the_last_trial())
    callers.wait_for_rows()
    postmaster, children = lab.postmaster(), lab.children()
    data = _data(postmaster)
    lab.process.kill()
    lab.process.communicate()
    assert _have_ended(children)
    acknowledged = callers.stop()
    assert acknowledged <= _rows_of(data, installation)
    kept = running.read(lab.out).trials
    assert len(kept) == 1
    lab.go_on(kept)
    assert not data.parent.exists()
    assert _list_leftovers(lab.process.pid) == []


def test_a_killed_lab_leaves_every_acknowledged_row_in_sqlite(started: Callable[..., Lab]) -> None:
    lab = started("store=sqlite")
    trial = lab.wait_for_the_last_trial()
    callers = Callers(trial)
    callers.wait_for_rows()
    children = lab.children()
    lab.process.kill()
    lab.process.communicate()
    assert _have_ended(children)
    acknowledged = callers.stop()
    (file,) = trial.glob("*/records.sqlite")
    with contextlib.closing(sqlite3.connect(file)) as connection:
        assert acknowledged <= {group for (group,) in connection.execute(QUERY)}
    lab.go_on(running.read(lab.out).trials)
    assert not list(lab.out.glob("trials/*/*/*.sqlite*"))
    assert list(lab.out.glob("trials/*.unfinished-1/service.json")), "what was measured stays"


def _quota() -> str:
    """Axes that put the service into a control group, where there are any."""
    try:
        cgroups.find()
    except LabError:
        return ""
    return "&server.cpu=90%"


def _data(postmaster: psutil.Process) -> Path:
    words = _words(postmaster)
    return Path(words[words.index("-D") + 1])


def _have_ended(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=10)
    return all(process.status() == psutil.STATUS_ZOMBIE for process in alive)


def _rows_of(data: Path, installation: Installation) -> set[int]:
    """The groups in a data directory without a server, by PostgreSQL in single-user mode, which
    recovers as a server does. It refuses to start until the kernel has let go of all that the
    killed server had."""
    owner = data.stat()
    become = ["setpriv", f"--reuid={owner.st_uid}", f"--regid={owner.st_gid}", "--clear-groups"]
    postgres = [installation.folder / "postgres", "--single", "-D", data, "postgres"]
    command = [*(become if os.geteuid() == 0 else []), *map(str, postgres)]
    deadline = time.monotonic() + WAIT_S_MAX
    while True:
        done = subprocess.run(
            command, input=f"{QUERY}\n", capture_output=True, text=True, timeout=60, check=False
        )
        if done.returncode == 0:
            break
        assert time.monotonic() < deadline, done.stderr
        time.sleep(0.1)
    # As `1: groupid = "879253" (typeid = 23, len = 4, typmod = -1, byval = t)`.
    values = (line.partition('= "')[2].partition('"')[0] for line in done.stdout.splitlines())
    return {int(value) for value in values if value}


def _list_leftovers(pid: int) -> list[Path]:
    """Folders and control groups of a lab that has ended."""
    roots = (Path(tempfile.gettempdir()), cgroups.V1, cgroups.V2)
    return [path for root in roots for path in root.glob(f"{PREFIX}{pid}-*")]
