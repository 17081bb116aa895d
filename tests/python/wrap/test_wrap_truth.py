"""``wirelab wrap`` as a judge: real tools against servers whose behaviour is known by their own
log. A fault must be seen, and a right tool must pass."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.python.truth_server import run_server

Json = dict[str, Any]
TOOLS = {
    "wrk": ("wrk", "-t1", "-c5", "-d2", "--latency", "URL"),
    "ab -k": ("ab", "-q", "-k", "-n", "1000", "-c", "5", "URL"),
    "ab": ("ab", "-q", "-n", "1000", "-c", "5", "URL"),
    "h2load": ("h2load", "--h1", "-n", "1000", "-c", "5", "URL"),
}
TIMED = {
    "wrk": TOOLS["wrk"],
    "h2load": ("h2load", "--h1", "-D", "2", "-c", "5", "URL"),
}
"""Tools that run for two seconds."""

pytestmark = pytest.mark.usefixtures("no_orphans")


@pytest.fixture(autouse=True)
def privileged(real_engine: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("packets cannot be captured: not root")


def wrap_tool(port: int, words: tuple[str, ...]) -> Json:
    """The document of a tool that loads the server."""
    if not shutil.which(words[0]):
        pytest.skip(f"{words[0]} is not installed")
    command = [word.replace("URL", f"http://127.0.0.1:{port}/") for word in words]
    wirelab = str(Path(sys.executable).with_name("wirelab"))
    call = [wirelab, "wrap", "--json", "--port", str(port), "--", *command]
    done = subprocess.run(call, capture_output=True, text=True, timeout=120, check=False)
    document: Json = json.loads(done.stdout)
    assert done.returncode == (1 if document["verdict"]["trusted"] is False else 0), done.stderr
    return document


def find_marked(document: Json) -> set[str]:
    return {c["name"] for c in document["checks"] if c["outcome"] == "marked"}


def reasons(document: Json) -> str:
    return "\n".join(f"{c['outcome']} {c['name']}: {c['reason']}" for c in document["checks"])


def find_blamed(document: Json) -> set[str]:
    """What is marked, except the machine, which tool and server may use up by themselves."""
    return find_marked(document) - {"machine"}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    "faults",
    [{}, {"close_every": 10}, {"error_every": 10}],
    ids=["even", "close", "error"],
)
def test_a_right_tool_is_trusted(tmp_path: Path, tool: str, faults: dict[str, int]) -> None:
    with run_server(tmp_path, **faults) as (port, log):
        document = wrap_tool(port, TOOLS[tool])
    truth = json.loads(log.read_text(encoding="utf-8"))
    assert document["wire"]["exchanges"] == truth["requests"]
    assert find_blamed(document) == set(), reasons(document)


@pytest.mark.parametrize("tool", TOOLS)
def test_calls_that_the_server_dropped_are_failures(tmp_path: Path, tool: str) -> None:
    with run_server(tmp_path, drop_every=100) as (port, log):
        document = wrap_tool(port, TOOLS[tool])
    truth = json.loads(log.read_text(encoding="utf-8"))
    # Of a run that ends by its duration, as many calls as users are left out: they may have been in
    # flight at its end.
    left = 5 if tool == "wrk" else 0
    bad = document["wire"]["bad_replies"]
    assert 0 < truth["dropped"] - left <= bad <= truth["dropped"]
    outcomes = {check["name"]: check["outcome"] for check in document["checks"]}
    assert outcomes.get("concurrency") != "marked", reasons(document)
    # ab gives up after ten failures and prints no report then.
    assert document["tool_report"] is not None or tool.startswith("ab"), reasons(document)
    if document["tool_report"] is not None:
        is_honest = document["tool_report"]["failed"] >= truth["dropped"] - left
        assert outcomes["errors"] == ("ok" if is_honest else "marked"), reasons(document)


@pytest.mark.parametrize("tool", TIMED)
@pytest.mark.parametrize(
    "faults",
    [{"die_at_ms": 1100}, {"freeze_at_ms": 1000, "freeze_ms": 2500}],
    ids=["died", "frozen"],
)
def test_an_end_without_replies_is_seen(tmp_path: Path, tool: str, faults: dict[str, int]) -> None:
    with run_server(tmp_path, **faults) as (port, _):
        document = wrap_tool(port, TIMED[tool])
    assert "end of the load" in find_marked(document), reasons(document)


@pytest.mark.parametrize("tool", ["ab", "ab -k"])
def test_a_percentile_at_a_step_is_not_a_fault(tmp_path: Path, tool: str) -> None:
    """10 of 1,000 replies are slow: the 99th percentile may be on either side."""
    with run_server(tmp_path, slow_every=100) as (port, _):
        document = wrap_tool(port, TOOLS[tool])
    (p99,) = [pair for pair in document["compared"] if pair["name"] == "p99"]
    low, high = p99["wire_range_s"]
    assert low < 0.1 < 0.2 < high, p99
    assert find_blamed(document) == set(), reasons(document)


def test_a_forged_percentile_is_named(tmp_path: Path) -> None:
    """Its own p99 is multiplied; nothing else is changed."""
    ab = "ab -q -k -n 1000 -c 5 URL"
    script = f'{ab} | awk \'$1 == "99%" {{ $2 = int($2 * 1.2 + 3); $0 = "  99%  " $2 }} 1\''
    if not shutil.which("ab"):
        pytest.skip("ab is not installed")
    with run_server(tmp_path) as (port, _):
        document = wrap_tool(port, ("sh", "-c", script))
    assert find_blamed(document) == {"latency"}, reasons(document)


OTHER = """
import http.client, json, signal, sys, time
# Whatever runs in the background of a shell ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)
connections = [http.client.HTTPConnection("127.0.0.1", int(sys.argv[1])) for _ in range(2)]
calls = 0
try:
    while True:
        for connection in connections:
            connection.request("GET", "/", headers={"Other": "yes"})
            connection.getresponse().read()
            calls += 1
            if calls == 2:
                print("begun", flush=True)
