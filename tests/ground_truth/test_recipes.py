"""The corpus covers what the page says of it, and every recipe can be made."""

from __future__ import annotations

import pytest

from bench.ground_truth.captures.places import LOOPBACK, PROFILES
from bench.ground_truth.captures.recipes import CLEAN, MAKERS, Recipe, recipe
from wirelab.stack import manifests
from wirelab.stack.operations import OPERATIONS
from wirelab.stack.reference import Stack

CAPTURES = 60


def _all(aim: str) -> list[Recipe]:
    return [recipe(aim, index) for index in range(2 * CAPTURES)]


@pytest.mark.parametrize("aim", MAKERS)
def test_every_recipe_is_a_legal_stack_of_a_service_that_is_there(aim: str) -> None:
    catalogue = manifests.load()
    for one in _all(aim):
        stack = Stack.parse(one.stack)
        manifest = catalogue.manifest(stack, "transfer")
        assert not manifest.unknown_faults(one.faults), one.name
        assert one.operation in OPERATIONS
        assert one.place == LOOPBACK or one.place in PROFILES
        assert one.calls >= one.users, one.name


@pytest.mark.parametrize("aim", MAKERS)
def test_a_recipe_is_the_same_each_time(aim: str) -> None:
    assert _all(aim) == _all(aim)


def test_the_corpus_holds_four_bindings_and_more_and_all_places() -> None:
    first = [recipe(aim, index) for aim in MAKERS for index in range(CAPTURES)]
    bindings = {Stack.parse(one.stack).axes.binding for one in first}
    assert bindings == {"rest", "soap", "grpc", "iiop", "raw"}
    assert {one.place for one in first} == {LOOPBACK, *PROFILES}


def test_clean_captures_have_no_switch_that_brings_a_cause_about() -> None:
    for one in _all(CLEAN):
        axes = Stack.parse(one.stack).axes
        assert axes.client.writes == axes.server.writes == "joined"
        assert axes.connection.kind == "keep"
        assert not one.drops
        assert one.stops is None
        assert one.faults.get("delay_us", 0) < 2_000
