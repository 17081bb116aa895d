"""Marks are next to the figures that a check touches, and only where it matters.

Worlds are seeded: a slowed client, a frozen engine, stolen time, a cold service, and healthy ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.python.synthetic_run import REST, World, fail_some_calls, point, trial, with_result
from wirelab import checkout
from wirelab.checks import load as load_checks
from wirelab.checks.beginning import movement
from wirelab.checks.effects import effects
from wirelab.checks.marks import figure_marks, percent_text
from wirelab.documents.event import Pauses
from wirelab.records.group import Times
from wirelab.records.noise import NoiseRecord
from wirelab.records.trial import Check, Json, Trial
from wirelab.report.terminal import terminal_table
from wirelab.run import finished
from wirelab.statistics.cell import Cell, cells
from wirelab.statistics.figure import (
    CLIENT_CPU,
    RATE,
    RESPONSE_P50,
    RESPONSE_P99,
    SERVICE_CPU,
)

MANY: Json = {"kind": "closed", "users": 32}
ONE: Json = {"kind": "closed", "users": 1}
OPEN: Json = {"kind": "constant", "rate": 30_000.0, "in_flight_max": 64}
IDLE = World(service_cores=0.5)
"""A service that waits for its callers."""
BUSY = World(service_cores=0.97)
JAVA = "rest@java?codec=json"

Disturb = Callable[[Trial], Trial]


def make_cell(
    disturb: Disturb, load: Json = MANY, world: World = IDLE, stack: str = REST, trials: int = 4
) -> Cell:
    """A cell of disturbed trials, with their checks."""
    made = [disturb(trial(point(stack, 14, load), n, n, world)) for n in range(trials)]
    return Cell(
        made[0].point,
        tuple(replace(one, checks=load_checks.check(replace(one, checks=()))) for one in made),
    )


def delay_replies(share: float) -> Disturb:
    """A slowed client: every reply waits for it for a share of its response time."""

    def disturb(given: Trial) -> Trial:
        return with_times(given, "backlog", scale(given.result.times["response"], share))

    return disturb


def scale(times: Times, share: float) -> Times:
    return replace(
        times,
        mean_ns=times.mean_ns * share,
        percentiles_ns={name: round(ns * share) for name, ns in times.percentiles_ns.items()},
    )


def with_times(given: Trial, name: str, times: Times) -> Trial:
    return with_result(given, times={**given.result.times, name: times})


def frozen(seconds: float) -> Disturb:
    """An engine that does not run for a part of its window of 2 s."""
    pauses = Pauses(count=1, total_s=seconds, longest_s=seconds, longest_at_s=0.5)

    def disturb(given: Trial) -> Trial:
        engine = replace(given.engine, pauses=pauses, run_delay_s=0.0)
        return replace(given, engine=engine, noise=NoiseRecord((0, 1), other_cpu_s=0.0))

    return disturb


def stolen(seconds: float) -> Disturb:
    return lambda given: replace(given, engine=replace(given.engine, steal_s=seconds))


def cold(growth: float, seconds: float = 0.4) -> Disturb:
    """A service whose rate grows within the window."""

    def disturb(given: Trial) -> Trial:
        series = np.linspace(1000.0, 1000.0 * (1.0 + growth), 20).round().astype(int).tolist()
        warmup = {"seconds": seconds, "calls": 500, "stationary": True}
        return with_result(given, series=series, warmup=warmup)

    return disturb


def healthy(given: Trial) -> Trial:
    return given


DISTURBED: Sequence[tuple[str, Disturb, Json, World, str, set[str]]] = (
    ("slowed", delay_replies(0.4), MANY, IDLE, REST, {"rate", "response_p50", "response_p99"}),
    # A service at its limit answers as many calls as it can, however late they are read.
    ("slowed", delay_replies(0.4), MANY, BUSY, REST, {"response_p50", "response_p99"}),
    ("slowed", delay_replies(0.4), OPEN, IDLE, REST, {"response_p50", "response_p99"}),
    ("frozen", frozen(0.8), MANY, IDLE, REST, {"rate", "response_p50"}),
    ("frozen", frozen(0.8), OPEN, IDLE, REST, {"response_p50", "response_p99"}),
    ("stolen", stolen(0.4), MANY, IDLE, REST, {"rate", "response_p50", "response_p99"}),
    ("stolen", stolen(0.4), OPEN, IDLE, REST, {"response_p50", "response_p99"}),
    (
        "cold JVM",
        cold(0.3),
        MANY,
        IDLE,
        JAVA,
        {"rate", "response_p50", "response_p99", "client_cpu", "service_cpu"},
    ),
    (
        "cold",
        cold(0.3, 2.0),
        MANY,
        IDLE,
        REST,
        {"rate", "response_p50", "response_p99", "client_cpu", "service_cpu"},
    ),
)
SHOWN = (RATE, RESPONSE_P50, RESPONSE_P99, CLIENT_CPU, SERVICE_CPU)


@pytest.mark.parametrize(("name", "disturb", "load", "world", "stack", "marked"), DISTURBED)
def test_only_disturbed_figures_are_marked(
    name: str, disturb: Disturb, load: Json, world: World, stack: str, marked: set[str]
) -> None:
    found = figure_marks(make_cell(disturb, load, world, stack))
    assert found.keys() & {figure.name for figure in SHOWN} == marked, name


@pytest.mark.parametrize("load", [MANY, ONE, OPEN])
@pytest.mark.parametrize("world", [IDLE, BUSY])
def test_healthy_worlds_have_no_mark(load: Json, world: World) -> None:
    for seed in range(10):
        assert not figure_marks(make_cell(healthy, load, replace(world, seed=seed)))


def test_a_jvm_that_was_warm_early_is_not_marked() -> None:
    """The check of the trial still states that its warm-up was short."""
    cell = make_cell(cold(0.0), stack=JAVA)
    assert all(check_of(one, "warm-up").outcome == "marked" for one in cell.trials)
    assert not figure_marks(cell)


def check_of(given: Trial, name: str) -> Check:
    return next(check for check in given.checks if check.name == name)


def test_a_mark_has_the_amount() -> None:
    marks = figure_marks(make_cell(delay_replies(0.4)))
    assert [mark.text for mark in marks["response_p50"]] == ["engine backlog, up to 40 %"]
    assert marks["response_p50"][0].trials == 4


def test_disturbances_within_the_interval_or_threshold_are_not_marked() -> None:
    """6 % of a figure that its trials know to 1 % is marked, of one that they know to 50 % not."""
    narrow, wide = replace(IDLE, spread=0.005), replace(IDLE, spread=0.3)
    assert "response_p50" in figure_marks(make_cell(delay_replies(0.06), world=narrow), 0.05)
    assert "response_p50" not in figure_marks(make_cell(delay_replies(0.06), world=narrow), 0.07)
    assert "response_p50" not in figure_marks(make_cell(delay_replies(0.06), world=wide), 0.05)


def test_one_disturbed_trial_of_four_moves_the_mean_by_a_quarter() -> None:
    made = iter((delay_replies(0.4), healthy, healthy, healthy))
    (mark,) = figure_marks(make_cell(lambda given: next(made)(given)))["response_p50"]
    assert (mark.trials, round(mark.bias or 0.0, 3)) == (1, 0.1)


def test_the_wake_up_of_a_client_is_part_of_one_call_at_a_time() -> None:
    """Nothing waits behind another reply then; what is longer than a wake-up is still found."""

    def delay_wake_up(us: float) -> Disturb:
        def disturb(given: Trial) -> Trial:
            response = given.result.times["response"]
            late = round(us * 1e3)
            percentiles = dict.fromkeys(response.percentiles_ns, late)
            return with_times(
                given, "backlog", replace(response, mean_ns=late, percentiles_ns=percentiles)
            )

        return disturb

    assert not figure_marks(make_cell(delay_wake_up(40.0), ONE))
    assert {"rate", "response_p50"} <= figure_marks(make_cell(delay_wake_up(90.0), ONE)).keys()
    # Of many calls under way all of it is backlog.
    slow = World(service_cores=0.5, call_us={REST: 20.0})
    assert "response_p50" in figure_marks(
        make_cell(delay_wake_up(40.0), {"kind": "closed", "users": 8}, slow)
    )


def test_stamped_calls_show_the_delay_itself() -> None:
    """The backlog has a long tail, but not in the calls with the longest response times."""

    def stamp(given: Trial) -> Trial:
        response = given.result.times["response"]
        made = delay_replies(0.4)(given)
        made = with_times(made, "response_stamped", response)
        return with_times(made, "response_without_backlog", scale(response, 0.99))

    cell = make_cell(stamp)
    assert all(check_of(one, "engine backlog").outcome == "marked" for one in cell.trials)
    assert not figure_marks(cell)


@pytest.mark.parametrize(("ticks", "outcome"), [(2, "ok"), (3, "marked")])
def test_stolen_time_counts_from_three_ticks(ticks: int, outcome: str) -> None:
    (one,) = make_cell(
        lambda given: stolen(ticks * 0.01)(with_result(given, window_s=1.0)), trials=1
    ).trials
    assert check_of(one, "steal time").outcome == outcome


def test_failed_calls_touch_the_times_of_all_calls_by_what_the_good_ones_show() -> None:
    given = fail_some_calls(trial(point(REST, 14, MANY), 0, 0, IDLE))
    found = effects(given, check_of(given, "errors"))
    every, good = given.result.times["response"], given.result.times["response_good"]
    assert found["response_mean"] == pytest.approx(1.0 - good.mean_ns / every.mean_ns)
    assert found["response_p50"] == 0.0
    assert found["rate"] == pytest.approx(0.05, rel=0.01)
    assert "response_p50_good" not in found


def test_unknown_checks_touch_every_figure() -> None:
    one = trial(point(REST, 14, MANY), 0, 0, IDLE)
    one = replace(one, checks=(Check("of a later version", "marked", "?"),))
    found = figure_marks(Cell(one.point, (one,)))
    assert {figure.name for figure in SHOWN} <= found.keys()


def test_replies_that_were_not_compared_are_noted_and_mark_nothing() -> None:
    one = trial(point(REST, 14, MANY), 0, 0, IDLE)
    one = replace(one, checks=(Check("replies", "noted", "?"),))
    assert not figure_marks(Cell(one.point, (one,)))
    # As journals of earlier versions have it.
    one = replace(one, checks=(Check("replies", "marked", "?"),))
    assert not figure_marks(Cell(one.point, (one,)))


def test_steady_windows_seldom_look_like_a_warm_up() -> None:
    """Ten slots of Poisson counts, as of a window of 1 s: at the 0.1 % level."""
    random = np.random.default_rng(1)
    for mean in (20.0, 1000.0):
        series = random.poisson(mean, size=(10_000, 10))
        found = [movement(one.tolist()) for one in series]
        assert sum(one is not None and one.is_warming for one in found) <= 10 + 3.3 * 10**0.5


def test_a_growing_rate_is_found_and_a_falling_one_is_not_a_warm_up() -> None:
    series = [1000 + 40 * n for n in range(10)]
    found, fell = movement(series), movement(series[::-1])
    assert found is not None
    assert fell is not None
    assert found.is_warming
    assert not fell.is_warming
    assert movement([1] * 8) is None


def test_at_most_a_tenth_of_the_atlas_is_marked() -> None:
    """In the kept run, 300 of 504 trials have a marked check."""
    run = finished.read(checkout.root() / Path("docs/runs/atlas"))
    shown = marked = 0
    for cell in cells(run.trials):
        marks = figure_marks(cell, 0.02)
        figures = [figure.name for figure in SHOWN if cell.interval(figure) is not None]
        shown += len(figures)
        marked += sum(name in marks for name in figures)
    assert shown > 500
    assert 0 < marked <= 0.1 * shown


@pytest.mark.parametrize(("factor", "is_shown"), [(1.5, True), (2.5, False)])
def test_a_p99_that_is_known_to_a_factor_of_two_is_not_a_figure(
    factor: float, is_shown: bool
) -> None:
    """Two trials whose interval reaches that factor to either side (t of 12.7 at 1 degree)."""
    apart = 2.0 * np.log(factor) / 12.706

    def spread(given: Trial) -> Trial:
        p99 = round(1e6 * np.exp(apart * (given.repeat - 0.5)))
        response = given.result.times["response"]
        percentiles = {**response.percentiles_ns, "p99": p99}
        return with_times(given, "response", replace(response, percentiles_ns=percentiles))

    cell = make_cell(spread, trials=2)
    found = cell.interval(RESPONSE_P99)
    assert found is not None
    assert found.bounds is not None
    assert (found.bounds[1] / found.bounds[0]) ** 0.5 == pytest.approx(factor, rel=0.01)
    assert (cell.interval_to_show(RESPONSE_P99) is not None) == is_shown
    text = print_table(cell.trials)
    assert ("1.00 ms" in text) == is_shown


def print_table(every: Sequence[Trial]) -> str:
    return "\n".join(line.text for line in terminal_table(every))


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.025, "2.5 %"),
        (0.12, "12 %"),
        (0.99, "99 %"),
        (1.0, "a factor of 2.0"),
        (2.4, "a factor of 3.4"),
    ],
)
def test_a_bias_from_2_on_is_a_factor(share: float, words: str) -> None:
    assert percent_text(share) == words
