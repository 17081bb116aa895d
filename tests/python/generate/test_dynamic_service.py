"""The service of a contract on machines without a compiler, compared with the golden vectors that
generated services are compared with; and `choose` without cargo in PATH."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.python.choose.test_choose_live import ORDER, run
from tests.python.generated_projects import describe_hostile
from tests.python.generated_services import (
    WRITERS,
    Vectors,
    curl_http2,
    examine_compression,
    examine_errors,
    examine_ranges,
    find_accepted,
    find_differences,
    load_vectors,
    run_service,
)
from wirelab.contracts.codecs import Codec
from wirelab.generate import dynamic
from wirelab.generate.project import Project
from wirelab.process import rust_programs
from wirelab.process.interruption import Interruption

STACKS = [(binding, Codec(codec)) for binding, codec in dynamic.STACKS]


def write(vectors: Vectors, folder: Path) -> Project:
    """The service of a contract; its program has to be there."""
    program = rust_programs.program("wirelab-rust-service", Interruption())
    return dynamic.write_project(
        vectors.contract, vectors.proto, vectors.descriptors, folder / "service", program
    )


@pytest.mark.parametrize(("binding", "codec"), STACKS)
@pytest.mark.parametrize("name", ["every_kind", "order", "note"])
def test_replies_are_those_of_the_reference(
    name: str, binding: str, codec: Codec, tmp_path: Path
) -> None:
    vectors = load_vectors(name)
    with run_service(write(vectors, tmp_path), vectors, binding, codec, tmp_path) as service:
        assert not find_differences(service)
        assert not find_accepted(service)


@pytest.mark.parametrize(("binding", "codec"), STACKS)
def test_wrong_requests_have_the_status_of_their_error(
    binding: str, codec: Codec, tmp_path: Path
) -> None:
    vectors = load_vectors("order")
    with run_service(write(vectors, tmp_path), vectors, binding, codec, tmp_path) as service:
        examine_errors(service)


@pytest.mark.parametrize(("binding", "codec"), STACKS)
def test_hostile_names_are_served(binding: str, codec: Codec, tmp_path: Path) -> None:
    vectors = describe_hostile()
    with run_service(write(vectors, tmp_path), vectors, binding, codec, tmp_path) as service:
        assert not find_differences(service)


@pytest.mark.parametrize("codec", [one for one in WRITERS if ("rest", one) in STACKS])
def test_numbers_beyond_their_field_are_refused(codec: Codec, tmp_path: Path) -> None:
    vectors = load_vectors("every_kind")
    with run_service(write(vectors, tmp_path), vectors, "rest", codec, tmp_path) as service:
        examine_ranges(service)


def test_bodies_are_compressed_where_the_request_allows_it(tmp_path: Path) -> None:
    vectors = load_vectors("order")
    options = ("--compression", "zstd")
    project = write(vectors, tmp_path)
    with run_service(project, vectors, "rest", Codec.JSON, tmp_path, *options) as service:
        examine_compression(service, "zstd")


def test_http2_is_served_with_prior_knowledge(tmp_path: Path) -> None:
    vectors = load_vectors("order")
    body, project = vectors.request(0, Codec.JSON), write(load_vectors("order"), tmp_path)
    with run_service(project, vectors, "rest", Codec.JSON, tmp_path) as service:
        expected = service.send(body)
    options = ("--transport", "http/2", "--processors", "1")
    with run_service(project, vectors, "rest", Codec.JSON, tmp_path, *options) as service:
        answer = curl_http2(service, body, tmp_path)
    assert (answer.status, answer.body) == (200, expected.body)


@pytest.mark.parametrize(
    ("descriptors", "method", "message"),
    [
        (b"\xff\xff", None, "contract.binpb: "),
        (None, "wirelab.order.v1.Other/Call", "no operation wirelab.order.v1.Other/Call"),
        (None, "nothing", "no operation nothing"),
    ],
)
def test_a_wrong_contract_is_refused_in_one_line(
    descriptors: bytes | None, method: str | None, message: str, tmp_path: Path
) -> None:
    project = write(load_vectors("order"), tmp_path)
    program, _, file, known = project.start
    if descriptors is not None:
        Path(file).write_bytes(descriptors)
    command = [program, "contract", file, method or known, "--binding", "rest", "--codec", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert message in done.stderr


def test_xml_is_refused_by_name(tmp_path: Path) -> None:
    project = write(load_vectors("order"), tmp_path)
    words = ("--binding", "rest", "--codec", "xml", "--port", "1", "--reply", "x")
    done = subprocess.run(
        [*project.start, *words], capture_output=True, text=True, check=False, timeout=20
    )
    assert done.returncode == 2
    assert "binding rest with codec xml is not offered" in done.stderr


@pytest.fixture
def _no_cargo(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH without cargo, as where only the wheel is installed."""
    folders = os.environ["PATH"].split(os.pathsep)
    without = [one for one in folders if not (Path(one) / "cargo").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join(without))


@pytest.mark.usefixtures("_no_cargo")
def test_choose_marks_an_answer_without_a_compiler(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    stacks = ("--stacks", "rest@rust", "--stacks", "grpc@rust")
    options = ("--budget", "1s", "--share", "--json", "--out", str(folder))
    done = run(str(ORDER), "--language", "rust", *stacks, *options)
    assert done.returncode in (0, 5), done.stderr
    found = json.loads(done.stdout)
    assert found["dynamic_code"]
    assert set(found["stacks"]) == {"rest@rust", "grpc@rust"}
    assert all(row["wrong_replies"] == 0 for row in found["stacks"].values())
    assert "This is dynamic code, not what you would deploy" in (folder / "report.html").read_text(
        encoding="utf-8"
    )


@pytest.mark.usefixtures("_no_cargo")
def test_dynamic_code_is_not_ranked_with_generated_code(tmp_path: Path) -> None:
    done = run(str(ORDER), "--language", "go,rust", "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert "dynamic code is not ranked with generated code" in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("_no_cargo")
def test_stacks_that_need_generated_types_are_refused(tmp_path: Path) -> None:
    words = ("--language", "rust", "--stacks", "soap", "--out", str(tmp_path / "out"))
    done = run(str(ORDER), *words)
    assert done.returncode == 2
    assert "--stacks soap: no such stack" in done.stderr
