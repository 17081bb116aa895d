"""Ratios are taken within a round, and their median is what a bound judges."""

from __future__ import annotations

from bench.bounds import Bound, Ratio
from bench.reading import Reading


def reading(calls: int, cpu_s: float, rate: float, server_cpu_s: float = 0.5) -> Reading:
    """A run of one second."""
    return Reading("tool", (), calls, 0, rate, cpu_s, server_cpu_s, 1.0)


def test_cpu_ratio_is_per_call_and_per_round() -> None:
    """Twice the calls for the same CPU is half the CPU per call; each round has its own ratio."""
    rounds = [
        {"ours": reading(200, 0.5, 200), "wrk": reading(100, 0.5, 100)},
        {"ours": reading(100, 0.9, 100), "wrk": reading(100, 0.45, 100)},
    ]
    ratio = Bound("cpu", "ours", ("wrk",), at_most=1.1).ratio(rounds)
    assert ratio is not None
    assert ratio.values == (0.5, 2.0)
    assert ratio.broken


def test_rate_is_compared_with_the_best_peer_of_the_round() -> None:
    """The best of several peers may be another one in every round."""
    rounds = [
        {"ours": reading(1, 1, 90), "wrk": reading(1, 1, 100), "ab": reading(1, 1, 50)},
        {"ours": reading(1, 1, 90), "wrk": reading(1, 1, 40), "ab": reading(1, 1, 45)},
    ]
    ratio = Bound("rate", "ours", ("wrk", "ab"), at_least=1.0).ratio(rounds)
    assert ratio is not None
    assert ratio.values == (0.9, 2.0)
    assert not ratio.broken


def test_no_peer_no_ratio() -> None:
    """A peer that could not be had leaves no figure behind, and no broken bound."""
    assert Bound("cpu", "ours", ("wrk",), at_most=1.1).ratio([{"ours": reading(1, 1, 1)}]) is None


def test_a_bound_is_inclusive() -> None:
    """1.1 is at most 1.1; a figure without a bound is never broken."""
    assert not Ratio("cpu", "wrk", (1.1,), at_most=1.1).broken
    assert Ratio("cpu", "wrk", (1.1001,), at_most=1.1).broken
    assert not Ratio("cpu", "wrk", (9.0,)).broken


def test_label_names_the_busier_process() -> None:
    """85 % busy is the limit; below it on both sides, waiting is."""
    assert reading(1, 0.99, 1, server_cpu_s=0.90).bound == "client-bound"
    assert reading(1, 0.90, 1, server_cpu_s=0.99).bound == "server-bound"
    assert reading(1, 0.40, 1, server_cpu_s=0.50).bound == "latency-bound"
