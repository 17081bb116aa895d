"""Messages of the user's own with values of rows, as mixes, over HTTP and gRPC; deadlines and
streams of gRPC."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from wirelab.errors import EngineRefused, ExperimentError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment.external import ExternalMessage
from wirelab.records.trial import Trial
from wirelab.run import runner as running

pytestmark = pytest.mark.usefixtures("no_orphans", "real_engine")

HTTP = """
import http.server, json, os
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        line = json.dumps([self.command, self.path, self.headers.get("x-id"), body]) + "\\n"
        seen.write(line)
        seen.flush()
        reply = b""
        if self.path == "/orders":
            order = json.loads(body)
            number = int(order["n"]) + 100
            reply = json.dumps({"order": {"id": number, "tag": order.get("tag", "")}}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)
    do_POST = do_GET
seen = open("seen.jsonl", "a")
address = os.environ["HOST"], int(os.environ["PORT"])
http.server.ThreadingHTTPServer(address, Handler).serve_forever()
"""
GRPC = """
import json, os
from concurrent import futures
import grpc
seen = open("seen.jsonl", "a")
class Generic(grpc.GenericRpcHandler):
    def service(self, details):
        if details.method.endswith("/Place"):
            return grpc.unary_unary_rpc_method_handler(self.place)
        return grpc.unary_stream_rpc_method_handler(self.watch)
    def place(self, request, context):
        of_user = [pair.value for pair in context.invocation_metadata() if pair.key == "x-user"]
        seen.write(json.dumps([request.hex(), context.time_remaining(), of_user]) + "\\n")
        seen.flush()
        return b"\\x08\\x02"
    def watch(self, request, context):
        for _ in range(5):
            yield b"\\x08\\x02"
        if request:
            context.abort(grpc.StatusCode.UNAVAILABLE, "no more")
