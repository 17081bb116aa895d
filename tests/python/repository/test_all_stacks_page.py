"""The tables of docs/reference/all-stacks.md, made from a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.python.synthetic_run import World, trials, users, write_run
from tools.all_stacks_page import BEGIN, END, page


def test_a_run_becomes_a_table_per_message_and_load(tmp_path: Path) -> None:
    world = World(sizes=(14,), loads=(users(1), users(50)), repeats=3)
    folder = write_run(tmp_path / "run", trials(world))
    text = page(f"before\n{BEGIN}\nold\n{END}\nafter\n", folder)
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert text.count("| `grpc@rust` |") == 2
    assert "### Hello, 1 user\n" in text
    assert "### Hello, 50 users\n" in text
    one, fifty = text.split("### ")[1:]
    assert "response p50, µs" in one
    assert "calls per second" in fifty
    assert one.index("rest@rust") < one.index("grpc@rust"), "the faster one first"


def test_a_page_without_its_markers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="lacks"):
        page("nothing", tmp_path)
