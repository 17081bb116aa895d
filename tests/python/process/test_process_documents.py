"""The documents that processes exchange have one definition, the engine's types; its schemas
are in contracts/process. What the front writes, and what it is written, must be of them."""

from __future__ import annotations

import importlib
import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from pydantic import ValidationError

from wirelab.documents import to_json
from wirelab.documents.event import Event
from wirelab.documents.link import LinkConfig
from wirelab.documents.plan import Plan
from wirelab.documents.service_ready import Ready
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.experiment import placement
from wirelab.experiment.link_profiles import Direction, GilbertElliott, OwnProfile, RandomLoss
from wirelab.identity.point import points
from wirelab.process import engine_binary
from wirelab.process.endpoint import Endpoint, ListenSpec
from wirelab.process.interruption import Interruption
from wirelab.process.managed import ManagedProcess, Refused
from wirelab.process.scratch import Certificates
from wirelab.stack import manifests
from wirelab.stack.axes import number_max
from wirelab.stack.reference import Stack
from wirelab.trial.plans import plan, settings
from wirelab.trial.stages import link as links

ROOT = Path(__file__).resolve().parents[3]
SCHEMAS = ROOT / "contracts" / "process"
EXPERIMENTS = sorted(
    [
        *(ROOT / "experiments").glob("*.yaml"),
        *(ROOT / "python" / "wirelab" / "experiments").glob("*.yaml"),
        *(ROOT / "studies" / "hamo2023").glob("[!s]*.yaml"),
    ]
)
COMBINED = [
    "rest@rust",
    "rest@rust?codec=text&compression=gzip&connection=close",
    "rest@rust?transport=http/2&in_flight=multiplex=8&connection=pool=2",
    "rest@rust?client.writes=split&client.nagle=on&client.quickack=on&server.writes=split",
    "grpc@go?client.h2_window=65535&work=frame&start=cold",
    "rest@rust?codec=xml&compression=zstd&socket=unix",
    "rest@rust?transport=http/1.0&connection=close&end_of_message=until-close&close_delay=40",
    "soap@rust?soap=1.2&codec=soap-rpc&security=mtls",
    "soap@rust?codec=soap-encoded&security=tls",
    "iiop@rust?byte_order=big&in_flight=multiplex=4",
    "raw@rust?codec=token-xml&token_source=text&reply=one-way",
]
STACKS = sorted(
    {stack.reference for stack, name in points(manifests.load()) if name == "transfer"}.union(
        COMBINED
    )
)
"""Every value that a service offers, and stacks with several axes of the client."""

EXPERIMENT = """
name: one
services: ["{reference}"]
messages: [{{operation: Hello, bytes: 14 B}}]
loads: [closed: {{users: 8}}]
window: {{duration: 1 s}}
"""

NOWHERE = Endpoint("127.0.0.1:1")
Json = dict[str, Any]


def _valid(name: str, document: Json) -> None:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_every_plan_of_every_experiment_is_one_the_engine_defines(path: Path) -> None:
    """All loads, windows, messages and stacks that are written down anywhere."""
    experiment = experiment_file.load(path)
    table = placement.choose("unpinned")
    trials = planning.schedule(experiment, manifests.load()).trials
    assert trials
    for planned in trials:
        if planned.cell.stack.axes.caller == "engine":
            _valid("plan", to_json(plan(experiment, planned, table, NOWHERE)))


@pytest.mark.parametrize("reference", STACKS)
def test_every_axis_is_written_as_the_other_side_reads_it(reference: str) -> None:
    """The client's part goes into the plan, the server's into the configuration."""
    stack = Stack.parse(reference)
    experiment = experiment_file.parse(EXPERIMENT.format(reference=reference))
    planned = planning.schedule(experiment, manifests.load()).trials[0]
    table = placement.choose("unpinned")
    files, security = Certificates(Path("tls")), stack.axes.security
    tls = files.of_client(security)
    endpoint = Endpoint("127.0.0.1:1", ior="IOR:00", report="127.0.0.1:2", tls=tls)
    _valid("plan", to_json(plan(experiment, planned, table, endpoint)))
    listen = ListenSpec("unix:/run/1.sock", files.of_service(security), tls)
    configured = settings(experiment, planned, table, {})
    if stack.axes.language == "rust":
        _valid("service-config", configured.configuration(stack, "transfer", listen))


