"""Services that take turns in one trial: which may, what their cells hold, and what happens when a
call outlasts its slice."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from tests.python.synthetic_run import World, trials
from wirelab.cli import main
from wirelab.documents.event import SliceEdges
from wirelab.documents.plan import Plan
from wirelab.errors import ExperimentError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix
from wirelab.format.units import format_seconds
from wirelab.process.engine import MARGIN_S, limit_seconds
from wirelab.process.metrics import Sample
from wirelab.records.line import cell_id
from wirelab.run import journal, repeating
from wirelab.run import runner as running
from wirelab.run.repeating import find_done, find_spoilt
from wirelab.run.runner import Run
from wirelab.stack import manifests
from wirelab.statistics.cell import cells
from wirelab.trial.idle_cpu import estimate_idle_cpu
from wirelab.trial.slice_length import SliceLengths, SliceTooShort, find_shortfall

SERVER = """
import http.server, os, threading, time
log = open("{log}", "a", buffering=1)
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def do_GET(self):
        came = time.monotonic_ns()
        time.sleep({seconds})
        log.write(f"{{came}} {{time.monotonic_ns()}}\\n")
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()
def spin():
    while {spins}:
        pass
threading.Thread(target=spin, daemon=True).start()
address = os.environ["HOST"], int(os.environ["PORT"])
http.server.ThreadingHTTPServer.request_queue_size = 64
http.server.ThreadingHTTPServer(address, Handler).serve_forever()
"""


def content(**keys: Any) -> dict[str, Any]:
    """An experiment whose services take turns."""
    return {
        "name": "turns",
        "design": "slices",
        "slice": "50 ms",
        "repeats": 2,
        "services": ["rest@rust", "grpc@rust"],
        "messages": [{"operation": "Hello", "bytes": "14 B"}],
        "loads": [{"closed": {"users": 2}}],
        "window": {"duration": "200 ms"},
        "warmup": {"min": "50 ms", "max": "50 ms"},
        **keys,
    }


def server(folder: Path, name: str, seconds: float, spins: bool = False) -> dict[str, Any]:
    """A service of the test's own, which logs when each request came and was answered. One that
    ``spins`` uses a core all the time."""
    script = SERVER.format(log=folder / f"{name}.log", seconds=seconds, spins=spins)
    return {"name": name, "command": [sys.executable, "-c", script], "http": {"path": "/"}}


def run(folder: Path, **keys: Any) -> Run:
    text = yaml.safe_dump(content(**keys))
    experiment = experiment_file.parse(text, str(folder / "x.yaml"))
    return running.run(experiment, folder / "run", source=text)


def plan(**keys: Any) -> matrix.Schedule:
    experiment = experiment_file.parse(yaml.safe_dump(content(**keys)))
    return matrix.schedule(experiment, manifests.load())


def test_services_of_a_setting_share_a_trial() -> None:
    planned = plan(loads=[{"closed": {"users": 1}}, {"closed": {"users": 8}}])
    assert len(planned.trials) == 4
    assert planned.cell_trials == 8
    for trial in planned.trials:
        stacks = [cell.point.stack for cell in trial.cells]
        assert stacks == ["rest@rust", "grpc@rust"]
        assert len({cell.point.load.users for cell in trial.cells}) == 1
        assert trial.of_cell(1).id == f"{trial.id}.2"


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"services": ["rest@rust"]}, "needs two services for each setting"),
        ({"services": ["rest@rust", "rest@rust?start=cold"]}, "a cold service has no second slice"),
        ({"services": ["rest@rust", "rest@rust?via=nginx"]}, "a proxy cannot take turns"),
        ({"loads": [{"constant": {"rate": 100, "in_flight_max": 4}}]}, "users who go on calling"),
        ({"loads": [{"closed": {"users": 1, "iterations": 5}}]}, "users who go on calling"),
        ({"window": {"calls": 50}}, "time must close the window"),
        ({"capture": "client"}, "a capture cannot distinguish the services"),
        ({"links": ["lan"]}, "a pause between slices changes what links with a delay do"),
        (
            {"slice": "200 ms", "axes": {"client.nagle": ["on"]}},
            "pauses of 0.2 s between slices change the effect of client.nagle",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_services_that_cannot_share_a_trial_are_refused(keys: dict[str, Any], reason: str) -> None:
    with pytest.raises(ExperimentError) as refused:
        plan(**keys)
    assert reason in refused.value.message


def test_services_share_the_trials_of_settings_where_they_can() -> None:
    planned = plan(design="auto", links=["loopback", "lan"])
    assert sorted((len(trial.cells), trial.cell.point.link) for trial in planned.trials) == [
        *[(1, "lan")] * 4,
        *[(2, "loopback")] * 2,
    ]
    planned = plan(design="auto", services=["rest@rust", "grpc@rust?start=cold"])
    assert {len(trial.cells) for trial in planned.trials} == {1}
    stacks = ["rest@rust", "grpc@rust", "soap@rust", "iiop@rust"]
    assert {len(trial.cells) for trial in plan(design="auto", services=stacks).trials} == {4}
    stacks += ["rest@rust?codec=cbor", "rest@rust?codec=protobuf"]
    assert {len(trial.cells) for trial in plan(design="auto", services=stacks).trials} == {6}


def test_more_services_than_share_a_trial_are_divided_evenly() -> None:
    codecs = ["json", "cbor", "msgpack", "protobuf", "xml"]
    stacks = [f"rest@rust?codec={codec}" for codec in codecs]
    stacks += ["grpc@rust", "soap@rust", "iiop@rust"]
    planned = plan(design="auto", services=stacks, repeats=1)
    assert [len(trial.cells) for trial in planned.trials] == [4, 4]
    measured = {cell.point.stack for trial in planned.trials for cell in trial.cells}
    assert measured == {cell.point.stack for cell in planned.cells}
    assert len(measured) == 8


def test_a_service_that_cannot_take_turns_is_measured_apart_with_the_reason() -> None:
    """The others of its setting share their trials."""
    stacks = [
        "rest@rust",
        "grpc@rust",
        "soap@rust",
        "rest@rust?start=cold",
        "rest@rust?client.nagle=on",
    ]
    planned = plan(design="auto", services=stacks, repeats=1)
    shared, *alone = sorted(planned.trials, key=lambda trial: -len(trial.cells))
    assert [cell.point.stack for cell in shared.cells] == ["rest@rust", "grpc@rust", "soap@rust"]
    assert [len(trial.cells) for trial in alone] == [1, 1]
    cold, nagle = planned.apart
    of_all = "1 of 5 cells, the first with rest@rust"
    assert cold == f"a cold service has no second slice ({of_all}?start=cold)"
    effect = "pauses of 0.2 s between slices change the effect of client.nagle"
    assert nagle == f"{effect} ({of_all}?client.nagle=on)"
    assert not plan(design="trials", services=stacks, repeats=1).apart


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_a_run_prints_why_services_are_measured_one_at_a_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.yaml"
    keys = {"design": "auto", "repeats": 1, "links": ["lan"]}
    file.write_text(yaml.safe_dump(content(**keys)), encoding="utf-8")
    assert main(["run", str(file), "--plan"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "one service at a time: a pause between slices changes what links with a delay" in shown
    assert main(["run", str(file), "--plan", "--json"]) == 0
    (reason,) = json.loads(capsys.readouterr().out)["apart"]
    assert "2 of 2 cells" in reason


def test_codec_times_are_measured_after_the_window_of_one_service() -> None:
    keys = {
        "design": "auto",
        "codec_times": True,
        "services": ["rest@rust", "rest@rust?codec=cbor"],
    }
    planned = plan(**keys)
    assert {len(trial.cells) for trial in planned.trials} == {1}
    assert "codec times follow the window of one service" in planned.apart[0]


def test_long_pauses_matter_to_large_messages() -> None:
    large = [{"operation": "Hello", "bytes": "3 MB"}]
    assert {len(trial.cells) for trial in plan(messages=large).trials} == {2}
    with pytest.raises(ExperimentError, match="the initial window on large messages"):
        plan(messages=large, slice="200 ms")


def test_a_slice_has_bounds() -> None:
    with pytest.raises(ExperimentError, match="slice: must be between 20 ms and 2 s"):
        plan(slice="10 ms")


def test_the_design_is_part_of_what_a_run_is() -> None:
    digests = {
        experiment_file.parse(yaml.safe_dump(content(design=design))).digest()
        for design in ("trials", "slices")
    }
    plain = content()
    del plain["design"], plain["slice"]
    assert len(digests) == 2
    assert experiment_file.parse(yaml.safe_dump(plain)).digest() in digests


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_no_request_is_under_way_together_with_one_of_the_other_service(tmp_path: Path) -> None:
    """By the logs of both servers."""
    services = [server(tmp_path, "slow", 0.004), server(tmp_path, "fast", 0.001)]
    keys = {"slice": "300 ms", "window": {"duration": "3 s"}, "loads": [{"closed": {"users": 4}}]}
    made = run(tmp_path, services=services, messages=[], repeats=1, **keys)
    assert [trial.status for trial in made.trials] == ["measured"] * 2
    slow, fast = (
        [
            tuple(map(int, line.split()))
            for line in (tmp_path / f"{name}.log").read_text().splitlines()
        ]
        for name in ("slow", "fast")
    )
    assert len(slow) > 100
    assert len(fast) > len(slow)
    for came, answered in slow:
        assert not [one for one in fast if one[0] < answered and came < one[1]]
    for trial, log in zip(made.trials, (slow, fast), strict=True):
        assert trial.result.calls_whole_run == len(log)
        assert trial.slices is not None
        length_s, measured_s = trial.slices.length_s, trial.slices.count * trial.slices.length_s
        assert measured_s == pytest.approx(3.0, abs=length_s / 2)
        assert trial.result.window_s == pytest.approx(measured_s)


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_a_run_in_slices_has_a_cell_and_a_folder_for_each_service(tmp_path: Path) -> None:
    made = run(tmp_path)
    assert made.planned == len(made.trials) == 4
    assert not made.incomplete
    assert {cell.point.stack: len(cell.measured) for cell in cells(made.trials)} == {
        "rest@rust": 2,
        "grpc@rust": 2,
    }
    lines = journal.read(made.folder / journal.NAME).lines
    assert [len(line) for line in lines] == [2, 2]
    for trial in made.trials:
        assert trial.result.errors == 0
        assert trial.service.cpu_window_s is not None
        assert trial.client_cpu_s() > 0
        assert (made.folder / "trials" / trial.id / "histograms.hlog").is_file()
        assert (made.folder / "trials" / trial.id / "service.json").is_file()
    seconds = sum(trial.seconds for trial in made.trials)
    assert made.trials[0].seconds == made.trials[1].seconds < seconds / 2
    assert main(["report", str(made.folder)]) == 0
    page = (made.folder / "report.html").read_text(encoding="utf-8")
    lengths = {trial.slices.length_s for trial in made.trials if trial.slices}
    assert min(lengths) >= 0.05
    assert f"in slices of {format_seconds(min(lengths))}" in page


def _slices(count: int, length_s: float, drain_s: float) -> list[SliceEdges]:
    """Slices of one of two services."""
    ns = 10**9
    begins = [round(2 * number * (1.1 * length_s + drain_s) * ns) for number in range(count)]
    starts = [began + round(0.1 * length_s * ns) for began in begins]
    ends = [start + round(length_s * ns) for start in starts]
    return [
        SliceEdges(
            group=0,
            began_ns=began,
            start_ns=start,
            end_ns=end,
            drained_ns=end + round(drain_s * ns),
            cpu_ns=0,
            spin_ns=0,
        )
        for began, start, end in zip(begins, starts, ends, strict=True)
    ]


def test_slices_need_twenty_calls_and_ten_times_their_drain() -> None:
    assert find_shortfall(_slices(10, 0.1, 0.009), 200) is None
    for made, calls, needed_s, said in (
        (_slices(10, 0.1, 0.02), 10_000, 0.2, "calls take 20 ms at the end of a slice"),
        (_slices(10, 0.1, 0.001), 50, 0.4, "a slice has 5 calls"),
    ):
        length_s, reason = find_shortfall(made, calls) or (0.0, "")
        assert reason == said
        assert length_s == pytest.approx(needed_s)
    # Users in step have their replies just before each slice ends.
    length_s, reason = find_shortfall(_slices(10, 0.1, 0.003), 400, call_s=0.02) or (0.0, "")
    assert reason == "calls take 20 ms"
    assert length_s == pytest.approx(0.2)
    # A single call that took long decides nothing.
    one_slow = [*_slices(9, 0.1, 0.001), *_slices(1, 0.1, 0.2)]
    assert find_shortfall(one_slow, 10_000) is None


@pytest.mark.parametrize(("services", "length_s"), [(2, 0.1), (6, 0.1), (6, 1.5)])
def test_an_engine_may_take_as_long_as_all_slices(services: int, length_s: float) -> None:
    """The time of every slice with its beginning and its whole drain, of every service."""
    group = {
        "name": "main",
        "target": "127.0.0.1:9",
        "stack": {"binding": "rest"},
        "workload": {"kind": "http", "method": "GET", "path": "/"},
        "load": {"kind": "closed", "users": 1},
        "window": {"duration_s": 3.0},
        "warmup": {"min_s": 15.0, "max_s": 17.0},
        "timeout_s": 10.0,
        "drain_s": 10.0,
    }
    slices = {"length_s": length_s, "skip_s": 0.1 * length_s, "drain_s": 0.25}
    made = msgspec.convert({"groups": [group] * services, "slices": slices}, Plan)
    longest = 17.0 + services * 3.0 / length_s * (1.1 * length_s + 0.25) + 10.0
    assert limit_seconds(made) > longest
    alone = msgspec.convert({"groups": [group]}, Plan)
    assert limit_seconds(alone) == pytest.approx(17.0 + 3.0 + 20.0 + MARGIN_S)


def test_a_setting_keeps_the_length_that_its_trials_showed() -> None:
    planned = plan(loads=[{"closed": {"users": 1}}, {"closed": {"users": 8}}])
    (one, other, *_), lengths = planned.trials, SliceLengths(0.1)
    assert one.cells != other.cells
    lengths.note(one, SliceTooShort("long", 0.3))
    assert (lengths.of(one), lengths.of(other)) == (0.3, 0.1)
    assert lengths.reason(one) == "long"
    outlasted = SliceTooShort("one call outlasted", None, is_chance=True)
    lengths.note(one, outlasted)
    assert lengths.of(one) == 0.3
    lengths.note(one, outlasted)
    assert lengths.of(one) is None


@pytest.mark.parametrize("idle", [0.0, 0.02, 0.4])
def test_cpu_used_while_others_are_called_is_found_between_samples(idle: float) -> None:
    """A service that uses 0.8 of a core while it is called, sampled every 51 ms."""
    own = [(edges.began_ns, edges.drained_ns) for edges in _slices(20, 0.1, 0.001)]
    whole = (own[0][0], own[-1][1])

    def cpu_s(at_ns: int) -> float:
        called = sum(max(0, min(end, at_ns) - min(begin, at_ns)) for begin, end in own)
        return (0.8 * called + idle * (at_ns - called)) / 1e9

    samples = [Sample(at, cpu_s(at)) for at in range(0, whole[1] + 1, 51_000_000)]
    assert estimate_idle_cpu(samples, own, whole) == pytest.approx(idle, abs=1e-6)
    assert estimate_idle_cpu(samples[:2], own, whole) is None


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_slices_are_longer_where_calls_are(tmp_path: Path) -> None:
    """By Little's law, rate and response time agree with the number of users. Slices of 50 ms would
    have half of the rate: nearly as many calls end after a slice as within it."""
    services = [server(tmp_path, "slow", 0.02), server(tmp_path, "fast", 0.001)]
    keys = {"window": {"duration": "2 s"}, "loads": [{"closed": {"users": 8}}]}
    made = run(tmp_path, services=services, messages=[], **keys)
    assert [trial.status for trial in made.trials] == ["measured"] * 4
    for trial in made.trials:
        assert trial.slices is not None
        assert 0.2 <= trial.slices.length_s <= 0.4
        assert trial.slices.count >= 5
        users = trial.result.rate_per_s * trial.result.times["response"].mean_ns / 1e9
        assert users == pytest.approx(8, rel=0.1)
        assert (trial.result.ended or 0) >= trial.result.ok


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_a_service_that_computes_while_another_is_called_is_marked(tmp_path: Path) -> None:
    services = [server(tmp_path, "spinning", 0.001, spins=True), server(tmp_path, "fast", 0.001)]
    keys = {"slice": "200 ms", "window": {"duration": "2 s"}, "loads": [{"closed": {"users": 4}}]}
    made = run(tmp_path, services=services, messages=[], repeats=1, **keys)
    outcomes = {
        trial.point.stack: check.outcome
        for trial in made.trials
        for check in trial.checks
        if check.name == "idle CPU"
    }
    assert outcomes == {"spinning": "marked", "fast": "ok"}


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_calls_that_outlast_a_slice_are_measured_apart_and_marked(tmp_path: Path) -> None:
    services = [server(tmp_path, "hanging", 0.4), server(tmp_path, "fast", 0.001)]
    window = {"duration": "500 ms"}
    made = run(tmp_path, services=services, messages=[], repeats=1, window=window)
    for trial in made.trials:
        assert trial.status == "measured"
        assert trial.result.ok > 0
        assert trial.slices is None
        (check,) = [check for check in trial.checks if check.name == "slices"]
        assert check.outcome == "not-measurable"
        assert "measured apart" in check.reason
    assert (made.folder / "trials").is_dir()


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_compare_lets_services_take_turns_where_they_can(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--size", "14 B", "--pairs", "2", "--duration", "200ms", "--warmup", "50ms"]
    words = ["compare", "rest@rust", "grpc@rust", *options]
    main([*words, "--out", str(tmp_path / "a")])
    lines = journal.read(tmp_path / "a" / journal.NAME).lines
    assert [len(line) for line in lines] == [2, 2]
    capsys.readouterr()
    main([*words, "--rate", "200", "--out", str(tmp_path / "b")])
    lines = journal.read(tmp_path / "b" / journal.NAME).lines
    assert [len(line) for line in lines] == [1] * 4
    assert "one service at a time: " in " ".join(capsys.readouterr().err.split())
    manifest = json.loads((tmp_path / "b/manifest.json").read_text(encoding="utf-8"))
    assert manifest["experiment"]["design"] == "trials"


def test_a_trial_is_repeated_if_one_of_its_cells_was_spoilt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, other, *_ = trials(World())
    line = (first, replace(first, id=cell_id(first.id, 1), point=other.point))
    book = journal.Journal(tmp_path / journal.NAME)
    book.append(*line)
    monkeypatch.setattr(repeating, "spoilt_by", lambda cell: "noise" if cell is line[1] else "")
    assert find_spoilt(book, line) == "noise"
    assert find_done(book, False, repeat_spoilt=True) == set()
    assert find_done(book, False, repeat_spoilt=False) == {first.id}
