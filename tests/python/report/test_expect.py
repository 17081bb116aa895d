"""What experiments expect of replies of services that are not of the lab: of real servers that
answer rightly and wrongly, over HTTP and gRPC."""

from __future__ import annotations

import hashlib
import http.server
import json
import re
import struct
import threading
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml

from wirelab.checks import replies as reply_checks
from wirelab.errors import EngineRefused, ExperimentError
from wirelab.experiment import loading
from wirelab.experiment.expect import Expect
from wirelab.records.group import GroupResult, RepliesResult, ReplyResult
from wirelab.records.trial import Trial
from wirelab.report.sections import replies as reply_section
from wirelab.report.source import Source
from wirelab.report.terminal import terminal_table
from wirelab.run import runner as running
from wirelab.run.manifest import Manifest
from wirelab.run.runner import Run

Json = dict[str, Any]
CALLS = 30
ORDER: Json = {"id": 7, "user": {"name": "Ada", "tags": ["a", "b"]}, "total": 178.5}
BODY = json.dumps(ORDER).encode()
real = pytest.mark.usefixtures("no_orphans", "real_engine")


class Orders(http.server.BaseHTTPRequestHandler):
    """``/orders`` is right; ``/each`` differs from reply to reply."""

    # Otherwise a reply waits 40 ms for the ACK of its header.
    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one write
    served = 0

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        Orders.served += 1
        body = b"%d" % (Orders.served % 3) if self.path == "/each" else BODY
        self.send_response(404 if self.path == "/missing" else 200)
        self.send_header("X-Version", "2")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def orders() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Orders) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


PROTO = """
syntax = "proto3";
package shop;
enum State { UNKNOWN = 0; ACCEPTED = 1; }
message Line { string item_name = 1; double price = 2; }
message Order {
  string name = 1; int64 total = 2; State state = 3; repeated Line lines = 4;
  optional int32 discount = 5; bool paid = 6;
}
message Request { string id = 1; }
service Shop { rpc Get(Request) returns (Order); }
"""
LINE = b"\x0a\x05chair\x11" + struct.pack("<d", 49.5)
MESSAGE = b"\x0a\x03Ada\x10\x07\x18\x01\x22" + bytes([len(LINE)]) + LINE


def _get(request: bytes, context: grpc.ServicerContext) -> bytes:
    context.send_initial_metadata([("x-version", "2")])
    context.set_trailing_metadata([("x-cost", "3")])
    if b"gone" in request:
        context.abort(grpc.StatusCode.NOT_FOUND, "no such order")
    return MESSAGE


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Json]:
    """A service as experiments declare it."""
    (tmp_path / "shop.proto").write_text(PROTO)
    server = grpc.server(futures.ThreadPoolExecutor(2))
    methods = {"Get": grpc.unary_unary_rpc_method_handler(_get)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("shop.Shop", methods),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    request = {"method": "shop.Shop/Get", "proto": "shop.proto", "json": {"id": "1"}}
    yield {"name": "shop", "url": f"grpc://127.0.0.1:{port}", "grpc": request}
    server.stop(None).wait()


def _run(folder: Path, *services: Any, **keys: Any) -> Run:
    content = {
        "name": "own",
        "repeats": 1,
        "services": list(services),
        "loads": [{"closed": {"users": 1}}],
        "window": {"calls": CALLS, "max": "10 s"},
        "warmup": {"min": "0 s", "max": "0 s"},
        **keys,
    }
    text = yaml.safe_dump(content)
    experiment = loading.parse(text, str(folder / "x.yaml"))
    return running.run(experiment, folder / f"run{len(list(folder.glob('run*')))}", source=text)


def _trial(folder: Path, service: Json, expect: Json | None, **keys: Any) -> Trial:
    declared = service if expect is None else {**service, "expect": expect}
    (trial,) = _run(folder, declared, **keys).trials
    assert trial.status == "measured", trial.reason
    return trial


def _http(url: str, path: str = "/orders") -> Json:
    return {"name": "orders", "url": url, "http": {"path": path}}


def _reply_check(trial: Trial) -> tuple[str, str]:
    (found,) = (check for check in trial.checks if check.name == reply_checks.NAME)
    return found.outcome, found.reason


RIGHT: Json = {
    "status": 200,
    "headers": {"x-version": "2"},
    "json": {"user": {"name": "Ada", "tags": ["a", "b"]}, "id": 7.0},
    "json_schema": {"required": ["total"], "properties": {"id": {"type": "integer"}}},
    "sha256": hashlib.sha256(BODY).hexdigest(),
    "bytes": {"min": f"{len(BODY)} B", "max": "1 kB"},
}


@real
def test_a_right_reply_is_a_success_and_the_check_shows_what_was_compared(
    tmp_path: Path, orders: str
) -> None:
    trial = _trial(tmp_path, _http(orders), RIGHT)
    assert (trial.result.ok, trial.result.errors) == (CALLS, 0), trial.result.error_examples
    assert trial.result.replies is None
    outcome, reason = _reply_check(trial)
    assert outcome == "ok"
    assert "status, headers, json, json_schema, sha256, bytes" in reason


@real
@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ({"status": 201}, "HTTP status 200"),
        ({"headers": {"X-Version": "3"}}, 'header x-version: expected "3", found "2"'),
        ({"headers": {"x-other": "1"}}, 'header x-other: expected "1", there is none'),
        ({"json": {"missing": 1}}, "$.missing: expected 1, found no such key"),
        ({"json": {"user": {"name": "Eve"}}}, '$.user.name: expected "Eve", found "Ada"'),
        ({"json": {"id": "7"}}, '$.id: expected "7", found 7'),
        ({"bytes": {"max": "10 B"}}, f"{len(BODY)} bytes or more instead of at most 10"),
        ({"sha256": "0" * 64}, "SHA-256 of the body"),
        ({"json_schema": {"properties": {"id": {"maximum": 6}}}}, "JSON Schema: /id: 7"),
    ],
)
def test_a_reply_that_fails_is_an_error_with_its_reason_and_body(
    tmp_path: Path, orders: str, expect: Json, said: str
) -> None:
    trial = _trial(tmp_path, _http(orders), expect)
    assert (trial.result.ok, trial.result.errors) == (0, CALLS)
    (example,) = trial.result.error_examples
    assert said in example
    assert "Ada" in example


