"""Foreign tools as callers: the options of ghz, how its report is read, and how it fails."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.python.synthetic_ladder import trial as plain_trial
from wirelab.checks import load as verdicts
from wirelab.documents.plan import Window, WindowCalls
from wirelab.errors import ExperimentError, Interrupted, StackError, ToolMissing, TrialFailed
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.explain.cell_selector import CellSelector
from wirelab.explain.explanation import explain
from wirelab.explain.ladders import Ladder, Rung
from wirelab.loadtools import Tool, ToolRequest, Tools, ghz, tool
from wirelab.loadtools.ghz import GhzReport
from wirelab.loadtools.tool_run import ToolRun
from wirelab.process.children import Ended
from wirelab.process.interruption import Interruption
from wirelab.process.metrics import Sample
from wirelab.records.caller import CallerRecord
from wirelab.records.group import GroupResult
from wirelab.records.link import PlacementRecord
from wirelab.records.trial import Check, Trial
from wirelab.run import runner as running
from wirelab.run.runner import Run
from wirelab.stack import manifests
from wirelab.stack.axes import ENGINE
from wirelab.stack.reference import Stack
from wirelab.study.claims import Expectation, Finding, evaluate

Json = dict[str, Any]
RECORDED = Path(__file__).parents[1] / "ghz_report.json"
"""Written by ghz 0.120.0: 40 calls of Hello by two users."""
WHEN_NS = 50_000_000_000
"""The value of CLOCK_MONOTONIC, by these tests, at the first call of the recorded report."""


def edit_report(**changes: Any) -> Json:
    """The recorded report as JSON, edited."""
    return {**json.loads(RECORDED.read_text(encoding="utf-8")), **changes}


def read_edited(**changes: Any) -> GhzReport:
    """The recorded report, edited."""
    return msgspec.convert(edit_report(**changes), GhzReport)


def request(**changes: Any) -> ToolRequest:
    """Two users who call Hello for a tenth of a second."""
    requested = ToolRequest(
        target="127.0.0.1:50051",
        axes=Stack.parse("grpc@rust?caller=ghz").axes,
        operation="Hello",
        users=2,
        window=Window(duration_s=0.1),
        warmup_s=0.05,
        timeout_s=10.0,
        processors=1,
        cores=(1,),
    )
    return replace(requested, **changes)


TOOL = Tool("ghz", Path("/opt/ghz"), "v0.120.0", {"google.golang.org/grpc": "v1.56.3"}, "ab" * 32)


def first_call_ns(report: GhzReport) -> int:
    """Begin of the first call, wall clock."""
    return min(ghz._wall_ns(call.timestamp) - call.latency for call in report.details or ())


def went(report: GhzReport, cpu: tuple[Sample, ...] = ()) -> ToolRun:
    """The run that wrote the report, its first call at :data:`WHEN_NS`."""
    ended = Ended(0, 0.03, 0.01, 7)
    return ToolRun(ended, cpu, (), 20_000_000, "", WHEN_NS - first_call_ns(report))


def group_of(report: GhzReport, warmup: GhzReport | None = None) -> GroupResult:
    """The group that is made of a report."""
    group, _ = ghz.outcome(TOOL, request(), report, went(report), warmup)
    return group


def pairs(command: list[str]) -> dict[str, str]:
    """Options and what follows each."""
    return dict(pairwise(command))


def test_ghz_gets_the_options_of_the_plan() -> None:
    """Users, connections, contract, window and processors."""
    shown = ghz.command(TOOL, request(), Window(duration_s=2.0), Path("/out/r.json"))
    options = pairs(shown)
    assert shown[0] == "/opt/ghz"
    assert shown[-1] == "127.0.0.1:50051"
    assert options["--call"] == "wirelab.transfer.v1.Transfer.Hello"
    assert options["--proto"].endswith("contracts/transfer.proto")
    assert (options["-c"], options["--connections"], options["--cpus"]) == ("2", "2", "1")
    assert (options["-z"], options["-t"]) == ("2000000us", "10000000us")
    assert (options["-O"], options["-o"], options["--duration-stop"]) == (
        "json",
        "/out/r.json",
        "wait",
    )
    assert "--enable-compression" not in shown


CALLS = Window(calls=WindowCalls(calls=500, max_s=2.5))


def test_a_number_of_calls_is_asked_for_alone() -> None:
    """A bound in time would make ghz forget the number."""
    shown = ghz.command(TOOL, request(), CALLS, Path("r"))
    assert pairs(shown)["-n"] == "500"
    assert "-x" not in shown
    assert "-z" not in shown
    assert request(window=CALLS).window_s_max == 2.5


@pytest.mark.parametrize(
    ("rate", "window"), [(201.0, CALLS), (199.0, Window(duration_s=2.5)), (None, CALLS)]
)
def test_the_shorter_window_is_chosen(rate: float | None, window: Window) -> None:
    """At the rate of the warm-up; without one the number of calls is kept."""
    assert ghz.shorter(CALLS, None if rate is None else read_edited(rps=rate)) == window
    timed = Window(duration_s=1.0)
    assert ghz.shorter(timed, read_edited(rps=1.0)) == timed


def test_gzip_is_requested_only_by_its_axis() -> None:
    """The only axis of the client's side on which ghz has a choice."""
    axes = Stack.parse("grpc@rust?caller=ghz&compression=gzip").axes
    assert "--enable-compression" in ghz.command(TOOL, request(axes=axes), request().window, Path())


