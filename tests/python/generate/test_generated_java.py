"""Generated services in Java give the replies of the golden vectors, and refuse what is wrong."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import grpc
import pyarrow
import pytest

from tests.contracts.vectors import make_vectors
from tests.interop.driving import free_port
from tests.python.generated_projects import Mutant, build, build_vectors, describe_hostile
from tests.python.generated_services import (
    CALL_S,
    LIMIT_BYTES,
    STACKS,
    WRITERS,
    Service,
    Vectors,
    curl_http2,
    examine_compression,
    examine_errors,
    examine_infinities,
    examine_ranges,
    find_accepted,
    find_differences,
    load_vectors,
    make_infinite,
    nest,
    refuses,
    run_service,
    write_sample,
)
from wirelab.contracts.codecs import Codec, decode
from wirelab.contracts.schema import Contract, Enum, Field, Kind, Label, Message
from wirelab.errors import BuildError
from wirelab.generate import java, java_names, java_tools
from wirelab.process.interruption import Interruption

pytestmark = pytest.mark.timeout(600)


def run(
    name: str, binding: str, codec: Codec, folder: Path, *options: str
) -> AbstractContextManager[Service]:
    """The service of golden vectors."""
    project = build_vectors(java, name)
    return run_service(project, load_vectors(name), binding, codec, folder, *options)


@pytest.mark.parametrize("name", ["every_kind", "order", "note"])
@pytest.mark.parametrize(("binding", "codec"), STACKS)
def test_replies_are_those_of_the_vectors(
    name: str, binding: str, codec: Codec, tmp_path: Path
) -> None:
    with run(name, binding, codec, tmp_path) as service:
        assert find_differences(service) == []
        assert find_accepted(service) == []


@pytest.mark.parametrize(
    ("binding", "codec"),
    [("rest", Codec.JSON), ("rest", Codec.PROTOBUF), ("soap", Codec.SOAP_LITERAL)],
)
def test_http_2_is_served_with_prior_knowledge(binding: str, codec: Codec, tmp_path: Path) -> None:
    vectors = load_vectors("order")
    with run("order", binding, codec, tmp_path, "--transport", "http/2") as service:
        for index in range(len(vectors.content["calls"])):
            answer = curl_http2(service, vectors.request(index, codec), tmp_path)
            reply = decode(vectors.contract, vectors.contract.reply, answer.body, codec)
            assert (answer.status, reply) == (200, vectors.reply(index))
        assert service.send(vectors.request(0, codec)).status == 505


@pytest.mark.parametrize(("binding", "codec"), STACKS)
def test_wrong_requests_have_the_status_of_their_error(
    binding: str, codec: Codec, tmp_path: Path
) -> None:
    with run("order", binding, codec, tmp_path) as service:
        # CXF reads the body as it parses it, and wraps every error of that in a fault.
        too_large = 500 if binding == "soap" else 413
        examine_errors(service, coding="br", too_large=too_large)


@pytest.mark.parametrize(("coding", "codec"), [("gzip", Codec.JSON), ("zstd", Codec.CBOR)])
def test_bodies_are_compressed_where_the_request_allows_it(
    coding: str, codec: Codec, tmp_path: Path
) -> None:
    with run("order", "rest", codec, tmp_path, "--compression", coding) as service:
        examine_compression(service, coding)


@pytest.mark.parametrize("codec", WRITERS)
def test_numbers_beyond_their_field_are_refused(codec: Codec, tmp_path: Path) -> None:
    with run("every_kind", "rest", codec, tmp_path) as service:
        examine_ranges(service)


@pytest.mark.parametrize(("binding", "codec"), [("rest", Codec.XML), ("soap", Codec.SOAP_LITERAL)])
def test_infinities_in_xml_are_those_of_xml_schema(
    binding: str, codec: Codec, tmp_path: Path
) -> None:
    project = build_vectors(java, "every_kind")
    with run_service(project, make_infinite(), binding, codec, tmp_path) as service:
        examine_infinities(service)


@pytest.fixture(scope="module")
def order_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The order over REST in JSON, whose replies may be in gzip."""
    folder = tmp_path_factory.mktemp("order")
    with run("order", "rest", Codec.JSON, folder, "--compression", "gzip") as service:
        yield service


def first_request(codec: Codec) -> bytes:
    return load_vectors("order").request(0, codec)


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
    assert order_service.send(body).status == 400


def test_every_truncation_is_refused(order_service: Service) -> None:
    body = first_request(Codec.JSON)
    statuses = {order_service.send(body[:end]).status for end in range(0, len(body), 7)}
    assert statuses == {400}


def test_bodies_are_coded_where_both_sides_know_the_coding(order_service: Service) -> None:
    body = first_request(Codec.JSON)
    plain = order_service.send(body)
    assert "content-encoding" not in plain.fields
    coded = order_service.send(
        gzip.compress(body), {"Content-Encoding": "gzip", "Accept-Encoding": "zstd, gzip"}
    )
    assert coded.fields["content-encoding"] == "gzip"
    assert gzip.decompress(coded.body) == plain.body
    other = order_service.send(body, {"Accept-Encoding": "zstd"})
    assert "content-encoding" not in other.fields
    packed = pyarrow.compress(body, codec="zstd", asbytes=True)
    assert order_service.send(packed, {"Content-Encoding": "zstd"}).body == plain.body
    for broken in (body, gzip.compress(body)[:-9]):
        assert order_service.send(broken, {"Content-Encoding": "gzip"}).status == 400


