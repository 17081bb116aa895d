"""Progress lines fit 80 columns, whatever the stack is."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from wirelab.cli.output import verify as verify_output
from wirelab.documents.event import Progress as EngineProgress
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.experiment.matrix import PlannedTrial
from wirelab.format.console import Console, shorten
from wirelab.identity import Admission, Examination, Verdict, Verifier
from wirelab.records.group import GroupResult
from wirelab.records.service import IdentityRecord
from wirelab.records.trial import Check, Trial
from wirelab.run.progress import OnConsole, RemainingWork, TimeLeft, words
from wirelab.stack import manifests

Piped = Callable[[], list[str]]
STUDIES = Path(__file__).parents[3] / "studies"


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def _longest_stack() -> str:
    studies = [yaml.safe_load(path.read_text()) for path in STUDIES.glob("*/study.yaml")]
    return max((str(arm["stack"]) for study in studies for arm in study["arms"].values()), key=len)


def _plan(stack: str) -> PlannedTrial:
    text = yaml.safe_dump(
        {
            "name": "long",
            "services": [stack],
            "messages": [{"operation": "Submit", "bytes": "150 kB"}],
            "loads": [{"closed": {"users": 400}}],
            "links": "routed-wlan",
            "window": {"duration": "1 s"},
            "repeats": 1,
        }
    )
    (trial,) = planning.schedule(experiment_file.parse(text), manifests.load()).trials
    return replace(trial, repeat=12)


@pytest.fixture
def longest() -> PlannedTrial:
    stack = _longest_stack()
    assert len(stack) > 160, "the longest stack of a study"
    return _plan(stack)


def _finish(planned: PlannedTrial, **values: Any) -> Trial:
    return Trial(
        id=planned.id,
        point=planned.cell.point,
        repeat=planned.repeat,
        order=0,
        **{
            "seconds": 3_599.0,
            "status": "measured",
            "result": GroupResult(rate_per_s=123_456.0),
            **values,
        },
    )


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Piped:
    """What was printed on standard output, which is a pipe of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    return lambda: capsys.readouterr().out.splitlines()


def test_a_line_of_the_longest_stack_fits_and_keeps_its_figures(
    longest: PlannedTrial, piped: Piped
) -> None:
    progress = OnConsole(Console())
    progress.begin(RemainingWork([3_599.0] * 1_000, at_most=True))
    progress.trial(longest)
    progress.end_trial(_finish(longest))
    announced, line = piped()
    assert announced.startswith("1,000 trials, at most about")
    assert len(line) <= 80
    assert line.startswith("[1/1000] soap@rust?")
    assert "quickack=off Submit 150 kB" in line
    assert ": 123,456/s, " in line
    assert line.endswith(" left")


def test_a_line_of_a_short_stack_has_every_detail(piped: Piped) -> None:
    progress, planned = OnConsole(Console()), _plan("grpc@rust")
    progress.begin(RemainingWork([10.0, 10.0]))
    progress.trial(planned)
    progress.end_trial(_finish(planned, seconds=10.0))
    assert piped()[-1] == (
        "[1/2] grpc@rust Submit 150 kB on routed-wlan, closed 400: 123,456/s, 10 s left"
    )
    assert words(planned, 80) == ("grpc@rust Submit 150 kB on routed-wlan, closed 400, repeat 12")


def test_details_are_left_out_from_the_end_and_the_stack_keeps_both_ends(
    longest: PlannedTrial,
) -> None:
    shown = [words(longest, width) for width in (90, 70, 50, 30, 10)]
    assert [len(text) for text in shown] == [90, 70, 50, 30, 10]
    assert shown[0].endswith("off Submit 150 kB on routed-wlan, closed 400, repeat 12")
    assert shown[1].endswith("off Submit 150 kB on routed-wlan, closed 400")
    assert shown[2].endswith("off Submit 150 kB")
    assert all(text.startswith("soap@") for text in shown[:4])


