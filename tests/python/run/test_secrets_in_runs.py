"""A run with secrets of every kind: the service gets them, and no file and no output has them."""

from __future__ import annotations

import base64
import json
import os
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from wirelab.cli import main
from wirelab.errors import ExperimentError
from wirelab.experiment import loading
from wirelab.experiment.matrix import schedule
from wirelab.experiment.secret_values import SecretValues, conceal
from wirelab.run.directory import make_private
from wirelab.stack import manifests

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")
Json = dict[str, Any]
SERVER = Path(__file__).parents[1] / "recording_server.py"
BASIC = base64.b64encode(b"ada:CANARY-basic").decode()
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJDQU5BUlkiOiIxIn0.Q0FOQVJZand0"
CARD = "4242424242424242"
ENVIRONMENT = {
    "ORDERS_BEARER": "CANARY-bearer-of-the-environment",
    "ORDERS_DATABASE": "CANARY-database-of-the-environment",
    "ORDERS_TICKET": "CANARY-ticket",
    "NOT_NAMED_IN_THE_FILE": "an ordinary value",
}
CANARIES = ("CANARY", BASIC, JWT, CARD, "Q0FOQVJZ")
LITERALS = {
    "env": "CANARY-literal-of-env",
    "word": "CANARY-word-of-the-command",
    "cookie": "sid=CANARY-cookie",
    "query": "CANARY%2Dquery",
    "json": 'CANARY "quoted" \\ json',
    "form": "CANARY+form",
    "file": "CANARY-body-file",
    "metadata": f"Basic {BASIC}",
}


def experiment(folder: Path) -> Json:
    """One service, and a message for each kind of content."""
    (folder / "login.json").write_text(json.dumps({"client_secret": LITERALS["file"], "n": 1}))
    service = {
        "name": "recorder",
        "command": [sys.executable, str(SERVER), "{port}", f"--api-key={LITERALS['word']}"],
        "env": {
            "DB_PASSWORD": LITERALS["env"],
            "DATABASE": "mysql://orders:${ORDERS_DATABASE}@127.0.0.1/{port}",
            "RECEIVED": str(folder / "received.jsonl"),
            "PLAIN": "an ordinary value",
        },
        "ready": {"http": f"/ready?token={LITERALS['query']}"},
        "http": {
            "path": f"/things/{JWT}?ticket=${{ORDERS_TICKET}}&api_key={LITERALS['query']}&page=2",
            "headers": {
                "authorization": "Bearer ${ORDERS_BEARER}",
                "cookie": LITERALS["cookie"],
                "x-tenant": "north",
            },
        },
    }
    messages = [
        {"name": "json", "json": {"password": LITERALS["json"], "card": int(CARD), "id": 7}},
        {"name": "form", "body": f"user=ada&passwd={LITERALS['form']}&page=2"},
        {"name": "file", "body_file": "login.json"},
        {
            "name": "own",
            "path": "/own",
            "method": "POST",
            "headers": {"proxy-authorization": LITERALS["metadata"]},
            "expect": {"headers": {"x-auth-token": "CANARY-expected"}},
        },
    ]
    return {
        "name": "secrets",
        "repeats": 1,
        "services": [service],
        "messages": messages,
        "loads": [{"closed": {"users": 1, "iterations": 20}}],
        "window": {"calls": 20},
        "warmup": {"min": "0 s", "max": "0 s"},
    }


def write(folder: Path, content: Json) -> Path:
    """The experiment file, with a comment that repeats a secret."""
    file = folder / "experiment.yaml"
    file.write_text(f"# was {LITERALS['env']}\n{yaml.safe_dump(content, sort_keys=False)}")
    return file


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


def leaks(folder: Path) -> list[str]:
    """Files with a canary."""
    return [
        f"{path.relative_to(folder)}: {canary}"
        for path in folder.rglob("*")
        if path.is_file()
        for canary in CANARIES
        if canary.encode() in path.read_bytes()
    ]


def read_received(folder: Path) -> list[Json]:
    return [json.loads(line) for line in (folder / "received.jsonl").read_text().splitlines()]


