"""Callers by the client libraries of a language: the process contract, with real services and
with callers that break it."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from wirelab.errors import ExperimentError, Interrupted, StackError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.process import callers, engine
from wirelab.process.callers import CallerProgram, CallerPrograms
from wirelab.process.interruption import Interruption
from wirelab.records.trial import Trial
from wirelab.run import runner as running
from wirelab.run.runner import Run
from wirelab.stack import manifests
from wirelab.stack.axes import CLIENTS
from wirelab.stack.reference import Stack

TEXT = """\
name: clients
services: [STACK]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: 2}]
window: {duration: 300 ms}
warmup: {min: 100 ms, max: 500 ms}
repeats: 1
"""


WARMING = {"warmup": "{min: 100 ms, max: 8 s}", "window": "{duration: 500 ms}"}
"""Of a virtual machine, whose first calls load classes."""


def run(out: Path, *stacks: str, **changes: str) -> Run:
    """Runs the experiment with these stacks and lines in place of its own."""
    text = TEXT.replace("STACK", ", ".join(f'"{stack}"' for stack in stacks))
    for key, value in changes.items():
        line = next(line for line in text.splitlines() if line.startswith(f"{key}:"))
        text = text.replace(line, f"{key}: {value}")
    return running.run(experiment_file.parse(text), out, source=text, unverified=True)


def only(found: Run) -> Trial:
    """The one trial."""
    (trial,) = found.trials
    return trial


def agree(trial: Trial) -> None:
    """The caller's count is the service's."""
    assert trial.status == "measured", trial.reason
    assert trial.result.errors == 0, trial.result.error_examples
    assert trial.result.ok == trial.result.calls > 0
    assert trial.service.calls_seen == trial.result.calls_whole_run
    if trial.result.connections_opened is not None:
        assert trial.service.connections_seen == trial.result.connections_opened


@pytest.mark.parametrize("caller", sorted(CLIENTS))
@pytest.mark.parametrize("stack", ["rest@rust?codec=json", "rest@rust?codec=protobuf", "grpc@rust"])
@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_counts_of_a_client_are_those_of_the_service_as_the_engines_are(
    tmp_path: Path, stack: str, caller: str
) -> None:
    """And it is recorded which libraries made the calls, and where its stamps come from."""
    by_client = str(Stack.parse(stack).with_axes({"caller": caller}))
    found = run(tmp_path / "run", stack, by_client, **(WARMING if caller == "java" else {}))
    for trial in found.trials:
        agree(trial)
    (client,) = (trial for trial in found.trials if trial.point.axes.caller == caller)
    assert client.engine.caller == caller
    assert client.engine.libraries
    assert {"intended", "sent", "flushed", "first_byte", "done"} == set(client.engine.stamps or ())
    assert client.engine.cpu_s() > 0.0
    marked = {check.name for check in client.checks if check.outcome == "marked"}
    assert not marked & {"calls counted", "connections", "concurrency"}


@pytest.mark.parametrize(
    ("value", "algorithms"),
    [
        ("username-token", ()),
        ("signature", ("rsa-sha256", "2048 bits")),
        ("encryption", ("aes256-gcm", "rsa-oaep", "2048 bits")),
        ("signature-encryption", ("rsa-sha256", "aes256-gcm", "rsa-oaep")),
    ],
)
@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_messages_of_the_caller_in_java_are_secured(
    tmp_path: Path, value: str, algorithms: tuple[str, ...]
) -> None:
    """Both ends name WSS4J, and the service its algorithms. Keys are nowhere in the run."""
    stack = f"soap@java?caller=java&ws_security={value}"
    trial = only(run(tmp_path / "run", stack, **WARMING))
    agree(trial)
    stated = str((trial.service.set or {}).get("ws_security", ""))
    assert all(algorithm in stated for algorithm in algorithms)
    libraries = (trial.service.libraries, trial.engine.libraries)
    assert all("wss4j" in str(named) for named in libraries)
    assert not [path for path in tmp_path.rglob("*") if path.suffix == ".p12"]


@pytest.mark.parametrize(
    "stack",
    [
        "rest@rust?codec=text&caller=go",
        "rest@rust?transport=http/2&caller=go",
        "rest@rust?connection=close&caller=go",
        "grpc@go?connection=close&caller=go",
    ],
)
@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_other_stacks_of_the_caller_in_go(tmp_path: Path, stack: str) -> None:
    """Transport, codec and connections are what the stack says."""
    trial = only(run(tmp_path / "run", stack))
    agree(trial)
    if "close" in stack:
        assert trial.result.connections_opened == trial.result.calls_whole_run


@pytest.mark.parametrize(
    "stack",
    [
        "rest@rust?codec=text&caller=java",
        "rest@rust?connection=close&caller=java",
        "grpc@rust?connection=close&caller=java",
    ],
)
@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_other_stacks_of_the_caller_in_java(tmp_path: Path, stack: str) -> None:
    """Where the library reports no connections, the service's count shows one per call."""
    trial = only(run(tmp_path / "run", stack, **WARMING))
    agree(trial)
    if "close" in stack:
        assert trial.service.connections_seen == trial.result.calls_whole_run
    if "rest" in stack:
        assert trial.result.connections_opened is None
        assert (trial.engine.stamps or {})["flushed"] == "unavailable"
        assert not {"write", "wait"} & set(trial.result.times)


