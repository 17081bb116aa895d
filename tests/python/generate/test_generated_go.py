"""The service in Go that is generated for a contract: replies, errors, names, and mutants."""

from __future__ import annotations

import contextlib
import re
import subprocess
from pathlib import Path

import grpc
import pytest

from tests.python.generated_projects import Mutant, build_hostile, build_vectors, describe_hostile
from tests.python.generated_services import (
    STACKS,
    WRITERS,
    begin_call,
    curl_http2,
    examine_compression,
    examine_errors,
    examine_infinities,
    examine_ranges,
    find_accepted,
    find_differences,
    load_vectors,
    make_infinite,
    run_service,
)
from wirelab import installation
from wirelab.contracts.codecs import Codec
from wirelab.generate import go

pytestmark = pytest.mark.timeout(600)

MUTANTS = {
    "the first reply is kept": Mutant(
        "exchange.go",
        "\treturn func(body []byte) ([]byte, error) {\n",
        "\tvar kept []byte\n\treturn func(body []byte) ([]byte, error) {\n"
        "\t\tif kept != nil {\n\t\t\treturn kept, nil\n\t\t}\n"
        "\t\tdefer func() {\n"
        "\t\t\tkept, _ = format.write(copied(reply, rules.NumberOf(1, inText)))\n\t\t}()\n",
    ),
    "a field is not read": Mutant(
        "model/calls.go", "\ttotal += 4 * rules.List(of.Tags, rules.String)\n", ""
    ),
    "a field of an item is not read": Mutant(
        "model/calls.go", "\ttotal += 3 * rules.Float(of.UnitPrice)\n", ""
    ),
    "items are not copied": Mutant(
        "model/calls.go", "rules.CopyStructs(of.Items, n, copyOfItem)", "of.Items"
    ),
    "a field of Protocol Buffers is not read": Mutant(
        "pb/calls.go", "\ttotal += 6 * rules.Optional(of.Note, rules.String)\n", "", Codec.PROTOBUF
    ),
    "what does not decode is answered": Mutant(
        "exchange.go",
        "if err := format.readRequest(body, request); err != nil {",
        "if err := format.readRequest(body, request); err != nil && len(body) == 0 {",
    ),
}


@pytest.mark.parametrize(("binding", "codec"), STACKS)
@pytest.mark.parametrize("name", ["every_kind", "order", "note"])
def test_replies_are_those_of_the_reference(
    name: str, binding: str, codec: Codec, tmp_path: Path
) -> None:
    vectors = load_vectors(name)
    project = build_vectors(go, name)
    with run_service(project, vectors, binding, codec, tmp_path) as service:
        assert not find_differences(service)
        assert not find_accepted(service)


@pytest.mark.parametrize(("binding", "codec"), STACKS)
def test_wrong_requests_have_the_status_of_their_error(
    binding: str, codec: Codec, tmp_path: Path
) -> None:
    vectors = load_vectors("order")
    project = build_vectors(go, "order")
    with run_service(project, vectors, binding, codec, tmp_path) as service:
        examine_errors(service)


def test_the_action_of_soap_may_be_left_out(tmp_path: Path) -> None:
    vectors, codec = load_vectors("order"), Codec.SOAP_LITERAL
    project = build_vectors(go, "order")
    with run_service(project, vectors, "soap", codec, tmp_path) as service:
        body = vectors.request(0, codec)
        answer = service.send(body, {"Content-Type": "text/xml"}, omit="SOAPAction")
        assert (answer.status, answer.body) == (200, service.call(body))


def test_a_call_in_flight_does_not_keep_a_service(tmp_path: Path) -> None:
    project, vectors = build_vectors(go, "order"), load_vectors("order")
    with (
        contextlib.ExitStack() as calls,
        run_service(project, vectors, "rest", Codec.JSON, tmp_path) as service,
    ):
        calls.enter_context(begin_call(service.port))


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_bodies_are_compressed_where_the_request_allows_it(coding: str, tmp_path: Path) -> None:
    vectors = load_vectors("order")
    project = build_vectors(go, "order")
    options = ("--compression", coding)
    with run_service(project, vectors, "rest", Codec.JSON, tmp_path, *options) as service:
        examine_compression(service, coding)


def test_grpc_reads_and_writes_gzip(tmp_path: Path) -> None:
    vectors = load_vectors("order")
    project = build_vectors(go, "order")
    options = ("--compression", "gzip")
    with run_service(project, vectors, "grpc", Codec.PROTOBUF, tmp_path, *options) as service:
        assert not find_differences(service)
        path, body = vectors.contract.grpc_path, vectors.request(0, Codec.PROTOBUF)
        packed = service.call_grpc(path, body, grpc.Compression.Gzip)
        assert packed == service.call_grpc(path, body)


