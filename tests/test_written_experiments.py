"""Experiments that people copy are experiments that run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wirelab.experiment import loading as experiment_file

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted((ROOT / "experiments").glob("*.yaml"))
PAGES = [ROOT / "experiments/README.md", ROOT / "docs/guide.md"]
EXAMPLE = re.compile(r"```yaml\n(name: .*?)```", re.DOTALL)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_loads_under_its_own_name(path: Path) -> None:
    """The file is legal, and its run directory is called like the file."""
    assert experiment_file.load(path).name == path.stem


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_is_listed(path: Path) -> None:
    """The page that lists them has a line for it."""
    assert f"({path.name})" in (ROOT / "experiments/README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_in_pages_load(page: Path) -> None:
    """What a page shows as a whole experiment can be copied as it is."""
    examples = EXAMPLE.findall(page.read_text(encoding="utf-8"))
    assert examples
    for text in examples:
        assert experiment_file.parse(text, page.name).name == "mine"