server = grpc.server(futures.ThreadPoolExecutor(4))
server.add_generic_rpc_handlers((Generic(),))
server.add_insecure_port(f"{os.environ['HOST']}:{os.environ['PORT']}")
server.start()
server.wait_for_termination()
"""
PROTO = """\
syntax = "proto3";
package shop;
service Orders {
  rpc Place(Order) returns (Receipt);
  rpc Watch(Order) returns (stream Receipt);
}
message Order { string item = 1; int32 count = 2; }
message Receipt { int32 count = 1; }
"""
ROWS = 'id,name\n1,"a b"\n2,"c""d"\n'


def _run(folder: Path, script: str, messages: list[Any], **keys: Any) -> Trial:
    (folder / "shop.proto").write_text(PROTO)
    called: dict[str, Any] = {"http": {"path": "/"}}
    if script is GRPC:
        called = {"grpc": keys.pop("grpc")}
    service = {"name": "own", "command": [sys.executable, "-c", script], "stop": "1 s", **called}
    content = {
        "name": "own",
        "repeats": 1,
        "services": [service],
        "loads": [{"closed": {"users": 2}}],
        "window": {"calls": 40, "max": "10 s"},
        "warmup": {"min": "0 s", "max": "0 s"},
        **({"messages": messages} if messages else {}),
        **keys,
    }
    text = yaml.safe_dump(content)
    experiment = experiment_file.parse(text, str(folder / "x.yaml"))
    (trial,) = running.run(experiment, folder / "run", source=text).trials
    return trial


def _read_seen(folder: Path) -> list[Any]:
    lines = (folder / "seen.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if not line.startswith('["GET", "/", ')]


def test_values_of_rows_go_where_their_placeholders_are(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    message = {
        "name": "add",
        "path": "/a/${id}?n=${name}",
        "headers": {"x-id": "no. ${id}"},
        "json": {"id": "${id}", "text": "Mr ${name}"},
        "data": {"file": "rows.csv"},
    }
    trial = _run(tmp_path, HTTP, [message])
    assert (trial.result.ok, trial.result.errors) == (40, 0)
    counts = Counter(map(json.dumps, _read_seen(tmp_path)))
    assert {tuple(json.loads(line)): count for line, count in counts.items()} == {
        ("POST", "/a/1?n=a%20b", "no. 1", '{"id":1,"text":"Mr a b"}'): 20,
        ("POST", "/a/2?n=c%22d", "no. 2", '{"id":2,"text":"Mr c\\"d"}'): 20,
    }


def test_parts_of_a_mix_come_by_their_weights_and_are_reported_apart(tmp_path: Path) -> None:
    parts = [
        {"name": "read", "path": "/read", "weight": 3},
        {"name": "add", "path": "/add", "body": "x${n}", "data": {"random": {
            "count": 3, "fields": {"n": {"integer": [1, 9]}}}}},
    ]  # fmt: skip
    mix = {"name": "shop", "mix": parts}
    trial = _run(tmp_path, HTTP, [mix], window={"calls": 400, "max": "20 s"})
    by_name = {operation.operation: operation.calls for operation in trial.result.operations}
    assert set(by_name) == {"read", "add"}
    assert sum(by_name.values()) == trial.result.calls == 400
    assert 0.65 < by_name["read"] / 400 < 0.85
    bodies = {body for method, _, _, body in _read_seen(tmp_path) if method == "POST"}
    assert 1 <= len(bodies) <= 3
    assert all(body[0] == "x" and body[1:].isdigit() for body in bodies)
    assert trial.point.options["message"]["mix"][0]["weight"] == 3


def test_a_message_of_grpc_has_values_and_every_call_a_deadline(tmp_path: Path) -> None:
    rows = [{"item": "pen", "n": 2, "u": "a"}, {"item": "cup", "n": 3, "u": "b"}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    grpc = {
        "method": "shop.Orders/Place",
        "proto": "shop.proto",
        "metadata": {"x-user": "${u}"},
    }
    message = {
        "name": "place",
        "json": {"item": "${item}", "count": "${n}"},
        "data": {"file": "rows.jsonl", "per": "user"},
        "expect": {"message": {"count": 2}},
    }
    trial = _run(tmp_path, GRPC, [message], grpc=grpc, timeout="7 s")
    assert (trial.result.ok, trial.result.errors) == (40, 0)
    seen = _read_seen(tmp_path)
    assert {(request, *users) for request, _, users in seen} == {
        ("0a0370656e1002", "a"),
        ("0a036375701003", "b"),
    }
    assert all(5.0 < left <= 7.0 for _, left, _ in seen)


def test_a_stream_of_grpc_is_one_call_to_its_end(tmp_path: Path) -> None:
    grpc = {"method": "shop.Orders/Watch", "proto": "shop.proto", "json": {}}
    trial = _run(tmp_path, GRPC, [], grpc=grpc)
    assert (trial.result.ok, trial.result.errors) == (40, 0)
    assert trial.result.messages == 200
    (tmp_path / "b").mkdir()
    broken = _run(tmp_path / "b", GRPC, [], grpc={**grpc, "json": {"item": "x"}})
    assert (broken.result.ok, broken.result.errors) == (0, 40)
    assert "grpc-status 14: no more" in broken.result.error_examples[0]


def _order_steps(**first: Any) -> dict[str, Any]:
    place = {"name": "place", "path": "/orders", "json": {"n": "${n}"}, **first}
    read = {
        "name": "read",
        "path": "/orders/${id}",
        "headers": {"x-id": "${tag}"},
        "carry": [{"from": "$.order.id", "to": "id"}, {"from": "$..tag", "to": "tag"}],
    }
    pay = {
        "name": "pay",
        "path": "/payments",
        "json": {"order": "${id}", "row": "${n}"},
        "carry": [{"from": "$.order.id", "to": "id", "step": 0}],
    }
    data = {"random": {"count": 5, "fields": {"n": {"integer": [1, 5]}}}}
    return {"name": "ordering", "steps": [place, read, pay], "data": data}


def test_values_of_replies_go_into_later_requests(tmp_path: Path) -> None:
    trial = _run(tmp_path, HTTP, [_order_steps()], window={"calls": 20, "max": "10 s"})
    assert trial.result.errors == 0
    assert trial.result.sequences is not None
    assert trial.result.sequences.count == 20
    assert {one.operation for one in trial.result.operations} == {"place", "read", "pay"}
    seen = _read_seen(tmp_path)
    placed = [json.loads(body)["n"] for _, path, _, body in seen if path == "/orders"]
    read = [int(path.rpartition("/")[2]) for _, path, *_ in seen if path.startswith("/orders/")]
    paid = [json.loads(body) for _, path, _, body in seen if path == "/payments"]
    assert Counter(read) == Counter(number + 100 for number in placed)
    assert all(one["order"] == one["row"] + 100 for one in paid)
    assert len(placed) == len(read) == len(paid) == 20


def test_a_reply_without_the_value_ends_its_sequence(tmp_path: Path) -> None:
    missing = _order_steps(path="/elsewhere")
    trial = _run(tmp_path, HTTP, [missing], window={"calls": 10, "max": "10 s"})
    assert trial.result.ok == 0
    assert "the reply is not JSON" in trial.result.error_examples[0]
    assert {path for _, path, *_ in _read_seen(tmp_path)} == {"/elsewhere"}


def test_a_value_that_a_header_cannot_hold_fails_its_call(tmp_path: Path) -> None:
    line_end = _order_steps(json={"n": "${n}", "tag": "a\r\nx-evil: 1"})
    trial = _run(tmp_path, HTTP, [line_end], window={"calls": 10, "max": "10 s"})
    assert trial.result.errors > 0
    assert "is not a value of a header" in trial.result.error_examples[0]
    assert all(
        headers is None or "evil" not in headers for _, _, headers, _ in _read_seen(tmp_path)
    )


def test_fields_of_messages_go_into_later_messages(tmp_path: Path) -> None:
    grpc = {"method": "shop.Orders/Place", "proto": "shop.proto"}
    steps = [
        {"name": "first", "json": {"item": "pen", "count": 7}},
        {"name": "second", "json": {"count": "${n}"}, "carry": [{"from": "$.count", "to": "n"}]},
    ]
    message = {"name": "twice", "steps": steps}
    trial = _run(tmp_path, GRPC, [message], grpc=grpc, window={"calls": 10, "max": "10 s"})
    assert trial.result.errors == 0
    requests = Counter(request for request, *_ in _read_seen(tmp_path))
    assert requests == {"0a0370656e1007": 10, "1002": 10}  # the reply's count is 2


def test_a_carried_value_may_be_of_any_type(tmp_path: Path) -> None:
    """The reply's number goes into a text: what type a value has is known when it comes."""
    grpc = {"method": "shop.Orders/Place", "proto": "shop.proto"}
    carry = [{"from": "$.count", "to": "n"}]
    steps = [
        {"name": "first", "json": {"item": "pen", "count": 7}},
        {"name": "second", "json": {"item": "no. ${n}"}, "carry": carry},
        {"name": "third", "json": {"item": "${n}"}, "carry": [{**carry[0], "step": 0}]},
    ]
    trial = _run(tmp_path, GRPC, [{"name": "thrice", "steps": steps}], grpc=grpc)
    requests = {request for request, *_ in _read_seen(tmp_path)}
    assert "0a056e6f2e2032" in requests  # no. 2
    assert trial.result.ok > 0
    # A number is not a string in proto3 JSON: the third call fails with this reason.
    assert any("not a shop.Order" in text for text in trial.result.error_examples)


