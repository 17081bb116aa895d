"""A comparison in pairs: its verdict, its formats, and real runs that stop by themselves."""

from __future__ import annotations

import html
import json
import math
import re
import shutil
import statistics
import sys
import xml.etree.ElementTree as xml
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest

from tests.python.synthetic_run import GRPC, REST, World, fail_trial, trials, with_result, write_run
from wirelab.checks.load import KEPT_UP, check
from wirelab.cli import main
from wirelab.cli.options.common import Share
from wirelab.cli.output.compare import EXIT_BY_OUTCOME, document, find_marks, show
from wirelab.comparisons import outputs
from wirelab.comparisons.gate import FAILED_MAX, further_pairs, gate, is_enough, is_precise, pairs
from wirelab.comparisons.pairs import Answer
from wirelab.format.numbers import quantity
from wirelab.records.trial import Check, Trial
from wirelab.report.page import write_page
from wirelab.report.source import Source
from wirelab.run.directory import read_manifest
from wirelab.run.finished import Run
from wirelab.run.manifest import Comparison
from wirelab.statistics.cell import cells, point_key
from wirelab.statistics.figure import RATE, RESPONSE_P50, SERVICE_CPU, Figure

WORLD = World(sizes=(14,), loads=({"kind": "closed", "users": 8},), repeats=12)
NAMES = ("rest@rust", "grpc@rust")


def keys(every: list[Trial]) -> tuple[str, str]:
    by = {cell.point.stack: point_key(cell.point) for cell in cells(every)}
    return by[REST], by[GRPC]


def test_a_difference_is_worse_or_better_by_its_figure() -> None:
    """gRPC takes 84 µs per call, REST 60."""
    every = trials(WORLD)
    rest, grpc = keys(every)
    assert gate(every, (rest, grpc), SERVICE_CPU, 0.03).outcome == "worse"
    assert gate(every, (grpc, rest), SERVICE_CPU, 0.03).outcome == "better"
    found = gate(every, (rest, grpc), RATE, 0.03)
    assert found.outcome == "worse"
    assert found.verdict.outcome == "lower"
    low, high = found.ratio.bounds or (math.nan, math.nan)
    assert low < high < 1.0


def test_equal_services_are_equivalent() -> None:
    every = trials(replace(WORLD, repeats=40, call_us={REST: 60.0, GRPC: 60.0}, spread=0.01))
    found = gate(every, keys(every), SERVICE_CPU, 0.05)
    assert found.outcome == "equivalent"
    assert is_enough(found)


def test_a_pair_without_its_other_half_is_not_counted() -> None:
    every = trials(WORLD)
    alone = [trial for trial in every if trial.repeat != 3 or trial.point.stack == REST]
    assert len(pairs(alone, keys(every), RATE).a) == WORLD.repeats - 1


