"""Metrics of a run under way: served as OpenMetrics, scraped by Prometheus, shown by Grafana."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics import parser

from wirelab.errors import UsageError
from wirelab.process import runtime_metrics
from wirelab.run import metrics_server
from wirelab.run.metrics_server import LOOPBACK, RunMetrics, serve
from wirelab.run.progress import Silent

PROMETHEUS = shutil.which("prometheus")
DASHBOARD = Path(__file__).parents[3] / "dashboards" / "wirelab.json"
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
VARIABLES = {"$__rate_interval": "4s", "$stack": ".*"}
"""Of Grafana, and what they stand for in the test."""
EXPERIMENT = """\
name: small
services: [rest@rust]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: 2}]
window: {duration: 1 s}
warmup: {min: 0 s, max: 0 s}
repeats: 30
"""

pytestmark = pytest.mark.usefixtures("no_orphans")


def _get(url: str, accept: str = "*/*") -> tuple[str, str]:
    """The body and its content type."""
    request = urllib.request.Request(url, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=10) as reply:
        return reply.read().decode(), reply.headers["content-type"]


@contextmanager
def _run_process(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (
        log.open("wb") as file,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()


def _wait_until(found: Callable[[], Any], seconds: float, what: Callable[[], str]) -> Any:
    """What is found within that time, asked for five times a second."""
    deadline = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < deadline, what()
        time.sleep(0.2)
    return value


@pytest.fixture
def run_port(tmp_path: Path, stand_in: Callable[..., None]) -> Iterator[int]:
    """Of a run that is under way, on the scripted engine."""
    stand_in(seconds=4.0)
    file, log = tmp_path / "small.yaml", tmp_path / "run.log"
    file.write_text(EXPERIMENT, encoding="utf-8")
    program = "import sys; from wirelab.cli import main; sys.exit(main())"
    arguments = ["run", str(file), "--out", str(tmp_path / "run"), "--metrics-port", "0"]
    with _run_process([sys.executable, "-c", program, *arguments], log):
        found = _wait_until(
            lambda: re.search(rf"metrics: http://{LOOPBACK}:(\d+)/metrics", log.read_text()),
            60.0,
            log.read_text,
        )
        yield int(found[1])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def prometheus(run_port: int, tmp_path: Path) -> Iterator[str]:
    """The address of a Prometheus that scrapes the run."""
    if PROMETHEUS is None:
        absent = "no prometheus in PATH: install Debian's prometheus to run this"
        if os.environ.get("CI"):
            pytest.fail(absent)
        pytest.skip(absent)
    configuration = {
        "global": {"scrape_interval": "500ms", "scrape_timeout": "400ms"},
        "scrape_configs": [
            {"job_name": "wirelab", "static_configs": [{"targets": [f"{LOOPBACK}:{run_port}"]}]}
        ],
    }
    file, log = tmp_path / "prometheus.yml", tmp_path / "prometheus.log"
    file.write_text(json.dumps(configuration), encoding="utf-8")  # JSON is YAML
    address = f"{LOOPBACK}:{_free_port()}"
    command = [
        PROMETHEUS,
        f"--config.file={file}",
        f"--storage.tsdb.path={tmp_path / 'tsdb'}",
        f"--web.listen-address={address}",
    ]
    with _run_process(command, log):
        _wait_until(lambda: _is_ready(address), 60.0, log.read_text)
        yield f"http://{address}"


def _is_ready(address: str) -> bool:
    try:
        _get(f"http://{address}/-/ready")
    except OSError:
        return False
    return True


def _families(body: str) -> dict[str, Any]:
    """What the library's strict parser of OpenMetrics reads, by name."""
    parse: Any = parser.text_string_to_metric_families
    return {family.name: family for family in parse(body)}


def _query(prometheus: str, expression: str) -> list[Any]:
    requested = urllib.parse.urlencode({"query": expression})
    try:
        answer = json.loads(_get(f"{prometheus}/api/v1/query?{requested}")[0])
    except urllib.error.HTTPError as error:
        pytest.fail(f"{expression}: {error.read().decode()}")
    assert answer["status"] == "success", answer
    return list(answer["data"]["result"])


def _expressions() -> list[str]:
    """Of every panel, with Grafana's variables replaced."""
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    found = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    for variable, value in VARIABLES.items():
        found = [expression.replace(variable, value) for expression in found]
    assert not [expression for expression in found if "$" in expression]
    return found


def test_every_query_of_the_dashboard_has_a_result(prometheus: str) -> None:
    missing = set(_expressions())

    def all_found() -> bool:
        for expression in sorted(missing):
            if _query(prometheus, expression):
                missing.discard(expression)
        return not missing

    _wait_until(all_found, 60.0, lambda: f"without a result: {sorted(missing)}")
    (target,) = json.loads(_get(f"{prometheus}/api/v1/targets")[0])["data"]["activeTargets"]
    assert target["health"] == "up"
    assert target["lastError"] == ""


def test_a_run_serves_open_metrics_and_the_older_text(run_port: int) -> None:
    address = f"http://{LOOPBACK}:{run_port}/metrics"

    def read_sample() -> str:
        body = _get(address, OPEN_METRICS)[0]
        return body if "wirelab_service_heap_used_bytes{" in body else ""

    body = _wait_until(read_sample, 30.0, lambda: _get(address)[0])
    assert _get(address, OPEN_METRICS)[1].startswith("application/openmetrics-text")
    assert _get(address)[1].startswith("text/plain")
    families = _families(body)
    assert families["wirelab_run_trials_planned"].samples[0].value == 30
    (trial,) = families["wirelab_trial"].samples
    assert trial.labels["stack"] == "rest@rust"
    assert trial.labels["load"] == "closed 2"
    (heap,) = families["wirelab_service_heap_used_bytes"].samples
    assert (heap.labels, heap.value) == ({"stack": "rest@rust"}, 3e7)
    assert families["wirelab_service_gc_pauses"].type == "counter"


def test_every_runtime_metric_has_a_help_text() -> None:
    assert set(metrics_server._HELP) == set(runtime_metrics.NAMES)


def test_the_dashboard_shows_every_runtime_metric() -> None:
    shown = " ".join(_expressions())
    assert [name for name in runtime_metrics.NAMES if f"wirelab_service_{name}" not in shown] == []


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.socket() as other:
        other.bind((LOOPBACK, 0))
        other.listen()
        port = other.getsockname()[1]
        with (
            pytest.raises(
                UsageError, match=f"--metrics-port {port}: cannot listen on {LOOPBACK}:{port}"
            ),
            serve(RunMetrics(Silent()), port),
        ):
            pass


def test_before_a_run_begins_the_page_is_valid() -> None:
    with serve(RunMetrics(Silent()), 0) as port:
        body, _ = _get(f"http://{LOOPBACK}:{port}/metrics", OPEN_METRICS)
    names = _families(body)
    assert "wirelab_run_trials_planned" in names
    assert "wirelab_trial" not in names
