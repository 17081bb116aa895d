"""Seeded scenarios on the real engine and the embedded services."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.selftest import scenarios
from wirelab.selftest.scenarios import SCENARIOS, Scenario
from wirelab.stack import manifests

SERVICES = Path(__file__).parents[3] / "services"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_every_rung_is_measured(scenario: Scenario) -> None:
    """The experiment of a scenario holds each cell of its ladder once."""
    experiment = experiment_file.parse(scenario.source(), scenario.name)
    planned = planning.schedule(experiment, manifests.load(SERVICES)).trials
    points = [trial.cell.point for trial in planned if trial.repeat == 1]
    for expected in scenario.ladder.cells:
        assert sum(expected.matches(point) for point in points) == 1, str(expected)


def test_scenarios_differ_in_their_causes_alone() -> None:
    """Same rungs, same questions, three results."""
    assert len({scenario.causes for scenario in SCENARIOS}) == len(SCENARIOS) == 3
    for scenario in SCENARIOS:
        assert [rung.id for rung in scenario.ladder.rungs] == ["windows", "text-check", "decoding"]


@pytest.mark.timeout(300)
def test_three_scenarios_three_conclusions(tmp_path: Path) -> None:
    """Fed real trials, the same code names the window, the text check, and nothing. What a busy
    machine leaves undecided is measured again; a cause that is not there is never undecided."""
    concluded = scenarios.run(tmp_path / "first")
    wrong = [one for one in concluded if not one.right]
    if wrong and all(set(one.explanation.causes) < set(one.scenario.causes) for one in wrong):
        concluded = scenarios.run(tmp_path / "again")
    for one in concluded:
        assert one.right, f"{one.reason}: {' '.join(one.explanation.sentences)}"