CXF, AXIS, JACORB = {"cxf-rt-frontend-jaxws"}, {"axis"}, {"jacorb"}


@pytest.mark.parametrize(
    ("stack", "libraries"),
    [
        ("soap@rust", CXF | {"java.net.http"}),
        ("soap@rust?codec=soap-rpc&soap=1.2&connection=close", CXF | {"java.net"}),
        ("soap@rust?codec=soap-encoded", AXIS | {"commons-httpclient"}),
        ("soap@rust?codec=soap-encoded&connection=close", AXIS | {"commons-httpclient"}),
        ("soap@rust?codec=soap-encoded&transport=http/1.0&connection=close", AXIS),
        ("iiop@rust?byte_order=big", JACORB),
        ("iiop@rust?byte_order=big&connection=close", JACORB),
    ],
)
@pytest.mark.parametrize("operation", ["Hello", "HelloBytes"])
@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_soap_and_iiop_of_the_caller_in_java(
    tmp_path: Path, stack: str, libraries: set[str], operation: str
) -> None:
    """Both sides count the same calls and connections, and the libraries are recorded."""
    by_java = str(Stack.parse(stack).with_axes({"caller": "java"}))
    messages = f"[{{operation: {operation}, bytes: 1 kB}}]"
    changes = {**WARMING, "window": "{calls: 20, max: 30 s}"}
    trial = only(run(tmp_path / "run", by_java, messages=messages, **changes))
    agree(trial)
    axes = trial.point.axes
    opened = trial.result.calls_whole_run if axes.connection.kind == "close" else 2
    assert trial.service.connections_seen == opened
    assert libraries <= set(trial.engine.libraries or ())
    flushed = axes.binding == "iiop"
    assert ((trial.engine.stamps or {})["flushed"] == "unavailable") != flushed
    assert {"response", "service", "queueing", "write" if flushed else "read"} <= set(
        trial.result.times
    )


@pytest.mark.parametrize("caller", sorted(CLIENTS))
@pytest.mark.parametrize("kind", ["constant", "poisson"])
@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_an_open_load_arrives_at_its_rate(tmp_path: Path, kind: str, caller: str) -> None:
    """HelloBytes, too, and response times count from the intended ones."""
    trial = only(
        run(
            tmp_path / "run",
            f"rest@rust?caller={caller}",
            messages="[{operation: HelloBytes, bytes: 1 kB}]",
            loads=f"[{kind}: {{rate: 300, in_flight_max: 8}}]",
            **(WARMING if caller == "java" else {}),
        )
    )
    agree(trial)
    assert trial.result.rate_planned_per_s == 300
    response, service = trial.result.times["response"], trial.result.times["service"]
    assert response.mean_ns > service.mean_ns
    assert trial.result.times["lag"].count == trial.result.calls


