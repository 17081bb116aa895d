"""Bodies that are written as JSON and sent over HTTP as Protobuf, read by Google's library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.interop import protobuf
from tests.interop.golden import CONTRACTS
from tests.python import logging_server
from wirelab.cli import main
from wirelab.errors import EXIT_OK, EXIT_USAGE
from wirelab.experiment import loading as experiment_file
from wirelab.format.media_types import PROTOBUF
from wirelab.run import runner

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")

RECORD = {"id": "9007199254740993", "quantity": 2, "item": "🔩", "remark": "a<b"}
BATCH = {"batch": "Größe", "records": [RECORD]}
SENT = {"batch": "Größe", "records": [{**RECORD, "id": 9007199254740993}]}
TYPE = "wirelab.transfer.v1.SubmitRequest"
PROTO = CONTRACTS / "transfer.proto"


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
        as_protobuf = {"proto": str(PROTO), "name": TYPE}
        content = {
            "name": "bodies",
            "services": [
                {"name": "own", "url": f"http://127.0.0.1:{log.port}", "http": {"method": "POST"}}
            ],
            "messages": [
                {"name": "as-json", "json": BATCH},
                {"name": "as-protobuf", "json": BATCH, "protobuf": as_protobuf},
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
def test_what_cannot_be_sent_so_is_refused(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with logging_server.serve() as log:
        assert _drive(log.port, *words) == EXIT_USAGE
        assert said in " ".join(capsys.readouterr().err.split())
        assert not log.requests
