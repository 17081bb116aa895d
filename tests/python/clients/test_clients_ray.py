"""Clients on a local Ray: against servers of the test's own, whose log is the truth."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.python.engine_processes import find_engines, wait_for, wait_for_calls
from tests.python.truth_server import run_server

pytest.importorskip("ray", reason="Ray is not installed")
pytestmark = [
    pytest.mark.usefixtures("real_engine", "no_orphans"),
    # Each starts a cluster, which needs memory and a while.
    pytest.mark.xdist_group("ray"),
]
Json = dict[str, Any]
WIRELAB = str(Path(sys.executable).with_name("wirelab"))
ENDS_S = 2.0
"""In which no load may be left."""


def _command(port: int, *words: str) -> list[str]:
    return [WIRELAB, "drive", f"http://127.0.0.1:{port}/", "--timeout", "20s", *words]


def _drive(port: int, *words: str) -> Json:
    done = subprocess.run(
        [*_command(port, *words), "--json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: Json = json.loads(done.stdout)
    return result


def test_two_clients_make_the_load_of_one(tmp_path: Path) -> None:
    with run_server(tmp_path, error_every=10) as (port, log):
        result = _drive(port, "--clients", "2", "--users", "5", "--calls", "400")
    truth = json.loads(log.read_text(encoding="utf-8"))
    assert result["calls"] == truth["requests"] == 400
    assert result["errors"] == truth["errors"] == 40
    assert result["connections_peak"] == 5
    first, second = result["clients"]
    assert (first["calls"], second["calls"]) == (200, 200)
    assert (first["share"], second["share"]) == (0.6, 0.4)
    assert result["rate_per_s"] == pytest.approx(result["ok"] / result["window_s"])
    assert 5.0 <= result["latency_good_ms"]["p50"] < 20.0


def test_arrivals_of_two_clients_keep_the_rate_that_was_ordered(tmp_path: Path) -> None:
    options = ("--rate", "200", "--poisson", "--connections", "40", "--duration", "2s")
    with run_server(tmp_path) as (port, log):
        result = _drive(port, "--clients", "2", *options)
    truth = json.loads(log.read_text(encoding="utf-8"))
    assert result["calls"] == truth["requests"]
    assert result["rate_planned_per_s"] == 200.0
    # Poisson of mean 400: four standard deviations.
    assert abs(result["calls"] - 400) < 80


def test_a_service_of_the_lab_is_driven_by_two_clients(tmp_path: Path) -> None:
    """As in the guide."""
    page = tmp_path / "page.html"
    command = [WIRELAB, "drive", "rest@rust", "--clients", "2", "--users", "8", "--duration", "1s"]
    command += ["--report", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    clients = [line for line in done.stdout.splitlines() if line.startswith("  client ")]
    assert len(clients) == 2, done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    shown = page.read_text(encoding="utf-8")
    assert "By client." in shown
    assert "client 2" in shown


@contextmanager
def _start_drive(port: int, log: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A drive of a minute by two clients, whose engines call already."""
    command = _command(port, "--clients", "2", "--users", "4", "--duration", "60s", *words)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as front:
        try:
            wait_for_calls(2)
            wait_for(log.exists, 60.0)
            yield front
        finally:
            if front.poll() is None:
                front.kill()


def test_no_load_is_left_when_a_client_is_killed(tmp_path: Path) -> None:
    with run_server(tmp_path) as (port, log), _start_drive(port, log) as front:
        actor = find_engines()[0].parent()
        assert actor is not None
        actor.send_signal(signal.SIGKILL)
        wait_for(lambda: len(find_engines()) < 2, ENDS_S)
        _, said = front.communicate(timeout=60)
        assert front.returncode == 3, said
    assert "of 2, on " in " ".join(said.split())
    assert "the others had made" in " ".join(said.split())


def test_no_load_is_left_when_the_front_is_killed(tmp_path: Path) -> None:
    with run_server(tmp_path) as (port, log), _start_drive(port, log) as front:
        front.send_signal(signal.SIGKILL)
        front.wait(10)
        wait_for(lambda: not find_engines(), ENDS_S)


def test_no_load_is_left_when_the_raylet_is_killed(tmp_path: Path) -> None:
    with run_server(tmp_path) as (port, log), _start_drive(port, log) as front:
        raylets = [
            one for one in psutil.Process(front.pid).children(recursive=True)
            if one.name() == "raylet"
        ]  # fmt: skip
        assert len(raylets) == 1
        raylets[0].send_signal(signal.SIGKILL)
        wait_for(lambda: not find_engines(), ENDS_S)
        front.wait(90)
        assert front.returncode not in (0, 1)


def test_ctrl_c_keeps_what_all_clients_measured(tmp_path: Path) -> None:
    with run_server(tmp_path) as (port, log), _start_drive(port, log, "--json") as front:
        front.send_signal(signal.SIGINT)
        said, errors = front.communicate(timeout=60)
        assert front.returncode == 130, errors
    result = json.loads(said)
    assert result["interrupted"]
    truth = json.loads(log.read_text(encoding="utf-8"))
    assert 0 < result["calls"] <= truth["requests"] <= result["calls"] + 4


def test_ctrl_c_while_clients_start_ends_everything(tmp_path: Path) -> None:
    with run_server(tmp_path) as (port, log):
        command = _command(port, "--clients", "2", "--users", "4", "--duration", "60s")
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as front:
            wait_for(lambda: bool(find_engines("gcs_server")), 60.0)
            front.send_signal(signal.SIGINT)
            _, said = front.communicate(timeout=60)
    assert front.returncode == 130, said
    assert json.loads(log.read_text(encoding="utf-8"))["requests"] == 0


def _drive_in_cluster(*words: str, killed: bool = False, token: bool = True) -> Any:
    """What a drive does in a cluster of two nodes, in a network of its own."""
    if os.geteuid() != 0:
        pytest.skip("a network namespace needs root")
    inner = f'ip link set lo up && exec {sys.executable} -m tests.python.two_ray_nodes "$@"'
    command = [WIRELAB, "drive", "rest@rust", "--hosts", "ray:ADDRESS", "--users", "6", *words]
    mode = {"RAY_AUTH_MODE": "token"} if token else {}
    return subprocess.run(
        ["unshare", "--net", "sh", "-c", inner, "sh", str(int(killed)), *command],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        env={**os.environ, **mode, "RAY_USAGE_STATS_ENABLED": "0"},
    )


def test_two_nodes_of_a_cluster_have_a_client_each() -> None:
    done = _drive_in_cluster("--clients", "2", "--duration", "1s", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout[done.stdout.index("{") :])
    first, second = result["clients"]
    assert first["calls"] + second["calls"] == result["calls"] > 100
    # The same machine: the same clock.
    for client in result["clients"]:
        assert abs(client["clock_offset_ms"]) <= client["clock_error_ms"]
        assert client["clock_moved_ms"] == 0.0


def test_a_node_that_vanishes_fails_the_drive() -> None:
    done = _drive_in_cluster("--clients", "2", "--duration", "60s", killed=True)
    said = " ".join(done.stderr.split())
    assert done.returncode == 3, said
    # Whether the client notices it first, or the front.
    assert "the process of Ray that started the client ended" in said or "was lost" in said
    assert "of 2, on " in said


def test_a_cluster_with_too_few_nodes_is_described() -> None:
    done = _drive_in_cluster("--clients", "3", "--duration", "1s")
    assert done.returncode == 3
    said = " ".join(done.stderr.split())
    assert "3 clients need as many nodes with a free CPU" in said
    assert "127.0.0.2 (1 CPU), 127.0.0.3 (1 CPU)" in said
