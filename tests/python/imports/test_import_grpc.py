"""``wirelab import grpc``: files of Protobuf, descriptor sets, and servers with and without
reflection."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pb2

from tests.python.grpc_reflection import Reflection, compile_protos
from tests.python.importing import Importer
from tests.python.importing import importer as importer
from wirelab.cli import main

pytestmark = pytest.mark.usefixtures("real_engine", "no_orphans")

ROOT = Path(__file__).parents[3]
GREETER = """\
syntax = "proto3";
package greet;
import "names.proto";
service Greeter {
  rpc SayHello (HelloRequest) returns (HelloReply);
  rpc SayHellos (HelloRequest) returns (stream HelloReply);
  rpc Listen (stream HelloRequest) returns (HelloReply);
}
message HelloRequest { Name name = 1; HelloRequest again = 2; int64 count = 3; }
message HelloReply { string text = 1; }
"""
NAMES = 'syntax = "proto3";\npackage greet;\nmessage Name { string first = 1; }\n'


@pytest.fixture
def protos(tmp_path: Path) -> Path:
    """A folder with greet.proto, and names.proto in another."""
    (tmp_path / "more").mkdir()
    (tmp_path / "greet.proto").write_text(GREETER)
    (tmp_path / "more" / "names.proto").write_text(NAMES)
    return tmp_path


def _compile(folder: Path) -> descriptor_pb2.FileDescriptorSet:
    """greet.proto of :func:`protos`, and what it imports."""
    return compile_protos([folder, folder / "more"], "greet.proto")


def test_a_file_has_one_message_per_method(importer: Importer) -> None:
    file = ROOT / "contracts" / "petclinic.proto"
    done = importer("grpc", file)
    assert done.code == 0
    assert len(done.messages) == file.read_text().count("\n  rpc ") > 30
    added = done.messages["add-owner"]
    assert added["grpc"].endswith("/AddOwner")
    assert added["json"]["firstName"] == "text"
    assert done.content["services"][0]["url"] == "grpc://127.0.0.1:50051"


def test_imports_are_found_in_their_folders(importer: Importer, protos: Path) -> None:
    done = importer("grpc", protos / "greet.proto", "--import", protos / "more")
    assert done.code == 0
    assert done.messages["say-hello"]["json"] == {"count": 1, "name": {"first": "text"}}
    assert "greet.Greeter/Listen: the client sends a stream" in done.out
    described = done.content["services"][0]["grpc"]
    assert (importer.folder / described["proto"]).is_file()
    assert (importer.folder / described["include"][0]).is_dir()


def test_an_import_that_is_missing_is_refused_with_file_and_line(
    importer: Importer, protos: Path
) -> None:
    importer("grpc", protos / "greet.proto").check_refusal(
        "greet.proto", "line 3", "there is no file names.proto", "--import DIR"
    )


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("a.proto", b'syntax = "proto3";\nmessage {', ("line 2",)),
        ("a.proto", None, ("a.proto",)),
        ("a.binpb", b"\xff\xff", ("not a descriptor set", "--include_imports")),
        ("a.binpb", None, ("there is no file", "name a .proto")),
        ("a.proto", b'syntax = "proto3";', ("there is no operation that can be imported",)),
    ],
)
def test_an_invalid_protobuf_is_refused(
    importer: Importer, tmp_path: Path, name: str, content: bytes | None, parts: tuple[str]
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    importer("grpc", path).check_refusal(*parts)


def test_a_descriptor_set_is_read_and_run(importer: Importer, protos: Path) -> None:
    path = protos / "greet.binpb"
    path.write_bytes(_compile(protos).SerializeToString())
    done = importer("grpc", path)
    assert done.messages["say-hello"]["json"] == {"count": 1, "name": {"first": "text"}}


class _Server:
    """A greeter, with reflection of that version, if any."""

    def __init__(self, folder: Path, version: str | None) -> None:
        handlers = [
            grpc.method_handlers_generic_handler(
                "greet.Greeter",
                {
                    "SayHello": grpc.unary_unary_rpc_method_handler(self._hello),
                    "SayHellos": grpc.unary_stream_rpc_method_handler(self._hellos),
                },
            )
        ]
        if version:
            handlers.append(Reflection(_compile(folder), version).handler())
        self.server = grpc.server(futures.ThreadPoolExecutor(4), handlers=handlers)
        self.port = self.server.add_insecure_port("127.0.0.1:0")

    @staticmethod
    def _hello(request: bytes, context: Any) -> bytes:
        # count 1 (field 3) and name.first "text" (fields 1 and 1), in whichever order.
        assert b"\x0a\x04text" in request
        assert b"\x18\x01" in request
        return b"\x0a\x02hi"

    def _hellos(self, request: bytes, context: Any) -> Iterator[bytes]:
        yield from (self._hello(request, context), self._hello(request, context))


@pytest.fixture
def serving(protos: Path) -> Iterator[Callable[[str | None], str]]:
    """Starts a server with that version of reflection, and returns its address."""
    started = []

    def start(version: str | None) -> str:
        server = _Server(protos, version)
        server.server.start()
        started.append(server)
        return f"127.0.0.1:{server.port}"

    yield start
    for server in started:
        server.server.stop(None).wait()


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_a_server_with_reflection_is_measured_as_it_was_written(
    importer: Importer, serving: Callable[[str | None], str], version: str
) -> None:
    address = serving(version)
    done = importer("grpc", address)
    assert done.code == 0, done.err
    assert done.files == ["greeter.binpb", "greeter.yaml"]
    assert list(done.messages) == ["say-hello", "say-hellos"]
    assert done.content["services"][0]["url"] == f"grpc://{address}"
    assert main(["run", "greeter.yaml", "--out", "results"]) == 0
    lines = (importer.folder / "results" / "trials.jsonl").read_text().splitlines()
    trials = [{**line, **cell} for line in map(json.loads, lines) for cell in line["cells"]]
    assert len(trials) == 8
    for trial in trials:
        assert trial["status"] == "measured"
        assert trial["result"]["ok"] > 0
        assert trial["result"]["errors"] == 0


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_a_server_describes_itself_to_run_and_drive(
    importer: Importer,
    serving: Callable[[str | None], str],
    version: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without a file that describes its messages."""
    address = serving(version)
    message = {"name": {"first": "text"}, "count": 1}
    url = f"grpc://{address}/greet.Greeter/SayHello"
    assert main(["drive", url, "--data", json.dumps(message), "--calls", "5"]) == 0
    assert "5 calls" in capsys.readouterr().out
    assert main(["drive", url, "--data", '{"nam": 1}', "--calls", "5"]) == 2
    assert "not a greet.HelloRequest" in " ".join(capsys.readouterr().err.split())
    service = {
        "name": "greeter",
        "url": f"grpc://{address}",
        "grpc": {"method": "greet.Greeter/SayHello", "reflect": True, "json": message},
        "expect": {"message": {"text": "hi"}},
    }
    content = {"name": "greet", "repeats": 1, "services": [service], "window": {"calls": 20}}
    content["loads"] = [{"closed": {"users": 1}}]
    (importer.folder / "greet.yaml").write_text(json.dumps(content))
    assert main(["run", str(importer.folder / "greet.yaml"), "--out", "reflected"]) == 0
    (line,) = (importer.folder / "reflected" / "trials.jsonl").read_text().splitlines()
    assert json.loads(line)["cells"][0]["result"]["ok"] == 20


