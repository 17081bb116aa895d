"""Links and captures in experiments: what is planned, what is refused, and that nothing is
left behind however a trial ends. The engine is scripted; its namespaces are real."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from wirelab.documents.event import Progress as EngineProgress
from wirelab.errors import ExperimentError, Interrupted, LabError, RunDirectoryError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.experiment.matrix import PlannedTrial
from wirelab.experiment.model import Experiment
from wirelab.explain.cell_selector import CellSelector
from wirelab.process import metrics, namespaces
from wirelab.process.interruption import Interruption
from wirelab.process.managed import Refused
from wirelab.records.group import GroupResult
from wirelab.run import runner as running
from wirelab.run.progress import Silent
from wirelab.run.runner import Run
from wirelab.selftest import doctor
from wirelab.stack import manifests
from wirelab.trial.stages import link as links

TEXT = """\
name: small
services: [rest@rust]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: 2}]
links: [wlan]
window: {duration: 100 ms}
warmup: {min: 0 s, max: 0 s}
repeats: 2
"""
OWN = "{name: bad, both: {delay_ms: 5, loss: {kind: random, percent: 1}}}"
Misbehave = Callable[..., None]

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None,
    reason="network namespaces need root and iproute2",
)
pytestmark = pytest.mark.usefixtures("no_orphans")


def _experiment(text: str = TEXT) -> Experiment:
    return experiment_file.parse(text)


def _run(out: Path, text: str = TEXT) -> Run:
    return running.run(_experiment(text), out, source=text)


def _run_once_free(out: Path) -> Run:
    """A child that a killed lab had just forked holds the directory for a moment."""
    deadline = time.monotonic() + 10.0
    while True:
        try:
            return _run(out)
        except RunDirectoryError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _trials(text: str) -> tuple[PlannedTrial, ...]:
    return planning.schedule(_experiment(text), manifests.load()).trials


def _names() -> set[str]:
    folder = namespaces.FOLDER
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Fails the test when a namespace that it made is there at its end."""
    before = _names()
    yield
    deadline = time.monotonic() + 5.0
    while (left := _ours(_names() - before)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left


def _ours(names: set[str]) -> set[str]:
    """Those of dead processes: a living link belongs to another test."""
    return {name for name in names if not Path("/proc", name.split("-")[1]).exists()}


def test_a_link_is_part_of_a_trials_point() -> None:
    trials = _trials(TEXT.replace("[wlan]", f"[loopback, wlan, {OWN}]"))
    assert {trial.cell.point.link for trial in trials} == {"loopback", "wlan", "bad"}
    assert len({trial.id for trial in trials}) == 6
    assert {("wlan" in trial.id) for trial in trials if trial.cell.link == "wlan"} == {True}


def test_one_link_needs_no_list() -> None:
    assert _experiment(TEXT.replace("[wlan]", "lan")).links == ("lan",)
    assert _experiment(TEXT.replace("links: [wlan]\n", "")).links == ("loopback",)


@pytest.mark.parametrize(
    ("links", "said"),
    [
        ("[wlam]", "Did you mean 'wlan'"),
        ("[lan, lan]", "two links are named lan"),
        ("[{name: lan, both: {}}]", "a built-in profile"),
        ("[{name: bad}]", "either the key both, or forward and backward"),
        ("[{name: bad, forward: {}}]", "either the key both, or forward and backward"),
        (
            "[{name: bad, both: {delay: 5}}]",
            "links[0].both.delay: unknown key. Did you mean 'delay_ms'",
        ),
        ("[{name: bad, both: {loss: {kind: random, percent: 101}}}]", "less than or equal to 100"),
        ("[]", "add at least one entry"),
    ],
)
def test_links_that_cannot_be_are_refused_by_their_place(links: str, said: str) -> None:
    with pytest.raises(ExperimentError) as refused:
        _experiment(TEXT.replace("[wlan]", links))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TEXT + "axes: {socket: [unix]}\n", "a Unix socket cannot cross link wlan"),
        (TEXT.replace("wlan", "loopback") + "axes: {congestion: [bbr]}\n", "machine's congestion"),
        (
            TEXT.replace("wlan", "loopback") + "axes: {initial_window: [64]}\n",
            "machine's initial_window; set a link, e.g. links",
        ),
        (
            TEXT.replace("wlan", "loopback") + "axes: {after_idle: [keep]}\n",
            "machine's after_idle; set a link",
        ),
        (
            TEXT.replace("wlan", "loopback") + "axes: {socket: [unix]}\ncapture: client\n",
            "a Unix socket has no packets",
        ),
    ],
)
def test_stacks_that_no_link_carries_are_refused(text: str, said: str) -> None:
    with pytest.raises(ExperimentError, match=said):
        _trials(text)


