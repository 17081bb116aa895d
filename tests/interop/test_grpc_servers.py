"""The engine calls grpc-go's example service, and the interoperability servers of grpc-go and
grpc-java: their own services, built from their published modules."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.interop import driving, hosting
from tests.interop.driving import CALLS, HERE, Engine, Json, all_failed, all_good
from wirelab.cli import main

STACK = "grpc@rust"
LARGE_BYTES = 3_000_000
GREETER = "google.golang.org/grpc/examples/helloworld/greeter_server"
INTEROP = "google.golang.org/grpc/interop/server"
REFLECTION = "google.golang.org/grpc/examples/features/reflection/server"
JAVA_MAIN = "io.grpc.testing.integration.TestServiceServer"


def _field(number: int, value: bytes | int) -> bytes:
    """One protobuf field (protobuf's encoding guide): a varint, or bytes with their length."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    head = b""
    while value > 127:
        head += bytes([value & 127 | 128])
        value >>= 7
    return head + bytes([value])


def _unary(service: str, method: str, request: bytes) -> Json:
    body = base64.b64encode(request).decode()
    return {"kind": "grpc", "method": f"/{service}/{method}", "body_base64": body}


@pytest.fixture(scope="module")
def go() -> Path:
    """The folder with grpc-go's programs."""
    hosting.engine()
    build = ["go", "build", "-p", "2", "-o", "{out}/", GREETER, INTEROP]
    return driving.build_program("go", ["go"], build)


@pytest.fixture(scope="module")
def greeter(go: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = driving.free_port()
    log = tmp_path_factory.mktemp("greeter") / "log"
    with driving.run_server([str(go / "greeter_server"), "-port", str(port)], log, port):
        yield f"127.0.0.1:{port}"


@pytest.fixture(scope="module")
def reflecting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """grpc-go's example of reflection: a greeter and an echo."""
    hosting.engine()
    build = ["go", "build", "-p", "2", "-o", "{out}/reflection_server", REFLECTION]
    folder = driving.build_program("go", ["go"], build)
    port = driving.free_port()
    log = tmp_path_factory.mktemp("reflecting") / "log"
    with driving.run_server([str(folder / "reflection_server"), "-port", str(port)], log, port):
        yield f"127.0.0.1:{port}"


@pytest.fixture(scope="module", params=["go", "java"])
def interop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The server of gRPC's interoperability tests (grpc.testing.TestService)."""
    port = driving.free_port()
    if request.param == "go":
        folder: Path = request.getfixturevalue("go")
        command = [str(folder / "server"), f"-port={port}"]
    else:
        hosting.engine()
        lib = driving.build_java() / "lib"
        options = [f"--port={port}", "--use_tls=false", "--address_type=IPV4"]
        command = ["java", "-XX:+UseSerialGC", "-cp", f"{lib}/*", JAVA_MAIN, *options]
    with driving.run_server(command, tmp_path_factory.mktemp("interop") / "log", port):
        yield f"127.0.0.1:{port}"


def test_the_example_of_grpc_go(greeter: str, tmp_path: Path) -> None:
    """A thousand greetings on one connection, from JSON by the example's own .proto."""
    module = ["go", "list", "-m", "-f", "{{.Dir}}", "google.golang.org/grpc/examples"]
    listed = subprocess.run(module, cwd=HERE / "go", capture_output=True, text=True, check=True)
    proto = Path(listed.stdout.strip()) / "helloworld" / "helloworld" / "helloworld.proto"
    workload: Json = {
        "kind": "grpc",
        "method": "/helloworld.Greeter/SayHello",
        "proto": str(proto),
        "include": [str(proto.parent)],
        "message": {"name": "wirelab"},
    }
    driver = Engine(tmp_path / "log")
    all_good(driver.drive(STACK, workload, target=greeter))
    name = "x" * LARGE_BYTES
    outcome = driver.drive(STACK, {**workload, "message": {"name": name}}, 10, target=greeter)
    all_good(outcome, 10)
    assert outcome["bytes_received"] > 10 * LARGE_BYTES


def test_the_reflection_of_grpc_go_makes_an_experiment(
    reflecting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One message per unary and per server-streaming method, answered as they were written."""
    monkeypatch.chdir(tmp_path)
    assert main(["import", "grpc", reflecting, "--out", "echo.yaml"]) == 0
    names = [one["name"] for one in yaml.safe_load(Path("echo.yaml").read_text())["messages"]]
    assert sorted(names) == ["say-hello", "server-streaming-echo", "unary-echo"]
    # The example's server leaves the stream unimplemented: trials without a good call.
    assert main(["run", "echo.yaml", "--out", "results"]) == 1
    lines = Path("results/trials.jsonl").read_text().splitlines()
    trials = [{**line, **cell} for line in map(json.loads, lines) for cell in line["cells"]]
    unary = [trial for trial in trials if trial["point"]["operation"] != "server-streaming-echo"]
    assert len(unary) == 8
    assert all(trial["result"]["ok"] and not trial["result"]["errors"] for trial in unary)
    streamed = [trial for trial in trials if trial not in unary]
    assert len(streamed) == 4
    for trial in streamed:
        assert trial["result"]["ok"] == 0
        assert all("status 12" in text for text in trial["result"]["error_examples"]), trial


def test_an_error_of_the_example_of_grpc_go(greeter: str, tmp_path: Path) -> None:
    """Status 12 for a method that is not there."""
    workload = _unary("helloworld.Greeter", "SayGoodbye", b"")
    outcome = Engine(tmp_path / "log").drive(STACK, workload, 3, target=greeter)
    all_failed(outcome, "application", "SayGoodbye")


def test_a_thousand_calls(interop: str, tmp_path: Path) -> None:
    """Of an empty message, and of one with a payload, on one connection each."""
    driver = Engine(tmp_path / "log")
    all_good(
        driver.drive(STACK, _unary("grpc.testing.TestService", "EmptyCall", b""), target=interop)
    )
    requested = _field(2, 100) + _field(3, _field(2, bytes(200)))  # response_size, payload.body
    workload = _unary("grpc.testing.TestService", "UnaryCall", requested)
    outcome = driver.drive(STACK, workload, target=interop)
    all_good(outcome)
    assert outcome["bytes_received"] > CALLS * 100


def test_large_messages(interop: str, tmp_path: Path) -> None:
    """3 MB each way."""
    requested = _field(2, LARGE_BYTES) + _field(3, _field(2, bytes(LARGE_BYTES)))
    workload = _unary("grpc.testing.TestService", "UnaryCall", requested)
    outcome = Engine(tmp_path / "log").drive(STACK, workload, 10, target=interop)
    all_good(outcome, 10)
    assert min(outcome["bytes_received"], outcome["bytes_sent"]) > 10 * LARGE_BYTES


def test_errors(interop: str, tmp_path: Path) -> None:
    """The status that the request asks for, with its text; a method that is not there."""
    status = _field(7, _field(1, 9) + _field(2, "die Größe fehlt".encode()))
    driver = Engine(tmp_path / "log")
    workload = _unary("grpc.testing.TestService", "UnaryCall", status)
    all_failed(driver.drive(STACK, workload, 3, target=interop), "application", "die Größe fehlt")
    missing = _unary("grpc.testing.TestService", "UnimplementedCall", b"")
    outcome = driver.drive(STACK, missing, 3, target=interop)
    all_failed(outcome, "application", "12")
