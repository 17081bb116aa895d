"""Loads of the experiment file: what is read, what is refused, what the engine is given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
import yaml

from wirelab.documents import to_json
from wirelab.errors import ExperimentError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.experiment import placement
from wirelab.process import open_files
from wirelab.process.endpoint import Endpoint
from wirelab.records.load import LoadRecord
from wirelab.run import runner as running
from wirelab.stack import manifests
from wirelab.trial import labels
from wirelab.trial.plans import plan

Json = dict[str, Any]

TEXT = """\
name: loads
services: [{service}]
messages:
  - {{operation: Hello, bytes: 14 B}}
loads:
  - {load}
window: {{duration: 2 s}}
"""

STAGES = "closed: {stages: [{duration: 10 s, target: 20}, {duration: 0 s, target: 5}]}"
RAMP = "ramping: {stages: [{duration: 4 s, target: 500}, {duration: 1 s, target: 0}], %s}"
EVEN, RANDOM = (RAMP % f"{more}in_flight_max: 8" for more in ("", "gaps: exponential, "))


def _text(load: str, service: str = "rest@rust") -> str:
    return TEXT.format(load=load, service=service)


def _group(load: str) -> Json:
    """The engine's group of a trial under the load."""
    experiment = experiment_file.parse(_text(load))
    planned = planning.schedule(experiment, manifests.load()).trials[0]
    whole: Json = to_json(
        plan(experiment, planned, placement.choose("unpinned"), Endpoint("127.0.0.1:1"))
    )
    group: Json = whole["groups"][0]
    seed = group["load"].pop("seed", None)
    assert seed in (None, planned.seed)
    return {**group, "seeded": seed is not None}


def _point(load: str) -> LoadRecord:
    return experiment_file.parse(_text(load)).loads[0].point()


@pytest.mark.parametrize(
    ("load", "planned", "seeded"),
    [
        (
            "closed: {users: 3, think: 10 ms}",
            {"kind": "closed", "users": 3, "think_s": 0.01},
            False,
        ),
        (
            "closed: {users: 3, think: {mean: 10 ms, distribution: uniform}, calls_per_pause: 4}",
            {
                "kind": "closed",
                "users": 3,
                "think_s": 0.01,
                "think": "uniform",
                "calls_per_pause": 4,
            },
            True,
        ),
        (
            STAGES,
            {
                "kind": "closed",
                "users": 20,
                "stages": [{"to": 20.0, "duration_s": 10.0}, {"to": 5.0, "duration_s": 0.0}],
            },
            False,
        ),
        (
            EVEN,
            {
                "kind": "stages",
                "in_flight_max": 8,
                "stages": [{"to": 500.0, "duration_s": 4.0}, {"to": 0.0, "duration_s": 1.0}],
            },
            False,
        ),
        (
            RANDOM,
            {
                "kind": "stages",
                "in_flight_max": 8,
                "stages": [{"to": 500.0, "duration_s": 4.0}, {"to": 0.0, "duration_s": 1.0}],
            },
            True,
        ),
        (
            "bursts: {calls: 10, gap: 1 s, in_flight_max: 10}",
            {"kind": "bursts", "calls": 10, "gap_s": 1.0, "in_flight_max": 10},
            False,
        ),
        (
            (
                "bursts: {length: 200 ms, rate: 100, gap: {mean: 1 s, distribution: exponential}, "
                "in_flight_max: 10}"
            ),
            {
                "kind": "bursts",
                "calls": 20,
                "rate": 100.0,
                "gap_s": 1.0,
                "gaps": "exponential",
                "in_flight_max": 10,
            },
            True,
        ),
    ],
)
def test_every_load_becomes_the_engines(load: str, planned: Json, seeded: bool) -> None:
    group = _group(load)
    given = {key: value for key, value in group["load"].items() if value != 0.0 or key in planned}
    assert given == planned
    assert group["seeded"] is seeded
    jsonschema.validate(yaml.safe_load(_text(load)), json.loads(experiment_file.schema_text()))


