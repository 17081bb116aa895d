"""Bodies that are written as JSON and sent over HTTP as Protobuf, read by Google's library."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.interop import protobuf
from tests.interop.golden import CONTRACTS
from tests.python import logging_server
from wirelab.cli import main
from wirelab.errors import EXIT_OK, EXIT_USAGE, UsageError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix
from wirelab.experiment.external import ExternalMessage
from wirelab.format.media_types import PROTOBUF
from wirelab.run import runner
from wirelab.stack import manifests

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")

RECORD = {"id": "9007199254740993", "quantity": 2, "item": "🔩", "remark": "a<b"}
BATCH = {"batch": "Größe", "records": [RECORD]}
SENT = {"batch": "Größe", "records": [{**RECORD, "id": 9007199254740993}]}
TYPE = "wirelab.transfer.v1.SubmitRequest"
PROTO = CONTRACTS / "transfer.proto"
AS_PROTOBUF = {"proto": str(PROTO), "name": TYPE}


def _drive(port: int, *words: str) -> int:
    url = f"http://127.0.0.1:{port}/orders"
    return main(["drive", url, "--calls", "5", "--json", "--proto", str(PROTO), *words])


def test_json_is_sent_as_protobuf(capsys: pytest.CaptureFixture[str]) -> None:
    with logging_server.serve() as log:
        words = ("--message-type", TYPE, "--data", json.dumps(BATCH))
        assert _drive(log.port, *words) == EXIT_OK
        result = json.loads(capsys.readouterr().out)
        assert (result["ok"], result["errors"]) == (5, 0)
    assert {one.headers["content-type"] for one in log.requests} == {PROTOBUF}
    (body,) = {one.content for one in log.requests}
    assert protobuf.decode("transfer", "SubmitRequest", body) == SENT


def test_an_experiment_compares_json_with_protobuf(tmp_path: Path) -> None:
    with logging_server.serve() as log:
        content = {
            "name": "bodies",
            "services": [
                {"name": "own", "url": f"http://127.0.0.1:{log.port}", "http": {"method": "POST"}}
            ],
            "messages": [
                {"name": "as-json", "json": BATCH},
                {"name": "as-protobuf", "json": BATCH, "protobuf": AS_PROTOBUF},
            ],
            "loads": [{"closed": {"users": 1}}],
            "window": {"calls": 5},
            "warmup": {"min": "0 s", "max": "0 s"},
            "repeats": 1,
        }
        text = yaml.safe_dump(content)
        made = runner.run(experiment_file.parse(text), tmp_path / "run", source=text)
        assert [trial.reason for trial in made.trials] == ["", ""]
    kinds = {one.headers["content-type"]: one.content for one in log.requests}
    assert json.loads(kinds["application/json"]) == BATCH
    assert protobuf.decode("transfer", "SubmitRequest", kinds[PROTOBUF]) == SENT


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--data", "{}"), "--message-type"),
        (("--message-type", "wirelab.Nothing", "--data", "{}"), "has no message type"),
        (("--message-type", TYPE, "--data", '{"none": 1}'), "is not proto3 JSON"),
        (("--message-type", TYPE, "--data", "{} {}"), "is not proto3 JSON"),
        (("--message-type", TYPE), "needs the message"),
    ],
)
def test_bodies_that_cannot_be_protobuf_are_refused(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with logging_server.serve() as log:
        assert _drive(log.port, *words) == EXIT_USAGE
        assert said in " ".join(capsys.readouterr().err.split())
        assert not log.requests


def _find_refusal(service: dict[str, Any], **message: Any) -> str:
    content = {
        "name": "bodies",
        "services": [{"name": "own", **service}],
        "messages": [{"name": "one", **message}],
        "loads": [{"closed": {"users": 1}}],
        "window": {"calls": 1},
        "repeats": 1,
    }
    with pytest.raises(UsageError) as refused:
        matrix.schedule(experiment_file.parse(yaml.safe_dump(content)), manifests.load())
    return f"{refused.value.message}; {refused.value.remedy}"


@pytest.mark.parametrize(
    ("service", "message", "said"),
    [
        (
            {
                "url": "grpc://127.0.0.1:9/shop.Orders/Place",
                "grpc": {"method": "shop.Orders/Place"},
            },
            {"body": "{}", "protobuf": AS_PROTOBUF},
            "over HTTP",
        ),
        (
            {"url": "http://127.0.0.1:9"},
            {
                "json": {"batch": "${name}"},
                "protobuf": AS_PROTOBUF,
                "data": {"random": {"count": 1, "fields": {"name": {"text": 3}}}},
            },
            "its bytes are made once",
        ),
        (
            {"url": "http://127.0.0.1:9"},
            {
                "steps": [
                    {"name": "first", "path": "/"},
                    {
                        "name": "second",
                        "json": {"batch": "${name}"},
                        "protobuf": AS_PROTOBUF,
                        "carry": [{"from": "$.name", "to": "name"}],
                    },
                ]
            },
            "its bytes are made once",
        ),
        (
            {"url": "http://127.0.0.1:9"},
            {"json": {}, "protobuf": {"proto": "none.proto", "name": TYPE}},
            "no such file",
        ),
    ],
    ids=["grpc", "data", "carry", "file"],
)
def test_protobuf_without_a_place_is_refused(
    service: dict[str, Any], message: dict[str, Any], said: str
) -> None:
    assert said in _find_refusal(service, **message)


def test_results_name_the_type_and_its_file(tmp_path: Path) -> None:
    """A run with another .proto has other trials."""
    copied = tmp_path / "own.proto"
    copied.write_bytes(PROTO.read_bytes())
    message = {"name": "one", "json": BATCH, "protobuf": {**AS_PROTOBUF, "proto": str(copied)}}
    before = ExternalMessage.model_validate(message).point()
    assert TYPE in str(before["protobuf"])
    copied.write_text(copied.read_text(encoding="utf-8") + "// changed\n", encoding="utf-8")
    assert ExternalMessage.model_validate(message).point() != before


def test_the_engine_refuses_values_in_protobuf(real_engine: Path) -> None:
    """Also from plans that no experiment made."""
    body = base64.b64encode(b'{"batch": "${name}"}').decode()
    request = {
        "kind": "http",
        "method": "POST",
        "path": "/",
        "body_base64": body,
        "protobuf": {**AS_PROTOBUF, "include": []},
    }
    rows = {
        "kind": "random",
        "count": 1,
        "seed": 1,
        "fields": {"name": {"kind": "text", "length": 3}},
    }
    data = {"per": "call", "rows": rows}
    steps = [{"request": {**request, "protobuf": None}}, {"request": request}]
    for workload in (
        {**request, "data": data},
        {"kind": "requests", "steps": steps, "data": data},
    ):
        group = {
            "name": "main",
            "target": "127.0.0.1:9",
            "stack": {"binding": "rest", "codec": "text"},
            "workload": workload,
            "load": {"kind": "closed", "users": 1},
            "window": {"duration_s": 1.0},
        }
        done = subprocess.run(
            [str(real_engine), "drive"],
            input=json.dumps({"groups": [group]}),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert "values of data and carry" in done.stderr, done.stderr