@pytest.mark.parametrize("broken", [1, 2])
def test_a_comparison_without_a_measured_pair_has_failed(
    broken: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = trials(replace(WORLD, repeats=broken))
    every = [
        fail_trial(one, "the service broke") if one.point.stack == GRPC else one for one in whole
    ]
    found = gate(every, keys(every), RATE, 0.03)
    assert found.outcome == "failed"
    assert EXIT_BY_OUTCOME[found.outcome] == 1
    # The next pair may be measured.
    assert not is_enough(found)
    pairs_failed = "1 pair failed" if broken == 1 else "2 pairs failed"
    words = f"Nothing was measured: {pairs_failed} (the service broke)."
    assert outputs.sentence(found, NAMES) == words
    show(Answer(found, NAMES, Run(tmp_path, tuple(every))), tmp_path / "report.html")
    assert words in " ".join(capsys.readouterr().out.split())


def test_services_that_are_not_installed_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    every = trials(WORLD)
    found = gate([one for one in every if one.point.stack == REST], keys(every), RATE, 0.03)
    assert found.outcome == "failed"
    assert not is_enough(found)
    run = Run(tmp_path, (), unavailable=("not measured: no Go",))
    show(Answer(found, NAMES, run), tmp_path / "report.html")
    printed = capsys.readouterr().out
    assert "Nothing was measured: no pair has trials of both services." in printed
    assert "not measured: no Go" in printed


def test_an_undecided_comparison_names_the_pairs_that_may_decide() -> None:
    same = {REST: 60.0, GRPC: 60.0}
    every = trials(replace(WORLD, repeats=6, call_us=same, spread=0.02))
    found = gate(every, keys(every), SERVICE_CPU, 0.03)
    assert found.outcome == "undecided"
    more = further_pairs(found)
    assert more is not None
    said = outputs.sentence(found, NAMES)
    assert said.startswith("Undecided: grpc@rust against rest@rust in ")
    noun = "pair" if more == 1 else "pairs"
    assert said.endswith(f"6 pairs), about {more} more {noun} may decide (--pairs).")
    # Nobody knows how a single pair varies.
    alone = gate([one for one in every if one.repeat == 1], keys(every), SERVICE_CPU, 0.03)
    assert outputs.sentence(alone, NAMES).endswith("; 1 pair).")


def test_a_mark_is_next_to_its_figure_in_every_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Replies that waited for the client are in response times, and use none of the CPU."""
    every = [late(one) if one.point.stack == GRPC else one for one in trials(WORLD)]
    run = Run(tmp_path, tuple(every))

    def show_outputs(figure: Figure) -> tuple[str, str, object]:
        answer = Answer(gate(every, keys(every), figure, 0.03), NAMES, run)
        show(answer, tmp_path / "report.html")
        text = " ".join(capsys.readouterr().out.split())
        table = outputs.markdown(answer.gate, NAMES, find_marks(answer))
        return text, table, document(answer, tmp_path)["marks"]

    text, table, marks = show_outputs(RESPONSE_P50)
    assert "grpc@rust: response p50 is marked: engine backlog, up to 50 %;" in text
    assert re.search(r"s \| [\d.]+ .?s \(engine backlog, up to 50 %\) \|", table), table
    assert marks == {"a": "", "b": "engine backlog, up to 50 %"}
    text, table, marks = show_outputs(SERVICE_CPU)
    assert "marked" not in text
    assert "backlog" not in table
    assert marks == {"a": "", "b": ""}


def late(given: Trial) -> Trial:
    """The trial with every reply waiting for the client for half of its response time."""
    response = given.result.times["response"]
    half = replace(
        response,
        mean_ns=response.mean_ns / 2,
        percentiles_ns={name: ns // 2 for name, ns in response.percentiles_ns.items()},
    )
    made = with_result(given, times={**given.result.times, "backlog": half})
    return replace(made, checks=check(replace(made, checks=())))


@pytest.mark.parametrize("broken", [FAILED_MAX - 1, FAILED_MAX])
def test_a_comparison_with_measured_pairs_fails_by_the_third_failed_one(broken: int) -> None:
    every = trials(replace(WORLD, repeats=FAILED_MAX + 9))
    some = [
        fail_trial(one, "the service broke")
        if one.point.stack == GRPC and one.repeat < broken
        else one
        for one in every
    ]
    found = gate(some, keys(every), RATE, 0.03)
    assert len(found.pairs.failed) == broken
    assert (found.outcome == "failed") is (broken == FAILED_MAX)


def _overload(every: list[Trial], stacks: tuple[str, ...], repeats: range) -> list[Trial]:
    mark = Check(KEPT_UP, "marked", "calls piled up")
    return [
        replace(one, checks=(mark,))
        if one.point.stack in stacks and one.repeat in repeats
        else replace(one, checks=())
        for one in every
    ]


@pytest.mark.parametrize(
    ("stacks", "repeats", "ends"),
    [
        ((REST, GRPC), range(6), True),
        # One pair that kept up, or one service that does, is worth more pairs.
        ((REST, GRPC), range(5), False),
        ((GRPC,), range(6), False),
    ],
)
def test_a_load_that_neither_service_keeps_ends_the_comparison(
    stacks: tuple[str, ...], repeats: range, ends: bool
) -> None:
    same = {REST: 60.0, GRPC: 60.0}
    every = _overload(trials(replace(WORLD, repeats=6, call_us=same, spread=0.02)), stacks, repeats)
    found = gate(every, keys(every), SERVICE_CPU, 0.03)
    assert found.outcome == "undecided"
    assert is_enough(found) is ends
    assert is_precise(found, 0.0001) is ends
    said = " ".join(outputs.sentences(found, NAMES))
    assert ("Neither service kept up with the arrivals in any of 6 pairs" in said) is ends
    assert ("more pair" in outputs.sentence(found, NAMES)) is not ends
    few = gate([one for one in every if one.repeat < 4], keys(every), SERVICE_CPU, 0.03)
    assert not is_enough(few)


def test_pairs_that_fail_end_the_comparison() -> None:
    every = trials(WORLD)
    broken = [
        fail_trial(one, "the service broke") if one.point.stack == GRPC else one for one in every
    ]
    found = gate(broken, keys(every), RATE, 0.03)
    assert len(found.pairs.failed) == WORLD.repeats >= FAILED_MAX
    assert found.outcome == "failed"
    assert is_enough(found)
    assert "the service broke" in outputs.sentence(found, NAMES)
    document: Any = found.to_json()
    assert document["ratio"]["estimate"] is None
    assert xml.fromstring(outputs.junit(found, NAMES)).get("errors") == "1"


def test_a_service_whose_calls_fail_is_worse_whatever_the_others_cost() -> None:
    """Every tenth call of gRPC fails, and those that end well are as fast as before."""
    every = [
        with_result(one, errors=one.result.calls // 10) if one.point.stack == GRPC else one
        for one in trials(replace(WORLD, call_us={REST: 84.0, GRPC: 42.0}))
    ]
    rest, grpc = keys(every)
    assert gate(every, (rest, grpc), SERVICE_CPU, 0.03).outcome == "worse"
    assert gate(every, (grpc, rest), SERVICE_CPU, 0.03).outcome != "better"
    assert "failed, compared with 0 of" in outputs.sentence(
        gate(every, (rest, grpc), SERVICE_CPU, 0.03), NAMES
    )


def test_the_formats_have_the_same_content() -> None:
    every = trials(WORLD)
    found = gate(every, keys(every), RATE, 0.03)
    page = outputs.markdown(found, ("a|b", "grpc@rust"))
    assert page.startswith("### ❌ successful calls: worse")
    assert r"a\|b" in page
    assert "differences up to 3 % count as equivalent" in page
    suite = xml.fromstring(outputs.junit(found, NAMES))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("1", "1", "0")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == outputs.sentence(found, NAMES)
    document = json.loads(outputs.bencher(found, NAMES))
    rate = document["grpc@rust"]["rate"]
    assert rate["lower_value"] < rate["value"] < rate["upper_value"]
    assert document["rest@rust"]["rate"]["value"] > rate["value"]


def test_the_page_of_a_comparison_has_its_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`wirelab report` writes the answer too, and A is the service that was given first."""
    every = trials(WORLD)
    run = write_run(tmp_path / "run", every)
    plain = write_page(run).read_text(encoding="utf-8")
    assert "worse than" not in plain
    comparison = Comparison("rate", 0.03, keys(every), (REST, GRPC), NAMES)
    manifest = msgspec.structs.replace(read_manifest(run), comparison=comparison)
    (run / "manifest.json").write_text(manifest.text(), encoding="utf-8")
    assert main(["report", str(run)]) == 0
    page = (run / "report.html").read_text(encoding="utf-8")
    found = gate(every, keys(every), RATE, 0.03)
    assert "Is grpc@rust worse than rest@rust?" in page
    assert outputs.sentence(found, NAMES) in " ".join(capsys.readouterr().out.split())
    assert html.escape(outputs.sentence(found, NAMES)) in page
    assert outputs.mean(found.pairs.a, found) in page
    assert [entry.look.letter for entry in Source.read(run).legend.values()] == ["A", "B"]
    assert list(Source.read(run).legend) == [REST, GRPC]
    changed = msgspec.structs.replace(comparison, figure="nosuch")
    manifest = msgspec.structs.replace(manifest, comparison=changed)
    (run / "manifest.json").write_text(manifest.text(), encoding="utf-8")
    assert "worse than" not in write_page(run).read_text(encoding="utf-8")


def test_the_terminal_shows_the_means_of_the_ratio(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    every = trials(replace(WORLD, repeats=7, spread=0.2))
    found = gate(every, keys(every), RATE, 0.03)
    show(Answer(found, NAMES, Run(tmp_path, tuple(every))), tmp_path / "report.html")
    printed = capsys.readouterr().out.splitlines()
    lines = [line for line in printed if "geometric mean of the pairs" in line]
    assert len(lines) == len(NAMES)
    for line, name, values in zip(lines, NAMES, (found.pairs.a, found.pairs.b), strict=True):
        mean = quantity(statistics.geometric_mean(values), "1/s")
        assert line.split("  ")[0] == name
        assert f" {mean}  geometric mean of the pairs" in line
        assert f" {mean} |" in outputs.markdown(found, NAMES)


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_a_real_difference_stops_early_and_fails_the_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A text of 3 MB against one of 14 B makes fewer calls, whatever the machine does."""
    text = (
        "name: sizes\nservices: [rest@rust]\n"
        "messages: [{operation: Hello, bytes: 14 B}, {operation: Hello, bytes: 3 MB}]\n"
        "loads: [closed: {users: 2}]\nwindow: {duration: 200 ms}\n"
        "warmup: {min: 50 ms, max: 100 ms}\n"
    )
    file = tmp_path / "sizes.yaml"
    file.write_text(text, encoding="utf-8")
    markdown = tmp_path / "result.md"
    out = tmp_path / "run"
    command = ["compare", str(file), "--pairs", "20", "--out", str(out)]
    assert main([*command, "--markdown", str(markdown)]) == 1
    assert "is worse than" in " ".join(capsys.readouterr().out.split())
    lines = (out / "trials.jsonl").read_text(encoding="utf-8").splitlines()
    made = [line for line in lines if '"point"' in line]
    assert 10 <= len(made) < 40
    assert markdown.read_text(encoding="utf-8").startswith("### ❌")
    page = (out / "report.html").read_bytes()
    assert b"worse than" in page
    main(["report", str(out)])
    assert (out / "report.html").read_bytes() == page
    capsys.readouterr()
    # The same command goes on where nothing is left to do.
    assert main([*command, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["pairs"] == len(made) // 2
    assert len(lines) == len((out / "trials.jsonl").read_text(encoding="utf-8").splitlines())


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_two_commands_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both are Python's own server; two pairs decide nothing."""
    server = "python3 -m http.server {port} --bind 127.0.0.1"
    command = ["compare", "--a", server, "--b", server, "--pairs", "2", "--duration", "200ms"]
    assert main([*command, "--users", "2", "--out", str(tmp_path / "run")]) == 5
    assert "Undecided: " in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_paths_in_a_file_start_from_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    shutil.copy(Path(__file__).parents[1] / "queue_server.py", folder / "server.py")
    command = [sys.executable, "server.py", "{port}", "8"]
    services = [
        {"name": name, "command": [*command, busy], "cwd": ".", "http": {"path": "/"}}
        for name, busy in (("quick", "0.1"), ("slow", "20"))
    ]
    question = {
        "name": "queues",
        "services": services,
        "loads": [{"closed": {"users": 4}}],
        "window": {"duration": "200 ms"},
        "warmup": {"min": "50 ms", "max": "100 ms"},
    }
    (folder / "question.yaml").write_text(json.dumps(question), encoding="utf-8")
    out = str(tmp_path / "run")
    assert main(["compare", str(folder / "question.yaml"), "--out", out, "--pairs", "8"]) == 1
    assert "slow is worse than quick" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rest@rust",), "compare needs a second service"),
        (("http://127.0.0.1:1/",), "compare needs a second service"),
        (("nosuch.yaml",), "cannot be read"),
        (("rest@rust", "grpc@rust", "soap@rust"), "3 services given"),
        ((), "0 services given"),
        (("--a", "true"), "--a and --b need each other"),
        (
            ("rest@rust", "grpc@rust", "--users", "1", "--rate", "5"),
            "--users and --rate exclude each other",
        ),
        (("rest@rust", "grpc@rust", "--figure", "rat"), "Did you mean 'rate'?"),
        (("rest@rust", "rest@rust"), "wirelab: A and B are the same give another service"),
        (("rest@rust", "grpc@rust", "--size", "2"), "wirelab: --size: '2' has no unit"),
        (("rest@rust", "grpc@rust", "--duration", "5"), "wirelab: --duration: '5' has no unit"),
        (("rest@rust", "grpc@rust", "--warmup", "-5s"), "wirelab: --warmup: '-5s' is not a time"),
        (("rest@rust", "grpc@rust", "--operation", "Helo"), "wirelab: --operation: there is no"),
        (
            ("rest@rust", "grpc@rust", "--link", "lna"),
            "wirelab: --link: 'lna' is not a valid value",
        ),
        (("rest@rust", "grpc@rst"), "wirelab: B: grpc@rst: there are no services in 'rst'"),
        (("ftp://x", "grpc@rust"), "wirelab: A: 'ftp://x': unknown scheme"),
        (
            ("http://127.0.0.1:1/", "http://127.0.0.1:1/"),
            "wirelab: A and B are the same URL give another service, or write a file with two",
        ),
        (("--a", "true", "--b", "true", "--path", "x"), "wirelab: --path: String should match"),
        (("--a", "'", "--b", "true"), "No closing quotation"),
        (("--a", "true", "--b", "nosuch {port}"), "--b: there is no program nosuch"),
        (("--a", "./nosuch", "--b", "true"), "--a: there is no program ./nosuch"),
    ],
)
def test_questions_that_cannot_be_asked_are_refused(
    words: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert main(["compare", *words, "--out", str(out)]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not out.exists()


@pytest.mark.parametrize(
    ("option", "key"),
    [
        (["--users", "3"], "loads"),
        (["--rate", "3"], "loads"),
        (["--duration", "5s"], "window"),
        (["--link", "wan"], "links"),
        (["--warmup", "20s"], "warmup"),
        (["--path", "/x"], "services"),
        (["--ready", "/x"], "services"),
        (["--operation", "Hello"], "messages"),
        (["--size", "1kB"], "messages"),
    ],
)
@pytest.mark.parametrize("command", ["compare", "explain"])
def test_an_option_that_a_file_sets_itself_is_refused(
    command: str, option: list[str], key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "two.yaml"
    file.write_text("name: two\n")
    assert main([command, str(file), *option, "--out", str(tmp_path / "run")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"{option[0]} applies only to services named on the command line" in said
    assert f"set `{key}` in the file, or leave {option[0]} out" in said


def test_a_file_without_a_folder_is_found_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, junit = tmp_path / "run", tmp_path / "nosuch" / "junit.xml"
    words = ["compare", "rest@rust", "grpc@rust", "--junit", str(junit), "--out", str(out)]
    assert main(words) == 2
    assert "--junit: cannot create files in the folder" in " ".join(capsys.readouterr().err.split())
    assert not out.exists()


@pytest.mark.parametrize(("text", "share"), [("3%", 0.03), ("0.05", 0.05), ("0", 0.0)])
def test_a_share_is_read_with_and_without_a_percent_sign(text: str, share: float) -> None:
    assert Share().convert(text, None, None) == pytest.approx(share)


@pytest.mark.parametrize("text", ["x%", "", "-1", "101%", "1.5"])
def test_an_invalid_share_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="not a share"):
        Share().convert(text, None, None)
