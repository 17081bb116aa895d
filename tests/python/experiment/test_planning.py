"""The matrix, its order and its ids."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from wirelab.errors import ExperimentError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.experiment.matrix import Schedule, scheduling
from wirelab.stack import manifests
from wirelab.stack.manifests import Catalogue

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


def test_arrivals_differ_between_settings_and_repeats_and_not_between_services() -> None:
    """What is compared has the same arrivals; nothing else has."""
    settings: dict[tuple[str, int], set[int]] = {}
    for trial in _schedule().trials:
        point = trial.cell.point
        shared = (point.operation, point.bytes, point.load, point.link, point.options)
        settings.setdefault((str(shared), trial.repeat), set()).add(trial.seed)
    assert all(len(seeds) == 1 for seeds in settings.values())
    assert len(set.union(*settings.values())) == len(settings) > 1
    assert len(settings) < len(_schedule().trials)


def test_an_impossible_combination_is_refused_unless_it_may_be_left_out() -> None:
    text = MATRIX.replace("{client.nagle: [off, on]}", "{codec: [text, json, cdr]}")
    with pytest.raises(ExperimentError, match=r"nearest legal stack(.|\n)*skip_illegal"):
        _schedule(text)
    schedule = _schedule(text + "skip_illegal: true\n")
    assert {trial.cell.stack.reference for trial in schedule.trials} == {
        "rest@rust",
        "rest@rust?codec=text",
    }
    assert any(
        "Submit with rest does not support codec text" in reason for reason in schedule.skipped
    )
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


CHARGING = """\
name: charging
services: [rest@tiny, raw@tiny]
messages: [{sequence: ReservationDebit}, {operation: CreditControl}]
loads: [closed: {users: 1}]
window: {calls: 10}
repeats: 1
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Catalogue:
    """A language whose services serve everything that these tests name."""
    contracts = ["transfer", "charging", "calendar"]
    serves = [
        {"binding": "rest", "codecs": ["json"], "transports": ["http/1.1"], "contracts": contracts},
        {
            "binding": "raw",
            "codecs": ["soap-literal"],
            "transports": ["tcp"],
            "contracts": contracts,
            "replies": ["two-way", "one-way"],
        },
    ]
    (tmp_path / "tiny").mkdir()
    content = {"language": "tiny", "start": ["{out}"], "serves": serves}
    (tmp_path / "tiny" / "service.json").write_text(json.dumps(content))
    return manifests.load(tmp_path)


def test_sequences_and_operations_of_charging_are_points(tiny: Catalogue) -> None:
    trials = planning.schedule(experiment_file.parse(CHARGING), tiny).trials
    assert {(t.cell.point.operation, t.cell.point.contract) for t in trials} == {
        ("ReservationDebit sequence", "charging"),
        ("CreditControl", "charging"),
    }
    workloads = [t.cell.workload(0) for t in trials if "sequence" in t.cell.message.name]
    assert workloads[0] == {
        "kind": "sequence",
        "contract": "charging",
        "function": "ReservationDebit",
    }
    assert all(re.fullmatch(r"[a-z0-9.-]{1,120}", trial.id) for trial in trials)


def test_the_studys_messages_of_calendar_have_no_size_of_ours(tiny: Catalogue) -> None:
    text = CHARGING.replace("charging", "calendar").replace(
        "[{sequence: ReservationDebit}, {operation: CreditControl}]",
        "[{operation: Deploy}, {operation: Book}]",
    )
    trials = planning.schedule(experiment_file.parse(text), tiny).trials
    assert {trial.cell.workload(0)["bytes"] for trial in trials} == {0}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("{operation: ConfirmAction}", "called within sequences only"),
        ("{operation: Credit, bytes: 1 kB}", "Credit has a fixed size"),
        ("{sequence: Credit, bytes: 1 kB}", "Credit sequence has a fixed size"),
        ("{sequence: Debit}", "Did you mean"),
        ("{sequence: Credit, operation: Credit}", "either operation or sequence"),
        ("{}", "either operation or sequence"),
    ],
)
def test_messages_that_charging_lacks_are_refused(tiny: Catalogue, message: str, said: str) -> None:
    text = re.sub(r"messages: .*", f"messages: [{message}]", CHARGING)
    with pytest.raises(ExperimentError, match=said):
        planning.schedule(experiment_file.parse(text), tiny)


def test_a_sequence_needs_replies(tiny: Catalogue) -> None:
    text = CHARGING.replace("raw@tiny]", '"raw@tiny?reply=one-way"]')
    with pytest.raises(ExperimentError, match="needs numbers from replies"):
        planning.schedule(experiment_file.parse(text), tiny)


def test_a_size_is_asked_for_where_there_is_one() -> None:
    with pytest.raises(ExperimentError, match="Submit needs a size"):
        _schedule(MATRIX.replace("operation: Submit, bytes: 1 kB", "operation: Submit"))


WIDE = """
name: wide
services: [rest@rust]
messages: [{operation: Hello, bytes: 14 B}]
loads: [{closed: {users: 1}}]
window: {duration: 1 s}
axes:
  connection: [%s]
  in_flight: [%s]
repeats: %d
"""


def _wide(connections: int, flights: int, repeats: int) -> str:
    pools = ", ".join(f"pool={number}" for number in range(1, connections + 1))
    pipelines = ", ".join(f"pipeline={number}" for number in range(2, flights + 2))
    return WIDE % (pools, pipelines, repeats)


def test_a_matrix_is_counted_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """By two axes and repeats, none of which is large alone."""

    def make_nothing(*_: object) -> None:
        raise AssertionError("a combination was made")

    monkeypatch.setattr(scheduling, "_cell", make_nothing)
    with pytest.raises(ExperimentError) as refused:
        _schedule(_wide(500, 100, 3))
    text = str(refused.value)
    assert "its matrix has 150,000 trials, at most 100,000 are possible" in text
    assert "500 (axis connection) × 100 (axis in_flight) × 3 (repeats)" in text


def test_a_matrix_below_the_limit_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduling, "TRIALS_MAX", 12)
    assert len(_schedule(_wide(2, 2, 3)).trials) == 12
    with pytest.raises(ExperimentError, match="its matrix has 16 trials, at most 12"):
        _schedule(_wide(2, 2, 4))