def test_a_load_that_has_an_end_is_measured_from_its_beginning_to_its_end() -> None:
    for load, window in (
        (STAGES, {"duration_s": 10.0}),
        (EVEN, {"duration_s": 5.0}),
        ("closed: {users: 3, iterations: 7}", {"calls": {"calls": 21, "max_s": 60.0}}),
    ):
        group = _group(load)
        assert group["window"] == window
        assert group["warmup"] == {"min_s": 0.0, "max_s": 0.0}
    bursts = _group("bursts: {calls: 10, gap: 1 s, in_flight_max: 10}")
    assert bursts["window"] == {"duration_s": 2.0}
    assert bursts.get("warmup", {}).get("max_s", 5.0) == 5.0


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (
            "closed: {think: 1 s}",
            "x:6: loads[0].closed.users: this key is missing; add it, or stages",
        ),
        (
            "closed: {users: 3, stages: [{duration: 1 s, target: 3}]}",
            "closed.users: stages set the number of users: leave users out",
        ),
        ("closed: {stages: [{duration: 1 s, targt: 3}]}", "Did you mean 'target'?"),
        ("closed: {stages: [{duration: 1, target: 3}]}", "stages[0].duration: 1 has no unit"),
        (
            "closed: {stages: [{duration: 0 s, target: 3}]}",
            "all stages have a duration of 0 s: give one of them",
        ),
        ("closed: {stages: [{duration: 1 s, target: 0}]}", "so no calls are made"),
        ("closed: {users: 3, calls_per_pause: 2}", "calls_per_pause needs a pause: add `think`"),
        (
            "closed: {users: 3, think: {distribution: exponential}}",
            "think.mean: this key is missing",
        ),
        (
            "closed: {users: 3, think: {mean: 1 s, distribution: normal}}",
            "loads[0].closed.think.distribution: 'normal' is not a valid value",
        ),
        ("closed: {users: 3, think: 5}", "x:6: loads[0].closed.think: 5 has no unit"),
        ("ramping: {in_flight_max: 3}", "x:6: loads[0].ramping.stages: this key is missing"),
        ("bursts: {gap: 1 s, in_flight_max: 3}", "a burst has either calls or length"),
        ("bursts: {length: 1 s, gap: 1 s, in_flight_max: 3}", "length needs a rate"),
        ("bursts: {calls: 5, gap: 0 s, in_flight_max: 3}", "gap must be above 0 s"),
        ("bursts: {calls: 5, gap: 1 s}", "x:6: loads[0].bursts.in_flight_max: this key is missing"),
        ("{closed: {users: 3}, bursts: {calls: 5, gap: 1 s, in_flight_max: 3}}", "exactly one of"),
        ("burst: {calls: 5}", "loads[0].burst: unknown key. Did you mean 'bursts'?"),
    ],
)
def test_a_mistake_in_a_load_is_reported_with_its_remedy(load: str, said: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        experiment_file.parse(_text(load), "x")
    assert said in str(caught.value)


def test_a_foreign_tool_holds_a_constant_number_of_users_only() -> None:
    for load, word in ((STAGES, "stages"), ("closed: {users: 3, iterations: 7}", "iterations")):
        experiment = experiment_file.parse(_text(load, '"grpc@rust?caller=ghz"'))
        with pytest.raises(ExperimentError, match=f"constant number of users, without {word}"):
            planning.schedule(experiment, manifests.load())


@pytest.mark.parametrize(
    ("load", "label"),
    [
        ("closed: {users: 1}", "1 user"),
        (
            (
                "closed: {users: 10, think: {mean: 100 ms, distribution: exponential}, "
                "calls_per_pause: 3}"
            ),
            "10 users, 0.1 s think time (exponential), 3 calls per pause",
        ),
        ("closed: {users: 10, iterations: 2000}", "10 users, 2,000 calls each"),
        (STAGES, "20 users, from 0 to 20 in 10 s, 5 at once"),
        (EVEN, "0 calls/s, then 500 in 4 s, 0 in 1 s"),
        (RANDOM, "0 calls/s, then 500 in 4 s, 0 in 1 s, exponential gaps"),
        (
            "bursts: {calls: 1000, gap: 500 ms, in_flight_max: 9}",
            "bursts of 1,000 calls at once, 500 ms apart",
        ),
        (
            (
                "bursts: {length: 1 s, rate: 2000, gap: {mean: 2 s, distribution: exponential}, "
                "in_flight_max: 9}"
            ),
            "bursts of 2,000 calls at 2,000/s, 2 s apart (exponential)",
        ),
    ],
)
def test_a_load_is_shown_with_all_that_makes_it(load: str, label: str) -> None:
    assert labels.load(_point(load)) == label


def test_many_stages_are_abbreviated_and_stay_distinct() -> None:
    def label(middle: int) -> str:
        stages = ", ".join(f"{{duration: 1 s, target: {n}}}" for n in (1, 2, middle, 4, 5, 6, 7, 8))
        return labels.load(_point(f"closed: {{stages: [{stages}]}}"))

    assert "1 in 1 s, 2 in 1 s, … 8 in 1 s (8 stages, " in label(3)
    assert label(3) != label(9)


def test_a_new_kind_of_load_leaves_digests_and_ids_of_older_experiments_alone() -> None:
    experiment = experiment_file.parse(_text("closed: {users: 3, think: 10 ms}"))
    dumped = experiment.model_dump(mode="json")["loads"]
    closed = {"users": 3, "think": 0.01}
    assert dumped == [{"closed": closed, "constant": None, "poisson": None}]
    assert set(msgspec.to_builtins(_point("closed: {users: 3}"))) == {"kind", "users", "think_s"}
    trial = planning.schedule(experiment, manifests.load()).trials[0]
    assert "-closed3-r1-" in trial.id


@pytest.mark.parametrize(
    ("load", "word"),
    [
        (STAGES, "closed20"),
        (EVEN, "stages500"),
        ("bursts: {calls: 70, gap: 1 s, in_flight_max: 9}", "bursts70"),
    ],
)
def test_trials_are_named_by_the_level_of_their_load(load: str, word: str) -> None:
    experiment = experiment_file.parse(_text(load))
    assert word in planning.schedule(experiment, manifests.load()).trials[0].id


PROBE = "constant: {rate: 200, in_flight_max: 8}"


def _with_groups(*groups: str, message: str = "{operation: Hello, bytes: 14 B}") -> str:
    """A file with groups next to the probe."""
    text = _text(f"{PROBE}\n    background: [{', '.join(groups)}]")
    return text.replace("{operation: Hello, bytes: 14 B}", message, 1)


UPLOADS = (
    "{name: uploads, message: {operation: Submit, bytes: 100 kB}, "
    "load: {bursts: {calls: 20, gap: 300 ms, in_flight_max: 20}}}"
)


def test_groups_next_to_the_probe_are_groups_of_the_engines_plan() -> None:
    experiment = experiment_file.parse(_with_groups(UPLOADS))
    planned = planning.schedule(experiment, manifests.load()).trials[0]
    table = placement.choose("unpinned")
    document = plan(experiment, planned, table, Endpoint("127.0.0.1:1"))
    written: Json = to_json(document)
    probe, uploads = written["groups"]
    assert (probe["name"], uploads["name"]) == ("main", "uploads")
    assert uploads["workload"]["operation"] == "Submit"
    assert uploads["load"]["calls"] == 20
    assert uploads["window"] == probe["window"] == {"duration_s": 2.0}
    assert uploads["warmup"] == {"min_s": 0.0, "max_s": 0.0}
    assert planned.cell.load.concurrencies == [8, 20]
    point = planned.cell.point
    assert [group.name for group in point.load.background] == ["uploads"]
    assert labels.load(point.load) == (
        "200 calls/s, evenly spaced, with uploads (Submit 100 kB, bursts of 20 calls at once, "
        "300 ms apart)"
    )
    jsonschema.validate(
        yaml.safe_load(_with_groups(UPLOADS)), json.loads(experiment_file.schema_text())
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (_with_groups(UPLOADS, UPLOADS), "x:7: loads[0].background: two groups are named uploads"),
        (_with_groups(UPLOADS.replace("uploads", "probe")), "choose another name"),
        (_with_groups(UPLOADS.replace("Submit", "Sumbit")), "background[0].message.operation: "),
        (_with_groups(UPLOADS.replace("bursts", "burst")), "Did you mean 'bursts'?"),
        (
            _with_groups("{name: a, load: {closed: {users: 1}}}"),
            "background[0].message: this key is",
        ),
    ],
)
def test_a_mistake_in_a_group_is_reported_with_its_remedy(text: str, said: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        experiment_file.parse(text, "x")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (_with_groups(UPLOADS) + "capture: client\n", "set `capture: none`"),
        (
            _with_groups(UPLOADS, message="{operation: Reserve}"),
            "a service has one contract. choose an operation of charging",
        ),
        (
            _with_groups(UPLOADS.replace("Submit", "Hello")),
            "a service has one text of Hello. use one size",
        ),
    ],
)
def test_loads_that_a_service_does_not_support_are_refused(text: str, said: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        planning.schedule(experiment_file.parse(text), manifests.load())
    assert said in str(caught.value)


def test_connections_of_all_groups_have_to_fit_into_the_open_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_files, "limit", lambda: 1000)
    users = "{name: users, message: {operation: Hello, bytes: 14 B}, load: {closed: {users: 800}}}"
    text = _with_groups(users).replace("in_flight_max: 8", "in_flight_max: 100")
    with pytest.raises(ExperimentError) as caught:
        running.run(experiment_file.parse(text), tmp_path / "run", source=text)
    assert caught.value.problems == [
        (
            "rest@rust, constant in_flight_max=100 and its background groups: 900 concurrent "
            "connections and 256 other files exceed the limit of 1,000 open files per process"
        ),
        "use fewer users or connections, or raise the limit (ulimit -n 1156)",
    ]