@real
def test_a_schema_may_be_a_file_and_its_content_belongs_to_the_point(
    tmp_path: Path, orders: str
) -> None:
    ids = set()
    for least, ok in ((1, CALLS), (8, 0)):
        schema = {"properties": {"id": {"minimum": least}}}
        (tmp_path / "order.json").write_text(json.dumps(schema))
        trial = _trial(tmp_path, _http(orders), {"json_schema": "order.json"})
        assert trial.result.ok == ok
        assert trial.point.service["expect"] == {"json_schema": schema}
        ids.add(trial.id)
    assert len(ids) == 2


@real
def test_expectations_of_a_message_replace_those_of_the_service(
    tmp_path: Path, orders: str
) -> None:
    service = {**_http(orders), "http": {"path": "/orders", "method": "GET"}}
    service["expect"] = {"status": 404}
    messages = [
        {"name": "first", "body": ""},
        {"name": "second", "body": "", "expect": {"json": {"id": 7}}},
    ]
    run = _run(tmp_path, service, messages=messages)
    assert {t.point.operation: t.result.ok for t in run.trials} == {"first": 0, "second": CALLS}
    second = next(t for t in run.trials if t.point.operation == "second")
    assert reply_checks.expectation(second) == ("json",)


@real
def test_without_expect_it_is_reported_that_replies_were_not_checked_and_how_they_differed(
    tmp_path: Path, orders: str
) -> None:
    same, each = _http(orders), {**_http(orders, "/each"), "name": "each"}
    run = _run(tmp_path, same, each)
    reasons = {t.point.stack: _reply_check(t) for t in run.trials}
    text = f"replies were not checked: all {CALLS} had status 200 and the same {len(BODY)} B"
    assert reasons["orders"] == ("noted", text)
    differed = f"replies were not checked: 3 different ones of {CALLS}, status 200, 1 B"
    assert reasons["each"] == ("noted", differed)
    shown = "\n".join(str(line.text) for line in terminal_table(run.trials))
    assert f"orders: {text}." in " ".join(shown.split())
    section = reply_section.section(Source(tmp_path, Manifest(format=1), tuple(run.trials)))
    rows = {row[0]: row[2:] for row in section.tables[0].rows}
    assert rows["orders"] == ["nothing", text, "0"]


@real
def test_failed_replies_are_in_the_report(tmp_path: Path, orders: str) -> None:
    trial = _trial(tmp_path, _http(orders), {"json": {"id": 8}})
    section = reply_section.section(Source(tmp_path, Manifest(format=1), (trial,)))
    assert section.tables[0].rows[0][2:] == ["json", "0 as expected", str(CALLS)]
    assert "$.id: expected 8, found 7" in section.tables[1].rows[0][-1]


@real
def test_a_grpc_reply_is_compared_field_by_field(tmp_path: Path, shop: Json) -> None:
    right = {
        "message": {
            "name": "Ada",
            "total": "7",
            "state": "ACCEPTED",
            "paid": False,
            "lines": [{"item_name": "chair"}],
        },
        "headers": {"x-version": "2", "x-cost": "3"},
    }
    trial = _trial(tmp_path, shop, right)
    assert trial.result.ok == CALLS, trial.result.error_examples
    for expect, said in (
        ({"message": {"total": 8}}, "$.total: expected 8, found 7"),
        ({"message": {"lines": [{"price": 50}]}}, "$.lines[0].price: expected 50.0, found 49.5"),
        ({"message": {"discount": 0}}, "$.discount: expected 0, found no such key"),
        ({"message": {"state": 0}}, '$.state: expected "UNKNOWN", found "ACCEPTED"'),
        ({"headers": {"x-cost": "4"}}, 'header x-cost: expected "4", found "3"'),
        ({"grpc_status": 5}, "grpc-status 0, expected 5"),
        ({"bytes": {"max": "3 B"}}, f"{len(MESSAGE)} bytes instead of at most 3"),
    ):
        trial = _trial(tmp_path, shop, expect)
        assert (trial.result.ok, trial.result.errors) == (0, CALLS), expect
        assert said in trial.result.error_examples[0]