def test_captures_are_an_ablation_when_there_are_several() -> None:
    plain = _trials(TEXT)
    assert all("capture" not in trial.cell.point.options for trial in plain)
    trials = _trials(TEXT + "capture: [none, both]\n")
    assert {trial.cell.point.options["capture"] for trial in trials} == {"none", "both"}
    assert len(trials) == 4
    named = CellSelector("rest@rust", capture="both")
    found = [trial.cell.point for trial in trials if named.matches(trial.cell.point)]
    assert {point.options["capture"] for point in found} == {"both"}
    assert str(named) == "rest@rust, Hello, capture both"


def test_without_privileges_links_are_refused_before_the_first_trial(
    tmp_path: Path, stand_in: Misbehave
) -> None:
    stand_in("link-refuses")
    with pytest.raises(LabError, match=r"wlan is not available here: .*not permitted") as refused:
        _run(tmp_path / "run")
    assert "run as root" in refused.value.remedy
    assert "links: loopback" in refused.value.remedy
    assert running.read(tmp_path / "run").trials == ()
    over_loopback = _run(tmp_path / "other", TEXT.replace("wlan", "loopback"))
    assert {trial.status for trial in over_loopback.trials} == {"measured"}


def test_a_profile_that_can_be_nowhere_is_not_blamed_on_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise Refused("the link refused profile.forward.delay_ms: 1000000 ms", "use 0 to 60000")

    monkeypatch.setattr(links, "Link", refuse)
    with Interruption() as interruption, pytest.raises(LabError) as refused:
        links.try_out(links.LinkSpec("wlan"), tmp_path / "log", interruption)
    assert refused.value.remedy == "use 0 to 60000"
    assert "is not available here" not in str(refused.value)


def test_loopback_records_whose_congestion_control_it_has(
    tmp_path: Path, stand_in: Misbehave
) -> None:
    stand_in()
    trial = _run(tmp_path / "run", TEXT.replace("wlan", "loopback")).trials[0]
    assert trial.link.name == "loopback"
    assert trial.link.congestion["client"]
    assert trial.placement.emulator is None


@needs_root
@pytest.mark.usefixtures("stand_in", "nothing_left")
def test_a_trial_over_a_link_carries_what_the_link_was(tmp_path: Path) -> None:
    axes = "axes: {congestion: [reno], initial_window: [64], after_idle: [keep]}\n"
    run = _run(tmp_path / "run", TEXT + "capture: both\n" + axes)
    trial = run.trials[0]
    assert trial.status == "measured", trial.reason
    assert trial.point.link == "wlan"
    assert trial.link.rtt_ms() == 2.6
    assert trial.link.congestion == {"client": "reno", "server": "reno"}
    assert trial.link.lateness_us is not None
    assert trial.link.lateness_us.p99 == 20.0
    assert trial.link.cpu_window_s is not None
    assert trial.service.address == "198.18.0.2:1"
    assert set(trial.captures) == {"client", "server"}
    assert trial.captures["client"].file == "capture-client.pcapng"
    assert (run.folder / "trials" / trial.id / "capture-server.pcapng").exists()
    assert trial.placement.emulator
    assert trial.placement.capture
    named = {check.name: check.outcome for check in trial.checks}
    assert trial.link.tcp["server"].initial_window == 64
    assert trial.link.tcp["client"].after_idle == "keep"
    expected = (
        *("link round trip", "emulator lateness", "congestion control", "capture"),
        *("initial window", "window after a pause"),
    )
    assert {name: named[name] for name in expected} == dict.fromkeys(expected, "ok")
    assert running.read(run.folder).trials == run.trials


@needs_root
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["link-dies"], "the link ended with signal SIGKILL"),
        (["capture-dies"], "the capture at the client's end ended with signal SIGKILL"),
        (["service-dies"], "the service ended with exit code 70"),
        (["engine-dies"], "the engine ended with signal SIGKILL"),
    ],
)
def test_a_trial_in_which_something_dies_fails_and_the_run_goes_on(
    tmp_path: Path, stand_in: Misbehave, words: list[str], reason: str
) -> None:
    stand_in(*words, seconds=0.6)
    run = _run(tmp_path / "run", TEXT + "capture: client\n")
    assert [trial.status for trial in run.trials] == ["failed"] * 2
    assert all(reason in trial.reason for trial in run.trials), run.trials[0].reason