@pytest.mark.parametrize(
    "stack",
    [
        "rest@rust?caller=go",
        "rest@rust?caller=java",
        "grpc@rust?caller=java",
        "soap@rust?caller=java",
        "soap@rust?codec=soap-encoded&caller=java",
        "iiop@rust?byte_order=big&caller=java",
    ],
)
@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_a_wrong_reply_is_an_error(tmp_path: Path, stack: str) -> None:
    """Every second reply has one letter changed."""
    faults = "{wrong: {every: 2, what: content}}"
    text = TEXT.replace("STACK", f'"{stack}"') + f"faults: {faults}\n"
    text = text.replace("max: 500 ms", "max: 8 s")
    found = running.run(experiment_file.parse(text), tmp_path / "run", source=text, unverified=True)
    trial = only(found)
    assert trial.status == "measured", trial.reason
    assert set(trial.result.errors_by_kind) == {"wrong"}
    assert trial.result.errors == pytest.approx(trial.result.calls / 2, abs=2)
    assert {"response_good", "response_failed"} <= set(trial.result.times)


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_a_cold_start_keeps_the_first_calls(tmp_path: Path) -> None:
    """At most 1,000, and none of a warm trial."""
    found = run(tmp_path / "run", "rest@rust?start=cold&caller=go", "rest@rust?caller=go")
    by_start = {trial.point.axes.start: trial.result for trial in found.trials}
    assert 0 < len(by_start["cold"].first_calls_ns or ()) <= 1000
    assert not by_start["warm"].first_calls_ns


