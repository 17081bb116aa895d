"""Generated services in Java give the replies of the golden vectors, and refuse what is wrong."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache, partial
from pathlib import Path

import cbor2
import grpc
import msgpack
import pyarrow
import pytest

from tests.python.generated_java_services import (
    CALL_S,
    Golden,
    Service,
    free_port,
    read_bytes,
    sample_file,
    start_service,
)
from wirelab.contracts.codecs import Codec, decode
from wirelab.contracts.descriptors import descriptor_set
from wirelab.contracts.proto_text import write_proto
from wirelab.contracts.schema import Contract, Enum, Field, Kind, Label, Message
from wirelab.errors import BuildError, UsageError
from wirelab.generate import java, java_names, java_tools
from wirelab.generate.build import build_service
from wirelab.generate.project import Project
from wirelab.process.interruption import Interruption

GOLDEN = {name: Golden(name) for name in ("every_kind", "order", "note")}
STACKS = [(binding, Codec(codec)) for binding, codec in java.stacks(GOLDEN["order"].contract)]
BODY_BYTES_MAX = 128 << 20
pytestmark = pytest.mark.timeout(600)


@cache
def build(contract: Contract) -> Project:
    """The built service of a contract, from the cache where these sources were built before."""
    write = partial(java.write_project, contract, write_proto(contract), descriptor_set(contract))
    with Interruption() as interruption:
        return build_service("java", contract, write, interruption)


def run(
    golden: Golden, binding: str, codec: Codec, folder: Path, *options: str
) -> AbstractContextManager[Service]:
    return start_service(build(golden.contract).start, golden, binding, codec, folder, *options)


def differs(service: Service, golden: Golden) -> list[str]:
    """Names of the calls whose replies are not those of the vectors; all are sent twice."""
    found = []
    for call in 2 * golden.file["calls"]:
        reply = service.call(read_bytes(service.codec, call["request"][service.codec]))
        contract = golden.contract
        if decode(contract, contract.reply, reply, service.codec) != golden.value(call["reply"]):
            found.append(call["name"])
    return found


@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.parametrize(("binding", "codec"), STACKS)
def test_replies_are_those_of_the_vectors(
    name: str, binding: str, codec: Codec, tmp_path: Path
) -> None:
    golden = GOLDEN[name]
    with run(golden, binding, codec, tmp_path) as service:
        assert differs(service, golden) == []


@pytest.mark.parametrize(
    ("binding", "codec"),
    [("rest", Codec.JSON), ("rest", Codec.PROTOBUF), ("soap", Codec.SOAP_LITERAL)],
)
def test_http_2_is_served_with_prior_knowledge(binding: str, codec: Codec, tmp_path: Path) -> None:
    golden = GOLDEN["order"]
    with run(golden, binding, codec, tmp_path, "--transport", "http/2") as service:
        for number, call in enumerate(golden.file["calls"]):
            body = tmp_path / f"request-{number}"
            body.write_bytes(read_bytes(codec, call["request"][codec]))
            reply = decode(
                golden.contract, golden.contract.reply, service.call_over_h2c(body), codec
            )
            assert reply == golden.value(call["reply"])
        assert service.request(body.read_bytes()).status == 505


@pytest.fixture(scope="module")
def order_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The order over REST in JSON, whose replies may be in gzip."""
    folder = tmp_path_factory.mktemp("order")
    with run(GOLDEN["order"], "rest", Codec.JSON, folder, "--compression", "gzip") as service:
        yield service


def first_request(codec: Codec) -> bytes:
    return read_bytes(codec, GOLDEN["order"].file["calls"][0]["request"][codec])


