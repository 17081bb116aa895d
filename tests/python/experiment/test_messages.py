"""Messages of an experiment file: mixes, steps, and requests with data."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest
import yaml

from wirelab.documents.plan import Plan
from wirelab.errors import ExperimentError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.experiment import placement
from wirelab.experiment.matrix import PlannedTrial
from wirelab.process.endpoint import Endpoint
from wirelab.report.page import write_page
from wirelab.run import runner as running
from wirelab.stack import manifests
from wirelab.trial import labels
from wirelab.trial.plans import plan

MIX = """\
  - name: browsing
    mix:
      - {weight: 3, operation: ListPetTypes}
      - {operation: ListOwners}
"""
STEPS = """\
  - name: adding
    steps:
      - {operation: AddOwner}
      - {operation: GetOwner, carry: [{from: id, to: id}]}
"""
FILE = "  - {operation: AddOwner, data: {file: owners.csv}}\n"
RANDOM = """\
  - operation: AddPetType
    data: {per: user, random: {count: 9, fields: {name: {text: 8}}}}
"""
CSV = "firstName,lastName,city\nAda,Byron,London\nAlan,Turing,Wilmslow\n"


def _text(messages: str) -> str:
    return f"""\
name: messages
services: [rest@rust]
messages:
{messages}loads: [closed: {{users: 2}}]
window: {{duration: 200 ms}}
warmup: {{min: 0 s, max: 0 s}}
repeats: 1
"""


def _file(folder: Path, messages: str) -> Path:
    (folder / "owners.csv").write_text(CSV, encoding="utf-8")
    path = folder / "messages.yaml"
    path.write_text(_text(messages), encoding="utf-8")
    return path


def _plan(path: Path) -> tuple[PlannedTrial, Plan]:
    experiment = experiment_file.load(path)
    planned = planning.schedule(experiment, manifests.load()).trials[0]
    made = plan(experiment, planned, placement.choose("unpinned"), Endpoint("127.0.0.1:1"))
    return planned, made


def _workload(path: Path) -> object:
    return msgspec.to_builtins(_plan(path)[1])["groups"][0]["workload"]


def test_a_mix_is_a_workload_of_parts_with_weights(tmp_path: Path) -> None:
    path = _file(tmp_path, MIX)
    planned, _ = _plan(path)
    workload = _workload(path)
    assert isinstance(workload, dict)
    assert workload["kind"] == "mix"
    assert workload["seed"] == planned.seed
    parts = [(part["weight"], part["workload"]["operation"]) for part in workload["parts"]]
    assert parts == [(3.0, "ListPetTypes"), (1.0, "ListOwners")]
    point = planned.cell.point
    assert labels.message(point) == "browsing mix"
    assert "-browsing-mix-" in planned.id
    assert [part["calls"] for part in point.options["message"]["mix"]] == [
        "ListPetTypes",
        "ListOwners",
    ]


def test_steps_carry_values_of_replies(tmp_path: Path) -> None:
    path = _file(tmp_path, STEPS)
    workload = _workload(path)
    assert isinstance(workload, dict)
    assert (workload["kind"], workload["contract"]) == ("steps", "petclinic")
    assert workload["steps"][1]["carry"] == ({"from": "id", "to": "id"},)
    assert labels.message(_plan(path)[0].cell.point) == "adding steps"


def test_rows_come_from_the_folder_of_the_experiment(tmp_path: Path) -> None:
    """The point has what the file holds, not where it is."""
    path = _file(tmp_path, FILE)
    workload = _workload(path)
    assert isinstance(workload, dict)
    assert workload["data"]["rows"] == {"kind": "file", "path": str(tmp_path / "owners.csv")}
    before = _plan(path)[0]
    assert labels.message(before.cell.point) == "AddOwner with owners.csv"
    (tmp_path / "owners.csv").write_text(CSV + "Grace,Hopper,New York\n", encoding="utf-8")
    assert _plan(path)[0].id != before.id


def test_random_rows_follow_the_seed_of_the_trial(tmp_path: Path) -> None:
    path = _file(tmp_path, RANDOM)
    planned, _ = _plan(path)
    workload = _workload(path)
    assert isinstance(workload, dict)
    assert workload["data"] == {
        "per": "user",
        "rows": {
            "kind": "random",
            "count": 9,
            "seed": planned.seed,
            "fields": {"name": {"kind": "text", "length": 8}},
        },
    }


@pytest.mark.parametrize("messages", [MIX, STEPS, FILE, RANDOM])
def test_the_schema_takes_them(messages: str) -> None:
    schema = json.loads(experiment_file.schema_text())
    jsonschema.validate(yaml.safe_load(_text(messages)), schema)


def test_messages_of_before_have_the_digest_of_before() -> None:
    dumped = experiment_file.parse(_text("  - {operation: ListOwners}\n")).model_dump(mode="json")
    assert set(dumped["messages"][0]) == {"operation", "sequence", "bytes", "chunk"}


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        (MIX.replace("  - name: browsing\n    mix:", "  - mix:"), "mix need a name"),
        (MIX.replace("ListOwners", "Credit"), "mix must be of one contract, not of petclinic and"),
        (MIX.replace("weight: 3", "weight: 0"), r"messages\[0\].mix\[0\].weight: .*greater than 0"),
        (MIX.replace("ListOwners", "ListOwnerz"), "Did you mean 'ListOwners'"),
        (STEPS.replace("from: id, ", ""), "from: this key is missing"),
        (
            FILE.replace("operation: AddOwner", "sequence: Credit"),
            "data applies to operation and steps only",
        ),
        (FILE.replace("file: owners.csv", ""), "data has either file or random"),
        (RANDOM.replace("text: 8", "text: 8, integer: [1, 2]"), "exactly one of integer, text"),
        (RANDOM + RANDOM, "two messages are named AddPetType with random data"),
        ("  - {operation: ListOwners, name: owners}\n", "name applies to steps and mix only"),
        ("  - {name: list}\n", "a message needs a request: json, body, .* leave `messages` out"),
    ],
)
def test_impossible_messages_are_refused_at_their_line(messages: str, said: str) -> None:
    with pytest.raises(ExperimentError, match=said) as caught:
        experiment_file.parse(_text(messages), "x")
    assert "x:" in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = _file(tmp_path, FILE.replace("owners.csv", "nobody.csv"))
    with pytest.raises(ExperimentError, match=r"messages\[0\]: data: .*nobody.csv: No such file"):
        experiment_file.load(path)


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_they_are_measured(tmp_path: Path) -> None:
    """On a real service: each call succeeds, and a mix has its shares."""
    path = _file(tmp_path, MIX + STEPS + FILE + RANDOM)
    text = path.read_text(encoding="utf-8")
    run = running.run(experiment_file.load(path), tmp_path / "run", source=text)
    assert [trial.status for trial in run.trials] == ["measured"] * 4
    assert all(trial.result.ok > 0 for trial in run.trials)
    assert all(trial.result.errors == 0 for trial in run.trials)
    mix = next(trial for trial in run.trials if trial.point.operation == "browsing mix")
    calls = {one.operation: one.calls for one in mix.result.operations}
    whole = sum(calls.values())
    spread = 5 * (whole * 0.75 * 0.25) ** 0.5
    assert abs(calls["ListPetTypes"] - 0.75 * whole) < spread
    page = write_page(run.folder).read_text(encoding="utf-8")
    table = page[page.index("Each operation of a mix, or of steps, by itself.") :]
    assert all(f">{name}</div>" in table for name in (*calls, "AddOwner", "GetOwner"))
