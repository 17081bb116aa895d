"""Processes that detach from a service: they are ended and named, whatever they do to hide.

The truth is a file in which each detached process writes its own number.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from wirelab.experiment import loading
from wirelab.process import containment
from wirelab.process.children import Child, ProcessOptions
from wirelab.process.containment import Adoption, Containment, FreezerGroup, UnifiedGroup
from wirelab.records.trial import Check, Trial
from wirelab.run import runner

DETACH = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open({file!r}, "a") as numbers:
            print(os.getpid(), file=numbers)
        for number in range(3):
            os.close(number)
        os.execve("/bin/sleep", ["quiet-worker", "300"], {{}})
    os._exit(0)
"""
"""Leaves its session, its parent and its environment, as daemons do that hide from their start
script."""

SERVER = """
import http.server, os, signal, sys, threading
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def do_GET(self):
        if first.acquire(blocking=False):
            work()
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()
first = threading.Semaphore(1)
server = http.server.ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Handler)
"""


def _numbers(file: Path, count: int) -> list[int]:
    """Once that number of processes is there, under their final names."""
    deadline = time.monotonic() + 20.0
    while time.monotonic() < deadline:
        found = file.read_text(encoding="ascii").split() if file.exists() else []
        if len(found) >= count and all(map(_has_its_name, found)):
            return [int(one) for one in found]
        time.sleep(0.02)
    raise AssertionError(f"{count} processes were to write into {file}")


def _has_its_name(pid: str) -> bool:
    """Also true for one that has ended."""
    try:
        return not Path(f"/proc/{pid}/cmdline").read_bytes().startswith(sys.executable.encode())
    except OSError:
        return True


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def _require(kind: type[Containment]) -> None:
    if kind is not Adoption and kind not in {usable for usable, _ in containment._roots()}:
        pytest.skip(f"no writable control group for {kind.name} here")


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[[type[Containment]], None]:
    """Leaves one kind of containment to choose from."""
    roots = list(containment._roots())

    def choose(kind: type[Containment]) -> None:
        _require(kind)
        kept = [(each, root) for each, root in roots if each is kind]
        monkeypatch.setattr(containment, "_roots", lambda: iter(kept))

    return choose


KINDS = [UnifiedGroup, FreezerGroup, Adoption]


@pytest.mark.parametrize("kind", KINDS)
def test_a_process_without_session_parent_and_environment_is_ended_and_named(
    kind: type[Containment], only: Callable[[type[Containment]], None], tmp_path: Path
) -> None:
    only(kind)
    file = tmp_path / "numbers"
    script = DETACH.format(file=str(file)) * 3 + "time.sleep(300)"
    with containment.contain() as held:
        assert type(held) is kind
        options = ProcessOptions(log=tmp_path / "log", holder=held.folder)
        child = Child([sys.executable, "-c", script], options, stdin=subprocess.DEVNULL)
        detached = _numbers(file, 3)
        child.kill()
        assert all(map(_is_alive, detached))
        ended = held.end()
    assert sorted(ended) == sorted(f"quiet-worker 300 (process {pid})" for pid in detached)
    assert not any(map(_is_alive, detached))
    assert held.folder is None or not held.folder.exists()


@pytest.mark.parametrize("kind", [UnifiedGroup, FreezerGroup])
def test_processes_that_multiply_faster_than_one_by_one_are_ended(
    kind: type[Containment], only: Callable[[type[Containment]], None], tmp_path: Path
) -> None:
    """Each one starts its successor and ends, so that a list of them is always out of date."""
    only(kind)
    file = tmp_path / "numbers"
    chain = (
        "import os, time\n"
        f"open({str(file)!r}, 'a').write('1\\n')\n"
        "while True:\n"
        "    if os.fork(): os._exit(0)\n"
        "    os.setsid()\n"
        "    time.sleep(0.0005)\n"
    )
    with containment.contain() as held:
        options = ProcessOptions(log=tmp_path / "log", holder=held.folder)
        child = Child([sys.executable, "-S", "-c", chain], options, stdin=subprocess.DEVNULL)
        child.wait(20.0)
        assert file.exists()
        assert held.pids()
        held.end()
        assert not held.pids()
    child.end(0.0)


