"""Trials over real links: the engine's own, with real services at both ends of them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from wirelab.errors import LabError
from wirelab.experiment import loading as experiment_file
from wirelab.process import namespaces
from wirelab.records.trial import Trial
from wirelab.run import runner as running
from wirelab.run.runner import Run
from wirelab.selftest import doctor

TEXT = """\
name: live
services: [rest@rust]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: 2}]
links: [lan]
window: {duration: 300 ms}
warmup: {min: 0 s, max: 0 s}
repeats: 1
"""
FIVE = "{name: five, both: {delay_ms: 2.5}}"
WAIT_S = 60.0

pytestmark = [
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("ip") is None or not Path("/dev/net/tun").exists(),
        reason="links need root, iproute2 and /dev/net/tun",
    ),
    pytest.mark.usefixtures("no_orphans", "engine_with_links"),
]


@pytest.fixture
def engine_with_links(real_engine: Path) -> Iterator[None]:
    """Skips where the engine was built without the verb; fails where a link of a dead process
    is there at the end."""
    probed = subprocess.run([real_engine, "link", "--help"], capture_output=True, check=False)
    if probed.returncode != 0:
        pytest.skip(f"{real_engine} has no verb link: build it again")
    before = _links()
    yield
    deadline = time.monotonic() + 10.0
    while (left := _dead(_links() - before)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left


def _links() -> set[str]:
    return {path.name for path in namespaces.FOLDER.glob("wl-*")}


def _dead(names: set[str]) -> set[str]:
    """Those of no living process: the others belong to other tests."""
    return {name for name in names if not Path("/proc", name.split("-")[1]).exists()}


def _run(out: Path, text: str = TEXT) -> Run:
    return running.run(experiment_file.parse(text), out, source=text, unverified=True)


def _outcomes(trial: Trial) -> dict[str, str]:
    return {check.name: check.outcome for check in trial.checks}


def test_calls_over_a_link_take_its_round_trip(tmp_path: Path) -> None:
    (trial,) = _run(tmp_path / "run", TEXT.replace("lan", FIVE) + "capture: both\n").trials
    assert trial.status == "measured", trial.reason
    assert trial.result.errors == 0
    assert str(trial.service.address).startswith("198.18.0.2:")
    assert (trial.link.driver, trial.link.verified) == ("emulator", True)
    assert trial.link.nominal.rtt_ms == pytest.approx(5.0)
    measured = trial.link.measured.rtt_ms
    assert measured is not None
    assert measured.min is not None
    assert measured.min >= 4.9
    response = trial.result.times["response"]
    assert response.min_ns is not None
    assert response.min_ns >= 4.9e6
    assert trial.service.calls_seen == trial.result.calls_whole_run
    assert _outcomes(trial)["congestion control"] == "ok"
    client, server = trial.captures["client"], trial.captures["server"]
    assert client.drops == server.drops == 0
    assert client.packets == server.packets > 2 * trial.result.calls
    folder = tmp_path / "run" / "trials" / trial.id
    assert (folder / client.file).stat().st_size > client.bytes


def test_netem_is_taken_where_it_is_named_and_never_passes_as_verified(tmp_path: Path) -> None:
    """A kernel with netem gives a marked trial, one without refuses before the first trial."""
    text = TEXT.replace("lan", "{name: own, driver: netem, both: {delay_ms: 2.5}}")
    if doctor._netem().ability == "no":
        with pytest.raises(LabError, match=r"(?s)this kernel has no netem.*use driver emulator"):
            _run(tmp_path / "run", text)
        return
    (trial,) = _run(tmp_path / "run", text).trials
    assert (trial.link.driver, trial.link.verified) == ("netem", False)
    assert _outcomes(trial)["link driver"] == "marked"


def test_every_kind_of_endpoint_works_across_a_link(tmp_path: Path) -> None:
    """Objects of CORBA carry an address, one-way calls are reported at another, and a
    certificate is for a name."""
    services = (
        '[iiop@rust, "raw@rust?reply=one-way", "rest@rust?security=mtls", '
        '"grpc@rust?congestion=reno"]'
    )
    run = _run(tmp_path / "run", TEXT.replace("[rest@rust]", services))
    assert [trial.status for trial in run.trials] == ["measured"] * 4, run.failed
    assert [trial.result.errors for trial in run.trials] == [0] * 4
    shown = {trial.point.axes.binding: trial for trial in run.trials}
    assert str(shown["raw"].service.report).startswith("198.18.0.2:")
    assert shown["grpc"].link.congestion == {"client": "reno", "server": "reno"}
    assert shown["iiop"].link.congestion == {"client": "cubic", "server": "cubic"}


def test_loopback_is_captured_once(tmp_path: Path) -> None:
    (trial,) = _run(tmp_path / "run", TEXT.replace("lan", "loopback") + "capture: both\n").trials
    assert trial.status == "measured", trial.reason
    assert set(trial.captures) == {"client"}
    assert trial.captures["client"].packets > 2 * trial.result.calls


def test_a_link_killed_in_mid_trial_fails_it_and_the_next_one_is_measured(tmp_path: Path) -> None:
    text = TEXT.replace("300 ms", "5 s").replace("lan", FIVE)
    (tmp_path / "live.yaml").write_text(text)
    lab = _lab(tmp_path)
    _wait_until(lambda: bool(list(tmp_path.glob("run/trials/*/plan.json"))))
    (link,) = [child for child in psutil.Process(lab.pid).children() if "link" in child.cmdline()]
    link.send_signal(signal.SIGKILL)
    lab.wait(WAIT_S)
    (trial,) = running.read(tmp_path / "run").trials
    assert trial.status == "failed"
    assert "the link ended with signal SIGKILL during the trial" in trial.reason
    assert _run(tmp_path / "next").trials[0].status == "measured"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_lab_that_is_stopped_or_killed_leaves_nothing(
    tmp_path: Path, number: signal.Signals
) -> None:
    text = TEXT.replace("lan", FIVE) + "capture: both\n"
    (tmp_path / "live.yaml").write_text(text.replace("300 ms", "5 s"))
    lab = _lab(tmp_path)
    _wait_until(lambda: bool(list(tmp_path.glob("run/trials/*/plan.json"))))
    children = psutil.Process(lab.pid).children(recursive=True)
    own = {f"wl-{child.pid}-{side}" for child in children for side in "cs"}
    assert own & _links()
    lab.send_signal(number)
    lab.wait(WAIT_S)
    psutil.wait_procs(children, timeout=WAIT_S)
    _wait_until(lambda: not own & _links())
    assert running.read(tmp_path / "run").trials == ()


def _lab(folder: Path) -> subprocess.Popen[bytes]:
    main = "import sys; from wirelab.cli import main; sys.exit(main())"
    words = ["run", "live.yaml", "--out", "run", "--unverified"]
    return subprocess.Popen(
        [sys.executable, "-c", main, *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
