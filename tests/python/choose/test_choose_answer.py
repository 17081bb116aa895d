"""The answer of `choose` in worlds of known truth: who is first, and what stays undecided."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.python.synthetic_run import World, client_bound, fail_some_calls, trials
from wirelab.choose.answer import (
    OBJECTIVES,
    Choice,
    NothingMeasured,
    Prices,
    choose,
    sentences,
)
from wirelab.choose.candidates import Candidate
from wirelab.cli.options import choose as options
from wirelab.records.trial import Trial

NAMES = {
    "rest@rust?codec=json": Candidate("rest", "json", "rust", "http/1.1"),
    "rest@rust?codec=cbor": Candidate("rest", "cbor", "rust", "http/1.1"),
    "grpc@rust": Candidate("grpc", "protobuf", "rust", "http/2"),
}
JSON, CBOR, GRPC = NAMES


def measure(call_us: dict[str, float], repeats: int = 6, spread: float = 0.01) -> list[Trial]:
    """Closed loads of one size; ``call_us`` is the truth, microseconds a call."""
    loads = ({"kind": "closed", "users": 32},)
    world = World(tuple(call_us), (14,), loads, repeats, call_us, spread, client_cores=0.3)
    return trials(world)


def answer(measured: Sequence[Trial], by: str = "rate", **changes: object) -> Choice:
    options = {"has_rate": False, "threshold": 0.05, "prices": Prices()} | changes
    return choose(measured, NAMES, OBJECTIVES[by], **options)  # type: ignore[arg-type]


def test_the_fastest_is_recommended_with_its_margin() -> None:
    found = answer(measure({JSON: 80.0, CBOR: 60.0, GRPC: 120.0}))
    assert found.recommended == NAMES[CBOR]
    assert [one.candidate for one in found.behind] == [NAMES[JSON], NAMES[GRPC]]
    first, second, *_ = sentences(found)
    assert first.startswith("Take rest@rust?codec=cbor: it has the best calls per second")
    assert "than rest@rust" in first
    assert second.startswith("Next comes rest@rust")
    assert "last of these is grpc@rust" in second


def test_equivalent_stacks_share_first_place() -> None:
    found = answer(measure({JSON: 60.0, CBOR: 60.3, GRPC: 120.0}))
    assert set(found.first) == {NAMES[JSON], NAMES[CBOR]}
    assert [one.candidate for one in found.behind] == [NAMES[GRPC]]
    assert "equivalent in it within 5 %" in sentences(found)[0]


def test_noise_leaves_the_choice_undecided_and_shows_what_would_decide() -> None:
    found = answer(measure({JSON: 60.0, CBOR: 66.0}, repeats=3, spread=0.08))
    assert found.recommended is None
    first, second, *_ = sentences(found)
    assert first.startswith("Undecided by calls per second")
    assert "of each would decide it" in second


def test_a_difference_at_the_threshold_names_no_number_of_trials() -> None:
    found = answer(measure({JSON: 60.0, CBOR: 64.0}, repeats=3, spread=0.1))
    assert found.recommended is None
    assert "No sensible number of trials" in sentences(found)[1]


def test_a_difference_below_the_threshold_recommends_no_single_stack() -> None:
    found = answer(measure({JSON: 60.0, CBOR: 61.2}, repeats=12), threshold=0.05)
    assert found.is_decided
    assert len(found.first) == 2


@pytest.mark.parametrize(("worlds", "false_max"), [(20, 2), (100, 5)])
def test_a_wrong_recommendation_is_rare_when_all_are_equal(worlds: int, false_max: int) -> None:
    """A/A: worlds of equal stacks. A stack ahead of another would be false in every one."""
    false = 0
    for seed in range(worlds):
        loads = ({"kind": "closed", "users": 32},)
        call_us = {JSON: 60.0, CBOR: 60.0, GRPC: 60.0}
        world = World(tuple(call_us), (14,), loads, 5, call_us, 0.05, client_cores=0.3, seed=seed)
        found = answer(trials(world))
        false += any(one.comparison.found for one in found.behind)
    assert false <= false_max


def test_by_cpu_the_cheapest_wins() -> None:
    found = answer(measure({JSON: 80.0, CBOR: 60.0}), by="cpu")
    assert found.recommended == NAMES[CBOR]
    assert "service CPU per call" in sentences(found)[0]


def test_prices_give_the_cost_of_a_million_calls() -> None:
    # 0.04 an hour for 100 us a call, and 0.05 a gigabyte for 2,000 B.
    prices = Prices(core_hour=0.04, gigabyte=0.05)
    assert prices.cost_per_million(100e-6, 2_000.0) == pytest.approx(0.04 * 100 / 3600 + 0.1)
    assert prices.cost_per_million(None, 2_000.0) is None
    assert Prices(gigabyte=0.05).cost_per_million(None, 2_000.0) == pytest.approx(0.1)


def test_failed_calls_are_in_the_table() -> None:
    measured = [fail_some_calls(one) for one in measure({JSON: 60.0, CBOR: 90.0})]
    found = answer(measured)
    assert all(row.failed for row in found.rows)


def test_nothing_measured_is_an_error() -> None:
    with pytest.raises(NothingMeasured, match="no stack"):
        answer([])


def test_the_command_offers_every_objective() -> None:
    """Two lists, because the command starts without the statistics."""
    assert tuple(OBJECTIVES) == options.OBJECTIVES


def limit_client(given: Sequence[Trial], stack: str) -> list[Trial]:
    """The same trials, the client at its limit with that stack."""
    return [client_bound(one) if one.point.stack == stack else one for one in given]


def test_a_best_stack_that_the_client_limits_is_still_ahead() -> None:
    found = answer(limit_client(measure({JSON: 60.0, GRPC: 120.0}), JSON))
    assert found.recommended == NAMES[JSON]
    assert {row.candidate: row.is_bound for row in found.rows}[NAMES[JSON]]


def test_a_stack_that_the_client_limits_is_not_called_worse_or_equivalent() -> None:
    worse = answer(limit_client(measure({JSON: 60.0, GRPC: 120.0}), GRPC))
    assert worse.recommended is None
    assert "The client was the limit of grpc@rust" in sentences(worse)[1]
    equal = answer(limit_client(measure({JSON: 60.0, GRPC: 60.2}), JSON))
    assert equal.recommended is None
