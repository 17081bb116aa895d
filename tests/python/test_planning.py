"""The matrix, its order and its ids."""

from __future__ import annotations

import re

import pytest

from wirelab import experiment_file, manifests, planning
from wirelab.errors import ExperimentError
from wirelab.planning import Schedule

MATRIX = """\
name: matrix
services: [rest@rust, grpc@rust]
axes: {client.nagle: [off, on]}
messages:
  - {operation: Hello, bytes: 14 B}
  - {operation: Submit, bytes: 1 kB}
loads:
  - closed: {users: 1}
  - poisson: {rate: 1000, in_flight_max: 16}
window: {duration: 1 s}
repeats: 3
"""


def _schedule(text: str = MATRIX) -> Schedule:
    return planning.schedule(experiment_file.parse(text), manifests.load())


def test_every_combination_is_there_once_per_repeat() -> None:
    trials = _schedule().trials
    assert len(trials) == 2 * 2 * 2 * 2 * 3
    assert len({trial.id for trial in trials}) == len(trials)
    assert [trial.order for trial in trials] == list(range(len(trials)))
    assert all(re.fullmatch(r"[a-z0-9.-]{1,120}", trial.id) for trial in trials)


def test_every_repeat_is_a_complete_permutation_of_the_points() -> None:
    trials = _schedule().trials
    blocks = [trials[start : start + 16] for start in range(0, 48, 16)]
    points = [[trial.cell.point.stack + str(trial.cell.point.load) for trial in b] for b in blocks]
    assert [{trial.repeat for trial in block} for block in blocks] == [{1}, {2}, {3}]
    assert sorted(points[0]) == sorted(points[1]) == sorted(points[2])
    assert points[0] != points[1] != points[2]


def test_the_seed_alone_decides_the_order_and_not_the_ids() -> None:
    first, again = _schedule().trials, _schedule().trials
    other = _schedule(MATRIX + "seed: 2\n").trials
    assert first == again
    assert [trial.id for trial in first] != [trial.id for trial in other]
    assert {trial.id for trial in first} == {trial.id for trial in other}


def test_arrivals_differ_from_trial_to_trial() -> None:
    seeds = [trial.seed for trial in _schedule().trials]
    assert len(set(seeds)) == len(seeds)


def test_an_impossible_combination_is_refused_unless_it_may_be_left_out() -> None:
    text = MATRIX.replace("{client.nagle: [off, on]}", "{codec: [text, json, protobuf]}")
    with pytest.raises(ExperimentError, match=r"nearest legal stack(.|\n)*skip_illegal"):
        _schedule(text)
    schedule = _schedule(text + "skip_illegal: true\n")
    assert {trial.cell.stack.reference for trial in schedule.trials} == {
        "rest@rust",
        "rest@rust?codec=text",
        "grpc@rust",
    }
    assert any("Submit over rest has no codec text" in reason for reason in schedule.skipped)
    assert len(schedule.skipped) == len(set(schedule.skipped)) > 0


def test_a_service_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ExperimentError, match="Did you mean 'rust'"):
        _schedule(MATRIX.replace("grpc@rust", "grpc@rsut"))


def test_nothing_left_to_measure_is_an_error() -> None:
    text = MATRIX.replace("operation: Hello", "operation: Download").replace("Submit", "Download")
    text = text.replace(", grpc@rust", "") + "skip_illegal: true\n"
    with pytest.raises(ExperimentError, match="no combination is left"):
        _schedule(text)


def test_faults_that_a_service_lacks_are_refused() -> None:
    text = MATRIX.replace("@rust", "@go") + "faults: {hang: {every: 5}}\n"
    with pytest.raises(ExperimentError, match="no fault 'hang'"):
        _schedule(text)


def test_placements_are_points_of_their_own() -> None:
    trials = _schedule(MATRIX + "placement: [pinned, unpinned]\n").trials
    assert {trial.cell.point.options["placement"] for trial in trials} == {"pinned", "unpinned"}
    assert len(trials) == 96