def test_a_request_that_is_not_a_call_is_refused(order_service: Service) -> None:
    body = first_request(Codec.JSON)
    assert order_service.request(body, path="/other").status == 404
    wrong_method = order_service.request(b"", method="GET")
    assert (wrong_method.status, wrong_method.fields["allow"]) == (405, "POST")
    assert order_service.request(body, {"Content-Type": "text/plain"}).status == 415
    assert order_service.request(body, {"Content-Encoding": "br"}).status == 415
    assert order_service.request(body).status == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b'{"express":"yes"}',
        b'{"express":1}',
        b'{"tags":"one"}',
        b'{"tags":[null]}',
        b'{"tags":[7]}',
        b'{"customer":{"id":1.5}}',
        b'{"customer":{"id":9223372036854775808}}',
        b'{"customer":{"id":"1x"}}',
        b'{"items":[{"unitPrice":"cheap"}]}',
        b'{"customer":{"name":"\xff"}}',
        b"{} {}",
    ],
)
def test_a_body_that_is_not_the_message_is_refused(order_service: Service, body: bytes) -> None:
    assert order_service.request(body).status == 400


def test_every_truncation_is_refused(order_service: Service) -> None:
    body = first_request(Codec.JSON)
    statuses = {order_service.request(body[:end]).status for end in range(0, len(body), 7)}
    assert statuses == {400}


def test_bodies_are_coded_where_both_sides_know_the_coding(order_service: Service) -> None:
    body = first_request(Codec.JSON)
    plain = order_service.request(body)
    assert "content-encoding" not in plain.fields
    coded = order_service.request(
        gzip.compress(body), {"Content-Encoding": "gzip", "Accept-Encoding": "zstd, gzip"}
    )
    assert coded.fields["content-encoding"] == "gzip"
    assert gzip.decompress(coded.body) == plain.body
    other = order_service.request(body, {"Accept-Encoding": "zstd"})
    assert "content-encoding" not in other.fields
    packed = pyarrow.compress(body, codec="zstd", asbytes=True)
    assert order_service.request(packed, {"Content-Encoding": "zstd"}).body == plain.body
    for broken in (body, gzip.compress(body)[:-9]):
        assert order_service.request(broken, {"Content-Encoding": "gzip"}).status == 400


def test_zstd_is_served_where_it_is_accepted(tmp_path: Path) -> None:
    golden = GOLDEN["order"]
    options = ("--compression", "zstd")
    with run(golden, "rest", Codec.CBOR, tmp_path, *options) as service:
        body = first_request(Codec.CBOR)
        plain = service.request(body)
        coded = service.request(body, {"Accept-Encoding": "zstd"})
        assert coded.fields["content-encoding"] == "zstd"
        unpacked = pyarrow.decompress(
            coded.body, decompressed_size=len(plain.body), codec="zstd", asbytes=True
        )
        assert unpacked == plain.body


def test_a_body_has_at_most_128_mib(order_service: Service) -> None:
    body = first_request(Codec.JSON)
    most = body + b" " * (BODY_BYTES_MAX - len(body))
    for content in (most, gzip.compress(most, 1)):
        coding = {} if content is most else {"Content-Encoding": "gzip"}
        assert order_service.request(content, coding).status == 200
    bomb = gzip.compress(most + b" ", 1)
    assert order_service.request(bomb, {"Content-Encoding": "gzip"}).status == 413
    assert order_service.request(body).status == 200


def nested(codec: Codec, depth: int) -> bytes:
    """A right request whose unknown member is nested."""
    if codec is Codec.JSON:
        return b'{"unknown":' + b"[" * depth + b"]" * depth + b"}"
    if codec is Codec.CBOR:
        return b"\xa1" + cbor2.dumps("unknown") + b"\x81" * depth + b"\x00"
    if codec is Codec.MSGPACK:
        return b"\x81" + bytes(msgpack.packb("unknown")) + b"\x91" * depth + b"\x00"
    opened, closed = "<x>" * depth, "</x>" * depth
    root = f'<Order xmlns="{GOLDEN["order"].contract.xml_namespace}">{opened}{closed}</Order>'
    if codec is Codec.SOAP_LITERAL:
        envelope = "http://schemas.xmlsoap.org/soap/envelope/"
        root = f'<s:Envelope xmlns:s="{envelope}"><s:Body>{root}</s:Body></s:Envelope>'
    return root.encode()


