"""Where the answer changes along an axis, in worlds where the place of the change is known."""

from __future__ import annotations

import pytest

from tests.python.choose.test_choose_answer import GRPC, JSON, NAMES
from tests.python.synthetic_run import World, trials
from wirelab.choose.answer import OBJECTIVES, Prices, choose
from wirelab.choose.changeover import Map, Stop, search


def stop(scale: int, change_at: float, spread: float = 0.01) -> Stop:
    """JSON is the faster one below the true place of the change."""
    faster, slower = (60.0, 90.0) if scale < change_at else (90.0, 60.0)
    call_us = {JSON: faster, GRPC: slower}
    loads = ({"kind": "closed", "users": 32},)
    world = World((JSON, GRPC), (14,), loads, 6, call_us, spread, client_cores=0.3, seed=scale)
    found = choose(
        trials(world),
        NAMES,
        OBJECTIVES["rate"],
        has_rate=False,
        threshold=0.05,
        prices=Prices(),
    )
    return Stop(f"{scale} kB", scale, found)


@pytest.mark.parametrize("change_at", [2, 5, 11, 40])
def test_the_change_is_between_its_neighbours(change_at: float) -> None:
    stops = search([stop(one, change_at) for one in (1, 4, 16, 64)], lambda s: stop(s, change_at))
    [(low, high)] = Map("Size", stops).changes
    assert low.scale < change_at <= high.scale
    assert high.scale / low.scale <= 2.0
    sentence = Map("Size", stops).sentence
    assert f"between {low.label} and {high.label} from rest@rust to grpc@rust" in sentence


def test_no_change_within_the_range_is_said() -> None:
    stops = search([stop(one, 100) for one in (1, 4, 16, 64)], lambda s: stop(s, 100))
    assert Map("Size", stops).changes == ()
    assert Map("Size", stops).sentence == "Size: none within the range from 1 kB to 64 kB."


def test_undecided_places_show_no_change() -> None:
    stops = tuple(stop(one, 8, spread=0.6) for one in (1, 4, 16, 64))
    found = Map("Size", stops)
    assert found.changes == ()
    assert "undecided" in found.sentence
