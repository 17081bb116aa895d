"""Kinds of load, by simulated loads of known kind."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.python import simulated_loads as simulated
from tests.python.simulated_loads import Random, Server, Times
from wirelab.wrap.arrivals import classify

REQUESTS = 2000
STEADY = Server(0.005, 0.05, 0.0, ())
KINDS = ("constant", "poisson", "closed", "closed with think time")
RUNS = 152
"""As many of each kind."""


def _draw(kind: str, random: Random) -> Times:
    """A load on which the packets can decide: two requests are in flight on average, or more."""
    server = simulated.draw_server(random, 5.0)
    rate = min(2000.0, float(random.choice([2.0, 4.0, 8.0])) / server.base_s)
    if kind == "constant":
        return simulated.run_open(server, simulated.draw_constant(rate, REQUESTS, random), random)
    if kind == "poisson":
        return simulated.run_open(server, simulated.draw_poisson(rate, REQUESTS, random), random)
    users = int(random.choice([1, 2, 8, 32]))
    if kind == "closed":
        pause_s = float(random.choice([20e-6, 100e-6]))
        return simulated.run_closed(
            server, users, lambda r: pause_s * r.lognormal(0.0, 0.5), REQUESTS, random
        )
    think_s = float(random.choice([0.5, 1.0, 2.0])) * server.base_s
    think = simulated.draw_think(think_s, random)
    return simulated.run_closed(server, users, think, REQUESTS, random)


def test_kinds_of_load_are_recognised_in_152_runs() -> None:
    """With tails, freezes, and users that share connections. What is not decided counts as not
    recognised."""
    seen: Counter[tuple[str, str]] = Counter()
    for seed in range(RUNS):
        kind = KINDS[seed % len(KINDS)]
        found = classify(*_draw(kind, np.random.default_rng(seed)))
        seen[kind.split()[0], found.name] += 1
    for name in ("constant", "poisson", "closed"):
        right = seen[name, name]
        recall = right / sum(n for (true, _), n in seen.items() if true == name)
        precision = right / sum(n for (_, found), n in seen.items() if found == name)
        assert recall >= 0.95, (name, seen)
        assert precision >= 0.95, (name, seen)


def test_loads_that_the_packets_cannot_decide_get_no_wrong_name() -> None:
    """Few requests in flight, or a long think time: an open load and a closed one look alike."""
    wrong = []
    for seed in range(40):
        random = np.random.default_rng(1000 + seed)
        server = simulated.draw_server(random, 20.0)
        if seed % 2:
            times = simulated.draw_poisson(0.05 / server.base_s, 400, random)
            name, load = "poisson", simulated.run_open(server, times, random)
        else:
            think = simulated.draw_think(20.0 * server.base_s, random)
            name, load = "closed", simulated.run_closed(server, 8, think, 400, random)
        found = classify(*load).name
        if found not in (name, "undecided"):
            wrong.append((seed, name, found))
    assert len(wrong) <= 2, wrong


def test_bursts_that_follow_no_reply_are_named() -> None:
    """Gaps of a Weibull distribution of shape 0.7 vary by 1.5 of their mean. Often their sums drift
    too much to decide; they never look like another load."""
    found = []
    for seed in range(12):
        random = np.random.default_rng(seed)
        began = np.cumsum(0.004 * random.weibull(0.7, 3_000))
        found.append(classify(*simulated.run_open(STEADY, began, random)).name)
    assert set(found) == {"bursts", "undecided"}
    assert found.count("bursts") >= 4


def _sequential(pause: float, spread: float, server: Server = STEADY) -> str:
    """One caller, such as a loop of curl, that starts a process before each request."""
    random = np.random.default_rng(7)
    return classify(
        *simulated.run_closed(server, 1, lambda r: r.normal(pause, spread), 400, random)
    ).name


def test_a_sequential_loop_is_not_a_constant_rate() -> None:
    assert _sequential(0.012, 0.0001) == "closed"
    tail = Server(0.005, 0.05, 0.02, ())
    assert _sequential(0.012, 0.001, tail) == "closed"
    # Latencies vary by 1 us, and the caller by 1 ms: nothing shows whether it waits.
    assert _sequential(0.012, 0.001, Server(0.005, 0.0002, 0.0, ())) == "undecided"


@pytest.mark.parametrize("tail_share", [0.0, 0.01, 0.05])
def test_a_constant_rate_stays_one_with_a_tail_and_a_freeze(tail_share: float) -> None:
    random = np.random.default_rng(3)
    server = Server(0.005, 0.2, tail_share, ((1.0, 1.0),))
    times = simulated.draw_constant(200.0, 1000, random)
    found = classify(*simulated.run_open(server, times, random))
    assert found.name == "constant"
    assert "200" in found.reason


def test_a_caller_that_sleeps_between_requests_without_waiting_is_open() -> None:
    """Its gaps drift, because it corrects nothing: no clock, and no waiting either."""
    random = np.random.default_rng(5)
    times = np.cumsum(0.01 + np.abs(random.normal(0.0, 0.001, 800)))
    server = Server(0.002, 0.5, 0.0, ())
    assert classify(*simulated.run_open(server, times, random)).name == "constant"
    tail = Server(0.002, 0.5, 0.01, ())
    assert classify(*simulated.run_open(tail, times, random)).name in ("constant", "undecided")


def test_replies_that_never_came_are_not_waited_for() -> None:
    random = np.random.default_rng(11)
    began, took = simulated.run_closed(STEADY, 8, lambda r: 5e-5, 1500, random)
    took = np.where(random.random(1500) < 0.01, np.nan, took)
    assert classify(began, took).name == "closed"
    began, took = simulated.run_open(STEADY, simulated.draw_poisson(400.0, 1500, random), random)
    took = np.where(random.random(1500) < 0.01, np.nan, took)
    assert classify(began, took).name == "poisson"


@pytest.mark.parametrize("tail_share", [0.0, 0.01])
def test_users_of_one_event_loop_are_closed(tail_share: float) -> None:
    """Such as fetch in Node: requests begin in batches, as do those of an open load in bursts."""
    random = np.random.default_rng(13)
    server = Server(0.005, 0.01, tail_share, ())
    began, took = simulated.run_closed(server, 8, lambda _: 5e-5, 1500, random, turn_s=1e-4)
    assert classify(began, took).name == "closed"