def test_a_status_shows_the_phase_of_the_longest_stack(
    longest: PlannedTrial, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(Console, "file", terminal)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    progress = OnConsole(Console())
    progress.begin(RemainingWork([10.0]))
    progress.trial(longest)
    progress.update(
        EngineProgress(phase="measure", calls=1_234_567, errors=3, elapsed_s=1.0, in_flight=1)
    )
    last = terminal.getvalue().rpartition("\n")[2]
    assert last.startswith("soap@rust?")
    assert last.endswith(" · measure, 1,234,567 calls, 3 failed")
    assert len(last) < 80


def test_a_failure_is_folded_and_not_cut(longest: PlannedTrial, piped: Piped) -> None:
    progress = OnConsole(Console())
    reason = "the service was not ready " * 10 + f"(see /var/{'long/' * 20}service.log)"
    progress.begin(RemainingWork([10.0]))
    progress.trial(longest)
    progress.end_trial(_finish(longest, status="failed", reason=reason))
    lines = piped()[1:]
    assert " ".join(" ".join(lines).split()) == f"failed: {longest.id}: {reason}"
    assert [line for line in lines if len(line) > 80] == [f"  /var/{'long/' * 20}service.log)"]


def test_a_verification_of_the_longest_stack_fits(
    longest: PlannedTrial, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []
    monkeypatch.setattr(Verifier, "__init__", lambda *_, **__: None)
    monkeypatch.setattr(Verifier, "find_proof", lambda *_: None)
    monkeypatch.setattr(Verifier, "proof", lambda *_: IdentityRecord())
    nothing: Any = None
    Admission(nothing, nothing).prepare(longest.cell.stack, "transfer", said.append)
    examination = Examination(
        *(str(longest.cell.stack), "transfer", "", "", False, 0, 12.3), exams=()
    )
    verify_output.show_progress(Verdict(examination, ()))
    (ended,) = capsys.readouterr().err.splitlines()
    for line in (*said, ended):
        assert len(line) <= 80
        assert "soap@rust" in line
    assert said[0].endswith(", contract transfer")
    assert ended.endswith(" transfer: FAILS (12.3 s)")


@pytest.mark.parametrize(
    ("width", "shown"),
    [(9, "rest@rust"), (8, "rest…ust"), (3, "r…t"), (2, "r…"), (1, "…"), (0, ""), (-5, "")],
)
def test_the_middle_of_a_longer_text_is_left_out(width: int, shown: str) -> None:
    assert shorten("rest@rust", width) == shown


def test_one_slow_trial_does_not_multiply_the_time_left() -> None:
    """Ten trials of 20 s, of which the first takes five times as long: the time left less than
    doubles, and falls from then on as trials end."""
    left = TimeLeft([20.0] * 10)
    assert left.seconds() == pytest.approx(200.0)
    left.took(100.0)
    shown = [left.seconds()]
    assert 180.0 < shown[0] < 2 * 180.0
    for _ in range(9):
        left.took(20.0)
        shown.append(left.seconds())
    assert shown == sorted(shown, reverse=True)
    assert shown[-1] == 0.0
    # A machine that is slow throughout is soon known.
    slow = TimeLeft([20.0] * 30)
    for _ in range(12):
        slow.took(60.0)
    assert slow.seconds() == pytest.approx(18 * 60.0, rel=0.2)


def test_a_trial_that_overruns_takes_nothing_from_the_others() -> None:
    left = TimeLeft([10.0, 10.0, 10.0])
    assert left.seconds(4.0) == pytest.approx(26.0)
    assert left.seconds(10.0) == left.seconds(500.0) == pytest.approx(20.0)


@pytest.mark.parametrize(
    ("values", "checks", "words"),
    [
        ({"calls": 100, "ok": 100}, (), ""),
        ({"calls": 100, "ok": 97, "errors": 3}, (), "3 calls failed"),
        (
            {"calls": 9, "ok": 0, "errors": 9, "rate_per_s": 0.0},
            (),
            "no good call (9 calls failed)",
        ),
        ({"calls": 0, "ok": 0, "rate_per_s": 0.0}, (), "no good call"),
        ({"calls": 100, "ok": 100}, ("kept up",), "load not kept"),
        ({"calls": 100, "ok": 100}, ("achieved rate",), "load not kept"),
        ({"calls": 100, "ok": 100}, ("steal time",), ""),
    ],
)
def test_a_line_names_what_is_wrong_while_the_run_can_be_stopped(
    values: dict[str, Any], checks: tuple[str, ...], words: str, piped: Piped
) -> None:
    progress, planned = OnConsole(Console()), _plan("grpc@rust")
    progress.begin(RemainingWork([10.0, 10.0]))
    progress.trial(planned)
    result = GroupResult(**{"rate_per_s": 50.0, **values})
    marks = tuple(Check(name, "marked", "why") for name in checks)
    progress.end_trial(_finish(planned, seconds=10.0, result=result, checks=marks))
    line = piped()[-1]
    rate = "0/s" if values.get("rate_per_s") == 0.0 else "50/s"
    assert line.endswith(f": {rate}, {words}, 10 s left" if words else f": {rate}, 10 s left")


def test_a_comparison_announces_its_largest_number_of_trials(piped: Piped) -> None:
    OnConsole(Console()).begin(RemainingWork([5.0] * 60, ends_early=True))
    assert piped() == ["at most 60 trials, at most about 5 min 0 s"]


def test_a_build_shows_the_time_that_is_left_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(Console, "file", terminal)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    progress = OnConsole(Console())
    progress.begin(RemainingWork([30.0, 30.0]))
    progress.building("building the service in go: 34 s, 36 s left; 212 packages")
    shown = terminal.getvalue().rpartition("\n")[2]
    assert "building the service in go: 34 s" in shown
    assert shown.endswith("; then 1 min 0 s left")
    assert len(shown) < 100


def test_stacks_have_the_names_of_the_report(longest: PlannedTrial, piped: Piped) -> None:
    progress = OnConsole(Console())
    names = {longest.cell.point.stack: "soap@rust quickack=off"}
    progress.begin(RemainingWork([10.0], names=names))
    progress.trial(longest)
    progress.end_trial(_finish(longest))
    assert "] soap@rust quickack=off Submit 150 kB: " in piped()[-1]
