"""Seeded worlds on the real engine and the embedded services."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.selftest import worlds
from wirelab.selftest.worlds import WORLDS, World
from wirelab.stack import manifests

SERVICES = Path(__file__).parents[2] / "services"


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_every_rung_is_measured(world: World) -> None:
    """The experiment of a world holds each cell of its ladder once."""
    experiment = experiment_file.parse(world.source(), world.name)
    planned = planning.schedule(experiment, manifests.load(SERVICES)).trials
    points = [trial.cell.point for trial in planned if trial.repeat == 1]
    for wanted in world.ladder.cells:
        assert sum(wanted.matches(point) for point in points) == 1, str(wanted)


def test_worlds_differ_in_their_truth_alone() -> None:
    """Same rungs, same questions, three truths."""
    assert len({world.causes for world in WORLDS}) == len(WORLDS) == 3
    for world in WORLDS:
        assert [rung.id for rung in world.ladder.rungs] == ["windows", "text-check", "decoding"]


@pytest.mark.timeout(300)
def test_three_worlds_three_conclusions(tmp_path: Path) -> None:
    """Fed real trials, the same code names the window, the text check, and nothing."""
    concluded = worlds.run(tmp_path)
    for one in concluded:
        assert one.right, f"{one.reason}: {' '.join(one.explanation.sentences)}"
