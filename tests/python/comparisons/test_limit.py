"""The limit of a service whose capacity is known, found by real trials; and what is refused."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.python.synthetic_ladder import trial
from wirelab.cli import main
from wirelab.cli.output import limit as output
from wirelab.comparisons.limit import LimitAnswer, LimitQuestion, Objective, _Bench, limit
from wirelab.comparisons.steady_limit import SteadyLimit, TooFewCalls, Windows, find_limit
from wirelab.errors import UsageError
from wirelab.explain.cell_selector import CellSelector
from wirelab.records.load import LoadRecord
from wirelab.records.trial import Trial
from wirelab.run.progress import Silent

SERVER = Path(__file__).parents[1] / "queue_server.py"
COMMAND = f"{sys.executable} {SERVER} {{port}} 2 10"
CAPACITY = 200.0
"""Two workers of 10 ms each."""


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_the_capacity_of_a_queue_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In windows of two seconds a queue of 60 ms means 6 % too many, and the 400 arrivals of a
    window vary by 5 %: within 25 %."""
    out = tmp_path / "limit"
    command = ["limit", "--command", COMMAND, "--objective", "p50<60ms, errors<1%"]
    command += ["--duration", "2s", "--window-max", "2s", "--probes", "8", "--out", str(out)]
    assert main([*command, "--no-curve", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["limit_per_s"] == pytest.approx(CAPACITY, rel=0.25)
    assert document["low_per_s"] < document["limit_per_s"] < document["high_per_s"]
    probes = document["probes"]
    assert len(probes) == 8
    assert all(probe["met"] for probe in probes if probe["rate_per_s"] < 0.7 * CAPACITY)
    assert not any(probe["met"] for probe in probes if probe["rate_per_s"] > 1.5 * CAPACITY)
    # The same command measures no probe twice; the curve comes on top.
    files = sorted(out.glob("probe-*/trials.jsonl"))
    before = [file.read_text(encoding="utf-8") for file in files]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert [file.read_text(encoding="utf-8") for file in files] == before
    assert "p50<60ms, errors<1% holds up to" in " ".join(shown.split())
    assert "150 %" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_an_objective_is_read() -> None:
    objective = Objective.parse("p99<50ms, errors<0.1%, rate>100")
    assert [one.text for one in objective.conditions] == ["p99<50ms", "errors<0.1%", "rate>100"]
    assert [one.above for one in objective.conditions] == [True, True, False]


@pytest.mark.parametrize(
    "text",
    ["", "p99", "p99<", "p99<50", "nosuch<5ms", "errors<-x", "p99>5ms", "rate<9", "errors>1%"],
)
def test_an_invalid_objective_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        Objective.parse(text)
    assert "--fail-if" not in str(refused.value)


def test_an_objective_is_named_as_given() -> None:
    with pytest.raises(UsageError, match="--objective 'p99<50': '50' is not a limit"):
        Objective.parse("p99<50")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "no service given"),
        (
            ("rest@rust", "--command", "true"),
            "--command and the argument SERVICE exclude each other",
        ),
        (("nosuch.yaml",), "cannot be read"),
    ],
)
def test_invalid_services_are_refused(
    words: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "limit"
    assert main(["limit", *words, "--objective", "p99<1s", "--out", str(out)]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not out.exists()


def test_a_file_takes_the_duration_of_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A service that answers nothing well ends the search before it begins; its window shows it."""
    file = tmp_path / "one.yaml"
    file.write_text(
        "name: one\nservices: [{name: closed, url: 'http://127.0.0.1:9/'}]\n"
        "loads: [{closed: {users: 1}}]\n"
    )
    out = tmp_path / "limit"
    words = ["limit", str(file), "--objective", "p50<1s", "--duration", "300ms"]
    assert main([*words, "--out", str(out)]) != 0
    capsys.readouterr()
    assert "300ms" in (out / "closed" / "experiment.yaml").read_text()
    assert main(["limit", str(file), "--objective", "p50<1s", "--link", "lan"]) == 2
    assert "--link applies only to services named on the command line" in capsys.readouterr().err


def simulate_answers(at_most: float, calls_min: float) -> Callable[..., tuple[Trial, ...]]:
    """In place of trials: p50 is 1 ms up to a rate and 1 s above it; windows of a lower rate than
    ``calls_min`` have too few calls for a percentile."""

    def measure(
        _: _Bench, loads: Sequence[dict[str, Any]], name: str, window_s: float | None = None
    ) -> tuple[Trial, ...]:
        made = []
        for load in loads:
            rate = load.get("poisson", {}).get("rate")
            seconds = 0.001 if rate is None or rate <= at_most else 1.0
            one = trial(CellSelector("rest@rust"), seconds, 1)
            if rate is not None:
                record = LoadRecord(kind="poisson", rate=rate)
                one = replace(one, point=replace(one.point, load=record))
                if rate < calls_min:
                    one = replace(one, result=replace(one.result, times={}))
            made.append(one)
        return tuple(made)

    return measure


QUESTION = LimitQuestion(
    "name: one\nservices: [rest@rust]\nmessages: [{operation: Hello, bytes: 14 B}]\n"
    "loads: [{closed: {users: 1}}]\n"
    "window: {duration: 3 s}\n",
    "no file",
    Objective.parse("p50<100ms"),
    curve=False,
)


def test_rates_with_too_few_calls_are_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The first rate that is asked has too few calls; the limit lies above it."""
    monkeypatch.setattr(_Bench, "measure", simulate_answers(at_most=2_000.0, calls_min=500.0))
    found = limit(QUESTION, tmp_path, Silent())
    assert found.limit.estimate == pytest.approx(2_000.0, rel=0.05)
    assert all(probe.rate >= 500.0 for _, probe in found.found.probes)


def test_a_search_ends_if_no_rate_has_enough_calls(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_Bench, "measure", simulate_answers(at_most=2_000.0, calls_min=1e9))
    with pytest.raises(TooFewCalls, match="longer --duration"):
        limit(QUESTION, tmp_path, Silent())


def show_answer(
    found: SteadyLimit, closed_rate: float, capsys: pytest.CaptureFixture[str], folder: Path
) -> tuple[str, dict[str, Any], int]:
    """What the command prints, its document and its exit code."""
    answer = LimitAnswer(found, closed_rate, engine_bound=False, curve=(), folder=folder)
    code = output.show(answer, QUESTION.objective)
    return " ".join(capsys.readouterr().out.split()), output.document(answer, "p50<100ms"), code


def test_a_limit_that_the_machine_held_up_is_not_measurable(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    made = 0

    def ask(rate: float, _: float) -> bool:
        nonlocal made
        made += 1
        return made <= 16 and rate < 361.0

    found = replace(find_limit(ask, 369.0, Windows(3.0, 3.0), 16), failed_check=180.5, checks=2)
    text, document, code = show_answer(found, 369.0, capsys, tmp_path)
    assert re.match(r"Not measurable: the machine held up \d+ % of the probes\.", text)
    assert (document["measurable"], document["limit_per_s"], code) == (False, None, 5)


def test_a_limit_far_below_the_closed_load_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = find_limit(lambda rate, _: rate < 178.0, 369.0, Windows(3.0, 3.0))
    text, document, code = show_answer(found, 369.0, capsys, tmp_path)
    assert "A closed load reached 369 calls per second; the limit is below 60 % of that." in text
    assert (document["below_closed_rate"], code) == (True, 0)
    text, document, _ = show_answer(found, 200.0, capsys, tmp_path)
    assert "below 60" not in text
    assert not document["below_closed_rate"]


def test_the_answer_names_whether_longer_windows_moved_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = find_limit(lambda rate, _: rate < 361.0, 369.0, Windows(3.0, 24.0))
    text, _, _ = show_answer(found, 369.0, capsys, tmp_path)
    assert "Windows of 12 s and of half that length give the same limit." in text
    moving = replace(found, window_s=24.0, moved=-0.05)
    text, document, _ = show_answer(moving, 369.0, capsys, tmp_path)
    assert "still moved by -5.0 % with windows of 24 s, the longest." in text
    assert (document["settled"], document["window_s"]) == (False, 24.0)
