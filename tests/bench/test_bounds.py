"""Ratios are taken within a round, and their median is what a bound judges."""

from __future__ import annotations

from dataclasses import replace

from bench.bounds import Bound, Ratio
from bench.process import Reading


def make_reading(calls: int, cpu_s: float, rate: float, server_cpu_s: float = 0.5) -> Reading:
    """A run of one second."""
    return Reading("tool", (), calls, 0, rate, cpu_s, server_cpu_s, 1.0)


def test_cpu_ratio_is_per_call_and_per_round() -> None:
    """Twice the calls for the same CPU is half the CPU per call; each round has its own ratio."""
    rounds = [
        {"ours": make_reading(200, 0.5, 200), "wrk": make_reading(100, 0.5, 100)},
        {"ours": make_reading(100, 0.9, 100), "wrk": make_reading(100, 0.45, 100)},
    ]
    ratio = Bound("cpu", "ours", ("wrk",), at_most=1.1).ratio(rounds)
    assert ratio is not None
    assert ratio.values == (0.5, 2.0)
    assert ratio.missed


def test_rate_is_compared_with_the_peer_that_is_best_by_its_median() -> None:
    """Not with the best of each round, which would be a maximum of noise."""
    rounds = [
        {
            "ours": make_reading(1, 1, 90),
            "wrk": make_reading(1, 1, 100),
            "ab": make_reading(1, 1, 50),
        },
        {
            "ours": make_reading(1, 1, 90),
            "wrk": make_reading(1, 1, 60),
            "ab": make_reading(1, 1, 65),
        },
        {
            "ours": make_reading(1, 1, 90),
            "wrk": make_reading(1, 1, 90),
            "ab": make_reading(1, 1, 45),
        },
    ]
    ratio = Bound("rate", "ours", ("wrk", "ab"), at_least=1.0).ratio(rounds)
    assert ratio is not None
    assert ratio.values == (0.9, 1.5, 1.0)
    assert ratio.peer == "wrk, best of 2"
    # The median is 1, and the interval of three rounds has 0.9, too.
    assert ratio.verdict == "undecided"


def test_no_peer_no_ratio() -> None:
    """A peer that could not be had leaves no figure behind, and no broken bound."""
    assert (
        Bound("cpu", "ours", ("wrk",), at_most=1.1).ratio([{"ours": make_reading(1, 1, 1)}]) is None
    )


def test_a_bound_is_inclusive() -> None:
    """1.1 is at most 1.1; a figure without a bound is never missed."""
    assert not Ratio("cpu", "wrk", (1.1,), at_most=1.1).missed
    assert Ratio("cpu", "wrk", (1.1001,), at_most=1.1).missed
    assert not Ratio("cpu", "wrk", (9.0,)).missed
    assert Ratio("cpu", "wrk", (9.0,)).verdict == ""


def test_a_bound_is_broken_where_the_interval_of_the_median_is_beyond_it() -> None:
    """Six pairs on the wrong side: 2 / 2^6 < 5 %. One of them on the right side leaves it
    open. A figure that is taken once, as memory is, stands for itself."""
    assert Ratio("rate", "wrk", (0.9,) * 6, at_least=1.0).verdict == "BROKEN"
    assert Ratio("memory", "few", (1.2,), at_most=1.1).verdict == "BROKEN"
    assert Ratio("rate", "wrk", (0.9,) * 5 + (1.0,), at_least=1.0).verdict == "undecided"
    assert Ratio("cpu", "wrk", (1.2,) * 6, at_most=1.1).verdict == "BROKEN"
    assert Ratio("cpu", "wrk", (1.0,) * 6, at_most=1.1).verdict == "holds"


def test_a_bound_does_not_hold_by_the_median_alone() -> None:
    """2.03 [1.98 … 2.09] is not at least 2."""
    around = (1.98, 2.0, 2.02, 2.04, 2.06, 2.09)
    assert Ratio("rate", "dissect", around, at_least=2.0).verdict == "undecided"
    assert not Ratio("rate", "dissect", around, at_least=2.0).missed
    assert Ratio("rate", "dissect", around, at_least=1.98).verdict == "holds"


def test_the_interval_of_the_median_by_the_sign_test() -> None:
    """Conover, Practical Nonparametric Statistics: n = 20 takes the 6th and the 15th value."""
    values = tuple(float(k) for k in range(1, 21))
    assert Ratio("rate", "wrk", values).interval == (6.0, 15.0)
    assert Ratio("rate", "wrk", values[:6]).interval == (1.0, 6.0)


def test_label_names_the_busier_process() -> None:
    """85 % busy is the limit; below it on both sides, waiting is."""
    assert make_reading(1, 0.99, 1, server_cpu_s=0.90).bound == "client-bound"
    assert make_reading(1, 0.90, 1, server_cpu_s=0.99).bound == "server-bound"
    assert make_reading(1, 0.40, 1, server_cpu_s=0.50).bound == "latency-bound"


def test_a_client_that_spins_with_nothing_to_do_is_not_the_limit() -> None:
    """The service is, though the client used all of its core."""
    used = make_reading(100, 0.99, 100, server_cpu_s=0.97)
    assert used.bound == "client-bound"
    assert replace(used, spin_s=0.2).bound == "server-bound"
