"""The service of docs/add-a-language.md is one that a newcomer could have written, and is true."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from wirelab import identity
from wirelab.process.interruption import Interruption
from wirelab.process.services import Programs
from wirelab.stack import manifests
from wirelab.stack.reference import Stack

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "docs" / "examples" / "python-service"
CONFIGURATION = {
    "contract": "charging",
    "stack": {"binding": "rest", "codec": "json", "transport": "http/1.1"},
}
START_S_MAX = 60.0
"""Guards against hanging only."""

Json = dict[str, Any]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with this service alone."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(EXAMPLE, tmp_path / "services" / "python", ignore=ignored)
    shutil.copytree(ROOT / "contracts", tmp_path / "contracts")
    (tmp_path / "services" / "gaps.yaml").write_text("gaps: []\n")
    monkeypatch.setenv("WIRELAB_ROOT", str(tmp_path))
    return tmp_path


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """The service, built by the command of its manifest."""
    manifest = manifests.load(EXAMPLE.parent).by_language["python"]
    built = tmp_path / "service"
    command = [part.replace("{out}", str(built)) for part in manifest.build]
    subprocess.run([sys.executable, *command[1:]], cwd=EXAMPLE, check=True)
    return built


@pytest.fixture
def started(archive: Path) -> Iterator[Callable[[Json], tuple[subprocess.Popen[str], Json]]]:
    """Starts it with a configuration; returns it with the first line that it says."""
    running: list[subprocess.Popen[str]] = []

    def start(configuration: Json) -> tuple[subprocess.Popen[str], Json]:
        child = subprocess.Popen(
            [sys.executable, archive],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(child)
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps(configuration) + "\n")
        child.stdin.flush()
        return child, json.loads(child.stdout.readline())

    yield start
    for child in running:
        with child:
            child.kill()


@pytest.mark.usefixtures("no_orphans")
def test_it_passes_the_examination(checkout: Path, real_engine: Path) -> None:
    """In a checkout that knows nothing of it but its folder."""
    catalogue = manifests.load()
    assert list(catalogue.by_language) == ["python"]
    with Interruption() as interruption:
        verifier = identity.Verifier(Programs(catalogue), interruption)
        verdict = verifier.verify(Stack.parse("rest@python"), "charging")
    assert verdict.passed, verdict.reasons()
    calls = {cell.section: cell.calls for cell in verdict.cells}
    assert min(calls["operations"], calls["errors"], calls["limits"], calls["money"]) > 10
    assert list((checkout / ".cache" / "proofs").iterdir())


@pytest.mark.usefixtures("no_orphans")
def test_it_is_examined_by_what_it_answers(checkout: Path, real_engine: Path) -> None:
    """The check finds a mistake in it, so the pass above has a meaning."""
    accounts = checkout / "services" / "python" / "accounts.py"
    right = accounts.read_text()
    wrong = right.replace("self._balance[place] -= am", "self._balance[place] -= am - 1")
    assert wrong != right
    accounts.write_text(wrong)
    with Interruption() as interruption:
        verifier = identity.Verifier(Programs(manifests.load()), interruption)
        verdict = verifier.verify(Stack.parse("rest@python"), "charging")
    assert {cell.section: cell.outcome for cell in verdict.cells}["money"] == "FAIL"


@pytest.mark.usefixtures("no_orphans")
@pytest.mark.parametrize(
    ("change", "option"),
    [
        ({"contract": "transfer"}, "contract"),
        ({"stack": {"codec": "xml"}}, "stack.codec"),
        ({"stack": {"transport": "http/2"}}, "stack.transport"),
        ({"socket": {"writes": "split"}}, "socket.writes"),
        ({"socket": {"nagle": 1}}, "socket.nagle"),
        ({"store": {"accounts": 0}}, "store.accounts"),
        ({"store": {"balance": True}}, "store.balance"),
        ({"faults": {"delay_us": 5}}, "faults"),
        ({"tls": {}}, "tls"),
        ({"listen": "0.0.0.0:0"}, "listen"),
    ],
)
def test_an_unsupported_configuration_is_refused_by_name(
    started: Callable[[Json], tuple[subprocess.Popen[str], Json]], change: Json, option: str
) -> None:
    """With one line, and exit code 2."""
    child, said = started({**CONFIGURATION, **change})
    assert said["refused"]["option"] == option
    assert said["refused"]["remedy"]
    assert child.wait(START_S_MAX) == 2


@pytest.mark.usefixtures("no_orphans")
def test_it_keeps_the_process_contract(
    started: Callable[[Json], tuple[subprocess.Popen[str], Json]],
) -> None:
    """A ready line, a call, metrics that counted it, and an end with standard input."""
    child, ready = started(CONFIGURATION)
    assert ready["pid"] == child.pid
    status, said = _request(ready["address"], "POST", "/charging/credit-control", {"id": 1})
    assert (status, json.loads(said)) == (200, {"balance": 1_000_000_000, "reserved": 0})
    status, said = _request(ready["address"], "POST", "/charging/reserve", {"id": 0, "am": 1})
    assert (status, json.loads(said)) == (400, {"error": "no such account"})
    _, text = _request(ready["metrics"], "GET", "/metrics")
    assert 'wirelab_calls_total{operation="Reserve"} 1' in text
    assert 'wirelab_errors_total{operation="Reserve"} 1' in text
    assert "wirelab_money_total 1000000000000" in text
    assert child.stdin is not None
    child.stdin.close()
    assert child.wait(START_S_MAX) == 0


def test_the_manifest_that_the_page_shows_is_its_own() -> None:
    """Character by character."""
    page = (ROOT / "docs" / "add-a-language.md").read_text(encoding="utf-8")
    shown = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert (EXAMPLE / "service.json").read_text(encoding="utf-8") in shown


def _request(address: str, method: str, path: str, message: Json | None = None) -> tuple[int, str]:
    host, _, port = address.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=START_S_MAX)
    try:
        body = None if message is None else json.dumps(message)
        connection.request(method, path, body, {"Content-Type": "application/json"})
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    finally:
        connection.close()