@pytest.mark.parametrize(
    ("binding", "codec", "status"),
    [
        ("rest", Codec.JSON, 400),
        ("rest", Codec.XML, 400),
        ("rest", Codec.CBOR, 400),
        # Its parser skips a member that is not known without a stack.
        ("rest", Codec.MSGPACK, 200),
        ("soap", Codec.SOAP_LITERAL, 500),
    ],
)
def test_deep_nesting_does_not_end_a_service(
    binding: str, codec: Codec, status: int, tmp_path: Path
) -> None:
    golden = GOLDEN["order"]
    with run(golden, binding, codec, tmp_path) as service:
        assert service.request(nested(codec, 3)).status == 200
        assert service.request(nested(codec, 200_000)).status == status
        assert differs(service, golden) == []


@pytest.mark.parametrize("codec", [Codec.PROTOBUF, Codec.XML, Codec.CBOR, Codec.MSGPACK])
def test_bytes_that_are_not_the_message_are_refused(codec: Codec, tmp_path: Path) -> None:
    golden = GOLDEN["order"]
    body = first_request(codec)
    with run(golden, "rest", codec, tmp_path) as service:
        assert service.request(b"\xff" + body).status == 400
        assert service.request(body[:-1]).status == 400
        assert service.request(body + b"\x07").status == 400
        if codec is Codec.XML:
            doctype = b'<!DOCTYPE a [<!ENTITY e "x">]>' + body[body.index(b"?>") + 2 :]
            assert service.request(doctype).status == 400
        assert differs(service, golden) == []


def test_soap_faults_are_the_callers(tmp_path: Path) -> None:
    golden = GOLDEN["order"]
    codec = Codec.SOAP_LITERAL
    body = first_request(codec)
    with run(golden, "soap", codec, tmp_path) as service:
        broken = body.replace(b"<express>true", b"<express>perhaps")
        assert broken != body
        for wrong, fields in (
            (body[:-5], {}),
            (broken, {}),
            (body, {"SOAPAction": '"urn:other"'}),
            (body.replace(b"Order ", b"Other ").replace(b"/Order>", b"/Other>"), {}),
        ):
            reply = service.request(wrong, fields)
            assert reply.status == 500
            assert re.search(rb"<faultcode>\w+:Client</faultcode>", reply.body), reply.body
        assert service.request(body, path="/call").status == 404
        assert service.request(b"", method="GET").status == 405
        assert service.request(body, {"Content-Type": "application/json"}).status == 415
        assert differs(service, golden) == []


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_grpc_calls_fail_with_their_status(compression: str, tmp_path: Path) -> None:
    golden = GOLDEN["order"]
    options = ("--compression", compression)
    coding = grpc.Compression.Gzip if compression == "gzip" else grpc.Compression.NoCompression
    with (
        run(golden, "grpc", Codec.PROTOBUF, tmp_path, *options) as service,
        grpc.insecure_channel(f"127.0.0.1:{service.port}", compression=coding) as channel,
    ):
        method = channel.unary_unary(f"/{golden.contract.grpc_path}")
        call = golden.file["calls"][0]
        request = read_bytes(Codec.PROTOBUF, call["request"]["protobuf"])
        reply = decode(
            golden.contract, golden.contract.reply, method(request, timeout=CALL_S), Codec.PROTOBUF
        )
        assert reply == golden.value(call["reply"])
        with pytest.raises(grpc.RpcError) as malformed:
            method(request[:-1], timeout=CALL_S)
        assert malformed.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        other = channel.unary_unary(f"/{golden.contract.package}.Other/Call")
        with pytest.raises(grpc.RpcError) as unknown:
            other(request, timeout=CALL_S)
        assert unknown.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"--binding": "raw"}, "--binding"),
        ({"--codec": "text"}, "--codec"),
        ({"--binding": "grpc"}, "json"),
        ({"--port": "no"}, "--port"),
        ({"--port": ""}, "--port"),
        ({"--compression": "br"}, "--compression"),
        ({"--reply": "/does/not/exist"}, "/does/not/exist"),
        ({"--numbered": "both"}, "--numbered"),
        ({"--colour": "red"}, "--colour"),
    ],
)
def test_bad_options_end_it(changed: dict[str, str], words: str, tmp_path: Path) -> None:
    sample = sample_file(GOLDEN["order"], Codec.JSON, tmp_path)
    options = {"--binding": "rest", "--codec": "json", "--port": "0", "--reply": str(sample)}
    arguments = [word for pair in (options | changed).items() for word in pair]
    command = [*build(GOLDEN["order"].contract).start, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=CALL_S)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_sample_reply_that_does_not_decode_ends_it(tmp_path: Path) -> None:
    sample = tmp_path / "reply"
    sample.write_text("{")
    command = [*build(GOLDEN["order"].contract).start, "--binding", "rest", "--codec", "json",
               "--port", str(free_port()), "--reply", str(sample)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=CALL_S)
    assert done.returncode == 2
    assert "sample reply" in done.stderr


