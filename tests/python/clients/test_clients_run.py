"""Experiments whose load several clients divide, on a local Ray."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.python.truth_server import run_server
from wirelab.errors import ExperimentError
from wirelab.experiment import loading
from wirelab.experiment import matrix as planning
from wirelab.run import finished
from wirelab.stack import manifests

Json = dict[str, Any]
WIRELAB = str(Path(sys.executable).with_name("wirelab"))


def _experiment(**changes: Any) -> str:
    whole: Json = {
        "name": "divided",
        "services": ["rest@rust"],
        "messages": [{"operation": "Hello", "bytes": "14 B"}],
        "loads": [{"closed": {"users": 4}}],
        "window": {"duration": "1 s"},
        "repeats": 1,
        "clients": 2,
        **changes,
    }
    return yaml.safe_dump(whole, sort_keys=False)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"loads": [{"closed": {"users": 1}}]}, "1 concurrent call"),
        ({"services": ["rest@rust?connection=pool=1"]}, "1 connection"),
        ({"window": {"calls": 1}}, "1 call gives"),
        ({"capture": "client"}, "packets are captured of one client"),
        ({"links": "wlan"}, "a link has one client"),
        ({"services": ["rest@rust?start=cold"]}, "the first calls of a cold service"),
        ({"services": ["rest@go?caller=go"]}, "only wirelab's engine divides a load"),
        ({"design": "slices"}, "several clients do not switch at one moment"),
        ({"clients": 0}, "greater than or equal to 1"),
        ({"clients": 1001}, "less than or equal to 1000"),
    ],
)
def test_a_load_that_cannot_be_divided_is_refused(changes: Json, reason: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        planning.schedule(loading.parse(_experiment(**changes), "divided"), manifests.load())
    assert reason in "\n".join(caught.value.problems)


def test_cells_of_several_clients_are_not_those_of_one() -> None:
    divided, whole = (
        planning.schedule(loading.parse(_experiment(clients=count), "x"), manifests.load())
        for count in (2, 1)
    )
    assert divided.cells[0].point.options["clients"] == 2
    assert "clients" not in whole.cells[0].point.options
    assert divided.trials[0].id != whole.trials[0].id


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([WIRELAB, *words], capture_output=True, text=True, timeout=120)


@pytest.mark.usefixtures("real_engine", "no_orphans")
@pytest.mark.xdist_group("ray")
def test_trials_of_a_run_are_divided_between_two_clients(tmp_path: Path) -> None:
    """The server's own log has the number of calls."""
    with run_server(tmp_path, error_every=10) as (port, log):
        file = tmp_path / "experiment.yaml"
        service = {"name": "mine", "url": f"http://127.0.0.1:{port}", "http": {"path": "/"}}
        text = _experiment(
            services=[service],
            messages=[],
            loads=[{"closed": {"users": 5}}],
            window={"calls": 300},
            warmup={"min": "0 s", "max": "0 s"},
            repeats=2,
            clients=1,
        )
        file.write_text(text, encoding="utf-8")
        out = tmp_path / "run"
        done = _run("run", str(file), "--clients", "2", "--out", str(out))
        assert done.returncode == 0, done.stderr
    trials = finished.read(out).trials
    assert len(trials) == 2
    truth = json.loads(log.read_text(encoding="utf-8"))
    assert sum(trial.result.calls for trial in trials) == 600
    assert 600 <= truth["requests"] <= 602  # readiness
    for trial in trials:
        assert trial.clients is not None
        first, second = trial.clients.clients
        assert (first.calls, second.calls) == (150, 150)
        assert (first.share, second.share) == (0.6, 0.4)
        assert "clients" in {check.name for check in trial.checks}
    _set_clock_offset(out / "trials.jsonl", -3.5)
    (_, last) = finished.read(out).trials
    assert last.clients is not None
    assert last.clients.clients[0].clock_offset_ms == -3.5


def _set_clock_offset(journal: Path, offset_ms: float) -> None:
    """A clock is behind the front's as often as before it."""
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["cells"][0]["clients"]["clients"][0]["clock_offset_ms"] = offset_ms
    journal.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


@pytest.mark.usefixtures("real_engine", "no_orphans")
@pytest.mark.xdist_group("ray")
def test_a_limit_and_a_comparison_take_clients(tmp_path: Path) -> None:
    quick = ("--duration", "300ms", "--warmup", "100ms", "--clients", "2")
    compared = _run(
        *("compare", "rest@rust", "grpc@rust", *quick, "--users", "4", "--pairs", "2"),
        *("--out", str(tmp_path / "compare"), "--json"),
    )
    assert compared.returncode in (0, 1, 5), compared.stderr
    trials = finished.read(tmp_path / "compare").trials
    assert [len(trial.clients.clients) for trial in trials if trial.clients] == [2] * 4
    limit = _run(
        *("limit", "rest@rust", *quick, "--probes", "6", "--objective", "p50<50ms", "--no-curve"),
        *("--window-max", "300ms", "--out", str(tmp_path / "limit")),
    )
    assert limit.returncode in (0, 1, 5), limit.stderr
    (closed,) = finished.read(tmp_path / "limit" / "closed").trials
    assert closed.clients is not None
    assert len(closed.clients.clients) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--hosts", "ray:10.0.0.1:6379"), "one client runs on this machine"),
        (("--clients", "2", "--hosts", "10.0.0.1"), "write ray:ADDRESS"),
        (("--clients", "2", "--insecure-ray"), "--insecure-ray needs --hosts"),
    ],
)
def test_hosts_without_clients_are_refused(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    file = tmp_path / "experiment.yaml"
    file.write_text(_experiment(clients=1), encoding="utf-8")
    done = _run("run", str(file), *words, "--out", str(tmp_path / "run"))
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