@real
def test_a_grpc_status_can_be_what_is_expected(tmp_path: Path, shop: Json) -> None:
    gone = {**shop, "grpc": {**shop["grpc"], "json": {"id": "gone"}}}
    assert _trial(tmp_path, gone, {"grpc_status": 5}).result.ok == CALLS
    trial = _trial(tmp_path, gone, {"grpc_status": 3})
    assert trial.result.ok == 0
    assert "grpc-status 5: no such order" in trial.result.error_examples[0]


@real
def test_a_field_that_the_message_does_not_have_is_refused(tmp_path: Path, shop: Json) -> None:
    with pytest.raises(EngineRefused, match=r"expect\.message: not a shop\.Order.*nmae"):
        _run(tmp_path, {**shop, "expect": {"message": {"nmae": "Ada"}}})


HTTP = {"name": "a", "url": "http://127.0.0.1:1/"}
GRPC = {"name": "a", "url": "grpc://127.0.0.1:1", "grpc": {"method": "a.B/C", "body": ""}}


@pytest.mark.parametrize(
    ("service", "expect", "said"),
    [
        (HTTP, {}, "write one of status, headers"),
        (HTTP, {"json": None}, "null has no effect"),
        (HTTP, {"status": 99}, "greater than or equal to 100"),
        (HTTP, {"statsu": 200}, "Did you mean 'status'"),
        (HTTP, {"sha256": "abc"}, "should match pattern"),
        (HTTP, {"bytes": {"min": "2 B", "max": "1 B"}}, "min is more than max"),
        (HTTP, {"json_schema": "none.json"}, "none.json: No such file"),
        (HTTP, {"message": {}}, "expect.message: replies of http do not have this"),
        (HTTP, {"grpc_status": 0}, "expect.grpc_status: replies of http do not have this"),
        (GRPC, {"status": 200}, "expect.status: replies of grpc do not have this"),
        (GRPC, {"json": {}}, "expect.json: replies of grpc do not have this"),
        (GRPC, {"message": {}}, "expect.message needs grpc.proto"),
    ],
)
def test_impossible_expectations_are_refused_with_file_and_line(
    tmp_path: Path, service: Json, expect: Json, said: str
) -> None:
    content = {
        "name": "own",
        "services": [{**service, "expect": expect}],
        "loads": [{"closed": {"users": 2}}],
        "window": {"calls": 50},
    }
    path = tmp_path / "x.yaml"
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(ExperimentError, match=re.escape(said)) as refused:
        loading.load(path)
    assert "x.yaml:" in str(refused.value)


def test_expectations_of_a_message_must_suit_every_service(tmp_path: Path) -> None:
    content = {
        "name": "own",
        "services": [HTTP],
        "messages": [{"name": "m", "body": "x", "expect": {"grpc_status": 0}}],
        "loads": [{"closed": {"users": 2}}],
        "window": {"calls": 50},
    }
    path = tmp_path / "x.yaml"
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(ExperimentError, match=r"message m to a: expect\.grpc_status"):
        loading.load(path)


def test_a_plan_has_what_was_written_and_nothing_more() -> None:
    expect = Expect.model_validate({"json": {"a": 1}, "bytes": {"max": "1 kB"}})
    assert expect.plan == {"json": {"a": 1}, "bytes": {"max": 1000}}
    assert expect.keys == ("json", "bytes")


def test_differences_are_shown_in_one_line() -> None:
    same = RepliesResult(4, (ReplyResult(200, 312, "a", 4),), 0, 312, 312)
    assert reply_checks.differences([same, same]) == "all 8 had status 200 and the same 312 B"
    kinds = tuple(ReplyResult(200 + at % 2, 300 + at, "b", 1) for at in range(16))
    many = RepliesResult(20, kinds, 4, 300, 2_000_000, 4)
    assert reply_checks.differences([many]) == (
        "more than 16 different ones of 20, status 200, 201, 300 B to 2 MB (4 replies of more "
        "than 1 MB compared by length alone)"
    )
    assert reply_checks.differences([]) == "there was no good reply"


def test_a_journal_keeps_how_replies_differed() -> None:
    replies = RepliesResult(4, (ReplyResult(200, 312, "a", 4),), 0, 312, 312)
    written = GroupResult(calls=4, replies=replies).to_json()
    assert GroupResult.of(json.loads(json.dumps(written))).replies == replies
    assert "replies" not in GroupResult(calls=4).to_json()
