"""The seeded mistakes fit the sources: ten of each area, each in one place."""

from __future__ import annotations

import pytest

from tools import mutants

ALL = [(area, mutant) for area, found in mutants.load().items() for mutant in found]


def test_every_area_has_ten() -> None:
    counts = {area: len(found) for area, found in mutants.load().items()}
    assert counts == {"load": 10, "trace": 10, "front": 10, "services": 10}


@pytest.mark.parametrize(("area", "mutant"), ALL, ids=lambda one: str(one)[:60])
def test_a_mistake_has_one_place(area: str, mutant: mutants.Mutant) -> None:
    del area
    text = (mutants.ROOT / mutant["file"]).read_text(encoding="utf-8")
    assert mutants.mutate(text, mutant) != text


def test_a_place_that_is_gone_is_an_error() -> None:
    with pytest.raises(ValueError, match="not once"):
        mutants.mutate("b", {"file": "x.rs", "from": "a", "to": "c"})
