"""The service in Rust that is generated for a contract: replies, errors, names, and mutants."""

from __future__ import annotations

import contextlib
import re
import subprocess
import tomllib
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
from wirelab import checkout
from wirelab.contracts.codecs import Codec
from wirelab.generate import rust

pytestmark = pytest.mark.timeout(900)

MUTANTS = {
    "the first reply is kept": Mutant(
        "src/exchange.rs",
        "        let number = Number::of(digest(&request), numbered);\n",
        "        static FIRST: std::sync::OnceLock<u64> = std::sync::OnceLock::new();\n"
        "        let first = FIRST.get_or_init(|| digest(&request));\n"
        "        let number = Number::of(*first, numbered);\n",
    ),
    "a field is not read": Mutant(
        "src/model.rs", "            .field(4, rules::value(&self.tags))\n", ""
    ),
    "what does not decode is answered": Mutant(
        "src/codec.rs",
        "serde_json::from_slice(body).map_err(text)",
        'serde_json::from_slice(body).or_else(|_| serde_json::from_slice(b"{}")).map_err(text)',
    ),
}


@pytest.mark.parametrize(("binding", "codec"), STACKS)
@pytest.mark.parametrize("name", ["every_kind", "order", "note"])
def test_replies_are_those_of_the_reference(
    name: str, binding: str, codec: Codec, tmp_path: Path
) -> None:
    vectors = load_vectors(name)
    project = build_vectors(rust, name)
    with run_service(project, vectors, binding, codec, tmp_path) as service:
        assert not find_differences(service)
        assert not find_accepted(service)


@pytest.mark.parametrize(("binding", "codec"), STACKS)
def test_wrong_requests_have_the_status_of_their_error(
    binding: str, codec: Codec, tmp_path: Path
) -> None:
    vectors = load_vectors("order")
    project = build_vectors(rust, "order")
    with run_service(project, vectors, binding, codec, tmp_path) as service:
        examine_errors(service)


def test_the_action_of_soap_may_be_left_out(tmp_path: Path) -> None:
    vectors, codec = load_vectors("order"), Codec.SOAP_LITERAL
    project = build_vectors(rust, "order")
    with run_service(project, vectors, "soap", codec, tmp_path) as service:
        body = vectors.request(0, codec)
        answer = service.send(body, {"Content-Type": "text/xml"}, omit="SOAPAction")
        assert (answer.status, answer.body) == (200, service.call(body))


def test_a_call_in_flight_does_not_keep_a_service(tmp_path: Path) -> None:
    project, vectors = build_vectors(rust, "order"), load_vectors("order")
    with (
        contextlib.ExitStack() as calls,
        run_service(project, vectors, "rest", Codec.JSON, tmp_path) as service,
    ):
        calls.enter_context(begin_call(service.port))


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_bodies_are_compressed_where_the_request_allows_it(coding: str, tmp_path: Path) -> None:
    vectors = load_vectors("order")
    project = build_vectors(rust, "order")
    options = ("--compression", coding)
    with run_service(project, vectors, "rest", Codec.JSON, tmp_path, *options) as service:
        examine_compression(service, coding)


def test_grpc_reads_and_writes_gzip(tmp_path: Path) -> None:
    vectors = load_vectors("order")
    project = build_vectors(rust, "order")
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
    project = build_vectors(rust, "order")
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
    (program,) = build_vectors(rust, "order").start
    right = ["--binding", "rest", "--codec", "json", "--port", "1", "--reply", "x"]
    done = subprocess.run([program, *right, option, value], capture_output=True, text=True)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert option.strip("-") in done.stderr


@pytest.mark.parametrize("name", MUTANTS)
def test_the_examination_finds_a_mutant(name: str, tmp_path: Path) -> None:
    vectors, mutant = load_vectors("order"), MUTANTS[name]
    project = mutant.build(rust, vectors, tmp_path / "sources")
    with run_service(project, vectors, "rest", mutant.codec, tmp_path) as service:
        assert find_differences(service) or find_accepted(service)


@pytest.mark.parametrize(("binding", "codec"), STACKS)
def test_hostile_names_are_served(binding: str, codec: Codec, tmp_path: Path) -> None:
    vectors = describe_hostile()
    project = build_hostile(rust)
    with run_service(project, vectors, binding, codec, tmp_path) as service:
        assert not find_differences(service)


@pytest.mark.parametrize("codec", WRITERS)
def test_numbers_beyond_their_field_are_refused(codec: Codec, tmp_path: Path) -> None:
    vectors = load_vectors("every_kind")
    project = build_vectors(rust, "every_kind")
    with run_service(project, vectors, "rest", codec, tmp_path) as service:
        examine_ranges(service)


@pytest.mark.parametrize(("binding", "codec"), [("rest", Codec.XML), ("soap", Codec.SOAP_LITERAL)])
def test_infinities_in_xml_are_those_of_xml_schema(
    binding: str, codec: Codec, tmp_path: Path
) -> None:
    project = build_vectors(rust, "every_kind")
    with run_service(project, make_infinite(), binding, codec, tmp_path) as service:
        examine_infinities(service)


def test_crates_have_the_versions_of_the_service_in_rust() -> None:
    def read(folder: Path) -> set[tuple[str, str]]:
        locked = (folder / "Cargo.lock").read_text(encoding="utf-8")
        return set(re.findall(r'^name = "(\S+)"\nversion = "(\S+)"$', locked, re.MULTILINE))

    assert read(rust.TEMPLATES.folder) - read(checkout.root()) == {("service", "1.0.0")}


def test_the_release_profile_is_that_of_the_service_in_rust() -> None:
    def read(folder: Path) -> dict[str, object]:
        content = tomllib.loads((folder / "Cargo.toml").read_text(encoding="utf-8"))
        found = content["profile"]["release"]
        assert isinstance(found, dict)
        return found

    own, generated = read(checkout.root()), read(rust.TEMPLATES.folder)
    packages, chosen = own.pop("package"), generated.pop("package")
    assert generated == own
    assert isinstance(packages, dict)
    assert isinstance(chosen, dict)
    assert chosen.items() <= packages.items()