def test_a_bad_row_of_steps_is_refused_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("n\n1\nmany\n")
    grpc = {"method": "shop.Orders/Place", "proto": "shop.proto"}
    steps = [{"name": "a", "json": {"count": "${n}"}}, {"name": "b", "json": {}}]
    message = {"name": "m", "steps": steps, "data": {"file": "rows.csv"}}
    with pytest.raises(EngineRefused, match=r"steps\[0\]: data: .*rows.csv, line 3"):
        _run(tmp_path, GRPC, [message], grpc=grpc)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"path": "/${id}"}, "there is no column"),
        ({"path": "/", "carry": [{"from": "id", "to": "id"}]}, "is not a JSONPath"),
        ({"path": "/", "carry": [{"from": "$.id", "to": "id", "step": 5}]}, "no earlier step"),
    ],
)
def test_steps_that_cannot_be_are_refused(step: dict[str, Any], words: str, tmp_path: Path) -> None:
    steps = [{"name": "a", "path": "/"}, {"name": "b", **step}]
    with pytest.raises(EngineRefused, match=words):
        _run(tmp_path, HTTP, [{"name": "m", "steps": steps}])


@pytest.mark.parametrize(
    ("rows", "message", "words"),
    [
        (ROWS, {"path": "/${ids}"}, r"rows.csv, line 2: there is no column \"ids\""),
        ("id\n1\n2,3\n", {"path": "/${id}"}, "rows.csv, line 3: 2 values for 1 fields"),
        ("id\n", {"path": "/${id}"}, "there are no rows"),
        ('id\n"a\nb"\n', {"headers": {"x-a": "${id}"}}, "line 2: .* is not a value of a header"),
    ],
)
def test_a_bad_row_is_refused_with_file_and_line(
    rows: str, message: dict[str, Any], words: str, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text(rows)
    with pytest.raises(EngineRefused, match=words):
        _run(tmp_path, HTTP, [{"name": "m", "data": {"file": "rows.csv"}, **message}])


def test_a_row_that_is_not_a_message_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("n\n1\nmany\n")
    grpc = {"method": "shop.Orders/Place", "proto": "shop.proto"}
    message = {"name": "m", "json": {"count": "${n}"}, "data": {"file": "rows.csv"}}
    with pytest.raises(EngineRefused, match=r"rows.csv, line 3: message: not a shop.Order"):
        _run(tmp_path, GRPC, [message], grpc=grpc)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"name": "m", "path": "/", "mix": [{"name": "a", "path": "/"}]}, "in its parts"),
        ({"name": "m", "mix": [{"name": "a", "path": p} for p in ("/", "/b")]}, "named a"),
        ({"name": "m", "path": "/", "data": {"file": "gone.csv"}}, "gone.csv"),
        ({"name": "m", "path": "/", "data": {}}, "either file or random"),
        (
            {"name": "m", "mix": [{"name": "a", "path": "/", "wieght": 3}]},
            r"messages\[0\].mix\[0\].wieght: unknown key. Did you mean 'weight'\? Known: body,",
        ),
    ],
)  # fmt: skip
def test_impossible_messages_are_refused_when_the_experiment_is_read(
    message: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(ExperimentError, match=words):
        _run(tmp_path, HTTP, [message])


def test_a_hundred_thousand_rows_are_ready_in_seconds(tmp_path: Path) -> None:
    lines = "".join(f"{number},name {number}\n" for number in range(100_000))
    (tmp_path / "rows.csv").write_text(f"id,name\n{lines}")
    message = {
        "name": "add",
        "path": "/a",
        "json": {"id": "${id}", "name": "${name}"},
        "data": {"file": "rows.csv"},
    }
    began = time.monotonic()
    trial = _run(tmp_path, HTTP, [message])
    assert time.monotonic() - began < 20
    assert trial.result.ok == 40
    assert trial.engine.rss_max_bytes is not None
    assert trial.engine.rss_max_bytes < 200_000_000


def test_the_content_of_the_rows_is_part_of_the_point(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(ROWS)
    folder = {"folder": tmp_path}
    message = ExternalMessage.model_validate(
        {"name": "m", "path": "/", "data": {"file": str(file)}}, context=folder
    )
    before: Any = message.point()["data"]
    file.write_text(ROWS + "3,x\n")
    again = ExternalMessage.model_validate(
        {"name": "m", "path": "/", "data": {"file": str(file)}}, context=folder
    )
    after: Any = again.point()["data"]
    assert before["sha256"] != after["sha256"]
