"""The examination of a generated service: it is started, called by foreign clients with golden
vectors, and its replies are read by the reference."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import math
import re
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import cbor2
import grpc
import msgpack
import msgspec
import pytest

from tests.interop.driving import free_port, run_server
from wirelab.contracts import rules
from wirelab.contracts.codecs import Codec, decode, encode
from wirelab.contracts.schema import Contract
from wirelab.errors import UsageError
from wirelab.generate import project
from wirelab.generate.project import Project
from wirelab.process.children import Child

VECTORS = Path(__file__).parents[1] / "contracts"
MEDIA_TYPES = {
    Codec.JSON: "application/json",
    Codec.PROTOBUF: "application/x-protobuf",
    Codec.XML: "application/xml",
    Codec.CBOR: "application/cbor",
    Codec.MSGPACK: "application/vnd.msgpack",
    Codec.AVRO: "application/avro",
    Codec.SOAP_LITERAL: "text/xml",
}
TEXTS = (Codec.JSON, Codec.XML, Codec.SOAP_LITERAL)
STACKS = [(binding, Codec(codec)) for binding, codec in project.STACKS]
CALL_S = 60.0
"""Maximum time of a call."""


@dataclass(frozen=True)
class Limits:
    """How a service of a language starts and ends."""

    start_s: float
    """Maximum time until it listens."""
    end_s: float
    """Maximum time from SIGTERM to its end."""
    exit_code: int
    """Of an end by SIGTERM."""


LIMITS = {
    "go": Limits(start_s=10.0, end_s=5.0, exit_code=0),
    "rust": Limits(start_s=10.0, end_s=5.0, exit_code=0),
    # A virtual machine needs seconds of CPU time to start, which may be a minute next to others. It
    # exits with 128 plus the signal's number.
    "java": Limits(start_s=150.0, end_s=60.0, exit_code=128 + signal.SIGTERM),
}
"""By language."""
LIMIT_BYTES = 128 << 20
TOO_LARGE = (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.OUT_OF_RANGE)
"""Libraries of gRPC differ (github.com/grpc/grpc/blob/master/doc/statuscodes.md has the first)."""
DEEP = 200_000
"""Values within values; each costs a few bytes."""
NESTED: dict[Codec, Callable[[int], bytes]] = {
    Codec.JSON: lambda depth: b'{"unknown":' + b"[" * depth + b"]" * depth + b"}",
    Codec.XML: lambda depth: b"<a>" * depth + b"</a>" * depth,
    Codec.CBOR: lambda depth: b"\xa1\x67unknown" + b"\x81" * depth + b"\x01",
    Codec.MSGPACK: lambda depth: b"\x81\xa7unknown" + b"\x91" * depth + b"\x01",
    # It has no unknown members: each byte is the branch of a union that is present.
    Codec.AVRO: lambda depth: b"\x02" * depth,
    # A group of an unknown number.
    Codec.PROTOBUF: lambda depth: b"\xfb\xff\x01" * depth + b"\xfc\xff\x01" * depth,
}
"""Bodies, in XML an element, that are nested to a depth."""

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
SAME_BITS = (Codec.AVRO, "singleUint64", -1)
"""Of the greatest number."""
FIRST = ("singleBool", "singleInt32", "singleInt64", "singleUint32", "singleUint64")
"""Fields of EveryKind; each has one byte where it is zero."""


def write_avro(name: str, number: int) -> bytes:
    """An EveryKind with that number, as a varint of any length."""
    contract = load_vectors("every_kind").contract
    whole = encode(contract, "EveryKind", {}, Codec.AVRO)
    signed = number - 2**64 if name == "singleUint64" and number >= 2**63 else number
    zigzag = 2 * signed if signed >= 0 else -2 * signed - 1
    septets = [zigzag >> shift & 0x7F for shift in range(0, max(1, zigzag.bit_length()), 7)]
    long = bytes([*(one | 0x80 for one in septets[:-1]), septets[-1]])
    at = FIRST.index(name)
    return whole[:at] + long + whole[at + 1 :]


WRITERS: dict[Codec, Callable[[str, int], bytes]] = {
    Codec.JSON: lambda name, number: json.dumps({name: number}).encode(),
    Codec.CBOR: lambda name, number: cbor2.dumps({name: number}),
    Codec.MSGPACK: lambda name, number: bytes(msgpack.packb({name: number})),
    Codec.AVRO: write_avro,
    Codec.XML: lambda name, number: (
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

    def request(self, index: int, codec: Codec) -> bytes:
        """One of the requests."""
        return as_bytes(self.content["calls"][index]["request"], codec)

    def reply(self, index: int) -> dict[str, Any]:
        """The value of the reply to it."""
        text = self.content["calls"][index]["reply"].encode()
        return decode(self.contract, self.contract.reply, text, Codec.JSON)


@lru_cache
def load_vectors(name: str) -> Vectors:
    """Those of ``every_kind``, ``order`` or ``note``."""
    content = json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))
    return Vectors(msgspec.convert(content["contract"], Contract), content)


def as_bytes(encodings: dict[str, str], codec: Codec) -> bytes:
    """A message of the vectors."""
    text = encodings[codec]
    return text.encode() if codec in TEXTS else bytes.fromhex(text)


@dataclass(frozen=True)
class Answer:
    """What a client received."""

    status: int
    body: bytes
    fields: Mapping[str, str]
    """By names in lower case."""


@dataclass(frozen=True)
class Service:
    """A service that runs."""

    vectors: Vectors
    binding: str
    codec: Codec
    port: int
    process: Child

    @property
    def path(self) -> str:
        """Where calls go over HTTP."""
        return "/soap" if self.binding == "soap" else "/call"

    @property
    def fields(self) -> dict[str, str]:
        """Fields of a right request over HTTP."""
        fields = {"Content-Type": MEDIA_TYPES[self.codec]}
        if self.binding == "soap":
            contract = self.vectors.contract
            fields["Content-Type"] += "; charset=utf-8"
            fields["SOAPAction"] = f'"{contract.xml_namespace}#{contract.method}"'
        return fields

    def send(
        self,
        body: bytes | None,
        fields: Mapping[str, str] | None = None,
        *,
        method: str = "POST",
        path: str = "",
        omit: str = "",
    ) -> Answer:
        """One request over HTTP/1.1 on a connection of its own by Python's client; ``fields`` are
        added, and the one named ``omit`` is left out."""
        sent = {**self.fields, **(fields or {}), "Connection": "close"}
        sent.pop(omit, None)
        with contextlib.closing(
            http.client.HTTPConnection("127.0.0.1", self.port, timeout=CALL_S)
        ) as connection:
            connection.request(method, path or self.path, body, sent)
            reply = connection.getresponse()
            found = {name.lower(): value for name, value in reply.getheaders()}
            return Answer(reply.status, reply.read(), found)

    def call_grpc(
        self, path: str, body: bytes, compression: grpc.Compression | None = None
    ) -> bytes:
        """One call by grpcio, with bytes as messages."""
        limits = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
        with grpc.insecure_channel(f"127.0.0.1:{self.port}", options=limits) as channel:
            reply = channel.unary_unary(f"/{path}")(body, timeout=CALL_S, compression=compression)
            return bytes(reply)

    def call(self, body: bytes) -> bytes:
        """The reply to a request that is right."""
        if self.binding == "grpc":
            return self.call_grpc(self.vectors.contract.grpc_path, body)
        answer = self.send(body)
        assert answer.status == 200, answer
        assert answer.fields["content-length"] == str(len(answer.body))
        assert answer.fields["content-type"].split(";")[0] == MEDIA_TYPES[self.codec]
        return answer.body


def write_sample(vectors: Vectors, codec: Codec, folder: Path) -> Path:
    """The file of ``--reply``: for SOAP the document without its envelope."""
    bare = Codec.XML if codec is Codec.SOAP_LITERAL else codec
    path = folder / f"sample.{codec}"
    path.write_bytes(as_bytes(vectors.content["sample_reply"], bare))
    return path


@contextlib.contextmanager
def run_service(
    built: Project, vectors: Vectors, binding: str, codec: Codec, folder: Path, *options: str
) -> Iterator[Service]:
    """A service with its sample reply, from the moment that it listens until SIGTERM ends it."""
    limits, port = LIMITS[built.language], free_port()
    command = [
        *(*built.start, "--binding", binding, "--codec", codec, "--host", "127.0.0.1"),
        *("--port", str(port), "--reply", str(write_sample(vectors, codec, folder))),
        *("--numbered", vectors.content["numbered"], *options),
    ]
    with run_server(command, folder / "service.log", port, limits.start_s) as process:
        yield Service(vectors, binding, codec, port, process)
        process.signal(signal.SIGTERM)
        assert process.wait(limits.end_s) == limits.exit_code, process.log_tail()


def find_differences(service: Service) -> list[str]:
    """Calls whose reply is not the reference's, by name; each request is sent twice, in another
    order."""
    vectors, codec = service.vectors, service.codec
    found = []
    calls = vectors.content["calls"]
    for index, call in [*enumerate(calls), *reversed(list(enumerate(calls)))]:
        try:
            reply = service.call(vectors.request(index, codec))
            value = decode(vectors.contract, vectors.contract.reply, reply, codec)
        except (AssertionError, UsageError, grpc.RpcError, OSError) as error:
            found.append(f"{call['name']}: {error}"[:300])
            continue
        if value != vectors.reply(index):
            found.append(call["name"])
    return found


def find_accepted(service: Service) -> list[str]:
    """Bodies that are cut off or are something else, and are answered all the same."""
    last = len(service.vectors.content["calls"]) - 1
    whole = service.vectors.request(last, service.codec)
    wrong = {
        "the first half": whole[: len(whole) // 2],
        "all except the last byte": whole[:-1],
        "other bytes": b"\xff" * 64,
        "a byte before it": b"\xff" + whole,
        "a byte after it": whole + b"\x07",
    }
    if service.codec is not Codec.PROTOBUF:  # there an empty body is a message
        wrong["nothing"] = b""
    if service.codec in (Codec.XML, Codec.SOAP_LITERAL):
        declaration, end, rest = whole.partition(b"?>")
        assert end
        doctype = b'<!DOCTYPE a [<!ENTITY e "x">]>'
        wrong["a document type declaration"] = declaration + end + doctype + rest
    return [name for name, body in wrong.items() if not refuses(service, body)]


def refuses(service: Service, body: bytes, fields: Mapping[str, str] | None = None) -> bool:
    """Whether a body is answered by the error that the binding has for it."""
    if service.binding == "grpc":
        try:
            service.call_grpc(service.vectors.contract.grpc_path, body)
        except grpc.RpcError as error:
            return bool(error.code() is grpc.StatusCode.INVALID_ARGUMENT)
        return False
    answer = service.send(body, fields)
    if service.binding == "soap":
        is_client = re.search(rb"<faultcode>\w+:Client</faultcode>", answer.body) is not None
        return answer.status == 500 and is_client
    return answer.status == 400


def nest(service: Service, depth: int = DEEP) -> bytes:
    """A request with an unknown member that is nested."""
    if service.codec in (Codec.XML, Codec.SOAP_LITERAL):
        whole = service.vectors.request(0, service.codec)
        end = f"</{service.vectors.contract.request}>".encode()
        assert end in whole
        return whole.replace(end, NESTED[Codec.XML](depth) + end)
    return NESTED[service.codec](depth)


def curl_http2(service: Service, body: bytes, folder: Path) -> Answer:
    """One request over HTTP/2 with prior knowledge by curl."""
    sent = folder / "sent"
    sent.write_bytes(body)
    command = [
        *("curl", "--silent", "--show-error", "--http2-prior-knowledge", "--output", "-"),
        *("--write-out", "%{stderr}%{http_version} %{http_code}"),
        *(part for field in service.fields.items() for part in ("--header", ": ".join(field))),
        *("--data-binary", f"@{sent}", f"http://127.0.0.1:{service.port}{service.path}"),
    ]
    done = subprocess.run(command, capture_output=True, timeout=CALL_S, check=True)
    version, status = done.stderr.decode().split()
    assert version == "2"
    return Answer(int(status), done.stdout, {})


def examine_errors(service: Service, coding: str = "gzip", too_large: int = 413) -> None:
    """Statuses of requests that are wrong before their body is read, and of bodies that are too
    large or nested too deeply. The service answers afterwards as before. ``coding`` is one that it
    does not read, and ``too_large`` its status of a body that is too large."""
    body = service.vectors.request(0, service.codec)
    if service.binding == "grpc":
        with pytest.raises(grpc.RpcError) as unknown:
            service.call_grpc("another.Service/Method", body)
        assert unknown.value.code() is grpc.StatusCode.UNIMPLEMENTED
        with pytest.raises(grpc.RpcError) as large:
            service.call_grpc(service.vectors.contract.grpc_path, bytes(LIMIT_BYTES + 1))
        assert large.value.code() in TOO_LARGE
    else:
        assert service.send(body, path="/other").status == 404
        wrong = service.send(None, method="GET")
        assert (wrong.status, wrong.fields["allow"]) == (405, "POST")
        assert service.send(body, {"Content-Type": "text/plain"}).status == 415
        assert service.send(body, {"Content-Encoding": coding}).status == 415
        # Spaces may follow a message of text: only its length is wrong.
        assert service.send(body.ljust(LIMIT_BYTES + 1)).status == too_large
        assert service.send(nest(service)).status in (200, 400, 500)
    if service.binding == "soap":
        assert refuses(service, body, {"SOAPAction": '"urn:other"'})
    assert service.process.wait(0.0) is None
    assert not find_differences(service)


@contextlib.contextmanager
def begin_call(port: int) -> Iterator[None]:
    """A call over HTTP/1.1 that stays in flight: its body does not come."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"POST /call HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n")
        connection.sendall(b"Content-Type: application/json\r\nExpect: 100-continue\r\n\r\n")
        # The handler asks for the body.
        assert connection.recv(100).startswith(b"HTTP/1.1 100")
        yield


