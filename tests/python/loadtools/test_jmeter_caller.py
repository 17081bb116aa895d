"""JMeter as caller: its test plan, its results, and a real run of it."""

from __future__ import annotations

import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from wirelab.documents.plan import Window, WindowCalls
from wirelab.errors import ExperimentError, TrialFailed
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.loadtools import ToolRequest, jmeter, tool
from wirelab.loadtools.adapters import recognise
from wirelab.loadtools.jmeter import Users
from wirelab.records.trial import Trial
from wirelab.run import runner as running
from wirelab.stack import manifests
from wirelab.stack.reference import Stack

STACK = "rest@rust?work=frame&caller=jmeter"
TEXT = """\
name: jmeter
services: ["STACK"]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: 3}]
window: {calls: 200, max: 20 s}
warmup: {min: 0 s, max: 0 s}
repeats: 1
"""
HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,"
    "failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
)
SUMMARY = (
    "summary +     10 in 00:00:00 =   99.0/s Avg:     1 Min:     0 Max:     3 Err:     0 (0.00%)\n"
    "summary =    100 in 00:00:00 =  200.0/s Avg:     5 Min:     0 Max:    86 Err:     2 (2.00%)\n"
)


def _plan(stack: str, window: Window) -> dict[str, list[str]]:
    """The properties of the plan by name, in its order."""
    request = ToolRequest(
        target="127.0.0.1:8080",
        axes=Stack.parse(stack).axes,
        operation="HelloBytes",
        users=3,
        window=window,
        warmup_s=0.0,
        timeout_s=2.5,
        processors=2,
    )
    found: dict[str, list[str]] = {}
    for one in ElementTree.fromstring(jmeter.test_plan(request, window)).iter():
        if "name" in one.attrib and one.text and one.text.strip():
            found.setdefault(one.attrib["name"].rpartition(".")[2], []).append(one.text)
    return found


def test_a_plan_has_the_calls_of_the_window_however_many_users_share_them() -> None:
    assert jmeter.groups(3, 200) == [Users(2, 67), Users(1, 66)]
    assert jmeter.groups(3, 2) == [Users(2, 1)]
    assert jmeter.groups(3, None) == [Users(3, -1)]
    plan = _plan(STACK, Window(calls=WindowCalls(calls=200, max_s=4.5)))
    assert (plan["num_threads"], plan["loops"], plan["duration"]) == (
        ["2", "1"],
        ["67", "66"],
        ["5", "5"],
    )


def test_a_plan_has_connection_address_and_timeout() -> None:
    plan = _plan(STACK, Window(duration_s=2.0))
    assert (plan["duration"], plan["loops"], plan["use_keepalive"]) == (["2"], ["-1"], ["true"])
    assert (plan["domain"], plan["port"]) == (["127.0.0.1"], ["8080"])
    assert (plan["path"], plan["response_timeout"]) == (["/transfer/hello-bytes"], ["2500"])
    assert _plan(f"{STACK}&connection=close", Window(duration_s=2.0))["use_keepalive"] == ["false"]


def test_results_are_read_and_others_refused(tmp_path: Path) -> None:
    results = tmp_path / "a.jtl"
    results.write_text(
        f"{HEADER}1000,20,Hello,200,OK,users 1-1,text,true,,9,9,2,2,http://a,19,0,5\n"
        "1020,7,Hello,Non HTTP response code: java.net.SocketTimeoutException,"
        '"Non HTTP response message: Read, timed out",users 1-1,text,false,,0,0,2,2,http://a,0,0,0\n'
    )
    good, bad = jmeter.read(results)
    assert (good.ok, good.elapsed_ms, good.connect_ms, good.end_ms) == (True, 20, 5, 1020)
    assert (bad.ok, bad.kind, bad.end_ms) == (False, "timeout", 1027)
    results.write_text(HEADER)
    with pytest.raises(TrialFailed, match="no call of jmeter ended"):
        jmeter.read(results)
    results.write_text("timeStamp,elapsed\n1,2\n")
    with pytest.raises(TrialFailed, match="cannot be read"):
        jmeter.read(results)