@pytest.mark.parametrize(
    ("contract", "message"),
    [
        ("charging", "sequence: ReservationDebit"),
        ("charging", "operation: Reserve"),
        ("calendar", "operation: Book"),
        ("calendar", "operation: Deploy, bytes: 1 kB"),
    ],
)
def test_the_workloads_of_every_contract_are_the_engines(contract: str, message: str) -> None:
    text = EXPERIMENT.format(reference="rest@rust")
    text = text.replace("operation: Hello, bytes: 14 B", message)
    experiment = experiment_file.parse(text)
    planned = planning.schedule(experiment, manifests.load()).trials[0]
    table = placement.choose("unpinned")
    _valid("plan", to_json(plan(experiment, planned, table, NOWHERE)))
    configured = settings(experiment, planned, table, {})
    _valid("service-config", configured.configuration(planned.cell.stack, contract))


def test_output_of_the_real_processes_follows_the_schemas(real_engine: Path) -> None:
    """Every line of a real engine, the ready line of a real service."""
    ready, events = _raw(real_engine)
    _valid("service-ready", ready)
    assert [event["event"] for event in events][-1] == "result"
    for event in events:
        _valid("event", event)


def _raw(engine: Path) -> tuple[Json, list[Json]]:
    """A service and a drive without the front between them and us."""
    configuration = {
        "contract": "transfer",
        "stack": {"binding": "rest", "codec": "json", "transport": "http/1.1"},
        "listen": "127.0.0.1:0",
        "metrics_listen": "127.0.0.1:0",
    }
    with subprocess.Popen(
        [engine.with_name("wirelab-rust-service")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as service:
        assert service.stdin
        assert service.stdout
        service.stdin.write(json.dumps(configuration) + "\n")
        service.stdin.flush()
        ready: Json = json.loads(service.stdout.readline())
        group = {
            "name": "main",
            "target": ready["address"],
            "stack": {"binding": "rest", "codec": "json", "transport": "http/1.1"},
            "workload": {
                "kind": "contract",
                "contract": "transfer",
                "operation": "Hello",
                "bytes": 14,
            },
            "load": {"kind": "closed", "users": 1},
            "window": {"duration_s": 0.3},
        }
        document = json.dumps({"progress_ms": 50, "groups": [group]})
        driven = subprocess.run(
            [engine, "drive"],
            input=document,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        service.stdin.close()
    return ready, [json.loads(line) for line in driven.stdout.splitlines()]


@pytest.mark.parametrize("schema", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.name)
def test_every_schema_has_a_model_with_its_fields(schema: Path) -> None:
    document = json.loads(schema.read_text(encoding="utf-8"))
    name = schema.name.removesuffix(".schema.json").replace("-", "_")
    module = importlib.import_module(f"wirelab.documents.{name}")
    for title, shown in {document["title"]: document, **document.get("$defs", {})}.items():
        if "properties" in shown and hasattr(getattr(module, title), "__struct_encode_fields__"):
            fields = {*getattr(module, title).__struct_encode_fields__}
            assert fields == set(shown["properties"]), title


def test_models_keep_every_figure_of_a_real_engine(real_engine: Path) -> None:
    ready, events = _raw(real_engine)
    for printed, model in ((ready, Ready), *((event, Event) for event in events)):
        parsed = msgspec.json.decode(json.dumps(printed).encode(), type=model)
        kept = json.loads(msgspec.json.encode(parsed))
        assert {key: kept[key] for key in printed} == printed


def test_a_plan_that_the_engine_would_refuse_is_not_valid() -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field `grouse`"):
        msgspec.json.decode(b'{"groups": [], "grouse": 1}', type=Plan)


def _bounds(schema: Json) -> dict[str, Json]:
    """Key -> its least and greatest value, of the numbers of a model."""
    found = {}
    for key, shown in schema["properties"].items():
        parts = [shown, *shown.get("anyOf", ())]
        numbers = [p for p in parts if {"number", "integer"} & {*_types(p)}]
        if numbers:
            found[key] = {word: numbers[0].get(word) for word in ("minimum", "maximum")}
    return found


def _types(schema: Json) -> list[str]:
    shown = schema.get("type", [])
    return shown if isinstance(shown, list) else [shown]


def test_bounds_of_profiles_are_the_engines() -> None:
    """What the engine would refuse of a number is refused when an experiment is read."""
    schema = json.loads((SCHEMAS / "link.schema.json").read_text(encoding="utf-8"))["$defs"]
    losses = {one["properties"]["kind"]["const"]: one for one in schema["LossModel"]["oneOf"]}
    for model, theirs in (
        (Direction, schema["Direction"]),
        (RandomLoss, losses["random"]),
        (GilbertElliott, losses["gilbert-elliott"]),
    ):
        ours = _bounds(model.model_json_schema())
        assert ours == _bounds(theirs)
        assert ours
        assert all(shown["minimum"] is not None for shown in ours.values())
    window = json.loads((SCHEMAS / "link.schema.json").read_text(encoding="utf-8"))
    bounds = window["properties"]["initcwnd"]
    assert (bounds["minimum"], bounds["maximum"]) == (1, number_max("initial_window"))


@pytest.mark.parametrize(
    "direction",
    [
        {"delay_ms": 5, "jitter_ms": 5, "distribution": "uniform"},
        {"delay_ms": 5, "jitter_ms": 5.1, "distribution": "uniform"},
        {"delay_ms": 4, "jitter_ms": 1, "distribution": "normal"},
        {"delay_ms": 4, "jitter_ms": 1.01, "distribution": "normal"},
        {"delay_ms": 2, "jitter_ms": 3, "distribution": "pareto"},
        {"delay_ms": 2, "jitter_ms": 3.01, "distribution": "pareto"},
        {"delay_ms": 5, "jitter_ms": 1},
        {"delay_ms": 5, "distribution": "uniform"},
        {"delay_ms": 60_001},
        {"delay_ms": -1},
        {"loss": {"kind": "random", "percent": 120}},
        {"loss": {"kind": "gilbert-elliott", "p_percent": 0, "r_percent": 0}},
        {"reorder_percent": 1},
        {"reorder_percent": 1, "delay_ms": 1},
        {"rate_kbit": 0},
        {"rate_kbit": 10, "queue_bytes": 1500},
        {"rate_kbit": 10, "queue_bytes": 1499},
        {"queue_bytes": 1500},
    ],
    ids=str,
)
def test_the_front_refuses_the_profiles_that_the_engine_refuses(
    direction: Json, real_engine: Path
) -> None:
    """Without iproute2, and without privileges, the engine makes none that it takes."""
    profile = {"name": "own", "both": direction}
    done = subprocess.run(
        [real_engine, "link"],
        input=json.dumps({"profile": profile}) + "\n",
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/nonexistent"},
    )
    refused = json.loads(done.stdout)["refused"]["option"]
    try:
        OwnProfile.model_validate(profile)
    except ValidationError:
        assert refused.startswith("profile."), refused
    else:
        assert not refused.startswith("profile"), refused


NETEM = OwnProfile.model_validate({"name": "own", "driver": "netem", "both": {"delay_ms": 1}})


@pytest.mark.parametrize(("profile", "driver"), [("wlan", "auto"), (NETEM, "netem")])
def test_the_configuration_of_a_link_follows_the_schema_of_the_engine(
    profile: str | OwnProfile, driver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders: list[Json] = []

    def order(_: object, command: object, given: LinkConfig, *__: object, **___: object) -> None:
        orders.append(to_json(given))
        raise Refused("heard enough", "")

    monkeypatch.setattr(ManagedProcess, "__init__", order)
    monkeypatch.setattr(engine_binary, "find", lambda: Path("engine"))
    with Interruption() as interruption, pytest.raises(Refused):
        links.open_link(
            links.LinkSpec(
                profile,
                congestion="reno",
                initial_window=64,
                after_idle="keep",
                measure=links.measurement(None),
            ),
            cores=(0,),
            log=tmp_path / "log",
            interruption=interruption,
        )
    _valid("link", orders[0])
    assert (orders[0]["initcwnd"], orders[0]["after_idle"]) == (64, "keep")
    assert orders[0].get("driver", "auto") == driver