def test_a_body_has_at_most_128_mib(order_service: Service) -> None:
    body = first_request(Codec.JSON)
    most = body + b" " * (LIMIT_BYTES - len(body))
    for content in (most, gzip.compress(most, 1)):
        coding = {} if content is most else {"Content-Encoding": "gzip"}
        assert order_service.send(content, coding).status == 200
    bomb = gzip.compress(most + b" ", 1)
    assert order_service.send(bomb, {"Content-Encoding": "gzip"}).status == 413
    assert order_service.send(body).status == 200


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
    with run("order", binding, codec, tmp_path) as service:
        assert service.send(nest(service, 3)).status == 200
        assert service.send(nest(service)).status == status
        assert find_differences(service) == []


def test_soap_faults_are_the_callers(tmp_path: Path) -> None:
    codec = Codec.SOAP_LITERAL
    body = first_request(codec)
    with run("order", "soap", codec, tmp_path) as service:
        broken = body.replace(b"<express>true", b"<express>perhaps")
        assert broken != body
        for wrong, fields in (
            (body[:-5], {}),
            (broken, {}),
            (body, {"SOAPAction": '"urn:other"'}),
            (body.replace(b"Order ", b"Other ").replace(b"/Order>", b"/Other>"), {}),
        ):
            assert refuses(service, wrong, fields)
        assert service.send(body, path="/call").status == 404
        assert service.send(b"", method="GET").status == 405
        assert service.send(body, {"Content-Type": "application/json"}).status == 415
        assert find_differences(service) == []


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_grpc_calls_fail_with_their_status(compression: str, tmp_path: Path) -> None:
    options = ("--compression", compression)
    coding = grpc.Compression.Gzip if compression == "gzip" else grpc.Compression.NoCompression
    with run("order", "grpc", Codec.PROTOBUF, tmp_path, *options) as service:
        contract, request = service.vectors.contract, first_request(Codec.PROTOBUF)
        reply = service.call_grpc(contract.grpc_path, request, coding)
        expected = service.vectors.reply(0)
        assert decode(contract, contract.reply, reply, Codec.PROTOBUF) == expected
        for path, body, code in (
            (contract.grpc_path, request[:-1], grpc.StatusCode.INVALID_ARGUMENT),
            (f"{contract.package}.Other/Call", request, grpc.StatusCode.UNIMPLEMENTED),
        ):
            with pytest.raises(grpc.RpcError) as failed:
                service.call_grpc(path, body, coding)
            assert failed.value.code() is code


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
    sample = write_sample(load_vectors("order"), Codec.JSON, tmp_path)
    options = {"--binding": "rest", "--codec": "json", "--port": "0", "--reply": str(sample)}
    arguments = [word for pair in (options | changed).items() for word in pair]
    command = [*build_vectors(java, "order").start, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=CALL_S)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_sample_reply_that_does_not_decode_ends_it(tmp_path: Path) -> None:
    sample = tmp_path / "reply"
    sample.write_text("{")
    command = [*build_vectors(java, "order").start, "--binding", "rest", "--codec", "json",
               "--port", str(free_port()), "--reply", str(sample)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=CALL_S)
    assert done.returncode == 2
    assert "sample reply" in done.stderr


# -- cheats -------------------------------------------------------------------------


MUTANTS = {
    "the first reply is kept": Mutant(
        "src/service/Answers.java",
        "    public R answer(Q request) {\n",
        "    private R kept;\n\n    public R answer(Q request) {\n"
        "        return kept != null ? kept : (kept = answerAlone(request));\n    }\n\n"
        "    private R answerAlone(Q request) {\n",
    ),
    "a field is not read": Mutant(
        "src/contract/message/Order.java", "digest += 5L * Digest.of(this.express);", ""
    ),
    # The message is taken from another request of the same length.
    "bodies are not decoded": Mutant(
        "src/service/codec/JacksonCodec.java",
        "public Object read(byte[] bytes, Class<?> message) throws Malformed {",
        """public synchronized Object read(byte[] bytes, Class<?> message) throws Malformed {
        String key = message.getName() + bytes.length;
        if (!KEPT.containsKey(key)) { KEPT.put(key, decodeWhole(bytes, message)); }
        return KEPT.get(key);
    }
    private static final java.util.Map<String, Object> KEPT = new java.util.HashMap<>();
    private Object decodeWhole(byte[] bytes, Class<?> message) throws Malformed {""",
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_cheat_gives_other_replies(name: str, tmp_path: Path) -> None:
    vectors = load_vectors("order")
    requests = [first_request(Codec.JSON)]
    # The same request with another value of one field, of the same length.
    requests.append(requests[0].replace(b'"express":true', b'"express":null'))
    assert requests[0] != requests[1]
    mutant = MUTANTS[name].build(java, vectors, tmp_path / "sources")
    with run_service(mutant, vectors, "rest", Codec.JSON, tmp_path) as service:
        replies = [service.call(request) for request in requests]
        assert replies[0] == replies[1]
    with run("order", "rest", Codec.JSON, tmp_path) as service:
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


def describe_words_of_java() -> Vectors:
    """Vectors of :func:`hostile_contract`."""
    contract = hostile_contract()
    request = {
        "class": 1, "list_count": 5, "enum": 1, "record": {"string": "x"}, "lists": ["a", "b"],
        "maps": {2**64 - 1: {"object": 5}}, "choice_case": "c",
    }  # fmt: skip
    return Vectors(contract, make_vectors(contract, {"hostile": request}, {"object": 7}))


@pytest.mark.parametrize(("binding", "codec"), STACKS)
@pytest.mark.parametrize("describe", [describe_hostile, describe_words_of_java])
def test_hostile_names_are_served(
    describe: Callable[[], Vectors], binding: str, codec: Codec, tmp_path: Path
) -> None:
    vectors = describe()
    with run_service(build(java, vectors), vectors, binding, codec, tmp_path) as service:
        assert find_differences(service) == []


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
