"""Generated services under test: the golden contracts, a running service, and calls to it by
clients that have nothing of the lab."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import grpc
import msgspec

from wirelab.contracts.codecs import Codec, decode
from wirelab.contracts.schema import Contract

VECTORS = Path(__file__).parents[1] / "contracts"
START_S = 150.0
"""A virtual machine needs seconds of CPU time to start, which may be a minute next to others."""
CALL_S = 60.0
MEDIA_TYPES = {
    Codec.JSON: "application/json",
    Codec.PROTOBUF: "application/x-protobuf",
    Codec.XML: "application/xml",
    Codec.CBOR: "application/cbor",
    Codec.MSGPACK: "application/vnd.msgpack",
    Codec.SOAP_LITERAL: "text/xml; charset=utf-8",
}
AS_TEXT = (Codec.JSON, Codec.XML, Codec.SOAP_LITERAL)


@dataclass(frozen=True)
class Golden:
    """One file of vectors; tests/contracts/README.md describes it."""

    name: str

    @cached_property
    def file(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((VECTORS / f"{self.name}.json").read_bytes())
        return content

    @cached_property
    def contract(self) -> Contract:
        return msgspec.convert(self.file["contract"], Contract)

    @property
    def descriptors(self) -> bytes:
        return bytes.fromhex(self.file["descriptors"])

    @property
    def sample_reply(self) -> Mapping[str, str]:
        found: Mapping[str, str] = self.file["sample_reply"]
        return found

    def value(self, reply: str) -> dict[str, Any]:
        """The value of a reply in JSON."""
        return decode(self.contract, self.contract.reply, reply.encode(), Codec.JSON)


def read_bytes(codec: Codec, encoding: str) -> bytes:
    """An encoding of the vectors."""
    return encoding.encode() if codec in AS_TEXT else bytes.fromhex(encoding)


@dataclass(frozen=True)
class Reply:
    """A reply over HTTP."""

    status: int
    fields: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Service:
    """A service that listens."""

    process: subprocess.Popen[bytes]
    port: int
    contract: Contract
    binding: str
    codec: Codec

    @property
    def path(self) -> str:
        return "/soap" if self.binding == "soap" else "/call"

    @property
    def fields(self) -> dict[str, str]:
        """Fields of a right request."""
        fields = {"Content-Type": MEDIA_TYPES[self.codec]}
        if self.binding == "soap":
            fields["SOAPAction"] = f'"{self.contract.xml_namespace}#{self.contract.method}"'
        return fields

    def call(self, body: bytes) -> bytes:
        """The reply's message; a failure is an error."""
        if self.binding == "grpc":
            with grpc.insecure_channel(f"127.0.0.1:{self.port}") as channel:
                method = channel.unary_unary(f"/{self.contract.grpc_path}")
                found: bytes = method(body, timeout=CALL_S)
                return found
        reply = self.request(body)
        assert reply.status == 200, (reply.status, reply.body[:500])
        assert int(reply.fields["content-length"]) == len(reply.body)
        assert reply.fields["content-type"].startswith(MEDIA_TYPES[self.codec].split(";")[0])
        return reply.body

    def request(
        self,
        body: bytes,
        fields: Mapping[str, str] | None = None,
        *,
        method: str = "POST",
        path: str = "",
    ) -> Reply:
        """One request on a new connection, by Python's client; ``fields`` are added."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=CALL_S)
        try:
            connection.request(method, path or self.path, body, {**self.fields, **(fields or {})})
            reply = connection.getresponse()
            content = reply.read()
        finally:
            connection.close()
        return Reply(reply.status, {k.lower(): v for k, v in reply.getheaders()}, content)

    def call_over_h2c(self, body: Path) -> bytes:
        """By curl, with prior knowledge."""
        fields = [
            part for name, value in self.fields.items() for part in ("-H", f"{name}: {value}")
        ]
        done = subprocess.run(
            [
                "curl", "--silent", "--show-error", "--fail-with-body", "--http2-prior-knowledge",
                *fields, "--data-binary", f"@{body}", f"http://127.0.0.1:{self.port}{self.path}",
            ],
            capture_output=True, check=False, timeout=CALL_S,
        )  # fmt: skip
        assert done.returncode == 0, (done.stdout, done.stderr)
        return done.stdout


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def sample_file(golden: Golden, codec: Codec, folder: Path) -> Path:
    """The file of ``--reply``: for SOAP the document without its envelope."""
    found = Codec.XML if codec is Codec.SOAP_LITERAL else codec
    path = folder / f"{golden.name}.{codec}"
    path.write_bytes(read_bytes(found, golden.sample_reply[found]))
    return path


@contextmanager
def start_service(
    command: tuple[str, ...],
    golden: Golden,
    binding: str,
    codec: Codec,
    folder: Path,
    *options: str,
) -> Iterator[Service]:
    """Starts it and waits until it listens; ends it by SIGTERM afterwards."""
    port = free_port()
    arguments = {
        "--binding": binding,
        "--codec": str(codec),
        "--host": "127.0.0.1",
        "--port": str(port),
        "--reply": str(sample_file(golden, codec, folder)),
        "--numbered": golden.file["numbered"],
    }
    words = [word for pair in arguments.items() for word in pair]
    with (folder / "service.log").open("wb") as log:
        process = subprocess.Popen([*command, *words, *options], stderr=log, stdout=log)
    try:
        _await_port(process, port, folder / "service.log")
        yield Service(process, port, golden.contract, binding, codec)
    finally:
        process.terminate()
        process.wait(CALL_S)


def _await_port(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        try:
            socket.create_connection(("127.0.0.1", port), 1.0).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"does not listen after {START_S} s: {log.read_text()}")
