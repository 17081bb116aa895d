"""Stages and bursts that did not reach their plan are marked, and groups that failed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.python.synthetic_run import REST, World, point, trial
from wirelab.checks import background, periods
from wirelab.checks.load import check
from wirelab.records.group import GroupResult, PeriodResult, Times
from wirelab.records.line import from_line, to_line
from wirelab.records.trial import Check, Json, Trial
from wirelab.report.sections import groups
from wirelab.report.terminal import terminal_table
from wirelab.statistics.cell import Cell

STAGES: Json = {
    "kind": "stages",
    "from": 0.0,
    "stages": [{"to": 100.0, "duration_s": 0.0}, {"to": 100.0, "duration_s": 2.0}],
    "in_flight_max": 8,
}
USERS: Json = {"kind": "closed", "users": 4, "think_s": 0.0, "stages": STAGES["stages"]}
BURSTS: Json = {"kind": "bursts", "calls": 10, "gap_s": 1.0, "in_flight_max": 8}
UPLOADS: Json = {"name": "uploads", "operation": "Submit", "bytes": 9, "load": BURSTS}
PROBE: Json = {"kind": "constant", "rate": 100.0, "in_flight_max": 8, "background": [UPLOADS]}


def _trial(load: Json, *found: PeriodResult) -> Trial:
    made = trial(point(REST, 14, load), 0, 1, World())
    return replace(made, result=replace(made.result, periods=found), checks=())


def _judge(load: Json, *found: PeriodResult) -> Check:
    judged = periods.check(_trial(load, *found))
    assert judged is not None
    return judged


def _stage(sent: int) -> PeriodResult:
    return PeriodResult(0.0, 2.0, calls_planned=200.0, calls=200, sent=sent, ended=sent)


def _users(users: float) -> PeriodResult:
    return PeriodResult(0.0, 2.0, users_planned=4.0, users=users)


def _burst(start_s: float, sent: int, after_s: float) -> PeriodResult:
    return PeriodResult(start_s, 0.0, calls_planned=10.0, sent=sent, sent_after_s=after_s)


@pytest.mark.parametrize(
    ("load", "found", "outcome", "words"),
    [
        (
            STAGES,
            [_stage(200), _stage(196)],
            "ok",
            "of 2 stages, the one from 0 s to 2 s reached the least, 98 of",
        ),
        (
            STAGES,
            [_stage(200), _stage(180)],
            "marked",
            "90 of 100 calls/s, less than 95 %: calls wa",
        ),
        ({**STAGES, "gaps": "exponential"}, [_stage(180)], "ok", "90 of 100 calls/s"),
        ({**STAGES, "gaps": "exponential"}, [_stage(120)], "marked", "60 of 100 calls/s"),
        (USERS, [_users(4.2), _users(3.9)], "ok", "3.9 of 4 users"),
        (USERS, [_users(3.1)], "marked", "3.1 of 4 users, less than 95 %: users did not start"),
        (BURSTS, [_burst(0, 10, 0.1), _burst(1, 10, 0.3)], "ok", "2 bursts sent 20 of 20 calls, "),
        (BURSTS, [_burst(0, 10, 1.2), _burst(1, 10, 0.3)], "marked", "1 still sent calls when"),
        (BURSTS, [_burst(0, 6, 0.1), _burst(1, 7, 0.1)], "marked", "sent 13 of 20 calls"),
        (BURSTS, [], "not-measurable", "the record has no counts of them"),
    ],
)
def test_a_period_below_its_planned_load_is_marked(
    load: Json, found: list[PeriodResult], outcome: str, words: str
) -> None:
    judged = _judge(load, *found)
    assert judged.outcome == outcome, judged
    assert words in judged.reason


def test_loads_that_do_not_change_have_no_such_check() -> None:
    assert periods.check(_trial({"kind": "closed", "users": 4})) is None


def test_a_load_that_changes_is_not_tested_for_stationarity_nor_for_a_limit() -> None:
    names = {found.name for found in check(_trial(USERS, _users(4.0)))}
    assert not names & {"stationarity", "bound", "concurrency"}
    warmup = next(found for found in check(_trial(USERS, _users(4.0))) if found.name == "warm-up")
    assert (warmup.outcome, warmup.reason.split(":")[0]) == ("ok", "none")


def _with_groups(*results: GroupResult) -> Trial:
    made = _trial(PROBE)
    return replace(made, background=results)


def test_groups_next_to_the_probe_are_checked_and_counted() -> None:
    bursts = (_burst(0, 10, 0.1), _burst(1, 10, 0.1))
    good = GroupResult("uploads", "open", 2.0, calls=20, ok=20, ended=20, periods=bursts)
    bad = replace(good, ok=15, errors=5, errors_by_kind={"timeout": 5})
    for result, outcome in ((good, "ok"), (bad, "marked"), (GroupResult("uploads"), "marked")):
        judged = background.check(_with_groups(result))
        assert judged is not None
        assert judged.outcome == outcome, judged
        assert judged.reason.startswith("uploads: ")
    assert background.check(_with_groups()) == Check.unmeasurable(
        "background", "the record has only the probe"
    )
    both = _with_groups(good)
    assert both.count_ended() == both.result.calls + 20
    (read,) = from_line(to_line([both]))
    assert read.background == (good,)
    (probe, uploads) = groups.to_json(Cell(both.point, (both,)))
    assert (probe["name"], uploads["name"]) == ("probe", "uploads")
    assert [one["sent"] for one in uploads["trials"][0]["periods"]] == [10, 10]


def test_a_load_without_groups_or_periods_exports_none() -> None:
    made = _trial({"kind": "closed", "users": 4})
    assert groups.to_json(Cell(made.point, (made,))) == []
    assert "periods" not in to_line([made])["cells"][0]["result"]


def test_the_terminal_shows_groups_below_the_probe() -> None:
    slow = Times(count=20, mean_ns=2e6, max_ns=3_000_000, percentiles_ns={"p50": 2_000_000})
    result = GroupResult("uploads", "open", 2.0, calls=20, ok=18, errors=2, rate_per_s=9.0)
    made = _with_groups(replace(result, times={"response": slow}))
    shown = [line.text for line in terminal_table([made])]
    assert "rest@rust, uploads: 9.00/s, p50 2.00 ms, 2 of 20 calls failed" in shown
