"""nginx between caller and service: measured, killed, at a busy port, interrupted, and gone."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from wirelab.cli import main
from wirelab.documents.event import Progress as EngineProgress
from wirelab.errors import EXIT_OK, EXIT_USAGE, ToolMissing, TrialFailed
from wirelab.experiment import loading as experiment_file
from wirelab.process import namespaces, proxies
from wirelab.process.endpoint import Endpoint
from wirelab.process.interruption import Interruption
from wirelab.process.proxies import ADAPTERS, Place
from wirelab.process.proxies.hop import Installation
from wirelab.run import directory
from wirelab.run import runner as running
from wirelab.run.adaptive import testing
from wirelab.run.progress import Silent
from wirelab.run.runner import Run
from wirelab.stack.reference import Stack

pytestmark = [pytest.mark.usefixtures("real_engine", "no_orphans"), pytest.mark.timeout(600)]

TEXT = """\
name: proxies
services: {services}
messages: [{{operation: Hello, bytes: 14 B}}]
loads: [closed: {{users: 2}}]
window: {window}
warmup: {{min: 0 s, max: 0 s}}
timeout: 2 s
drain: 2 s
capture: {capture}
repeats: {repeats}
"""
NGINX = "rest@rust?via=nginx"
WAIT_S_MAX = 120.0
"""Guards against hanging only; the first run verifies the service."""
COMMAND = [sys.executable, "-c", "import sys; from wirelab.cli import main; sys.exit(main())"]


@pytest.fixture(params=["nginx"])
def via(request: pytest.FixtureRequest) -> str:
    return _require_installed(str(request.param))


@pytest.fixture(params=sorted(ADAPTERS))
def every(request: pytest.FixtureRequest) -> str:
    return _require_installed(str(request.param))


def _require_installed(name: str) -> str:
    """In CI the absence of nginx is a failure; others are skipped with the reason."""
    try:
        Installation.find(ADAPTERS[name])
    except ToolMissing as missing:
        if os.environ.get("CI") and name == "nginx":
            raise
        pytest.skip(str(missing))
    return name


def _text(
    *services: str, window: str = "{calls: 200}", repeats: int = 1, capture: str = "none"
) -> str:
    return TEXT.format(
        services=json.dumps(services), window=window, repeats=repeats, capture=capture
    )


def _run(text: str, out: Path, progress: Silent | None = None) -> Run:
    return running.run(experiment_file.parse(text), out, source=text, progress=progress)


def _of(pid: int, name: str) -> list[psutil.Process]:
    """The processes of a proxy below ``pid``."""
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        try:
            if name in child.name():
                found.append(child)
        except psutil.Error:
            continue
    return found


def _have_ended(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=5.0)
    return not alive


def test_every_call_goes_through_the_proxy_to_the_service(every: str, tmp_path: Path) -> None:
    text = _text(f"rest@rust?via={every}", f"grpc@rust?via={every}")
    run = _run(text, tmp_path / "run")
    assert [trial.reason for trial in run.trials] == ["", ""]
    for trial in run.trials:
        assert trial.result.errors == 0
        assert trial.service.calls_seen == trial.result.calls_whole_run
        assert trial.service.identity is not None
        assert f"via={every}" in str(trial.service.identity.stack)
        proxy = trial.proxy
        assert proxy is not None
        assert re.match(r"\d+\.\d+", proxy.version)
        assert proxy.cpu_s is not None
        assert proxy.cpu_s > 0.0
        assert proxy.rss_max_bytes is not None
        assert proxy.rss_max_bytes > 1_000_000
        kept = tmp_path / "run" / "trials" / trial.id / proxy.configuration
        assert "127.0.0.1" in kept.read_text()
        checks = {check.name: check for check in trial.checks}
        assert checks["connections"].outcome == "ok", checks["connections"]
    assert not _of(os.getpid(), every)


def test_streams_of_websocket_go_through_the_proxy(
    every: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--items", "20", "--item-gap", "2ms", "--users", "4", "--calls", "40", "--json")
    assert main(["drive", f"websocket@rust?via={every}", *words]) == EXIT_OK
    result = json.loads(capsys.readouterr().out)
    assert (result["ok"], result["errors"]) == (40, 0), result["error_examples"]
    assert result["streams"]["messages"] == 40 * 20


def test_one_drive_goes_through_the_proxy_too(via: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["drive", NGINX, "--duration", "300ms", "--json"]) == EXIT_OK
    assert json.loads(capsys.readouterr().out)
    assert not _of(os.getpid(), via)


def test_a_wrapped_tool_has_no_proxy(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["wrap", "--serve", NGINX, "--", "curl", "{url}"]) == EXIT_USAGE
    assert "remove via" in capsys.readouterr().err


def test_invalid_captures_are_refused(real_engine: Path, tmp_path: Path) -> None:
    """As every verb of the engine does: exit code 2, the file, the reason and what to do."""
    file = tmp_path / "none.pcapng"
    file.write_text("no capture")
    done = subprocess.run(
        [str(real_engine), "hops", str(file), str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert str(file) in done.stderr
    assert not done.stdout


class _Kills(Silent):
    """Kills a process of the proxy in the first trial's window."""

    def __init__(self, which: Callable[[list[psutil.Process]], psutil.Process]) -> None:
        self.which = which
        self.family: list[psutil.Process] = []

    def update(self, progress: EngineProgress) -> None:
        if progress.phase == "measure" and progress.calls > 20 and not self.family:
            self.family = sorted(_of(os.getpid(), "nginx"), key=lambda one: one.pid)
            self.which(self.family).kill()