def test_a_report_is_read() -> None:
    """Counts, rate, times and window are those that ghz wrote."""
    report = read_edited()
    group = group_of(report)
    assert group.calls == report.count == 40
    assert group.ok + group.errors == 40
    assert group.window_s == report.total / 1e9
    assert group.window_start_ns == pytest.approx(WHEN_NS, abs=1000)
    assert group.rate_per_s == pytest.approx(group.ok * 1e9 / report.total)
    response = group.times["response"]
    assert response.mean_ns == report.average
    assert (response.min_ns, response.max_ns) == (report.fastest, report.slowest)
    assert set(group.times) == {"response"}
    assert sum(group.series) == group.ok


def test_percentiles_need_ten_samples_above() -> None:
    """Of 40 calls, 10 lie above p75 and 4 above p90."""
    percentiles = group_of(read_edited()).times["response"].percentiles_ns
    assert set(percentiles) == {"p10", "p25", "p50", "p75"}


def test_a_window_of_calls_has_their_number() -> None:
    """Whichever of number and longest time closed it; a window of seconds has none."""
    report = read_edited()
    group, _ = ghz.outcome(TOOL, request(window=CALLS), report, went(report), None)
    assert (group.calls_planned, group.calls) == (500, 40)
    assert group_of(report).calls_planned is None


def test_failed_calls_are_counted_by_status() -> None:
    """A status that shows the kind of error gets the kind's name."""
    group = group_of(
        read_edited(
            statusCodeDistribution={"OK": 35, "DeadlineExceeded": 3, "Unavailable": 2},
            errorDistribution={"rpc error: code = Unavailable desc = gone": 2},
        )
    )
    assert (group.ok, group.errors) == (35, 5)
    assert group.errors_by_kind == {"timeout": 3, "status Unavailable": 2}
    assert group.error_examples == ("rpc error: code = Unavailable desc = gone",)


def test_times_of_good_calls_are_taken_from_the_list_of_calls() -> None:
    """Of 40 calls the slowest four failed: the good ones are the other 36."""
    calls = sorted(edit_report()["details"], key=lambda call: call["latency"])
    good_ns = [call["latency"] for call in calls[:-4]]
    details = [*calls[:-4], *({**call, "status": "Unavailable"} for call in calls[-4:])]
    statuses = {"OK": 36, "Unavailable": 4}
    group = group_of(read_edited(details=details, statusCodeDistribution=statuses))
    good = group.times["response_good"]
    assert (good.count, good.min_ns, good.max_ns) == (36, good_ns[0], good_ns[-1])
    assert good.mean_ns == pytest.approx(sum(good_ns) / 36)
    assert good.percentiles_ns == {"p50": good_ns[17]}


def test_a_list_of_calls_that_is_cut_gives_no_series_and_no_times_of_good_calls() -> None:
    """ghz lists a million calls at most; what those alone give would be wrong."""
    statuses = {"OK": 1_000_000, "Unavailable": 40}
    group = group_of(read_edited(count=1_000_040, statusCodeDistribution=statuses))
    assert group.series == ()
    assert set(group.times) == {"response"}


def test_figures_that_ghz_does_not_report_are_absent() -> None:
    """Nothing is invented: no stamps, no bytes, no concurrency."""
    group = group_of(read_edited())
    for name in ("bytes_sent", "concurrency", "queue_max", "rate_planned_per_s"):
        assert getattr(group, name) is None
    assert group.warmup.stationary is None