def examine_ranges(service: Service) -> None:
    """Numbers at the ends of their fields' ranges are read, and those beyond are refused."""
    for name, number, is_right in BEYOND:
        if (service.codec, name, number) == SAME_BITS:
            continue
        answer = service.send(WRITERS[service.codec](name, number))
        assert (answer.status == 200) is is_right, (name, number, answer)


def make_infinite() -> Vectors:
    """The contract with every kind of field, with infinities in every place that can have one."""
    vectors = load_vectors("every_kind")
    value = {
        **{f"single_{kind}": -math.inf for kind in ("float", "double")},
        **{f"optional_{kind}": math.inf for kind in ("float", "double")},
        **{f"repeated_{kind}": [math.inf, -math.inf, 0.5] for kind in ("float", "double")},
        **{f"map_{kind}": {"x": -math.inf} for kind in ("float", "double")},
        "other_double": math.inf,
    }
    sample = encode(vectors.contract, vectors.contract.reply, {"copy": value}, Codec.XML)
    request = {
        codec: encode(vectors.contract, vectors.contract.request, value, codec).decode()
        for codec in (Codec.XML, Codec.SOAP_LITERAL)
    }
    content = vectors.content | {
        "sample_reply": {Codec.XML: sample.decode()},
        "calls": [{"name": "infinite", "request": request}],
    }
    return replace(vectors, content=content)