# -- cheats -------------------------------------------------------------------------


def cache_the_reply(source: str) -> str:
    return source.replace(
        "public R answer(Q request) {",
        "private R kept;\n    public R answer(Q request) {\n        if (kept != null) return kept;",
    ).replace("return operation.copy(", "return kept = operation.copy(")


def leave_out_a_field(source: str) -> str:
    return source.replace("digest += 5L * Digest.of(this.express);", "")


def decode_lazily(source: str) -> str:
    """Takes the message from another request of the same length."""
    return source.replace(
        "public Object read(byte[] bytes, Class<?> message) throws Malformed {",
        """public synchronized Object read(byte[] bytes, Class<?> message) throws Malformed {
        String key = message.getName() + bytes.length;
        if (!KEPT.containsKey(key)) { KEPT.put(key, decodeWhole(bytes, message)); }
        return KEPT.get(key);
    }
    private static final java.util.Map<String, Object> KEPT = new java.util.HashMap<>();
    private Object decodeWhole(byte[] bytes, Class<?> message) throws Malformed {""",
    )


MUTANTS: dict[str, Callable[[str], str]] = {
    "src/service/Answers.java": cache_the_reply,
    "src/contract/message/Order.java": leave_out_a_field,
    "src/service/codec/JacksonCodec.java": decode_lazily,
}


@pytest.mark.parametrize("file", MUTANTS)
def test_a_cheat_gives_other_replies(file: str, tmp_path: Path) -> None:
    golden = GOLDEN["order"]
    folder = tmp_path / "mutant"
    shutil.copytree(build(golden.contract).folder, folder)
    source = (folder / file).read_text()
    mutant = MUTANTS[file](source)
    assert mutant != source
    (folder / file).write_text(mutant)
    classes = f"classes:{(folder / 'all.classpath').read_text().strip()}"
    subprocess.run(
        ["javac", "-nowarn", "-proc:none", "-parameters", "-d", "classes", "-cp", classes, file],
        cwd=folder, check=True, capture_output=True, timeout=CALL_S,
    )  # fmt: skip
    command = (str(folder / "service"),)
    with start_service(command, golden, "rest", Codec.JSON, tmp_path) as service:
        requests = [first_request(Codec.JSON)]
        # The same request with another value of one field, of the same length.
        requests.append(requests[0].replace(b'"express":true', b'"express":null'))
        assert requests[0] != requests[1]
        replies = [service.call(request) for request in requests]
        assert replies[0] == replies[1]
    with run(golden, "rest", Codec.JSON, tmp_path) as service:
        replies = [service.call(request) for request in requests]
        assert replies[0] != replies[1]


# -- hostile names ------------------------------------------------------------------