def test_the_warm_up_counts_towards_the_whole_run() -> None:
    """Its calls reach the service, over connections of its own."""
    group = group_of(read_edited(), read_edited(count=60))
    assert group.calls_whole_run == 100
    assert group.connections_opened == 4
    assert group.warmup.calls == 60


def test_cpu_is_that_of_the_window() -> None:
    """Start and report of the tool are left out; the split is that of the whole process."""
    report = read_edited()
    end = WHEN_NS + int(report.total)
    cpu = (
        Sample(WHEN_NS - 10**9, 0.0),
        Sample(WHEN_NS, 0.010),
        Sample(end, 0.030),
        Sample(end + 10**9, 0.040),
    )
    group, process = ghz.outcome(TOOL, request(), report, went(report, cpu), None)
    assert group.cpu_s == pytest.approx(0.020, rel=0.01)
    assert process.cpu_user_s == pytest.approx(0.015, rel=0.01)
    assert process.cpu_system_s == pytest.approx(0.005, rel=0.01)
    assert process.cpu_process_s == pytest.approx(0.040)
    assert process.switches_involuntary == 7
    assert process.runs == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"count": 0, "details": None}, "no call"),
        ({"average": None}, "unknown structure"),
        ({"details": [{"latency": 1}]}, "unknown structure"),
        ({"details": [{"latency": 1, "timestamp": "now", "status": "OK"}]}, "unknown structure"),
    ],
)
def test_a_report_without_figures_fails_the_trial(tmp_path: Path, changes: Json, said: str) -> None:
    """The reason says what is missing."""
    path = tmp_path / "ghz-measure.json"
    path.write_text(json.dumps(edit_report(**changes)), encoding="utf-8")
    with pytest.raises(TrialFailed, match=said):
        ghz.outcome(TOOL, request(), ghz.read(path), went(read_edited()), None)


def test_a_report_is_kept_packed_as_it_was_written(tmp_path: Path) -> None:
    """It lists every call."""
    path = tmp_path / "ghz-measure.json"
    shutil.copy(RECORDED, path)
    assert ghz.read(path) == read_edited()
    assert not path.exists()
    with gzip.open(tmp_path / "ghz-measure.json.gz") as kept:
        assert kept.read() == RECORDED.read_bytes()


def test_an_unreadable_report_fails_the_trial(tmp_path: Path) -> None:
    """Neither an absent report nor one that was cut short."""
    with pytest.raises(TrialFailed, match="report of ghz cannot be read"):
        ghz.read(tmp_path / "nothing.json")
    (tmp_path / "cut.json").write_text('{"count": 4', encoding="utf-8")
    with pytest.raises(TrialFailed, match="report of ghz cannot be read"):
        ghz.read(tmp_path / "cut.json")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rest@go?caller=ghz", "ghz speaks gRPC only"),
        ("grpc@go?caller=ghz&connection=close", "connection can only be keep"),
        ("grpc@go?caller=ghz&in_flight=multiplex=8", "in_flight can only be 1"),
        ("grpc@go?caller=ghz&work=frame", "ghz decodes every reply"),
        ("grpc@go?caller=ghz&client.h2_window=65535", "client.h2_window can only be engine"),
        ("grpc@go?caller=ghz&client.nagle=on", "client.nagle can only be off"),
        ("grpc@go?caller=ab", "ab speaks rest only"),
        ("grpc@go?caller=autocannon", "has no value 'autocannon'"),
    ],
)
def test_a_stack_that_ghz_cannot_call_is_refused_by_name(text: str, said: str) -> None:
    """With the nearest legal stack where there is one."""
    with pytest.raises(StackError) as shown:
        Stack.parse(text)
    assert said in str(shown.value)
    if "nearest" in shown.value.remedy:
        Stack.parse(shown.value.remedy.rpartition(" ")[2])