def examine_infinities(service: Service) -> None:
    """Infinities of XML Schema are read and written, and its readers refuse other words for them.
    The service has :func:`make_infinite`."""
    vectors, codec = service.vectors, service.codec
    contract, body = vectors.contract, vectors.request(0, codec)
    value = decode(contract, contract.request, body, codec)
    sample = vectors.content["sample_reply"][Codec.XML].encode()
    copied = decode(contract, contract.reply, sample, Codec.XML)
    expected = rules.reply(contract, copied, rules.number(contract, value))
    assert decode(contract, contract.reply, service.call(body), codec) == expected
    for word in (b"inf", b"+INF", b"Infinity", b"0x1p4", b""):
        wrong = body.replace(b">INF<", b">%s<" % word)
        assert wrong != body
        assert refuses(service, wrong), word


def examine_compression(service: Service, coding: str) -> None:
    """Requests and replies in a coding, replies without it, and what expands without end."""
    pack, unpack = CODINGS[coding]
    codec, contract = service.codec, service.vectors.contract
    body = service.vectors.request(0, codec)
    expected = service.send(body)
    assert "content-encoding" not in expected.fields
    packed = service.send(pack(body), {"Content-Encoding": coding, "Accept-Encoding": coding})
    assert (packed.status, packed.fields["content-encoding"]) == (200, coding)
    assert packed.fields["content-length"] == str(len(packed.body))
    assert decode(contract, contract.reply, unpack(packed.body), codec) == decode(
        contract, contract.reply, expected.body, codec
    )
    for broken in (pack(body)[:-4], b"garbage"):
        assert service.send(broken, {"Content-Encoding": coding}).status == 400
    assert service.send(body, {"Content-Encoding": "br"}).status == 415
    bomb = pack(bytes(LIMIT_BYTES + 1))
    assert service.send(bomb, {"Content-Encoding": coding}).status == 413


def _zstd(content: bytes) -> bytes:
    return subprocess.run(["zstd", "-c"], input=content, capture_output=True, check=True).stdout


def _unzstd(content: bytes) -> bytes:
    return subprocess.run(["zstd", "-dc"], input=content, capture_output=True, check=True).stdout


CODINGS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "gzip": (gzip.compress, gzip.decompress),
    "zstd": (_zstd, _unzstd),
}
