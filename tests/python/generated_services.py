"""The examination of a generated service: it is started, called by foreign clients with golden
vectors, and its replies are read by the reference."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from email.message import Message
from functools import lru_cache
from pathlib import Path
from typing import Any

import cbor2
import grpc
import msgpack
import msgspec
import pytest

from tests.interop.driving import free_port
from wirelab.contracts.codecs import Codec, decode
from wirelab.contracts.schema import Contract
from wirelab.errors import UsageError

VECTORS = Path(__file__).parents[1] / "contracts"
MEDIA_TYPES = {
    "json": "application/json",
    "protobuf": "application/x-protobuf",
    "xml": "application/xml",
    "cbor": "application/cbor",
    "msgpack": "application/vnd.msgpack",
    "soap-literal": "text/xml",
}
TEXTS = ("json", "xml", "soap-literal")
STACKS = (
    ("rest", "json"),
    ("rest", "protobuf"),
    ("rest", "xml"),
    ("rest", "cbor"),
    ("rest", "msgpack"),
    ("soap", "soap-literal"),
    ("grpc", "protobuf"),
)
START_S = 10.0
LIMIT_BYTES = 128 << 20
TOO_LARGE = (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.OUT_OF_RANGE)
"""Libraries of gRPC differ (github.com/grpc/grpc/blob/master/doc/statuscodes.md has the first)."""
DEEP = 200_000
"""Values within values; each costs a few bytes."""
NESTED = {
    "json": (b'{"unknown":' + b"[" * DEEP, b"]" * DEEP + b"}"),
    "xml": (b"<a>" * DEEP, b"</a>" * DEEP),
    "cbor": (b"\xa1\x67unknown" + b"\x81" * DEEP, b"\x01"),
    "msgpack": (b"\x81\xa7unknown" + b"\x91" * DEEP, b"\x01"),
    # A group of an unknown number.
    "protobuf": (b"\xfb\xff\x01" * DEEP, b"\xfc\xff\x01" * DEEP),
}
"""Begin and end of bodies that are nested deeply."""

BEYOND = (
    ("singleInt32", 2**31 - 1, True),
    ("singleInt32", 2**31, False),
    ("singleInt32", -(2**31) - 1, False),
    ("singleUint32", 2**32 - 1, True),
    ("singleUint32", 2**32, False),
    ("singleUint32", -1, False),
    ("singleInt64", -(2**63), True),
    ("singleInt64", 2**63, False),
    ("singleUint64", 2**64 - 1, True),
    ("singleUint64", -1, False),
)
"""Fields, numbers, and whether they can hold them."""
WRITERS: dict[str, Callable[[str, int], bytes]] = {
    "json": lambda name, number: json.dumps({name: number}).encode(),
    "cbor": lambda name, number: cbor2.dumps({name: number}),
    "msgpack": lambda name, number: bytes(msgpack.packb({name: number})),
    "xml": lambda name, number: (
        f'<EveryKind xmlns="urn:wirelab:everykind:v1"><{name}>{number}</{name}></EveryKind>'
    ).encode(),
}


@dataclass(frozen=True)
class Vectors:
    """The golden vectors of one contract."""

    contract: Contract
    content: dict[str, Any]

    @property
    def proto(self) -> str:
        """The .proto."""
        return str(self.content["proto"])

    @property
    def descriptors(self) -> bytes:
        """The FileDescriptorSet."""
        return bytes.fromhex(self.content["descriptors"])

    def request(self, index: int, codec: str) -> bytes:
        """One of the requests."""
        return as_bytes(self.content["calls"][index]["request"], codec)


@lru_cache
def load_vectors(name: str) -> Vectors:
    """Those of ``every_kind``, ``order`` or ``note``."""
    content = json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))
    return Vectors(msgspec.convert(content["contract"], Contract), content)


def as_bytes(encodings: dict[str, str], codec: str) -> bytes:
    """A message of the vectors."""
    text = encodings[codec]
    return text.encode() if codec in TEXTS else bytes.fromhex(text)


@dataclass(frozen=True)
class Answer:
    """What a client received."""

    status: int
    body: bytes
    fields: dict[str, str]


@dataclass(frozen=True)
class Service:
    """A service that runs."""

    binding: str
    codec: str
    port: int
    process: subprocess.Popen[str]

    @property
    def url(self) -> str:
        """Where calls go over HTTP."""
        path = "soap" if self.binding == "soap" else "call"
        return f"http://127.0.0.1:{self.port}/{path}"

    def send(
        self, body: bytes | None, path: str = "", method: str = "POST", **fields: str
    ) -> Answer:
        """One request over HTTP/1.1 by urllib; in names of fields an underscore is a hyphen."""
        headers = {"Content-Type": MEDIA_TYPES[self.codec]}
        headers |= {name.replace("_", "-"): value for name, value in fields.items()}
        url = f"http://127.0.0.1:{self.port}{path}" if path else self.url
        request = urllib.request.Request(url, body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return Answer(reply.status, reply.read(), fold(reply.headers))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.read(), fold(error.headers))

    def call_grpc(
        self, path: str, body: bytes, compression: grpc.Compression | None = None
    ) -> bytes:
        """One call by grpcio, with bytes as messages."""
        limits = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
        with grpc.insecure_channel(f"127.0.0.1:{self.port}", options=limits) as channel:
            reply = channel.unary_unary(f"/{path}")(body, timeout=60, compression=compression)
            return bytes(reply)

    def call(self, contract: Contract, body: bytes) -> bytes:
        """The reply to a request that is right."""
        if self.binding == "grpc":
            return self.call_grpc(contract.grpc_path, body)
        answer = self.send(body)
        assert answer.status == 200, answer
        assert answer.fields["content-length"] == str(len(answer.body))
        return answer.body


@contextlib.contextmanager
def run_service(
    start: Sequence[str], vectors: Vectors, binding: str, codec: str, folder: Path, *options: str
) -> Iterator[Service]:
    """A service with its sample reply, until SIGTERM ends it."""
    sample = folder / f"sample-{binding}-{codec}"
    bare = "xml" if codec == "soap-literal" else codec
    sample.write_bytes(as_bytes(vectors.content["sample_reply"], bare))
    port = free_port()
    command = [
        *(*start, "--binding", binding, "--codec", codec, "--host", "127.0.0.1"),
        *("--port", str(port), "--reply", str(sample)),
        *("--numbered", vectors.content["numbered"], *options),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        _wait_for(port, process)
        yield Service(binding, codec, port, process)
        process.terminate()
        assert process.wait(5.0) == 0
    finally:
        process.kill()
        process.communicate()


def fold(fields: Message) -> dict[str, str]:
    """Fields by their names in lower case."""
    return {name.lower(): value for name, value in fields.items()}


def _wait_for(port: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.02)
    raise AssertionError("the service does not listen")


def find_differences(service: Service, vectors: Vectors) -> list[str]:
    """Calls whose reply is not the reference's, by name; each request is sent twice, in another
    order."""
    contract, codec = vectors.contract, service.codec
    found = []
    calls = vectors.content["calls"]
    for index, call in [*enumerate(calls), *reversed(list(enumerate(calls)))]:
        expected = decode(contract, contract.reply, call["reply"].encode(), Codec.JSON)
        try:
            reply = service.call(contract, vectors.request(index, codec))
            value = decode(contract, contract.reply, reply, Codec(codec))
        except (AssertionError, UsageError, grpc.RpcError, OSError) as error:
            found.append(f"{call['name']}: {error}"[:300])
            continue
        if value != expected:
            found.append(call["name"])
    return found


def find_accepted(service: Service, vectors: Vectors) -> list[str]:
    """Bodies that are cut off or are something else, and are answered all the same."""
    whole = vectors.request(len(vectors.content["calls"]) - 1, service.codec)
    wrong = {
        "the first half": whole[: len(whole) // 2],
        "all except the last byte": whole[:-1],
        "other bytes": b"\xff" * 64,
    }
    if service.codec != "protobuf":
        # Bytes of Protocol Buffers do not show where they end, and no byte is a message.
        wrong |= {"nothing": b"", "a byte too much": whole + b"\x01"}
    return [name for name, body in wrong.items() if not refuses(service, vectors, body)]


def refuses(service: Service, vectors: Vectors, body: bytes) -> bool:
    """Whether a body is answered by the error that the binding has for it."""
    if service.binding == "grpc":
        try:
            service.call_grpc(vectors.contract.grpc_path, body)
        except grpc.RpcError as error:
            return bool(error.code() is grpc.StatusCode.INVALID_ARGUMENT)
        return False
    answer = service.send(body)
    if service.binding == "soap":
        return answer.status == 500 and b"<faultcode>soapenv:Client</faultcode>" in answer.body
    return answer.status == 400


def nest(service: Service, vectors: Vectors) -> bytes:
    """A request with an unknown member that is nested deeply."""
    if service.codec in ("xml", "soap-literal"):
        whole, inner = vectors.request(0, service.codec), b"".join(NESTED["xml"])
        end = f"</{vectors.contract.request}>".encode()
        assert end in whole
        return whole.replace(end, inner + end)
    begin, end = NESTED[service.codec]
    return begin + end


def curl_http2(service: Service, body: bytes, folder: Path) -> Answer:
    """One request over HTTP/2 with prior knowledge by curl."""
    sent = folder / "sent"
    sent.write_bytes(body)
    command = [
        *("curl", "--silent", "--show-error", "--http2-prior-knowledge", "--output", "-"),
        *("--write-out", "%{stderr}%{http_version} %{http_code}"),
        *("--header", f"Content-Type: {MEDIA_TYPES[service.codec]}"),
        *("--data-binary", f"@{sent}", service.url),
    ]
    done = subprocess.run(command, capture_output=True, timeout=60, check=True)
    version, status = done.stderr.decode().split()
    assert version == "2"
    return Answer(int(status), done.stdout, {})


def examine_errors(service: Service, vectors: Vectors) -> None:
    """Statuses of requests that are wrong before their body is read, and of bodies that are too
    large or nested too deeply. The service answers afterwards as before."""
    body = vectors.request(0, service.codec)
    if service.binding == "grpc":
        with pytest.raises(grpc.RpcError) as unknown:
            service.call_grpc("another.Service/Method", body)
        assert unknown.value.code() is grpc.StatusCode.UNIMPLEMENTED
        with pytest.raises(grpc.RpcError) as large:
            service.call_grpc(vectors.contract.grpc_path, bytes(LIMIT_BYTES + 1))
        assert large.value.code() in TOO_LARGE
    else:
        assert service.send(body, path="/other").status == 404
        wrong = service.send(None, method="GET")
        assert (wrong.status, wrong.fields["allow"]) == (405, "POST")
        assert service.send(body, Content_Type="text/plain").status == 415
        assert service.send(body, Content_Encoding="gzip").status == 415
        assert service.send(bytes(LIMIT_BYTES + 1)).status == 413
        nested = service.send(nest(service, vectors)).status
        assert nested in (200, 400, 500)
    assert service.process.poll() is None
    assert not find_differences(service, vectors)


def examine_ranges(service: Service) -> None:
    """Numbers at the ends of their fields' ranges are read, and those beyond are refused."""
    for name, number, is_right in BEYOND:
        answer = service.send(WRITERS[service.codec](name, number))
        assert (answer.status == 200) is is_right, (name, number, answer)


