"""The list of slow modules, which `make check` leaves out."""

from __future__ import annotations

from pathlib import Path

from tests.python.conftest import SLOW

FOLDER = Path(__file__).parent


def test_every_slow_module_exists() -> None:
    assert sorted(SLOW - {path.stem for path in FOLDER.glob("test_*.py")}) == []


def test_the_list_is_sorted_without_repetition() -> None:
    assert (FOLDER / "slow.txt").read_text(encoding="utf-8").split() == sorted(SLOW)