def test_a_server_that_does_not_describe_itself_ends_the_run(
    serving: Callable[[str | None], str], capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"grpc://{serving(None)}/greet.Greeter/SayHello"
    assert main(["drive", url, "--data", "{}", "--calls", "5"]) == 2
    assert "has no reflection" in " ".join(capsys.readouterr().err.split())


def test_a_server_without_reflection_is_refused(
    importer: Importer, serving: Callable[[str | None], str]
) -> None:
    address = serving(None)
    importer("grpc", address).check_refusal(
        f"{address} has no reflection, neither grpc.reflection.v1 nor v1alpha",
        "start it with reflection, or name what describes it: wirelab import grpc FILE.proto",
    )


def test_a_server_that_is_not_there_or_elsewhere_is_refused(importer: Importer) -> None:
    importer("grpc", "127.0.0.1:1").check_refusal("127.0.0.1:1 cannot be reached", "is it running?")
    importer("grpc", "192.0.2.1:50051").check_refusal("is not on this machine", "--any-target")
    importer("grpc", "grpcs://127.0.0.1:1").check_refusal("without TLS", "descriptor set")


def test_a_missing_file_is_named(importer: Importer, tmp_path: Path) -> None:
    importer("grpc", "no/such.proto").check_refusal("there is no file no/such.proto")
    path = tmp_path / "a.proto"
    path.write_text('syntax = "proto3";\nimport "no/such.proto";\n')
    importer("grpc", path).check_refusal("line 2: there is no file no/such.proto")


def test_a_field_without_a_value_is_noted(importer: Importer, tmp_path: Path) -> None:
    path = tmp_path / "a.proto"
    path.write_text(
        'syntax = "proto3";\npackage a;\nimport "google/protobuf/any.proto";\n'
        "service S { rpc Do (R) returns (R); }\n"
        "message R { google.protobuf.Any extra = 1; R next = 2; string name = 3; }\n"
    )
    done = importer("grpc", path)
    assert done.messages["do"]["json"] == {"name": "text"}
    assert "# field a.R.extra has no value: write one" in done.text
    assert "# field a.R.next has no value: write one" in done.text
