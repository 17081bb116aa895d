"""Where the message of `choose` comes from: documents, .proto files, recordings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wirelab.choose.source import Message, read_sample
from wirelab.contracts.codecs import Codec, encode
from wirelab.errors import UsageError

ORDER = Path(__file__).parents[3] / "examples/order.json"
PROTO = """\
syntax = "proto3";
package shop.v1;
import "google/protobuf/timestamp.proto";
service Orders {
  rpc Place(Order) returns (Receipt);
  rpc Cancel(Receipt) returns (Receipt);
  rpc Watch(Receipt) returns (stream Receipt);
}
message Order {
  int64 id = 1;
  repeated Item items = 2;
  map<string, double> weights = 3;
  google.protobuf.Timestamp at = 4;
}
message Item { string sku = 1; uint32 count = 2; }
message Receipt { int64 id = 1; string text = 2; }
"""


@pytest.fixture
def proto(tmp_path: Path) -> Path:
    file = tmp_path / "orders.proto"
    file.write_text(PROTO)
    return file


def test_a_json_document_is_request_and_reply() -> None:
    sample = read_sample(Message(str(ORDER)))
    assert (sample.contract.request, sample.contract.reply) == ("Order", "Order")
    assert "// Inferred from order.json" in sample.proto
    content = encode(sample.contract, "Order", sample.request, Codec.JSON)
    assert json.loads(content) == json.loads(ORDER.read_text())


def test_a_scale_repeats_the_items() -> None:
    one, ten = (read_sample(Message(str(ORDER), scale=factor)) for factor in (1, 10))
    assert len(ten.request["items"]) == 10 * len(one.request["items"])


def test_a_proto_without_samples_gets_values(proto: Path) -> None:
    sample = read_sample(Message(str(proto), only="Place"))
    assert sample.contract.grpc_path == "shop.v1.Orders/Place"
    assert set(sample.request) == {"id", "items", "weights", "at"}
    assert set(sample.reply) == {"id", "text"}


def test_samples_of_a_proto_are_taken(proto: Path, tmp_path: Path) -> None:
    request, reply = tmp_path / "request.json", tmp_path / "reply.json"
    request.write_text('{"id": "7", "items": [{"sku": "a", "count": 2}]}')
    reply.write_text('{"id": "7", "text": "stored"}')
    sample = read_sample(Message(str(proto), only="Place", more=(request,), reply=reply))
    assert sample.request["items"] == [{"sku": "a", "count": 2}]
    assert sample.reply == {"id": 7, "text": "stored"}


@pytest.mark.parametrize(
    ("only", "words"), [(None, "Place"), ("Nothing", "Nothing"), ("Watch", "stream")]
)
def test_a_proto_without_one_method_is_refused(proto: Path, only: str | None, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_sample(Message(str(proto), only=only))


def har(*bodies: str) -> str:
    entries = [
        {
            "request": {
                "method": "POST",
                "url": f"http://127.0.0.1/{number}",
                "httpVersion": "HTTP/1.1",
                "headers": [{"name": "content-type", "value": "application/json"}],
                "queryString": [],
                "postData": {"mimeType": "application/json", "text": body},
            },
            "response": {"status": 200},
        }
        for number, body in enumerate(bodies)
    ]
    return json.dumps({"log": {"version": "1.2", "creator": {}, "entries": entries}})


def test_the_request_of_a_recording_is_the_message(tmp_path: Path) -> None:
    file = tmp_path / "recording.har"
    file.write_text(har('{"amount": 3, "to": "Bern"}'))
    sample = read_sample(Message(str(file), kind="har"))
    assert sample.request == {"amount": 3, "to": "Bern"}


def test_of_several_requests_one_is_chosen(tmp_path: Path) -> None:
    file = tmp_path / "recording.har"
    file.write_text(har('{"amount": 3}', '{"name": "x"}'))
    with pytest.raises(UsageError, match="2 requests have a JSON body") as refused:
        read_sample(Message(str(file), kind="har"))
    assert "--only" in refused.value.remedy
    sample = read_sample(Message(str(file), kind="har", only="POST /1"))
    assert sample.request == {"name": "x"}


def test_a_curl_command_is_a_message() -> None:
    command = """curl http://127.0.0.1/pay -H 'Content-Type: application/json' -d '{"amount": 3}'"""
    assert read_sample(Message(command, kind="curl")).request == {"amount": 3}


def test_a_document_without_json_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "recording.har"
    file.write_text(har("amount=3"))
    with pytest.raises(UsageError, match="no request has a JSON body"):
        read_sample(Message(str(file), kind="har"))
