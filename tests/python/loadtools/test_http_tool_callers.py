"""ab, wrk and h2load as callers: their command lines, and real runs of those that are here."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wirelab.documents.plan import Window, WindowCalls
from wirelab.errors import ExperimentError, ToolMissing, TrialFailed
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.loadtools import Tool, ToolRequest, Tools, http_tools
from wirelab.loadtools.tool_run import ToolRun
from wirelab.process.children import Ended
from wirelab.process.interruption import Interruption
from wirelab.process.metrics import Sample
from wirelab.records.group import GroupResult
from wirelab.records.trial import Trial
from wirelab.run import runner as running
from wirelab.stack import manifests
from wirelab.stack.reference import Stack

STACKS = {
    "ab": "rest@rust?transport=http/1.0&connection=close&work=frame&caller=ab",
    "wrk": "rest@rust?work=frame&caller=wrk",
    "h2load": "rest@rust?transport=http/2&work=frame&caller=h2load",
}
TEXT = """\
name: tools
services: ["STACK"]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: 2}]
window: {duration: 1 s}
warmup: {min: 0 s, max: 0 s}
repeats: 1
"""


def request(name: str, stack: str = "", **changes: Any) -> ToolRequest:
    """Two seconds by four users."""
    requested = ToolRequest(
        target="127.0.0.1:80",
        axes=Stack.parse(stack or STACKS[name]).axes,
        operation="Hello",
        users=4,
        window=Window(duration_s=2.0),
        warmup_s=0.0,
        timeout_s=9.5,
        processors=3,
    )
    return replace(requested, **changes)


def tool(name: str) -> Tool:
    """The tool of that name."""
    return Tool(name, Path(f"/opt/{name}"), "1", {}, "")


def command(name: str, stack: str = "", **changes: Any) -> list[str]:
    """The options and the address of a run."""
    requested = request(name, stack, **changes)
    return http_tools.command(tool(name), requested, requested.window)


STARTED_NS = 7_000_000_000
"""When the tool's process was there, by these tests."""


def group_of(name: str, output: str, **changes: Any) -> GroupResult:
    """What is made of what a tool printed; its process was there for 2.03 s, and used its CPU
    at an even pace."""
    cpu = (Sample(STARTED_NS, 0.0), Sample(STARTED_NS + 2_030_000_000, 1.015))
    done = ToolRun(Ended(0, 1.0, 0.015, 0), cpu, (), None, output, 0)
    report = http_tools.read(name, output)
    group, _ = http_tools.outcome(tool(name), request(name, **changes), report, done, None)
    return group


CALLS = Window(calls=WindowCalls(calls=500, max_s=3.0))


def test_the_tools_are_asked_for_what_the_plan_says() -> None:
    """Users, window, timeout and transport."""
    ab = command("ab")
    assert ab[:4] == ["/opt/ab", "-q", "-r", "-c"]
    assert ab.index("-t") < ab.index("-n"), "-t sets a number of calls of its own"
    assert ab[-1] == "http://127.0.0.1:80/transfer/hello"
    of_calls = command("ab", window=CALLS)
    assert of_calls[of_calls.index("-t") + 1] == "3", "the longest time"
    assert of_calls[of_calls.index("-n") + 1] == "500"
    assert of_calls.index("-t") < of_calls.index("-n")
    wrk = command("wrk")
    assert wrk[wrk.index("-d") + 1] == "2s"
    assert wrk[wrk.index("--timeout") + 1] == "10s"
    assert wrk[wrk.index("-t") + 1] == "2", "the users are shared out evenly"
    assert "Connection: close" not in wrk
    assert "Connection: close" in command("wrk", STACKS["wrk"] + "&connection=close")
    h2load = command("h2load", operation="HelloBytes")
    assert h2load[h2load.index("-D") + 1] == "2000ms"
    assert h2load[-1].endswith("/transfer/hello-bytes")
    assert "--h1" not in h2load
    assert "--h1" in command("h2load", "rest@rust?work=frame&caller=h2load", window=CALLS)


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("ab", "1 s}\nw", "1500 ms}\nw", "whole seconds only, not a window of 1.5 s"),
        ("wrk", "1 s}\nw", "200 ms}\nw", "whole seconds only"),
        ("wrk", "{duration: 1 s}", "{calls: 100}", "does not support a number of calls"),
        ("h2load", "Hello,", "Submit,", "supports Hello and HelloBytes, not Submit"),
        ("h2load", "closed: {users: 2}", "poisson: {rate: 9, in_flight_max: 1}", "closed loads"),
    ],
)
def test_a_plan_that_a_tool_cannot_follow_is_refused(
    name: str, old: str, new: str, said: str
) -> None:
    """When the experiment is read."""
    text = TEXT.replace("STACK", STACKS[name]).replace(old, new)
    with pytest.raises(ExperimentError, match=said):
        planning.schedule(experiment_file.parse(text), manifests.load())


def test_an_invalid_report_fails_the_trial() -> None:
    """Whatever else a tool prints."""
    with pytest.raises(TrialFailed, match="the report of wrk cannot be read"):
        http_tools.read("wrk", "Segmentation fault")