@needs_root
@pytest.mark.usefixtures("nothing_left")
def test_a_trial_over_a_dead_link_fails_and_names_the_key(
    tmp_path: Path, stand_in: Misbehave
) -> None:
    stand_in("link-dead")
    dead = "{name: dead, both: {delay_ms: 5, loss: {kind: random, percent: 100}}}"
    run = _run(tmp_path / "run", TEXT.replace("wlan", dead))
    assert [trial.status for trial in run.trials] == ["failed"] * 2
    reason = run.trials[0].reason
    assert "no packet passes link dead: all 1,050 echoes" in reason
    assert "a measured loss of 100 %; its profile has both.loss.percent: 100" in reason
    assert run.trials[0].result == GroupResult()


@needs_root
@pytest.mark.usefixtures("nothing_left")
def test_drops_of_a_capture_mark_the_trial(tmp_path: Path, stand_in: Misbehave) -> None:
    stand_in("capture-drops")
    trial = _run(tmp_path / "run", TEXT + "capture: client\n").trials[0]
    assert ("capture", "marked") in {(check.name, check.outcome) for check in trial.checks}


@needs_root
@pytest.mark.usefixtures("nothing_left")
def test_an_interrupted_run_leaves_no_namespace_and_goes_on(
    tmp_path: Path, stand_in: Misbehave
) -> None:
    stand_in(seconds=5.0)
    stop = Interruption()

    class Inside(Silent):
        def update(self, progress: EngineProgress) -> None:
            stop.requested = True

    with pytest.raises(Interrupted, match="0 of 2"):
        running.run(
            _experiment(), tmp_path / "run", source=TEXT, progress=Inside(), interruption=stop
        )
    stand_in()
    assert [trial.status for trial in _run(tmp_path / "run").trials] == ["measured"] * 2


@needs_root
@pytest.mark.usefixtures("nothing_left")
def test_a_killed_lab_leaves_no_namespace_and_its_run_goes_on(
    tmp_path: Path, stand_in: Misbehave
) -> None:
    stand_in(seconds=30.0)
    (tmp_path / "small.yaml").write_text(TEXT)
    main = "import sys; from wirelab.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", main, "run", "small.yaml", "--out", "run"]
    lab = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60.0
    while not list(tmp_path.glob("run/trials/*/plan.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    lab.send_signal(signal.SIGKILL)
    lab.wait()
    assert list(tmp_path.glob("run/trials/*/plan.json"))
    stand_in()
    assert [trial.status for trial in _run_once_free(tmp_path / "run").trials] == ["measured"] * 2


@needs_root
@pytest.mark.usefixtures("nothing_left")
def test_metrics_are_read_from_within_the_services_namespace() -> None:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-length", "4")
            self.end_headers()
            self.wfile.write(b"a 1\n")

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    name = f"wl-{os.getpid()}-t"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
        ready: list[HTTPServer] = []

        def serve() -> None:
            descriptor = namespaces.open_namespace(name)
            namespaces.enter(descriptor)
            os.close(descriptor)
            ready.append(HTTPServer(("127.0.0.1", 0), Page))
            ready[0].serve_forever(0.05)

        threading.Thread(target=serve, daemon=True).start()
        while not ready:
            time.sleep(0.01)
        address = f"127.0.0.1:{ready[0].server_port}"
        assert metrics.scrape(address, namespace=name) == "a 1\n"
        with pytest.raises(ConnectionRefusedError):
            metrics.scrape(address)
        ready[0].shutdown()
        ready[0].server_close()
    finally:
        namespaces.remove(name)
    with pytest.raises(FileNotFoundError):
        metrics.scrape("127.0.0.1:1", namespace=name)


def test_doctor_reports_netem_as_not_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the kernel has: only that it answers is scripted."""
    monkeypatch.setattr("shutil.which", lambda _: "/sbin/tc")
    monkeypatch.setattr(doctor, "_works", lambda _: True)
    found = doctor._netem()
    assert (found.name, found.ability) == ("netem", "limited")
    assert "not verified" in found.found
    assert "driver: netem" in found.means