@pytest.mark.parametrize(
    ("which", "reason"),
    [
        (lambda family: family[0], "nginx ended with signal SIGKILL"),
        (lambda family: family[-1], "a process of nginx ended"),
    ],
    ids=["master", "worker"],
)
def test_a_killed_proxy_fails_its_trial_alone(
    via: str, tmp_path: Path, which: Callable[[list[psutil.Process]], psutil.Process], reason: str
) -> None:
    kills = _Kills(which)
    run = _run(_text(NGINX, window="{duration: 1 s}", repeats=2), tmp_path / "run", kills)
    first, second = run.trials
    assert first.status == "failed"
    assert reason in first.reason
    assert "during the trial" in first.reason
    assert second.status == "measured"
    assert second.result.errors == 0
    assert len(kills.family) > 1
    assert _have_ended(kills.family), "workers outlive their master"


def test_a_busy_port_is_the_reason(
    via: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else answers there, who is not taken for the proxy."""
    with socket.create_server(("127.0.0.1", 0)) as other, Interruption() as interruption:
        monkeypatch.setattr(namespaces, "free_port", lambda _: other.getsockname()[1])
        axes = Stack.parse(NGINX).axes
        with (
            pytest.raises(TrialFailed, match=r"nginx did not start: .*Address already in use"),
            proxies.start_proxy(axes, Endpoint("127.0.0.1:9"), Place(tmp_path), interruption),
        ):
            pass


def test_a_missing_proxy_leaves_its_trials_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = Installation.find
    monkeypatch.setattr(Installation, "find", lambda adapter: find(adapter, "/nowhere"))
    run = _run(_text("rest@rust", NGINX), tmp_path / "run")
    assert [trial.point.stack for trial in run.trials] == ["rest@rust"]
    (reason,) = directory.read_manifest(tmp_path / "run").unavailable
    assert "nginx, which is not installed" in reason
    assert "apt install nginx-light" in reason
    with pytest.raises(ToolMissing, match="not installed"):
        _run(_text(NGINX), tmp_path / "alone")


def _lab(folder: Path) -> tuple[subprocess.Popen[str], list[psutil.Process]]:
    """`wirelab run` in the window of a long trial, and the processes of its nginx."""
    file = folder / "proxies.yaml"
    file.write_text(_text(NGINX, window="{duration: 60 s}"))
    lab = subprocess.Popen(
        [*COMMAND, "run", str(file), "--out", str(folder / "run")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    deadline = time.monotonic() + WAIT_S_MAX
    while not list((folder / "run").glob("trials/*/plan.json")):
        assert lab.poll() is None, lab.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return lab, _of(lab.pid, "nginx")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill-9"])
def test_an_ended_lab_leaves_no_proxy_behind(
    via: str, tmp_path: Path, number: signal.Signals
) -> None:
    lab, family = _lab(tmp_path)
    assert len(family) > 1
    lab.send_signal(number)
    lab.communicate(timeout=30)
    assert lab.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL)
    assert _have_ended(family)


@pytest.mark.skipif(os.geteuid() != 0, reason="captures need root")
def test_a_proxy_is_seen_from_both_sides(via: str, tmp_path: Path) -> None:
    text = _text(NGINX, f"{NGINX}&via_keepalive=off", capture="client")
    run = _run(text, tmp_path / "run")
    by_stack: dict[str, Any] = {trial.point.stack: trial for trial in run.trials}
    for stack, calls_on_one in ((NGINX, False), (f"{NGINX}&via_keepalive=off", True)):
        trial = by_stack[stack]
        assert trial.status == "measured", trial.reason
        seen = trial.proxy.hops
        assert seen.matched == seen.calls == trial.result.calls_whole_run
        assert 0.0 < seen.added.p50_us < 1e5
        ways = seen.request.mean_us + seen.reply.mean_us
        assert seen.added.mean_us == pytest.approx(ways, rel=1e-6)
        assert seen.connections_front == 2
        assert (seen.per_call_back == 1.0) == calls_on_one
        causes = {found.cause: found for found in trial.wire.findings}
        assert ("connection-per-call" in causes) == calls_on_one
        if calls_on_one:
            assert causes["connection-per-call"].test.axis == "via_keepalive"


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None or not Path("/dev/net/tun").exists(),
    reason="links need root, iproute2 and /dev/net/tun",
)
def test_on_a_link_the_proxy_is_at_the_servers_end(via: str, tmp_path: Path) -> None:
    """What the link adds is none of the proxy's time: 10 ms there and back."""
    slow = "links: [{name: far, both: {delay_ms: 5}}]\n"
    text = _text(NGINX, window="{calls: 40}", capture="both") + slow
    (trial,) = _run(text, tmp_path / "run").trials
    assert trial.status == "measured", trial.reason
    assert (trial.time_ns("response", "min") or 0.0) > 1e7
    assert trial.proxy is not None
    seen = trial.proxy.hops
    assert seen is not None
    assert seen.matched == seen.calls == trial.result.calls_whole_run
    assert seen.added is not None
    assert 0.0 < seen.added.p50_us < 1e4


@pytest.mark.skipif(os.geteuid() != 0, reason="captures need root")
def test_a_held_reply_is_found_and_the_switch_proves_it(via: str, tmp_path: Path) -> None:
    """The service writes head and body apart, and Nagle's algorithm holds the body for the
    delayed acknowledgment of the proxy: 40 ms in which nginx has the head."""
    stack = f"{NGINX}&server.writes=split&server.nagle=on"
    out = tmp_path / "run"
    run = _run(_text(stack, window="{calls: 40}", repeats=2, capture="client"), out)
    for trial in run.trials:
        assert trial.wire is not None
        found = trial.wire.finding("held-by-proxy")
        assert found is not None
        assert found.ms_median is not None
        assert 30.0 < found.ms_median < 60.0
        assert found.test is not None
        assert found.test.axis == "via_buffering"
    done = testing.intervene(out, repeats=3, causes=["held-by-proxy"])
    (judged,) = done.outcome.tested
    assert judged.verdict == "holds", judged.reason
    assert judged.occurrences is not None
    assert judged.occurrences[1] < 0.05