PLAN = """\
name: tools
services: ["grpc@rust?caller=ghz"]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: 2}]
window: {duration: 1 s}
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Hello,", "Submit,", "supports Hello and HelloBytes, not Submit"),
        ("Hello,", "Download,", "not Download"),
        ("closed: {users: 2}", "constant: {rate: 9, in_flight_max: 1}", "closed loads only"),
        ("{users: 2}", "{users: 2, think: 1 ms}", "does not support think time"),
    ],
)
def test_a_plan_that_ghz_cannot_follow_is_refused(old: str, new: str, said: str) -> None:
    """Before anything is started, with the same stack under the engine as the way out."""
    experiment = experiment_file.parse(PLAN.replace(old, new))
    with pytest.raises(ExperimentError, match=said) as shown:
        planning.schedule(experiment, manifests.load())
    assert "the nearest legal stack is grpc@rust" in str(shown.value)


def tool_trial(users: int = 10, rate: float = 1000.0, repeat: int = 1, **words: Any) -> Trial:
    """A trial by ghz at its limit, as the journal holds it."""
    expected = CellSelector.of({"stack": "grpc@go?caller=ghz", "users": users, **words})
    made = plain_trial(expected, 1.0 / rate, repeat)
    response = made.result.times["response"]
    times = {"response": replace(response, max_ns=round(response.mean_ns))}
    made = replace(
        made,
        result=replace(made.result, cpu_s=0.97, times=times),
        engine=CallerRecord.of({**TOOL.identity(), "processors": 1, "runs": 2, "cpu_user_s": 0.97}),
        placement=PlacementRecord(engine=(1,), processors=1),
        checks=(),
    )
    return replace(made, checks=verdicts.check(made))


def check_of(measured: Trial, name: str) -> Check:
    """The check of that name."""
    return next(check for check in measured.checks if check.name == name)


def test_the_checks_name_the_source_of_the_figures() -> None:
    """Marked as the tool's own; what needs the engine's stamps cannot be measured."""
    measured = tool_trial()
    own = check_of(measured, "caller")
    assert own.outcome == "marked"
    assert "ghz's own (ghz v0.120.0 on google.golang.org/grpc v1.56.3)" in own.reason
    assert check_of(measured, "engine backlog").outcome == "not-measurable"
    assert "ghz has no timestamps" in check_of(measured, "engine backlog").reason
    assert check_of(measured, "warm-up").outcome == "not-measurable"
    assert "engine build" not in {check.name for check in measured.checks}


def test_a_tool_at_its_limit_is_marked() -> None:
    """By its CPU time on the processors that it was given."""
    bound = check_of(tool_trial(), "bound")
    assert bound.outcome == "marked"
    assert bound.reason.startswith("ghz 97 % busy")
    two = replace(tool_trial(), checks=())
    two = replace(two, engine=replace(two.engine, processors=2))
    assert verdicts.client_use(two) == pytest.approx(0.485)


def test_the_warm_up_of_a_tool_has_connections_of_its_own() -> None:
    """Two runs of ten users order twenty connections."""
    measured = tool_trial()
    result = replace(measured.result, connections_opened=20)
    seen = replace(measured.service, connections_seen=20)
    again = replace(measured, result=result, service=seen, checks=())
    found = next(check for check in verdicts.check(again) if check.name == "connections")
    assert found.outcome == "ok"
    assert "requested from ghz" in found.reason


BY_TOOL = CellSelector.of({"stack": "grpc@go?caller=ghz", "users": 10})
BY_ENGINE = BY_TOOL.change({"caller": ENGINE})


def both(engine_rate: float, tool_rate: float) -> list[Trial]:
    """Three trials of each caller."""
    spread = (0.99, 1.0, 1.01)
    every = [tool_trial(10, tool_rate * s, n) for n, s in enumerate(spread)]
    return every + [plain_trial(BY_ENGINE, 1 / (engine_rate * s), n) for n, s in enumerate(spread)]


def faster(over: CellSelector, under: CellSelector) -> Finding:
    """A claim of a higher rate."""
    expect = Expectation(above=1.0, margin=0.05)
    return Finding("x", "x", "x", "rate", (over,), (under,), ({},), expect)


def test_a_tool_that_is_the_limit_is_what_a_claim_about_callers_is_about() -> None:
    """Between callers its rate bounds nothing: it is what the tool attains."""
    assert evaluate(both(2000, 1000), faster(BY_ENGINE, BY_TOOL)).outcome == "holds"
    assert evaluate(both(1000, 1000), faster(BY_ENGINE, BY_TOOL)).outcome == "does not hold"


def test_between_stacks_it_is_a_bound_as_ever() -> None:
    """Two services under a client at its limit are not ranked."""
    bytes_too = BY_TOOL.change({"operation": "HelloBytes"})
    spread = (0.99, 1.0, 1.01)
    every = [tool_trial(10, 1000 * s, n) for n, s in enumerate(spread)]
    every += [tool_trial(10, 2000 * s, n, operation="HelloBytes") for n, s in enumerate(spread)]
    hello = replace(BY_TOOL, operation="Hello")
    assert evaluate(every, faster(bytes_too, hello)).outcome == "undecided"


def ladder() -> Ladder:
    """From ghz to the engine."""
    rung = Rung("load-tool", "the load tool", "it costs", BY_TOOL, BY_ENGINE, counted=False)
    return Ladder("tool", "Did the tool hold it back?", BY_TOOL, None, BY_TOOL, (rung,))


def test_a_caller_is_never_named_as_a_single_change() -> None:
    """It brings its client library and windows, and the sentence states this."""
    found = explain(both(2000, 1000), ladder())
    assert found.causes == ("load-tool",)
    said = next(c.text for c in found.conclusions if c.rung == "load-tool")
    assert "the step across it" in said
    assert "client library" in said
    assert "which of them matters is not shown" in said


def test_no_difference_names_no_caller() -> None:
    """The same rates: no cause."""
    assert explain(both(1000, 1000), ladder()).causes == ()


STUB = """\
#!{python} -SE
import os, shutil, sys, time
report = sys.argv[sys.argv.index("-o") + 1]
words = {words!r}
if "hangs" in words:
    time.sleep(600)
