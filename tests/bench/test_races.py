"""A race gives everybody the same places and the same neighbours."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from bench.races import turns


@pytest.mark.parametrize("contenders", [2, 3, 4, 5, 6, 7])
def test_places_and_neighbours_are_balanced(contenders: int) -> None:
    """The defining property of a Williams design, over all its rounds."""
    rounds = [turns(contenders, number) for number in range(2 * contenders)]
    assert all(sorted(order) == list(range(contenders)) for order in rounds)
    places = Counter((place, who) for order in rounds for place, who in enumerate(order))
    assert set(places.values()) == {2}
    assert len(places) == contenders**2
    pairs = [pair for order in rounds for pair in pairwise(order)]
    followed = Counter(pairs)
    assert set(followed.values()) == {2}
    assert len(followed) == contenders * (contenders - 1)


def test_neighbouring_rounds_are_mirrored() -> None:
    """So that few rounds are balanced too, as far as they can be."""
    for number in range(0, 20, 2):
        assert turns(5, number + 1) == turns(5, number)[::-1]