@pytest.mark.parametrize("codec", [Codec.JSON, Codec.SOAP_LITERAL])
def test_http2_is_served_with_prior_knowledge(codec: Codec, tmp_path: Path) -> None:
    vectors = load_vectors("order")
    binding = "soap" if codec is Codec.SOAP_LITERAL else "rest"
    project = build_vectors(go, "order")
    options = ("--transport", "http/2", "--processors", "1")
    body = vectors.request(0, codec)
    with run_service(project, vectors, binding, codec, tmp_path) as service:
        expected = service.send(body)
    with run_service(project, vectors, binding, codec, tmp_path, *options) as service:
        answer = curl_http2(service, body, tmp_path)
    assert (answer.status, answer.body) == (200, expected.body)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--codec", "xsd"),
        ("--binding", "raw"),
        ("--transport", "http/3"),
        ("--compression", "br"),
        ("--numbered", "both"),
        ("--processors", "0"),
        ("--port", "70000"),
        ("--reply", ""),
        ("--colour", "red"),
    ],
)
def test_wrong_options_are_refused_in_one_line(option: str, value: str) -> None:
    (program,) = build_vectors(go, "order").start
    right = ["--binding", "rest", "--codec", "json", "--port", "1", "--reply", "x"]
    done = subprocess.run([program, *right, option, value], capture_output=True, text=True)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert option.strip("-") in done.stderr


@pytest.mark.parametrize("name", MUTANTS)
def test_the_examination_finds_a_mutant(name: str, tmp_path: Path) -> None:
    vectors, mutant = load_vectors("order"), MUTANTS[name]
    project = mutant.build(go, vectors, tmp_path / "sources")
    with run_service(project, vectors, "rest", mutant.codec, tmp_path) as service:
        assert find_differences(service) or find_accepted(service)


@pytest.mark.parametrize(("binding", "codec"), STACKS)
def test_hostile_names_are_served(binding: str, codec: Codec, tmp_path: Path) -> None:
    vectors = describe_hostile()
    project = build_hostile(go)
    with run_service(project, vectors, binding, codec, tmp_path) as service:
        assert not find_differences(service)


def test_modules_have_the_versions_of_the_service_in_go() -> None:
    own = (installation.folder("services") / "go" / "go.mod").read_text(encoding="utf-8")
    versions = dict(re.findall(r"^\t(\S+) v(\S+)", own, re.MULTILINE))
    pinned = (go.TEMPLATES.folder / "go.mod").read_text(encoding="utf-8")
    found = dict(re.findall(r"^\t(\S+) v(\S+)", pinned, re.MULTILINE))
    plugin = "google.golang.org/grpc/cmd/protoc-gen-go-grpc"
    generator = (installation.folder("services") / "go" / "generate.sh").read_text("utf-8")
    assert f"protoc_gen_go_grpc=v{found.pop(plugin)}\n" in generator
    assert found.items() <= versions.items()
    assert re.findall(r"^go .*", own, re.MULTILINE) == re.findall(r"^go .*", pinned, re.MULTILINE)


def test_compression_is_the_services_own() -> None:
    own = installation.folder("services") / "go" / "internal" / "compression" / "compression.go"
    copied = go.TEMPLATES.folder / "compression" / "compression.go"
    assert copied.read_text(encoding="utf-8") == own.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("order_id", "OrderId"),
        ("_x", "XX"),
        ("a_1", "A_1"),
        ("a1b", "A1B"),
        ("Order_Card", "Order_Card"),
        ("order__id", "Order_Id"),
        ("HTTPServer", "HTTPServer"),
    ],
)
def test_names_are_converted_like_protoc_gen_go(name: str, expected: str) -> None:
    assert go.go_camel_case(name) == expected


@pytest.mark.parametrize("codec", WRITERS)
def test_numbers_beyond_their_field_are_refused(codec: Codec, tmp_path: Path) -> None:
    vectors = load_vectors("every_kind")
    project = build_vectors(go, "every_kind")
    with run_service(project, vectors, "rest", codec, tmp_path) as service:
        examine_ranges(service)


@pytest.mark.parametrize(("binding", "codec"), [("rest", Codec.XML), ("soap", Codec.SOAP_LITERAL)])
def test_infinities_in_xml_are_those_of_xml_schema(
    binding: str, codec: Codec, tmp_path: Path
) -> None:
    project = build_vectors(go, "every_kind")
    with run_service(project, make_infinite(), binding, codec, tmp_path) as service:
        examine_infinities(service)
