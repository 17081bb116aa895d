"""The lists of modules: slow ones, which `make check` leaves out, and those that run alone."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["alone.txt", "python/slow.txt"])
def test_a_list_is_sorted_and_every_module_exists(name: str) -> None:
    file = TESTS / name
    listed = file.read_text(encoding="utf-8").split()
    assert listed == sorted(set(listed))
    assert [one for one in listed if not (file.parent / f"{one}.py").is_file()] == []