if "fails" in words:
    sys.exit("flag provided but not defined")
if "garbage" in words:
    open(report, "w").write("{{")
elif "silent" not in words:
    shutil.copy({recorded!r}, report)
"""


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts a program in place of ghz that writes the recorded report; call it with the words
    for what goes wrong."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def behave(*words: str) -> None:
        text = STUB.format(python=sys.executable, words=words, recorded=str(RECORDED))
        (folder / "ghz").write_text(text, encoding="utf-8")
        (folder / "ghz").chmod(0o755)

    behave()
    return behave


TEXT = """\
name: callers
services: [grpc@rust, "grpc@rust?caller=ghz"]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: 2}]
window: {duration: 100 ms}
warmup: {min: 0 s, max: 0 s}
repeats: 2
"""


def run(out: Path, text: str = TEXT) -> Run:
    """Runs the experiment."""
    return running.run(experiment_file.parse(text), out, source=text)


def select_by_caller(found: Run, name: str) -> list[Trial]:
    """The trials of one caller."""
    return [trial for trial in found.trials if trial.point.axes.caller == name]


@pytest.fixture
def no_ghz(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without ghz and without Go."""
    monkeypatch.setattr(tool, "find", lambda recipe: None)
    which = shutil.which
    monkeypatch.setattr("shutil.which", lambda name: None if name == "go" else which(name))


@pytest.mark.usefixtures("stand_in", "no_orphans", "no_ghz")
def test_a_tool_that_cannot_be_installed_leaves_the_rest_of_the_run(tmp_path: Path) -> None:
    """Its trials are reported as not measured; nothing fails."""
    found = run(tmp_path / "run")
    assert len(found.trials) == len(select_by_caller(found, ENGINE)) == 2
    assert found.failed == ()
    (reason,) = found.unavailable
    assert reason == (
        "not measured: ghz could not be installed: Go is not in PATH; install Go, or put ghz into "
        "PATH"
    )
    assert running.read(tmp_path / "run") == found


@pytest.mark.usefixtures("stand_in", "no_orphans")
def test_a_resumed_run_makes_up_what_the_tool_was_missing_for(
    tmp_path: Path, stub: Callable[..., None]
) -> None:
    """Once it is there."""
    with pytest.MonkeyPatch.context() as without:
        without.setattr(tool, "find", lambda recipe: None)
        without.setattr(tool, "install", fail_installation)
        run(tmp_path / "run")
    found = run(tmp_path / "run")
    assert found.unavailable == ()
    assert [trial.status for trial in select_by_caller(found, "ghz")] == ["measured"] * 2


def fail_installation(recipe: tool.Recipe, interruption: Interruption) -> Path:
    """An installation that fails."""
    raise ToolMissing(f"{recipe.program} could not be installed: no network")


@pytest.mark.usefixtures("stand_in", "no_ghz")
def test_a_run_with_nothing_else_to_measure_states_why(tmp_path: Path) -> None:
    """A run that measured nothing has not succeeded."""
    with pytest.raises(ToolMissing, match="ghz could not be installed"):
        run(tmp_path / "run", TEXT.replace("grpc@rust, ", ""))