H2LOAD = """\
finished in 2.00s, 50.00 req/s, 1.00KB/s
requests: 999 total, 999 started, {done} done, 100 succeeded, {failed} failed, {errored} errored, \
0 timeout
status codes: 100 2xx, 0 3xx, {refused} 4xx, 0 5xx
                     min         max         mean         sd        +/- sd
time for request:       18us     60.00ms     10.00ms        61us    99.20%
"""
WRK = """\
Running 2s test @ http://127.0.0.1:80/
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     8.00ms    1.00ms  20.00ms   99.00%
  1000 requests in 2.00s, 1.00MB read
  Socket errors: connect 3, read 800, write 2, timeout 4
  Non-2xx or 3xx responses: 50
Requests/sec:    500.00
"""
AB = """\
Time taken for tests:   2.000 seconds
Complete requests:      400
Failed requests:        {failed}
Non-2xx responses:      30
  50%      5
 100%     60 (longest request)
"""


@pytest.mark.parametrize(
    ("name", "output", "ended", "calls", "errors"),
    [
        ("h2load", H2LOAD.format(done=100, failed=100, errored=100, refused=0), 100, 200, 100),
        # Those refused and those whose stream was reset have all ended.
        ("h2load", H2LOAD.format(done=150, failed=50, errored=20, refused=30), 150, 150, 50),
        ("wrk", WRK, 1000, 1805, 859),
        ("ab", AB.format(failed=40), 400, 400, 40),
        # A call can fail for two reasons.
        ("ab", AB.format(failed=500), 400, 400, 400),
    ],
)
def test_calls_without_a_reply_are_calls_that_failed(
    name: str, output: str, ended: int, calls: int, errors: int
) -> None:
    """No time is of them, and the good ones stay good."""
    group = group_of(name, output)
    assert (group.calls, group.ok, group.errors) == (calls, calls - errors, errors)
    assert group.errors_by_kind == {f"reported by {name}": errors}
    response = group.times["response"]
    assert response.count == ended
    assert group.rate_per_s == pytest.approx((calls - errors) / 2.0)
    if name == "ab":
        assert response.mean_ns == pytest.approx(4 * 2.0e9 / ended)


def test_a_window_begins_with_the_process() -> None:
    """Its end is seen up to 50 ms late."""
    group = group_of("wrk", WRK)
    assert group.window_start_ns == STARTED_NS
    assert group.cpu_s == pytest.approx(1.0)


def test_a_tool_that_is_not_here_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its trials are left out, not failed."""
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(ToolMissing, match="h2load is not in PATH") as shown:
        Tools().tool("h2load", Interruption())
    assert "nghttp2-client" in str(shown.value)


@pytest.mark.parametrize("name", sorted(STACKS))
@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_a_real_tool_makes_the_calls_of_a_trial(tmp_path: Path, name: str) -> None:
    """The service counted at least those that the tool reports."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not in PATH")
    text = TEXT.replace("STACK", STACKS[name])
    found = running.run(experiment_file.parse(text), tmp_path / "r", source=text, unverified=True)
    (trial,) = found.trials
    assert trial.status == "measured", trial.reason
    assert trial.engine.caller == name
    assert trial.engine.version not in (None, "unknown")
    assert trial.result.errors == 0
    # A call under way at the end is given up, one per user, and a reply lost with it.
    spare = 2 * 2
    assert 0 <= (trial.service.calls_seen or 0) - trial.result.calls <= spare
    assert 0.9 < trial.result.window_s < 1.6
    response = trial.result.times["response"]
    assert response.min_ns is None, "the lab does not invent what a tool does not report"
    if name != "wrk":  # which corrects its latencies (wirelab.loadtools.http_tools)
        busy_ns = response.mean_ns * trial.result.calls
        assert busy_ns == pytest.approx(2e9 * trial.result.window_s, rel=0.6)
    assert 0.0 < trial.engine.cpu_s() < 1.6


@pytest.mark.parametrize("name", ["ab", "h2load"])
@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_a_number_of_calls_is_counted_by_both_sides(tmp_path: Path, name: str) -> None:
    """Without a warm-up the count of the whole run is known."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not in PATH")
    text = TEXT.replace("STACK", STACKS[name]).replace("duration: 1 s", "calls: 400")
    found = running.run(experiment_file.parse(text), tmp_path / "r", source=text, unverified=True)
    (trial,) = found.trials
    assert trial.status == "measured", trial.reason
    assert trial.result.calls_whole_run == trial.service.calls_seen == 400
    assert outcome_of(trial, "window") == "ok"


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_a_window_of_calls_that_its_longest_time_closed_is_marked(tmp_path: Path) -> None:
    """By ab, which holds both bounds."""
    if shutil.which("ab") is None:
        pytest.skip("ab is not in PATH")
    text = TEXT.replace("STACK", STACKS["ab"]).replace("duration: 1 s", "calls: 9000000, max: 1 s")
    found = running.run(experiment_file.parse(text), tmp_path / "r", source=text, unverified=True)
    (trial,) = found.trials
    assert trial.status == "measured", trial.reason
    assert 0.9 < trial.result.window_s < 1.6
    assert outcome_of(trial, "window") == "marked"


def outcome_of(trial: Trial, name: str) -> str:
    """Of the check of that name."""
    return next(check.outcome for check in trial.checks if check.name == name)
