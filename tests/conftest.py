"""Which tests may share the machine with other work."""

from __future__ import annotations

from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
ALONE = frozenset((FOLDER / "alone.txt").read_text(encoding="utf-8").split())
"""Modules whose tests judge times: CI runs nothing beside them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests of those modules."""
    for item in items:
        if item.path.relative_to(FOLDER).with_suffix("").as_posix() in ALONE:
            item.add_marker(pytest.mark.alone)