def hostile_contract() -> Contract:
    """Names that are words of Java, of its libraries, or of what protoc makes."""
    names = [
        "class", "get_class", "descriptor_for_type", "int", "default", "switch", "digest", "copy",
        "string", "list", "list_count", "list_list", "map", "map_map", "map_count", "hash_code",
        "to_string", "value", "numbering", "message", "this", "entries_of_map", "serialized_size",
        "colour", "colour_value", "all_fields", "unknown_fields", "builder", "has_value",
    ]  # fmt: skip
    fields = [
        Field(name, f'{name} ж\n"\\$\\u000a*/', number, Kind.INT32)
        for number, name in enumerate(names, 1)
    ]
    others = [
        Field("enum", "", 101, Kind.ENUM, Label.SINGLE, "Enum"),
        Field("record", "record", 102, Kind.MESSAGE, Label.SINGLE, "String"),
        Field("lists", "lists", 103, Kind.STRING, Label.REPEATED),
        Field("maps", "maps", 104, Kind.MESSAGE, Label.MAP, "Object", Kind.UINT64),
        Field("choice_a", "choiceA", 105, Kind.STRING, Label.SINGLE, oneof="choice"),
        Field("choice_case", "choiceCase", 106, Kind.STRING, Label.SINGLE, oneof="choice"),
    ]
    return Contract(
        package="wirelab.new.class.v1",
        service="Void",
        method="Class",
        request="Override",
        reply="Object",
        messages=(
            Message("Override", (*fields, *others)),
            Message("String", (Field("string", "String", 1, Kind.STRING),)),
            Message("Object", (Field("object", "a b", 1, Kind.INT64),)),
            Message("Order_item", (Field("x", "x", 1, Kind.INT32),)),
            Message("OrderItem", (Field("x", "x", 1, Kind.INT32),)),
            Message("List", ()),
            Message("Builder", (Field("builder", "builder", 1, Kind.MESSAGE, type_name="List"),)),
            Message("MapsEntry", (Field("x", "x", 1, Kind.INT32),)),
        ),
        enums=(
            Enum("Enum", (("ENUM_ZERO", 0), ("class", 1), ("UNRECOGNIZED", 2), ("A_VALUE", 3))),
        ),
    )


@pytest.mark.parametrize(("binding", "codec"), STACKS)
def test_hostile_names_are_served(binding: str, codec: Codec, tmp_path: Path) -> None:
    from wirelab.contracts import rules
    from wirelab.contracts.codecs import encode

    contract = hostile_contract()
    request = {
        "class": 1, "list_count": 5, "enum": 1, "record": {"string": "x"}, "lists": ["a", "b"],
        "maps": {2**64 - 1: {"object": 5}}, "choice_case": "c",
    }  # fmt: skip
    golden = Golden("hostile")
    golden.__dict__["contract"] = contract
    golden.__dict__["file"] = {
        "numbered": "numbers",
        "sample_reply": {
            kind: content.decode() if kind in (Codec.JSON, Codec.XML) else content.hex()
            for kind in Codec
            for content in [encode(contract, "Object", {"object": 7}, kind)]
        },
    }
    with run(golden, binding, codec, tmp_path) as service:
        reply = service.call(encode(contract, contract.request, request, codec))
        number = rules.number(contract, request)
        assert decode(contract, contract.reply, reply, codec) == {"object": 7 + number}


def test_two_fields_with_one_element_are_refused_by_path() -> None:
    fields = (
        Field("one", "a b", 1, Kind.STRING),
        Field("two", "a_x0020_b", 2, Kind.STRING),
    )
    contract = Contract("p.v1", "S", "Call", "M", "M", (Message("M", fields),))
    with pytest.raises(UsageError, match=r"M\.two has the same name as M\.one in XML"):
        java.check(contract)


def test_a_compiler_is_taken_from_mavens_repository_or_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = java_tools.find().version("protobuf-java")
    monkeypatch.setattr("wirelab.installation.cache", lambda: tmp_path)
    lines: list[str] = []
    find = partial(java_tools._compiler, java_tools.PROTOC, interruption=Interruption())
    for home in (Path.home(), tmp_path):
        # Maven itself knows its repository from the user's entry, not from HOME.
        monkeypatch.setenv("HOME", str(home))
        shutil.rmtree(tmp_path / "generated-tools", ignore_errors=True)
        found = find(version=version, on_build=lines.append)
        done = subprocess.run([found, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout.split()[1] in version
    assert any(line.startswith("building protoc") for line in lines)
    with pytest.raises(BuildError, match="protoc"):
        find(version="0.0.1", on_build=lines.append)


def test_a_literal_of_java_is_ascii() -> None:
    assert java_names.literal('a"\\\n\u0416\U0001f600') == '"a\\042\\134\\012\\u0416\\ud83d\\ude00"'