def _run(out: Path, script: str, **keys: Any) -> Trial:
    service = {"name": "own", "command": [sys.executable, "-c", script], "http": {"path": "/"}}
    content = {
        "name": "own",
        "repeats": 1,
        "services": [{**service, "stop": "2 s", **keys}],
        "loads": [{"closed": {"users": 2}}],
        "window": {"calls": 50, "max": "10 s"},
        "warmup": {"min": "0 s", "max": "0 s"},
    }
    text = yaml.safe_dump(content)
    (trial,) = runner.run(loading.parse(text, str(out / "x.yaml")), out / "run", source=text).trials
    return trial


def _end(trial: Trial) -> Check | None:
    return next((check for check in trial.checks if check.name == "service end"), None)


@pytest.mark.usefixtures("no_orphans", "real_engine")
@pytest.mark.parametrize("kind", KINDS)
def test_a_worker_that_detaches_at_the_first_call_is_named_in_the_trial(
    kind: type[Containment], only: Callable[[type[Containment]], None], tmp_path: Path
) -> None:
    only(kind)
    file = tmp_path / "numbers"
    detach = DETACH.format(file=str(file))
    work = "def work():\n" + "".join(f"    {line}\n" for line in detach.splitlines())
    trial = _run(tmp_path, f"{SERVER}\n{work}\nserver.serve_forever()")
    (pid,) = _numbers(file, 1)
    assert (trial.status, trial.result.ok) == ("measured", 50)
    assert not _is_alive(pid)
    assert trial.service.containment == kind.name
    assert trial.service.left == (f"quiet-worker 300 (process {pid})",)
    check = _end(trial)
    assert check is not None
    assert check.outcome == "marked"
    assert f"quiet-worker 300 (process {pid})" in check.reason


@pytest.mark.usefixtures("no_orphans", "real_engine")
def test_workers_in_sessions_of_their_own_that_end_with_the_service_are_not_a_finding(
    tmp_path: Path,
) -> None:
    """As the processes of PostgreSQL are: the first one ends them, and then itself."""
    file = tmp_path / "numbers"
    workers = f"""
import subprocess
children = [subprocess.Popen(["sleep", "300"], start_new_session=True) for _ in range(3)]
with open({str(file)!r}, "w") as numbers:
    print(*(child.pid for child in children), file=numbers)
def stop(*_):
    for child in children:
        child.terminate()
        child.wait()
    os._exit(0)
signal.signal(signal.SIGTERM, stop)
def work(): pass
server.serve_forever()
"""
    trial = _run(tmp_path, SERVER + workers)
    assert trial.result.ok == 50
    assert not any(map(_is_alive, _numbers(file, 3)))
    assert trial.service.left is None
    assert _end(trial) is None


@pytest.mark.usefixtures("no_orphans", "real_engine")
def test_a_failed_trial_names_what_its_service_left(tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    script = f"import sys\n{DETACH.format(file=str(file))}\ntime.sleep(1)\nsys.exit(7)"
    trial = _run(tmp_path, script)
    (pid,) = _numbers(file, 1)
    assert trial.status == "failed"
    assert "exit code 7" in trial.reason
    assert f"1 process outside its session had to be ended: quiet-worker 300 (process {pid})" in (
        trial.reason
    )
    assert not _is_alive(pid)


KILLED = """
import subprocess, sys, time
from pathlib import Path
from wirelab.process.children import Child, ProcessOptions
from wirelab.process.containment import contain
held = contain()
options = ProcessOptions(log=Path({log!r}), holder=held.folder)
child = Child([sys.executable, "-c", {script!r}], options, stdin=subprocess.DEVNULL)
print(held.folder, flush=True)
time.sleep(300)
"""


@pytest.mark.parametrize("kind", [UnifiedGroup, FreezerGroup])
def test_processes_of_a_killed_wirelab_are_ended_by_the_next_one(
    kind: type[Containment], only: Callable[[type[Containment]], None], tmp_path: Path
) -> None:
    only(kind)
    file = tmp_path / "numbers"
    script = DETACH.format(file=str(file)) + "time.sleep(300)"
    code = KILLED.format(log=str(tmp_path / "log"), script=script)
    if kind is FreezerGroup:
        choose = (
            "containment._roots = lambda found=list(containment._roots()): "
            "iter([one for one in found if one[0] is containment.FreezerGroup])"
        )
        code = f"from wirelab.process import containment\n{choose}\n{code}"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as killed:
        assert killed.stdout is not None
        folder = Path(killed.stdout.readline().strip())
        (detached,) = _numbers(file, 1)
        with containment.contain():
            assert folder.exists()  # its owner is still running
            assert _is_alive(detached)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        with containment.contain():
            assert not folder.exists()
            assert not _is_alive(detached)