def test_a_wrapped_jmeter_is_known_and_its_last_summary_read() -> None:
    known = recognise(["/opt/jmeter/bin/jmeter", "-n", "-t", "a.jmx", "-l", "a.jtl"])
    assert known is not None
    adapter, words = known
    assert adapter.read_options(words, "").options == ("-n", "-t a.jmx", "-l a.jtl")
    report = adapter.read_report(SUMMARY)
    assert report is not None
    assert (report.requests, report.failed, report.rate_per_s) == (100, 2, 200.0)
    assert (report.seconds, report.latency_s) == (0.5, {"mean": 0.005, "max": 0.086})
    assert adapter.read_report("Starting standalone test") is None


def test_an_installation_that_another_run_finished_first_is_used(tmp_path: Path) -> None:
    """One that cannot be put in its place is reported."""
    home, made = tmp_path / "home", tmp_path / "made"
    for folder in (home, made):
        folder.mkdir()
        (folder / "of").write_text(folder.name)
    tool._put(made, home)
    assert (home / "of").read_text() == "home"
    with pytest.raises(OSError, match="No such file"):
        tool._put(tmp_path / "absent", tmp_path / "nowhere")


def test_another_list_of_artifacts_is_another_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same version of the tool."""
    first = tool._maven_home(tool.JMETER)
    assert tool.JMETER.version in first.name
    changed = tmp_path / "pom.xml"
    changed.write_text("<project/>")
    monkeypatch.setattr(tool, "_pom", lambda artifacts: changed)
    assert tool._maven_home(tool.JMETER) != first


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("work=frame&", "", "status of a reply only"),
        ("rest@rust?", "rest@rust?transport=http/2&", "no other transport"),
        ("rest@rust?", "grpc@rust?", "jmeter"),
        ("closed: {users: 3}", "constant: {rate: 5, in_flight_max: 3}", "closed loads only"),
        ("{calls: 200, max: 20 s}", "{duration: 1500 ms}", "whole seconds only"),
        ("Hello, bytes: 14 B", "Upload, bytes: 14 B", "supports Hello and HelloBytes"),
    ],
)
def test_a_plan_that_jmeter_cannot_follow_is_refused_by_name(old: str, new: str, said: str) -> None:
    text = TEXT.replace("STACK", STACK)
    assert old in text
    with pytest.raises(ExperimentError, match=said):
        planning.schedule(experiment_file.parse(text.replace(old, new)), manifests.load())


def _run(out: Path, stack: str, **changes: str) -> Trial:
    text = TEXT.replace("STACK", stack)
    for old, new in changes.items():
        line = next(line for line in text.splitlines() if line.startswith(f"{old}:"))
        text = text.replace(line, f"{old}: {new}")
    (trial,) = running.run(experiment_file.parse(text), out, source=text, unverified=True).trials
    assert trial.status == "measured", trial.reason
    return trial


@pytest.mark.skipif(not (shutil.which("mvn") and shutil.which("java")), reason="needs Maven")
@pytest.mark.parametrize("connection", ["keep", "close"])
@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_its_calls_are_those_that_the_service_counted(tmp_path: Path, connection: str) -> None:
    trial = _run(tmp_path / "run", f"{STACK}&connection={connection}")
    found = trial.result
    assert (found.calls, found.ok, found.errors, found.calls_planned) == (200, 200, 0, 200)
    assert trial.service.calls_seen == found.calls_whole_run == 200
    assert trial.service.connections_seen == (3 if connection == "keep" else 200)
    assert found.times["response"].count == 200
    assert ("connect" in found.times) == (connection == "close")
    assert (trial.engine.caller, trial.engine.version) == ("jmeter", "5.6.3")
    assert (trial.engine.libraries or {})["httpclient"].startswith("4.5")
    assert trial.engine.cpu_s() > 0


@pytest.mark.skipif(not (shutil.which("mvn") and shutil.which("java")), reason="needs Maven")
@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_a_window_of_seconds_after_a_warm_up(tmp_path: Path) -> None:
    trial = _run(tmp_path / "run", STACK, window="{duration: 2 s}", warmup="{min: 0 s, max: 1 s}")
    found = trial.result
    assert found.warmup.calls > 0
    assert trial.service.calls_seen == found.calls_whole_run == found.calls + found.warmup.calls
    assert found.window_s == pytest.approx(2.0, abs=0.5)
    assert sum(found.series) == found.ok
