"""Conditions of --fail-if on runs of known figures."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as xml

import pytest

from tests.python.synthetic_run import World, client_bound, fail_some_calls, trials, write_run
from wirelab.cli import main
from wirelab.errors import UsageError
from wirelab.explain import figures
from wirelab.explain.thresholds import Condition, exit_code, judge, junit
from wirelab.statistics.cell import cells

ONE = World(sizes=(14,), loads=({"kind": "closed", "users": 1},), spread=0.01)
"""Two cells whose median response times are near 60 and 84 us, whose rates are their inverse."""


def _verdicts(text: str, world: World = ONE) -> set[str]:
    return {one.verdict for one in judge([Condition.parse(text)], cells(trials(world)))}


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("p50>20ms", "holds"),
        ("p50 >= 20 ms", "holds"),
        ("p50<20ms", "does not hold"),
        ("p50>1us", "does not hold"),
        ("response_p99<1us", "holds"),
        ("rate<1", "holds"),
        ("rps>1,000/s", "does not hold"),
        ("errors>0.1%", "holds"),
        ("success<50%", "holds"),
    ],
)
def test_the_interval_decides(text: str, verdict: str) -> None:
    assert _verdicts(text) == {verdict}


def test_a_limit_within_the_interval_is_undecided() -> None:
    found = cells(trials(ONE))
    rate = Condition.parse("rate<1").figure
    assert rate is not None
    interval = found[0].interval(rate)
    assert interval is not None
    judged = judge([Condition.parse(f"rate<{interval.estimate}")], found[:1])
    assert judged[0].verdict == "undecided"
    assert "95 % interval" in judged[0].reason


def test_one_trial_has_no_interval() -> None:
    world = World(sizes=(14,), loads=ONE.loads, repeats=1)
    (first, _) = judge([Condition.parse("p50>20ms")], cells(trials(world)))
    assert (first.verdict, "one trial" in first.reason) == ("undecided", True)


def test_failed_calls_count_over_all_trials() -> None:
    found = cells([fail_some_calls(trial) for trial in trials(ONE)])
    assert {one.verdict for one in judge([Condition.parse("errors>1%")], found)} == {
        "does not hold"
    }


def test_a_client_at_its_limit_shows_one_side() -> None:
    """Its times are too long and its rates too low: below a limit they are so all the more."""
    found = cells([client_bound(trial) for trial in trials(ONE)])
    for text, verdict in (
        ("p50>20ms", "holds"),
        ("p50>1us", "undecided"),
        ("rate<1", "holds"),
        ("rate<1,000,000", "undecided"),
    ):
        assert {one.verdict for one in judge([Condition.parse(text)], found)} == {verdict}, text


def test_exit_codes_and_junit_name_the_worst() -> None:
    found = cells(trials(ONE))
    holds, fails = Condition.parse("p50>20ms"), Condition.parse("p50>1us")
    unknown = Condition.parse("wire_total>1 kB")
    assert exit_code(judge([holds], found)) == 0
    assert exit_code(judge([holds, unknown], found)) == 5
    judged = judge([holds, fails, unknown], found)
    assert exit_code(judged) == 1
    suite = xml.fromstring(junit("a", judged))
    counted = {key: suite.get(key) for key in ("tests", "failures", "skipped")}
    assert counted == {"tests": "6", "failures": "2", "skipped": "2"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "p99",
        "p99=20ms",
        "p99>",
        "p99>20",
        "speed>1",
        "rate>fast",
        "errors>0",
        "rate>inf",
        "p98>1ms",
    ],
)
def test_an_invalid_condition_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Condition.parse(text)


def test_report_exits_by_its_conditions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(write_run(tmp_path / "run", trials(ONE)))
    file = tmp_path / "junit.xml"
    assert main(["report", folder, "--fail-if", "p50>20ms", "--junit", str(file)]) == 0
    assert xml.fromstring(file.read_text()).get("failures") == "0"
    capsys.readouterr()
    assert main(["report", folder, "--fail-if", "p50>1us", "--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert {one["verdict"] for one in shown["conditions"]} == {"does not hold"}
    assert main(["report", folder, "--fail-if", "p50>20"]) == 2
    assert main(["report", folder, "--junit", str(file)]) == 2
    assert main(["report", folder, "--fail-if", "p50>1ms", "--junit", "/nowhere/x.xml"]) == 2


@pytest.mark.parametrize("name", ["ttfm.p99", "lateness.p50", "delivery.max", "stall.mean"])
def test_times_of_streams_are_figures_by_name(name: str) -> None:
    figure = figures.require_figure(name)
    assert (figure.name, figure.unit, figure.better) == (name, "ns", "lower")
    with pytest.raises(UsageError):
        figures.require_figure(f"{name}9")
