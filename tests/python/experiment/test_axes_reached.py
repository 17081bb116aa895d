"""Every axis is measured by a committed experiment or study: one that nothing needs is removed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tests.python.prose import ROOT
from wirelab.experiment import loading
from wirelab.experiment import matrix as planning
from wirelab.stack import axes, manifests
from wirelab.stack.reference import Stack

STUDY = "study.yaml"
"""The page of a study, whose experiments are the files next to it."""


def find_changed_axes(stack: Stack) -> set[str]:
    """The axes with another value than the binding's default."""
    binding, texts = stack.axes.binding, stack.axes.texts
    return {name for name in axes.BY_NAME if texts[name] != axes.default(binding, name)}


@cache
def map_axes_to_files() -> dict[str, set[str]]:
    """Axis -> the files with a cell that changes it."""
    catalogue, found = manifests.load(), dict[str, set[str]]()
    files = [*(ROOT / "experiments").glob("*.yaml"), *(ROOT / "studies").glob("*/*.yaml")]
    for path in (path for path in files if path.name != STUDY):
        planned = planning.schedule(loading.load(path), catalogue)
        for name in set[str]().union(*(find_changed_axes(cell.stack) for cell in planned.cells)):
            found.setdefault(name, set()).add(Path(path).relative_to(ROOT).as_posix())
    return found


def test_every_axis_has_an_experiment() -> None:
    assert set(axes.BY_NAME) - set(map_axes_to_files()) == set()


def test_only_changes_reach_an_axis() -> None:
    stack = Stack.parse("rest@rust?codec=json&connection=close")
    assert find_changed_axes(stack) == {"connection"}
    assert "experiments/slow-start.yaml" in map_axes_to_files()["initial_window"]
    assert "experiments/atlas.yaml" not in map_axes_to_files()["connection"]