@pytest.mark.usefixtures("stand_in", "no_orphans", "stub")
def test_a_trial_by_a_tool_is_kept_whole(tmp_path: Path) -> None:
    """Report, log and plan are in its folder; identity and checks in its record."""
    found = run(tmp_path / "run")
    measured = select_by_caller(found, "ghz")[0]
    assert measured.status == "measured"
    assert measured.engine.caller == "ghz"
    assert measured.engine.version == "unknown"  # the stub was not built from ghz's module
    assert measured.result.calls == 40
    folder = tmp_path / "run" / "trials" / measured.id
    names = {path.name for path in folder.iterdir()}
    assert {"ghz-measure.json.gz", "ghz.log", "plan.json", "result.json"} <= names
    assert "histograms.hlog" not in names
    assert running.read(tmp_path / "run") == found


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("fails", "ghz ended with exit code 1 (flag provided but not defined)"),
        ("garbage", "the report of ghz cannot be read"),
        ("silent", "the report of ghz cannot be read"),
        ("hangs", "ghz exceeded the time limit of"),
    ],
)
@pytest.mark.usefixtures("stand_in", "no_orphans")
def test_a_tool_that_fails_fails_its_trials_alone(
    tmp_path: Path,
    stub: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    word: str,
    reason: str,
) -> None:
    """Each with the reason; the engine's trials are measured."""
    stub(word)
    monkeypatch.setattr(ghz, "MARGIN_S", -9.9)
    found = run(tmp_path / "run")
    assert [trial.status for trial in select_by_caller(found, "ghz")] == ["failed"] * 2
    assert all(reason in trial.reason for trial in select_by_caller(found, "ghz"))
    assert [trial.status for trial in select_by_caller(found, ENGINE)] == ["measured"] * 2


@pytest.mark.usefixtures("stand_in", "no_orphans")
def test_a_stop_ends_the_tool(tmp_path: Path, stub: Callable[..., None]) -> None:
    """No process stays behind."""
    stub("hangs")
    stop = Interruption()
    timer = threading.Timer(1.0, lambda: setattr(stop, "requested", True))
    timer.start()
    text = TEXT.replace("grpc@rust, ", "")
    with pytest.raises(Interrupted, match="0 of 2"):
        running.run(experiment_file.parse(text), tmp_path / "r", source=text, interruption=stop)
    timer.join()


@pytest.fixture(scope="session")
def real_ghz() -> Tool:
    """ghz, where it is there or can be installed; without it the test is skipped."""
    try:
        return Tools().tool("ghz", Interruption())
    except ToolMissing as error:
        pytest.skip(str(error))


def test_the_version_of_the_real_ghz_is_read_from_the_program(real_ghz: Tool) -> None:
    """Read from the program, for ghz itself says `dev`."""
    assert real_ghz.version.startswith("v0.")
    assert real_ghz.libraries["google.golang.org/grpc"].startswith("v1.")


@pytest.mark.usefixtures("real_engine", "real_ghz", "no_orphans")
def test_the_real_ghz_runs_next_to_the_engine(tmp_path: Path) -> None:
    """Its counts agree with the service's own, and its cost is in the record."""
    text = TEXT.replace("100 ms", "400 ms").replace("max: 0 s", "max: 200 ms")
    found = run(tmp_path / "run", text.replace("repeats: 2", "repeats: 1"))
    (measured,) = select_by_caller(found, "ghz")
    assert measured.status == "measured", measured.reason
    assert measured.result.errors == 0
    assert measured.service.calls_seen == measured.result.calls_whole_run
    assert measured.service.connections_seen == measured.result.connections_opened == 4
    # From the first call counted to the last reply, so it ends before the deadline does.
    assert 0.38 <= measured.result.window_s < 1.0
    assert measured.engine.processors == len(measured.placement.engine or ())
    assert measured.result.cpu_s is not None
    assert 0.0 < measured.result.cpu_s < (measured.engine.cpu_process_s or 0.0)
    assert verdicts.client_use(measured) is not None
    assert (measured.service.cpu_window_s or 0.0) > 0.0
    assert (measured.engine.rss_max_bytes or 0) > 1_000_000
    assert check_of(measured, "calls counted").outcome == "ok"
