"""A farm of two nodes on a Ray of the test's own, in a network of its own."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from wirelab.records.trial import Trial
from wirelab.run import finished

pytest.importorskip("ray", reason="Ray is not installed")
pytestmark = [
    pytest.mark.usefixtures("real_engine", "no_orphans"),
    # Each starts a cluster, which needs memory and a while.
    pytest.mark.xdist_group("ray"),
]
WIRELAB = str(Path(sys.executable).with_name("wirelab"))
NODES = {"127.0.0.2", "127.0.0.3"}


def _write_experiment(folder: Path, **changes: object) -> Path:
    file = folder / "experiment.yaml"
    whole = {
        "name": "farmed",
        "services": ["rest@rust", "grpc@rust"],
        "messages": [{"operation": "Hello", "bytes": "14 B"}],
        "loads": [{"closed": {"users": 2}}],
        "window": {"duration": "300 ms"},
        "warmup": {"min": "100 ms", "max": "100 ms"},
        "design": "trials",
        "repeats": 4,
        **changes,
    }
    file.write_text(yaml.safe_dump(whole, sort_keys=False), encoding="utf-8")
    return file


def _run_in_cluster(
    out: Path, *words: str, ended: int = 0, killed: bool = False, **changes: object
) -> subprocess.CompletedProcess[str]:
    """A run on the nodes 127.0.0.2 and 127.0.0.3. With ``ended``, the first front gets that signal.
    Both nodes have the same cores, so they share them."""
    if os.geteuid() != 0:
        pytest.skip("a network namespace needs root")
    file = _write_experiment(out.parent, **changes)
    command: Sequence[str] = (WIRELAB, "run", str(file), "--farm", "ray:ADDRESS", *words)
    command = (*command, "--share", "--out", str(out))
    if ended:
        command = (sys.executable, "-m", "tests.python.farm_front", str(ended), str(out), *command)
    inner = f'ip link set lo up && exec {sys.executable} -m tests.python.two_ray_nodes "$@"'
    return subprocess.run(
        ["unshare", "--net", "sh", "-c", inner, "sh", str(int(killed)), *command],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
        env={
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(16),
            "RAY_USAGE_STATS_ENABLED": "0",
        },
    )


def _accept_whole_run(out: Path, trials: int) -> tuple[Trial, ...]:
    """Every trial once, measured on a node, with its files."""
    run = finished.read(out)
    assert len(run.trials) == trials
    assert not run.failed
    assert {trial.node for trial in run.trials} <= NODES
    for trial in run.trials:
        names = {path.name for path in (out / "trials" / trial.id).iterdir()}
        assert {"plan.json", "result.json", "histograms.hlog", "series.parquet"} <= names
    assert run.is_finished
    return run.trials


def test_trials_of_a_run_are_divided_between_two_nodes(tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = _run_in_cluster(out, "--json")
    assert done.returncode == 0, done.stderr
    assert "2 hosts: 127.0.0.2, 127.0.0.3" in done.stderr
    trials = _accept_whole_run(out, 8)
    assert {trial.node for trial in trials} == NODES
    hosts = {repeat: {t.node for t in trials if t.repeat == repeat} for repeat in range(1, 5)}
    # A host has whole repeats, and only the last may be divided.
    assert sum(len(nodes) > 1 for nodes in hosts.values()) <= 1
    shown = json.loads(done.stdout[done.stdout.index("{") :])
    assert shown["hosts"]["outcome"] in ("ok", "marked", "not-measurable")
    assert "Each repeat was measured on one host" in (out / "report.html").read_text("utf-8")


def test_services_that_take_turns_share_a_trial_on_a_node(tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = _run_in_cluster(out, design="slices", repeats=2, window={"duration": "1 s"})
    assert done.returncode == 0, done.stderr
    trials = finished.read(out).trials
    assert len(trials) == 4
    for repeat in (1, 2):
        first, second = (trial for trial in trials if trial.repeat == repeat)
        assert first.node == second.node
        assert first.slices is not None


def test_a_trial_of_a_node_that_dies_is_measured_on_the_other(tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = _run_in_cluster(out, killed=True, window={"duration": "3 s"}, repeats=2)
    assert done.returncode == 0, done.stderr
    trials = _accept_whole_run(out, 4)
    assert {trial.node for trial in trials} == {"127.0.0.2"}
    assert "127.0.0.3 is gone: its trials go to other hosts" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_front_that_ends_leaves_no_load_and_is_continued(
    tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "run"
    done = _run_in_cluster(out, ended=number, window={"duration": "1 s"})
    assert done.returncode == 0, done.stderr
    _accept_whole_run(out, 8)
    code = -9 if number == signal.SIGKILL else 130
    assert f"front ended with {code} after" in done.stdout
    assert "of 8 trials are already done" in " ".join(done.stderr.split())
    lines = [json.loads(line)["id"] for line in (out / "trials.jsonl").read_text().splitlines()]
    assert len(lines) == len(set(lines)) == 8
