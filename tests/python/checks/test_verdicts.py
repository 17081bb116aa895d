"""Each check marks what it is there for, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.python.synthetic_run import GRPC, REST, World, point, trial, with_result
from wirelab.checks.load import check, client_bound, find_marks
from wirelab.documents.axes import Axes
from wirelab.records.caller import CallerRecord
from wirelab.records.group import GroupResult, Times
from wirelab.records.line import from_line, to_line
from wirelab.records.link import PlacementRecord
from wirelab.records.service import ServiceRecord
from wirelab.records.trial import Check, Json, Trial
from wirelab.statistics.figure import BYTES_RECEIVED, BYTES_SENT, CLIENT_CPU, SERVICE_CPU

CLOSED: Json = {"kind": "closed", "users": 10}
OPEN: Json = {"kind": "constant", "rate": 12_000.0, "in_flight_max": 64}


def sound(load: Json = CLOSED, stack: str = REST) -> Trial:
    """A trial that nothing is to be said against."""
    return replace(trial(point(stack, 14, load), 0, 1, World()), checks=())


def change_part(given: Trial, part: str, **values: Any) -> Trial:
    """The trial with figures of one part replaced."""
    if part == "result":
        return with_result(given, **values)
    changed_part: Any = replace(getattr(given, part), **values)
    return replace(given, **{part: changed_part})


def with_axes(given: Trial, **values: str) -> Trial:
    """The trial at another point of the axis table."""
    axes = Axes.of({**given.point.axes.texts, **values})
    return replace(given, point=replace(given.point, axes=axes))


def change_times(given: Trial, which: str, **percentiles: int) -> Trial:
    """The trial with percentiles of one time replaced; ``p99_9`` stands for ``p99.9``."""
    times = given.result.times
    named = {name.replace("_", "."): value for name, value in percentiles.items()}
    one = replace(times[which], percentiles_ns={**times[which].percentiles_ns, **named})
    return change_part(given, "result", times={**times, which: one})


def find_check(given: Trial, name: str) -> Check:
    """The check of that name."""
    return next(found for found in check(given) if found.name == name)


@pytest.mark.parametrize("load", [CLOSED, OPEN])
@pytest.mark.parametrize("stack", [REST, GRPC])
def test_a_sound_trial_is_ok(load: Json, stack: str) -> None:
    """Nothing is marked; every reason has words."""
    for found in check(sound(load, stack)):
        if found.name == "connections" and load is OPEN:
            assert found.outcome == "not-measurable"
            continue
        assert found.outcome == "ok", found
        assert found.reason


def test_a_failed_trial_has_no_checks() -> None:
    """There is nothing to believe or not."""
    assert check(replace(sound(), status="failed", reason="x")) == ()


def test_sequences_are_held_to_the_plan_by_their_own_number() -> None:
    """Of four calls of a sequence one is an arrival."""
    given = sound(OPEN)
    planned = float(OPEN["rate"]) * given.result.window_s
    sequences: Json = {"count": round(planned), "errors": 0, "response": {"max_ns": 10_000_000}}
    given = change_part(given, "result", calls=4 * round(planned), sequences=sequences)
    assert find_check(given, "achieved rate").outcome == "ok"
    assert "sequences/s" in find_check(given, "achieved rate").reason
    few = change_part(given, "result", sequences={**sequences, "count": round(planned * 0.9)})
    assert find_check(few, "achieved rate").outcome == "marked"


MARKED = [
    ("engine build", lambda t: change_part(t, "engine", profile="debug"), "debug"),
    ("interrupted", lambda t: change_part(t, "engine", interrupted=True), "stopped"),
    (
        "errors",
        lambda t: change_part(t, "result", errors=3, errors_by_kind={"reset": 3}),
        "reset 3",
    ),
    ("errors", lambda t: change_part(t, "result", calls=0), "no call"),
    ("calls counted", lambda t: change_part(t, "service", calls_seen=7), "7 calls"),
    ("concurrency", lambda t: change_part(t, "result", calls=2), "planned 10"),
    (
        "concurrency",
        lambda t: change_part(t, "service", concurrency_seen=11.0),
        "more than were sent",
    ),
    ("engine backlog", lambda t: change_times(t, "backlog", p99=10**9), "backlog p99"),
    (
        "warm-up",
        lambda t: change_part(t, "result", warmup={"seconds": 5, "calls": 9, "stationary": False}),
        "still changing",
    ),
    ("stationarity", lambda t: change_part(t, "result", series=[*range(1000, 3100, 100)]), "moves"),
    ("connections", lambda t: change_part(t, "result", connections_opened=11), "11 opened, 10"),
    ("connections", lambda t: change_part(t, "service", connections_seen=9), "accepted 9"),
    ("steal time", lambda t: change_part(t, "engine", steal_s=0.4), "20 %"),
    ("bound", lambda t: busy(t, 0.96, 0.5), "never a ranking"),
]


def busy(given: Trial, client: float, service: float | None) -> Trial:
    """The trial with both sides that busy."""
    window = given.result.window_s
    seconds = None if service is None else service * window
    return change_part(
        change_part(given, "result", cpu_s=client * window), "service", cpu_window_s=seconds
    )


def test_a_client_that_spins_is_not_at_its_limit() -> None:
    """All of its core is used, and a quarter of that no call needed; the reason states it."""
    given = busy(sound(), 0.99, 0.85)
    waiting = change_part(given, "engine", spin_s=0.25 * given.result.window_s)
    assert find_check(given, "bound").outcome == "marked"
    assert client_bound(given)
    assert find_check(waiting, "bound").outcome == "ok"
    assert (
        "74 % busy (and spinning for 25 % with nothing to do)"
        in find_check(waiting, "bound").reason
    )
    assert not client_bound(waiting)


def test_a_trial_of_an_older_engine_is_read_with_the_present_name() -> None:
    line = to_line([change_part(sound(), "engine", spin_s=0.5)])
    engine = line["cells"][0]["engine"]
    engine["awake_s"] = engine.pop("spin_s")
    assert from_line(line)[0].engine.spin_s == 0.5


def test_a_limited_core_is_used_up_whether_the_client_spins_or_not() -> None:
    """Of a tenth of a core nothing is left, whatever the client did with it."""
    rationed = replace(sound(), point=point(f"{REST}&client.cpu=10%", 14, CLOSED))
    given = busy(rationed, 0.099, 0.5)
    waiting = change_part(given, "engine", spin_s=0.05 * given.result.window_s)
    assert client_bound(given)
    assert client_bound(waiting)


def test_cpu_of_the_client_is_that_of_its_calls() -> None:
    """What it spent spinning belongs to no call; a clock that says more than the kernel is not
    believed."""
    given = change_part(sound(), "engine", cpu_user_s=0.6, cpu_system_s=0.9, spin_s=0.5)
    calls = given.result.calls
    assert CLIENT_CPU.of(given) == pytest.approx(1.0 / calls)
    assert CLIENT_CPU.of(change_part(given, "engine", spin_s=1.5000001)) is None


@pytest.mark.parametrize(("name", "spoil", "words"), MARKED)
def test_a_fault_of_the_trial_is_marked_with_its_figure(name: str, spoil: Any, words: str) -> None:
    """One thing is wrong: its check is marked, with the figure in the reason."""
    spoilt = spoil(sound())
    found = find_check(spoilt, name)
    assert found.outcome == "marked"
    assert words in found.reason


def test_lag_and_rate_of_an_open_load() -> None:
    """A late schedule and a missing share of arrivals are marked."""
    assert (
        find_check(change_times(sound(OPEN), "lag", p99_9=10**9), "schedule lag").outcome
        == "marked"
    )
    assert (
        find_check(change_part(sound(OPEN), "result", calls=23_600), "achieved rate").outcome
        == "marked"
    )
    assert (
        find_check(change_part(sound(OPEN), "result", calls=23_800), "achieved rate").outcome
        == "ok"
    )


def test_partial_slots_at_the_ends_of_the_window_are_not_drift() -> None:
    """The slot beyond the window holds stragglers; the first ones miss calls from before it,
    but only where calls take that long."""
    given = sound()
    assert given.result.window_s == 2.0
    response = replace(given.result.times["response"], mean_ns=0.05e9)
    slow = change_part(given, "result", times={**given.result.times, "response": response})
    series = [10, *[1000] * 19, 3]
    assert find_check(change_part(slow, "result", series=series), "stationarity").outcome == "ok"
    assert (
        find_check(change_part(given, "result", series=series), "stationarity").outcome == "marked"
    )


def test_a_window_of_few_calls_cannot_tell_the_concurrency() -> None:
    """5 % off over four calls a user is what the ends alone can do; over many it is not."""
    given = sound()
    calls, mean = 42, 0.5e9
    response = replace(
        given.result.times["response"],
        mean_ns=mean,
        max_ns=600_000_000,
        percentiles_ns={"p50": 500_000_000},
    )
    times = {**given.result.times, "response": response}
    found = find_check(change_part(given, "result", calls=calls, times=times), "concurrency")
    assert found.outcome == "not-measurable"
    assert "ends of this short window" in found.reason
    many = change_part(given, "result", calls=round(given.result.calls * 1.05))
    assert find_check(many, "concurrency").outcome == "marked"


def test_poisson_counts_may_vary_by_their_root() -> None:
    """200 planned arrivals: 170 are not a reason for doubt, 100 are."""
    load = {"kind": "poisson", "rate": 100.0, "in_flight_max": 64, "seed": 1}
    given = change_part(sound(load), "result", rate_planned_per_s=100.0)
    assert find_check(change_part(given, "result", calls=170), "achieved rate").outcome == "ok"
    assert find_check(change_part(given, "result", calls=100), "achieved rate").outcome == "marked"


def test_a_window_of_calls_holds_all_of_them() -> None:
    given = change_part(sound(), "result", calls_planned=1000, calls=1000)
    assert find_check(given, "window").outcome == "ok"
    found = find_check(change_part(given, "result", calls=999), "window")
    assert (found.outcome, "999 of 1,000 calls" in found.reason) == ("marked", True)
    sequences: Json = {"count": 1000, "errors": 0, "response": {"count": 1000, "max_ns": 10**7}}
    several = change_part(given, "result", calls=4000, sequences=sequences)
    assert find_check(several, "window").outcome == "ok"
    interrupted = change_part(given, "engine", interrupted=True)
    assert "window" not in {found.name for found in check(interrupted)}
    assert "window" not in {found.name for found in check(sound())}


def test_an_open_load_that_is_not_kept_up_with_is_marked() -> None:
    """Where the load ran before its window, the calls under way vary little; where it began
    with it, those that may be under way are behind at its end."""
    given = sound(OPEN)
    calls = given.result.calls
    behind = [(0, "ok"), (round(0.005 * calls), "ok"), (round(0.1 * calls), "marked")]
    # What it found waiting it may catch up with.
    for missing, outcome in (*behind, (-round(0.1 * calls), "ok")):
        found = find_check(change_part(given, "result", ended=calls - missing), "kept up")
        assert found.outcome == outcome, found
    slow = replace(given.result.times["response"], mean_ns=1e9)
    times = {**given.result.times, "response": slow}
    for seconds, missing, outcome in ((0.0, 64, "ok"), (0.0, 65, "marked"), (1.0, 15, "marked")):
        few: Json = {"calls": 100, "window_s": 10.0, "times": times, "warmup": {"seconds": seconds}}
        found = find_check(change_part(given, "result", **few, ended=100 - missing), "kept up")
        assert found.outcome == outcome, found
    assert "kept up" not in {found.name for found in check(change_part(sound(), "result", ended=1))}


def test_queues_and_sequences_vary_more_than_single_calls() -> None:
    given = sound(OPEN)
    response = replace(given.result.times["response"], mean_ns=5e7)
    warm: Json = {"calls": 100, "window_s": 1.0, "warmup": {"seconds": 1.0}}
    warm["times"] = {**given.result.times, "response": response}
    longer = replace(response, mean_ns=4e8, max_ns=500_000_000)
    sequences = {"count": 50, "errors": 0, "response": longer}
    for several, allowed in (({}, 10), ({"sequences": sequences}, 41)):
        for missing, outcome in ((allowed, "ok"), (allowed + 1, "marked")):
            found = find_check(
                change_part(given, "result", **warm, **several, ended=100 - missing), "kept up"
            )
            assert found.outcome == outcome, found


def test_a_window_in_which_nothing_ended_is_marked() -> None:
    found = find_check(change_part(sound(), "result", ended=0), "window")
    assert (found.outcome, "there is no rate" in found.reason) == ("marked", True)


def test_resources_of_a_window_are_divided_by_the_calls_that_ended_in_it() -> None:
    """Of a backlog, most calls of the window are not served within it."""
    given = change_part(sound(OPEN), "result", bytes_sent=10**6, bytes_received=10**7)
    behind = change_part(given, "result", ended=given.result.calls // 4)
    for figure in (CLIENT_CPU, SERVICE_CPU, BYTES_SENT, BYTES_RECEIVED):
        one, other = figure.of(given), figure.of(behind)
        assert one is not None
        assert other == pytest.approx(4 * one, rel=0.01)


def test_checks_that_do_not_apply() -> None:
    """A closed load has no schedule; an open one saturates nobody; nor do thinking users."""
    closed = {found.name for found in check(sound())}
    opened = {found.name for found in check(sound(OPEN))}
    thinking = {found.name for found in check(sound({**CLOSED, "think_s": 0.1}))}
    assert not closed & {"schedule lag", "achieved rate"}
    assert not opened & {"bound", "concurrency"}
    assert not thinking & {"bound", "concurrency"}


@pytest.mark.parametrize(
    ("client", "service", "outcome", "words"),
    [
        (0.50, 0.97, "ok", "server-bound"),
        (0.96, 0.97, "marked", "both near their limit: a lower bound"),
        (0.50, 0.60, "ok", "calls wait"),
        (0.96, 0.60, "marked", "client-bound"),
        (0.96, None, "marked", "as far as is known"),
        (0.50, None, "not-measurable", "unknown"),
    ],
)
def test_which_side_was_the_limit(
    client: float, service: float | None, outcome: str, words: str
) -> None:
    """The engine at its limit, alone or not, makes the trial a lower bound."""
    given = busy(sound(), client, service)
    found = find_check(given, "bound")
    assert (found.outcome, words in found.reason) == (outcome, True)
    assert client_bound(given) == (outcome == "marked")


def test_threads_are_counted_by_the_placement() -> None:
    """Two engine threads that are half busy are not one that is full."""
    given = busy(sound(), 1.0, 0.5)
    assert client_bound(given)
    assert not client_bound(replace(given, placement=PlacementRecord(engine=(1, 2))))


@pytest.mark.parametrize(
    ("connection", "in_flight", "opened", "outcome"),
    [
        ("keep", "1", 10, "ok"),
        ("keep", "1", 9, "marked"),
        ("keep", "multiplex=5", 2, "ok"),
        ("keep", "multiplex=5", 1, "marked"),
        ("pool=4", "1", 4, "ok"),
        ("pool=4", "1", 5, "marked"),
        ("pool=16", "1", 10, "ok"),
        ("close", "1", 10, "marked"),
    ],
)
def test_connection_policies(connection: str, in_flight: str, opened: int, outcome: str) -> None:
    """What each policy allows, by the counters of both sides."""
    given = sound()
    given = with_axes(given, connection=connection, in_flight=in_flight)
    given = change_part(given, "result", connections_opened=opened)
    given = change_part(given, "service", connections_seen=opened)
    found = find_check(given, "connections")
    assert found.outcome == outcome
    assert found.reason.endswith("(by the counters of both sides)")


def test_close_opens_one_per_call() -> None:
    """As many connections as calls in the whole run."""
    given = sound()
    whole = given.result.calls_whole_run
    given = with_axes(given, connection="close")
    given = change_part(given, "result", connections_opened=whole)
    assert (
        find_check(change_part(given, "service", connections_seen=whole), "connections").outcome
        == "ok"
    )


def test_failed_calls_may_not_reach_the_service() -> None:
    """Three failed calls excuse three missing ones, not four, and never one too many."""
    given = change_part(sound(), "result", errors=3)
    whole = given.result.calls_whole_run or 0
    for missing, outcome in ((0, "ok"), (3, "ok"), (4, "marked"), (-1, "marked")):
        seen = change_part(given, "service", calls_seen=whole - missing)
        assert find_check(seen, "calls counted").outcome == outcome


def test_missing_figures_are_not_measurable() -> None:
    """An empty record gives reasons, not exceptions and not `ok`."""
    empty = replace(
        sound(),
        result=GroupResult(),
        engine=CallerRecord(),
        service=ServiceRecord(),
        placement=PlacementRecord(),
    )
    outcomes = {found.name: found for found in check(empty)}
    for name in ("engine build", "calls counted", "bound", "stationarity", "steal time"):
        assert outcomes[name].outcome == "not-measurable"
        assert outcomes[name].reason.startswith("not measurable here, because")


def test_too_few_samples_for_a_percentile() -> None:
    """Sampled stamps may be few: said, with the number."""
    given = sound()
    times = {**given.result.times, "backlog": Times(count=40)}
    found = find_check(change_part(given, "result", times=times), "engine backlog")
    assert found.outcome == "not-measurable"
    assert "40 samples" in found.reason


def test_cold_start_skips_the_warm_up_on_purpose() -> None:
    """`start=cold` is not a fault of the trial."""
    given = with_axes(sound(), start="cold")
    spoilt = change_part(given, "result", warmup={"seconds": 0, "calls": 0, "stationary": False})
    assert find_check(spoilt, "warm-up").outcome == "ok"


@pytest.mark.parametrize(
    ("language", "seconds", "outcome"),
    [("java", 0.4, "marked"), ("java", 20.0, "ok"), ("go", 0.4, "ok")],
)
def test_a_jvm_is_not_warm_when_its_rate_is_stationary(
    language: str, seconds: float, outcome: str
) -> None:
    given = with_axes(sound(), language=language)
    warmed = {"seconds": seconds, "calls": 9, "stationary": True}
    assert find_check(change_part(given, "result", warmup=warmed), "warm-up").outcome == outcome


def test_marked_lists_the_marks() -> None:
    """Recorded checks count, not new ones."""
    recorded = replace(sound(), checks=(Check("errors", "marked", "x"), Check("y", "ok", "z")))
    assert [mark.name for mark in find_marks(recorded)] == ["errors"]