@pytest.mark.usefixtures("environment")
def test_no_secret_of_a_run_is_written_and_the_service_gets_each(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file, out = write(tmp_path, experiment(tmp_path)), tmp_path / "out"
    # The calls of `own` fail by their expectation, so that replies with secrets are recorded.
    assert main(["run", str(file), "--out", str(out)]) == 1
    printed = capfd.readouterr()
    assert not [one for one in CANARIES if one in printed.out + printed.err]
    assert leaks(out) == []
    assert stat.S_IMODE(out.stat().st_mode) == 0o700

    notes = read_received(tmp_path)
    started = next(one for one in notes if "environment" in one)
    assert started["environment"]["DB_PASSWORD"] == LITERALS["env"]
    assert ENVIRONMENT["ORDERS_DATABASE"] in started["environment"]["DATABASE"]
    assert started["words"][-1] == f"--api-key={LITERALS['word']}"
    calls = [one for one in notes if "path" in one]
    assert f"/ready?token={LITERALS['query']}" in {one["path"] for one in calls}
    of_service = f"/things/{JWT}?ticket=CANARY-ticket&api_key={LITERALS['query']}&page=2"
    assert of_service in {one["path"] for one in calls}
    for call in calls:
        if call["path"].startswith("/ready"):
            continue
        assert call["headers"]["authorization"] == "Bearer CANARY-bearer-of-the-environment"
        assert call["headers"]["cookie"] == LITERALS["cookie"]
    bodies = {one["body"] for one in calls}
    assert json.dumps(
        {"password": LITERALS["json"], "card": int(CARD), "id": 7}, separators=(",", ":")
    ) in bodies  # fmt: skip
    assert f"user=ada&passwd={LITERALS['form']}&page=2" in bodies
    assert json.dumps({"client_secret": LITERALS["file"], "n": 1}) in bodies
    assert LITERALS["metadata"] in {one["headers"].get("proxy-authorization") for one in calls}


@pytest.mark.usefixtures("environment")
def test_written_files_name_the_secrets_and_keep_other_values(tmp_path: Path) -> None:
    file, out = write(tmp_path, experiment(tmp_path)), tmp_path / "out"
    main(["run", str(file), "--out", str(out)])
    manifest = json.loads((out / "manifest.json").read_text())["experiment"]
    service = manifest["services"][0]
    assert service["env"]["DB_PASSWORD"] == "‹secret DB_PASSWORD›"
    assert service["env"]["DATABASE"] == "mysql://orders:${ORDERS_DATABASE}@127.0.0.1/{port}"
    assert service["env"]["PLAIN"] == "an ordinary value"
    assert service["http"]["headers"] == {
        "authorization": "Bearer ${ORDERS_BEARER}",
        "cookie": "‹secret cookie›",
        "x-tenant": "north",
    }
    assert service["http"]["path"] == (
        "/things/‹secret JWT›?ticket=${ORDERS_TICKET}&api_key=‹secret api_key›&page=2"
    )
    copy = yaml.safe_load((out / "experiment.yaml").read_text())
    assert copy["messages"][0]["json"]["card"] == "‹secret card number›"
    plans = [json.loads(path.read_text()) for path in out.glob("trials/*/plan.json")]
    bodies = {
        base64.b64decode(plan["groups"][0]["workload"].get("body_base64", "")).decode()
        for plan in plans
    }
    assert '{"client_secret": "‹secret client_secret›", "n": 1}' in bodies
    report = (out / "report.html").read_text()
    assert "recorder" in report


@pytest.mark.usefixtures("environment")
def test_a_run_is_continued_with_the_values_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    content = experiment(tmp_path)
    content["messages"] = content["messages"][1:2]
    file, out = write(tmp_path, content), tmp_path / "out"
    assert main(["run", str(file), "--out", str(out)]) == 0
    monkeypatch.setenv("ORDERS_BEARER", "CANARY-of-the-next-day")
    file = write(tmp_path, {**content, "repeats": 2})
    assert main(["run", str(file), "--out", str(out)]) == 0
    assert len((out / "trials.jsonl").read_text().splitlines()) == 2
    sent = {
        one["headers"].get("authorization") for one in read_received(tmp_path) if "headers" in one
    }
    assert "Bearer CANARY-of-the-next-day" in sent
    assert leaks(out) == []

    monkeypatch.delenv("ORDERS_BEARER")
    capfd.readouterr()
    before = (out / "manifest.json").read_bytes()
    assert main(["run", str(file), "--out", str(out)]) == 2
    line = 1 + file.read_text().split("authorization:")[0].count("\n")
    message = " ".join(capfd.readouterr().err.split())
    assert f"experiment.yaml:{line}: services[0].http.headers.authorization:" in message
    assert "ORDERS_BEARER is not set" in message
    assert (out / "manifest.json").read_bytes() == before


def parse_secrets(content: Json) -> SecretValues:
    return loading.parse(yaml.safe_dump(content, allow_unicode=True)).secrets


def small(**service: Any) -> Json:
    """An experiment with one service at a URL."""
    return {
        "name": "small",
        "services": [{"name": "a", "url": "http://127.0.0.1:1/", **service}],
        "loads": [{"closed": {"users": 1}}],
        "window": {"duration": "1 s"},
    }


def test_the_copy_of_a_run_does_not_start_without_the_secrets(tmp_path: Path) -> None:
    content = small(http={"headers": {"x-api-key": "‹secret x-api-key›"}})
    with pytest.raises(ExperimentError) as refused:
        parse_secrets(content)
    assert "services[0].http.headers.x-api-key: the secret was left out" in str(refused.value)


def test_columns_and_carried_values_come_before_the_environment(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("TOKEN,id\nabc,1\n")
    content = small()
    content["messages"] = [
        {"name": "rows", "path": "/${TOKEN}/${id}", "data": {"file": "rows.csv"}},
        {
            "name": "two",
            "steps": [
                {"name": "one", "path": "/"},
                {
                    "name": "next",
                    "path": "/",
                    "headers": {"authorization": "Bearer ${SESSION}"},
                    "carry": [{"from": "$.t", "to": "SESSION"}],
                },
            ],
        },
    ]
    file = tmp_path / "rows.yaml"
    file.write_text(yaml.safe_dump(content))
    made = loading.load(file)
    assert made.secrets.problems == []
    assert made.secrets.literals == made.secrets.variables == {}


def test_a_variable_of_a_shell_in_a_command_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INNER", "CANARY-inner")
    content = small()
    service = {
        "name": "a",
        "command": ["sh", "-c", "exec serve ${INNER} ${OUTER}"],
        "env": {"GIVEN": "${INNER}"},
        "http": {"path": "/"},
    }
    made = loading.parse(yaml.safe_dump({**content, "services": [service]}))
    [revealed] = made.secrets.reveal(made.external_services)
    assert revealed.command == ("sh", "-c", "exec serve ${INNER} ${OUTER}")
    assert revealed.env == {"GIVEN": "CANARY-inner"}


def test_equal_secrets_have_one_name_and_different_ones_a_number() -> None:
    content = small()
    headers = [{"x-api-key": value} for value in ("one-secret", "one-secret", "another")]
    content["services"] = [
        {"name": name, "url": "http://127.0.0.1:1/", "http": {"headers": given}}
        for name, given in zip("abc", headers, strict=True)
    ]
    made = loading.parse(yaml.safe_dump(content))
    shown = [one.http.headers["x-api-key"] for one in made.external_services if one.http]
    assert shown == ["‹secret x-api-key›", "‹secret x-api-key›", "‹secret x-api-key 2›"]
    points = [cell.point.service for cell in schedule(made, manifests.load()).cells]
    assert points[0] == points[1] != points[2]


def test_a_secret_that_cannot_be_replaced_in_the_text_is_left_out_of_the_copy() -> None:
    secrets = parse_secrets(
        small(http={"headers": {"x-api-key": "CANARY value", "x-auth-token": "a"}})
    )
    source = yaml.safe_dump(
        small(http={"headers": {"x-api-key": "CANARY value", "x-auth-token": "a"}})
    ).replace("CANARY value", '"CANARY\\\n          \\ value"')
    assert "CANARY" in source
    assert yaml.safe_load(source)["services"][0]["http"]["headers"]["x-api-key"] == "CANARY value"
    copy = secrets.hide_source(source)
    assert "CANARY" not in copy
    headers = yaml.safe_load(copy)["services"][0]["http"]["headers"]
    assert headers == {"x-api-key": "‹secret x-api-key›", "x-auth-token": "‹secret x-auth-token›"}


def test_an_experiment_without_secrets_is_copied_as_it_is(tmp_path: Path) -> None:
    content = small(http={"headers": {"x-tenant": "north", "accept": "text/html"}})
    source = f"# a comment\n{yaml.safe_dump(content)}"
    assert loading.parse(source).secrets.hide_source(source) == source


def test_a_private_folder_can_be_read_by_its_owner_only(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    make_private(shared / "runs" / "one")
    modes = [stat.S_IMODE((shared / name).stat().st_mode) for name in (".", "runs", "runs/one")]
    assert modes == [0o755, 0o700, 0o700]


def test_secrets_in_rows_of_a_file_are_known(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("user,password\nann,ROW-canary-1\nbob,ROW-canary-2\n")
    (tmp_path / "rows.jsonl").write_text('{"api_key": "LINE-canary-1", "id": 7}\n')
    for name, count in (("rows.csv", 2), ("rows.jsonl", 1)):
        content = small(http={"path": "/", "data": {"file": name}})
        _, values = conceal(content, tmp_path)
        assert len(values.of_files) == count, name


@pytest.mark.parametrize("key", ["body_file", "data"])
def test_pipes_and_devices_are_refused_without_waiting(tmp_path: Path, key: str) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    request: Json = {"path": "/"}
    request |= {"body_file": "pipe.csv"} if key == "body_file" else {"data": {"file": "pipe.csv"}}
    file = write(tmp_path, small(http=request))
    began = time.monotonic()
    assert main(["run", str(file), "--out", str(tmp_path / "out")]) == 2
    assert time.monotonic() - began < 30.0