SCRIPT = """\
#!{python} -SE
import json, os, signal, sys, time
plan = json.loads(sys.stdin.readline())
def progress():
    print(json.dumps({{"event": "progress", "phase": "measure", "calls": 1, "errors": 0,
                       "elapsed_s": 0.1, "in_flight": 1}}), flush=True)
progress()
{body}
"""
BODIES = {
    "killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "garbage": "print('Exception in thread main', flush=True); time.sleep(60)",
    "silent": "time.sleep(60)",
    "endless": "while True: progress(); time.sleep(0.02)",
    "gone": "sys.exit(0)",
    "refused": "print(json.dumps({'event': 'error', 'kind': 'plan', 'message': 'no', "
    "'remedy': 'yes'}), flush=True); sys.exit(2)",
}


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a caller in place that breaks the contract in that way."""

    def behave(way: str) -> None:
        path = tmp_path / "caller"
        path.write_text(SCRIPT.format(python=sys.executable, body=BODIES[way]), encoding="utf-8")
        path.chmod(0o755)
        fake = CallerProgram("go", (str(path),))
        monkeypatch.setattr(CallerPrograms, "program", lambda self, name, interruption: fake)
        monkeypatch.setattr(engine, "SILENCE_S_MAX", 1.0)
        monkeypatch.setattr(engine, "MARGIN_S", -19.0)

    return behave


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        ("killed", "the caller in go ended with signal SIGKILL and without a result"),
        ("garbage", "printed 'Exception in thread main', which is not an event of its contract"),
        ("silent", "the caller in go printed no progress for 1 s"),
        ("endless", "the caller in go exceeded the plan's time limit"),
        ("gone", "the caller in go ended with exit code 0 and without a result"),
        ("refused", "the caller in go refused the plan: no; yes"),
    ],
)
@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_a_caller_that_breaks_its_contract_fails_its_trial(
    tmp_path: Path, broken: Callable[[str], None], way: str, reason: str
) -> None:
    """With the reason, in bounded time, and no process stays behind."""
    broken(way)
    trial = only(run(tmp_path / "run", "rest@rust?caller=go"))
    assert trial.status == "failed"
    assert reason in trial.reason


@pytest.mark.parametrize("caller", sorted(CLIENTS))
@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_a_real_caller_that_is_killed_in_mid_trial_fails_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caller: str
) -> None:
    """By SIGKILL, half a second after its start."""
    begin = callers.ClientDrive.outcome

    def begin_and_kill(drive: callers.ClientDrive) -> object:
        timer = threading.Timer(0.5, os.kill, (drive.usage.pid, signal.SIGKILL))
        timer.start()
        try:
            return begin(drive)
        finally:
            timer.join()

    monkeypatch.setattr(callers.ClientDrive, "outcome", begin_and_kill)
    trial = only(run(tmp_path / "run", f"grpc@rust?caller={caller}", window="{duration: 3 s}"))
    assert trial.status == "failed"
    assert f"the caller in {caller} ended with signal SIGKILL" in trial.reason


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_a_stop_ends_the_caller(tmp_path: Path) -> None:
    """It drains, reports and is gone."""
    stop = Interruption()
    text = TEXT.replace("STACK", '"rest@rust?caller=go"').replace("300 ms", "20 s")
    began = time.monotonic()
    timer = threading.Timer(4.0, lambda: setattr(stop, "requested", True))
    timer.start()
    with pytest.raises(Interrupted):
        running.run(
            experiment_file.parse(text),
            tmp_path / "r",
            source=text,
            interruption=stop,
            unverified=True,
        )
    timer.join()
    assert time.monotonic() - began < 15.0


@pytest.mark.parametrize(
    ("stack", "said"),
    [
        ("soap@rust?caller=go", "go speaks rest and grpc only"),
        ("rest@rust?caller=go&codec=xml", "codec can only be json or protobuf or text"),
        ("rest@rust?caller=go&compression=gzip", "compression can only be none"),
        ("rest@rust?caller=go&connection=pool=4", "connection can only be keep or close"),
        ("rest@rust?caller=go&in_flight=pipeline=4", "in_flight can only be 1"),
        ("rest@rust?caller=go&security=tls", "security can only be none"),
        ("rest@rust?caller=go&socket=unix", "socket can only be tcp"),
        ("rest@rust?caller=go&work=frame", "work can only be decode"),
        ("rest@rust?caller=go&client.nagle=on", "client.nagle can only be off"),
        ("raw@rust?caller=java", "java speaks rest, grpc, soap and iiop only"),
        ("raw@rust?caller=java&reply=one-way", "java speaks rest, grpc, soap and iiop only"),
        ("rest@rust?caller=java&transport=http/2", "transport can only be http/1.1"),
        (
            "rest@rust?caller=java&transport=http/1.0&connection=close",
            "transport can only be http/1.1",
        ),
        ("soap@rust?caller=java&transport=http/2", "transport can only be http/1.1"),
        (
            "soap@rust?caller=java&codec=soap-encoded&transport=http/2",
            "transport can only be http/1.1 or http/1.0",
        ),
        ("iiop@rust?caller=java", "byte_order can only be big"),
        ("rest@rust?caller=java&codec=xml", "codec can only be json or protobuf or text"),
        ("rest@rust?caller=java&connection=pool=4", "connection can only be keep or close"),
        ("rest@rust?caller=ab", "transport can only be http/1.0"),
        ("rest@rust?caller=wrk&transport=http/2", "transport can only be http/1.1"),
        ("rest@rust?caller=h2load&work=frame&connection=close", "connection can only be keep"),
        ("grpc@rust?caller=wrk", "wrk speaks rest only"),
    ],
)
def test_a_stack_that_a_caller_cannot_call_is_refused_by_name(stack: str, said: str) -> None:
    """With a stack that is legal."""
    with pytest.raises(StackError) as shown:
        Stack.parse(stack)
    assert said in str(shown.value)
    Stack.parse(shown.value.remedy.rpartition(" ")[2])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Hello,", "Submit,", "supports Hello and HelloBytes, not Submit"),
        ("closed: {users: 2}", "bursts: {calls: 9, gap: 1 s, in_flight_max: 1}", "not bursts"),
        ("{users: 2}", "{users: 2, think: 1 ms}", "does not support think time"),
    ],
)
def test_loads_and_operations_that_it_has_no_code_for_are_refused(
    old: str, new: str, said: str
) -> None:
    """When the experiment is read."""
    text = TEXT.replace("STACK", '"rest@rust?caller=go"').replace(old, new)
    with pytest.raises(ExperimentError, match=said):
        planning.schedule(experiment_file.parse(text), manifests.load())


def test_every_client_of_the_axis_has_a_manifest() -> None:
    """And no manifest is for a caller that the axis lacks."""
    assert set(manifests.callers()) == CLIENTS


def test_the_plan_of_a_trial_is_kept(tmp_path: Path) -> None:
    """Without threads and cores, which are the engine's."""
    found = run(tmp_path / "run", "rest@rust?caller=go")
    folder = tmp_path / "run" / "trials" / only(found).id
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    assert not {"threads", "cores", "wait"} & set(plan)
    assert (folder / "histograms.hlog").read_text(encoding="utf-8").count("Tag=response,") == 1