def examine_compression(service: Service, vectors: Vectors, coding: str) -> None:
    """Requests and replies in a coding, replies without it, and what expands without end."""
    pack, unpack = CODINGS[coding]
    contract, body = vectors.contract, vectors.request(0, service.codec)
    expected = service.send(body)
    assert "content-encoding" not in expected.fields
    packed = service.send(pack(body), Content_Encoding=coding, Accept_Encoding=coding)
    assert (packed.status, packed.fields["content-encoding"]) == (200, coding)
    assert packed.fields["content-length"] == str(len(packed.body))
    codec = Codec(service.codec)
    assert decode(contract, contract.reply, unpack(packed.body), codec) == decode(
        contract, contract.reply, expected.body, codec
    )
    assert service.send(pack(body)[:-4], Content_Encoding=coding).status == 400
    assert service.send(b"garbage", Content_Encoding=coding).status == 400
    assert service.send(body, Content_Encoding="br").status == 415
    assert service.send(pack(bytes(LIMIT_BYTES + 1)), Content_Encoding=coding).status == 413


def _zstd(content: bytes) -> bytes:
    return subprocess.run(["zstd", "-c"], input=content, capture_output=True, check=True).stdout


def _unzstd(content: bytes) -> bytes:
    return subprocess.run(["zstd", "-dc"], input=content, capture_output=True, check=True).stdout


CODINGS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "gzip": (gzip.compress, gzip.decompress),
    "zstd": (_zstd, _unzstd),
}
