"""Services are examined before they are timed: a right one passes, each kind of cheat is refused.

The services here are written in Python on the reference of contracts, with faults of their own.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest

from wirelab.choose import plan, samples
from wirelab.choose.candidates import Candidate
from wirelab.choose.examination import WrongService, examine
from wirelab.choose.samples import Exchange, Sample, Seen
from wirelab.choose.source import Message, read_sample
from wirelab.contracts import schema
from wirelab.contracts.schema import Contract, Field, Kind, Label
from wirelab.contracts.values import has_many_entries
from wirelab.errors import UsageError
from wirelab.experiment.external import ExternalService
from wirelab.process.interruption import Interruption

ORDER = Path(__file__).parents[3] / "examples/order.json"
SERVICE = """
import http.server, sys
from pathlib import Path
from wirelab.choose.source import Message, read_sample
from wirelab.contracts import rules
from wirelab.contracts.codecs import Codec, decode, encode

sample = read_sample(Message(sys.argv[1]))
contract, codec, fault = sample.contract, Codec(sys.argv[3]), sys.argv[4]
kept = []

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        request = decode(contract, contract.request, body, codec)
        if fault == "unread field":
            request.pop("note")
        n = rules.number(contract, request)
        reply = rules.reply(contract, sample.reply, n)
        if fault == "lost item":
            reply["items"].pop()
        content = encode(contract, contract.reply, reply, codec)
        kept.append(content)
        if fault == "cached reply":
            content = kept[0]
        self.send_response(500 if fault == "status" else 200)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *ignored):
        pass

if fault == "end":
    sys.exit("cannot bind")
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
"""


@pytest.fixture(scope="module")
def order() -> Sample:
    return read_sample(Message(str(ORDER)))


def examine_with(sample: Sample, codec: str, fault: str, folder: Path) -> tuple[Seen, ...]:
    script = folder / "service.py"
    script.write_text(SERVICE)
    service = ExternalService.model_validate(
        {
            "name": "examined",
            "command": [sys.executable, str(script), str(ORDER), "{port}", codec, fault],
            "http": {"path": "/call"},
            "ready": {"within": "20 s"},
        }
    )
    candidate = Candidate("rest", codec, "go", "http/1.1")
    every = samples.exchanges(sample, 1, 8)
    with Interruption() as stop:
        return examine(sample, candidate, service, every, folder, stop)


@pytest.mark.parametrize("codec", ["json", "protobuf", "xml", "cbor", "msgpack", "avro"])
def test_a_right_service_passes_in_every_codec(order: Sample, codec: str, tmp_path: Path) -> None:
    found = examine_with(order, codec, "none", tmp_path)
    assert len(found) == 8
    assert all(one.content for one in found)
    assert len({one.content for one in found}) > 1


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("cached reply", "is wrong"),
        ("unread field", "is wrong"),
        ("lost item", "is wrong"),
        ("status", "status 500"),
        ("end", "cannot bind"),
    ],
)
def test_a_cheat_is_refused(order: Sample, fault: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(WrongService, match=words):
        examine_with(order, "json", fault, tmp_path)


def test_requests_vary_and_their_sizes_stay(order: Sample) -> None:
    candidate = Candidate("rest", "json", "go", "http/1.1")
    every = samples.exchanges(order, 1)
    bodies = {samples.request_bytes(order, one, candidate) for one in every}
    assert len(bodies) == samples.REQUESTS
    sizes = sorted(map(len, bodies))
    assert sizes[-1] <= 1.05 * sizes[0]


def test_a_request_that_cannot_differ_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.json"
    file.write_text('{"inner": {}}')
    reply = tmp_path / "reply.json"
    reply.write_text('{"count": 3}')
    sample = read_sample(Message(str(file), reply=reply))
    with pytest.raises(UsageError, match="cannot differ"):
        samples.exchanges(sample, 1)


def test_replies_with_maps_are_compared_by_size(tmp_path: Path) -> None:
    """Three rounds may show one order of a map by chance, so bytes decide nothing."""
    fields = (
        Field("total", "total", 1, Kind.INT32),
        Field("weights", "weights", 2, Kind.INT32, Label.MAP, map_key=Kind.STRING),
    )
    contract = Contract("shop.v1", "Shop", "Weigh", "W", "W", (schema.Message("W", fields),))
    value = {"total": 1, "weights": {"a": 1, "b": 2}}
    assert has_many_entries(contract, "W", value)
    assert not has_many_entries(contract, "W", {"weights": {"a": 1}})
    sample = Sample(contract, "", value, value)
    candidate = Candidate("rest", "cbor", "go", "http/1.1")
    seen = [Seen({b"same"}, is_ordered=False), Seen({b"one", b"three"}), Seen({b"fixed"})]
    every = [Exchange(value, value)] * 3
    file = tmp_path / "requests.jsonl"
    samples.write_requests(sample, candidate, every, seen, file)
    lines = [json.loads(line)["expect"] for line in file.read_text().splitlines()]
    assert lines[0] == {"bytes": {"min": "4 B", "max": "4 B"}}
    assert lines[1] == {"bytes": {"min": "3 B", "max": "5 B"}}
    assert lines[2] == {"sha256": hashlib.sha256(b"fixed").hexdigest()}


def test_another_seed_gives_other_requests(order: Sample) -> None:
    first, second = (samples.exchanges(order, seed)[0].request for seed in (1, 2))
    assert first != second


def test_the_files_of_a_stack_are_next_to_the_answer() -> None:
    candidate = Candidate("soap", "soap-literal", "go", "http/1.1")
    assert plan.reply_file(candidate).as_posix() == "data/soap-literal/reply.bin"
    assert plan.requests_file(candidate).as_posix() == "data/soap-literal/soap.go.jsonl"