except BaseException:
    print(json.dumps(calls), flush=True)
"""


@contextmanager
def other_client(port: int) -> Iterator[list[int]]:
    """Another process that loads the server meanwhile; at its end, the number of its calls."""
    words = [sys.executable, "-c", OTHER, str(port)]
    calls: list[int] = []
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        client.stdout.readline()
        try:
            yield calls
        finally:
            client.send_signal(signal.SIGINT)
            calls.append(json.loads(client.stdout.readline()))


@pytest.mark.parametrize("tool", ["wrk", "ab -k", "h2load"])
def test_calls_of_another_process_are_not_the_tools(tmp_path: Path, tool: str) -> None:
    with run_server(tmp_path) as (port, log), other_client(port) as calls:
        document = wrap_tool(port, TOOLS[tool])
    truth = json.loads(log.read_text(encoding="utf-8"))
    # The last call of the other one may have been interrupted.
    own = document["wire"]["exchanges"]
    assert own - (truth["requests"] - calls[0]) in (-1, 0), reasons(document)
    assert document["others"]["connections"] == 2
    assert find_blamed(document) == set(), reasons(document)


def test_an_end_without_replies_is_seen_though_another_process_goes_on(tmp_path: Path) -> None:
    with run_server(tmp_path, mute_at_ms=1000) as (port, _), other_client(port) as calls:
        document = wrap_tool(port, TIMED["wrk"])
    assert calls[0] > 100
    assert "end of the load" in find_marked(document), reasons(document)
    assert find_marked(document) & {"concurrency", "connections"} == set(), reasons(document)


def test_a_command_whose_requests_another_process_sends_is_still_captured(tmp_path: Path) -> None:
    """As a client of a daemon: nothing is left out where nothing else would be there."""
    with run_server(tmp_path) as (port, _), other_client(port):
        document = wrap_tool(port, ("sleep", "0.5"))
    assert document["wire"]["exchanges"] > 10
    assert document["others"] is None


def test_a_freeze_in_the_middle_is_not_a_fault_of_the_tool(tmp_path: Path) -> None:
    with run_server(tmp_path, freeze_at_ms=300, freeze_ms=1000) as (port, _):
        document = wrap_tool(port, TIMED["h2load"])
    assert find_blamed(document) == set(), reasons(document)


def test_a_forged_rate_is_named(tmp_path: Path) -> None:
    script = "wrk -t1 -c5 -d2 --latency URL | sed 's/^Requests.sec:.*/Requests\\/sec:  99999.00/'"
    if not shutil.which("wrk"):
        pytest.skip("wrk is not installed")
    with run_server(tmp_path) as (port, _):
        document = wrap_tool(port, ("sh", "-c", script))
    assert find_blamed(document) == {"rate"}, reasons(document)


def test_a_short_run_is_not_judged_by_its_cpu_time(tmp_path: Path) -> None:
    with run_server(tmp_path) as (port, _):
        document = wrap_tool(port, ("ab", "-q", "-k", "-n", "60", "-c", "5", "URL"))
    (cpu,) = [c for c in document["checks"] if c["name"] == "tool's CPU"]
    assert cpu["outcome"] == "not-measurable", cpu
    assert "not judged" in cpu["reason"]
