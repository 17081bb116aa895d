"""curl calls our REST services: every codec, version of HTTP, compression and security."""

from __future__ import annotations

import gzip
import hashlib
import json
from contextlib import nullcontext
from pathlib import Path

import pytest
from lxml import etree

from tests.interop import curl, golden, protobuf
from tests.interop.golden import CONTRACTS, Json
from tests.interop.hosting import Host, Hosted

LANGUAGES = ("rust", "go", "java")
LARGE_BYTES = 1_500_000
CALLS = 1_000
BATCH: Json = {
    "batch": "Größe",
    "records": [{"id": 9007199254740993, "quantity": 2, "item": "🔩", "remark": "a<b&c"}],
}
TOTAL: Json = {"batch": "Größe", "accepted": 1, "quantity_total": 2, "refused": []}


@pytest.fixture(autouse=True)
def _curl() -> None:
    curl.require()


def _xml(contract: str, message: str, body: bytes) -> etree._Element:
    """The root, valid by the committed XML Schema."""
    root = etree.fromstring(body)
    etree.XMLSchema(etree.parse(CONTRACTS / "xsd" / f"{contract}.xsd")).assertValid(root)
    assert etree.QName(root) == etree.QName(f"urn:wirelab:{contract}:v1", message)
    return root


def _fields(element: etree._Element) -> dict[str, str | None]:
    return {etree.QName(child).localname: child.text for child in element}


@pytest.mark.parametrize("language", LANGUAGES)
def test_json_golden_operations(host: Host, language: str) -> None:
    """Good calls, application errors and megabytes of the golden vectors."""
    curl.require()
    with host.start(f"rest@{language}") as hosted:
        client = curl.JsonClient(hosted)
        for case in golden.operations("Submit", "Upload"):
            golden.play_operation(client, case)
        assert client.call("Hello", {}) == {"text": "Hello, wirelab"}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("contract", ["charging", "calendar"])
def test_json_golden_scripts(host: Host, language: str, contract: str) -> None:
    """Sequences of calls, numbers of replies carried into requests."""
    golden.play_scripts(
        host, f"rest@{language}", contract, lambda hosted: nullcontext(curl.JsonClient(hosted))
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_protobuf(host: Host, language: str) -> None:
    """Messages by Google's protobuf: a good call, an error, a large one."""
    kind = ("-H", "Content-Type: application/x-protobuf")
    with host.start(f"rest@{language}?codec=protobuf") as hosted:
        sent = protobuf.encode("transfer", "SubmitRequest", BATCH)
        answer = curl.run(hosted, "/transfer/submit", *kind, data=sent)
        assert answer.status == 200
        assert protobuf.decode("transfer", "SubmitReply", answer.body) == TOTAL

        refused = curl.run(hosted, "/transfer/submit", *kind, data=b"")
        assert refused.status == 400
        assert refused.body == b"\x0a\x17batch must not be empty"  # message { string error = 1; }

        data = golden.pattern(LARGE_BYTES)
        large = protobuf.encode_bytes("transfer", "UploadRequest", "data", data)
        answer = curl.run(hosted, "/transfer/upload", *kind, data=large)
        assert protobuf.decode("transfer", "UploadReply", answer.body) == {
            "length": LARGE_BYTES,
            "sha256": hashlib.sha256(data).hexdigest(),
        }


@pytest.mark.parametrize("language", LANGUAGES)
def test_xml(host: Host, language: str) -> None:
    """Documents by libxml2, replies judged by the committed schema."""
    kind = ("-H", "Content-Type: application/xml")
    ns = "urn:wirelab:transfer:v1"
    batch = f"""<?xml version="1.0"?><!-- by hand --><w:SubmitRequest xmlns:w="{ns}">
      <w:batch>Gr&#246;&#xDF;e</w:batch><w:records><w:id>9007199254740993</w:id>
      <w:quantity> 2 </w:quantity><w:item><![CDATA[🔩]]></w:item>
      <w:remark>a&lt;b&amp;c</w:remark></w:records></w:SubmitRequest>"""
    with host.start(f"rest@{language}?codec=xml") as hosted:
        answer = curl.run(hosted, "/transfer/submit", *kind, data=batch.encode())
        assert answer.status == 200, answer.body
        fields = _fields(_xml("transfer", "SubmitReply", answer.body))
        assert fields == {"batch": "Größe", "accepted": "1", "quantity_total": "2"}

        empty = f'<SubmitRequest xmlns="{ns}"><batch/></SubmitRequest>'
        refused = curl.run(hosted, "/transfer/submit", *kind, data=empty.encode())
        assert refused.status == 400
        assert _fields(etree.fromstring(refused.body)) == {"error": "batch must not be empty"}

        remark = "ü" * (LARGE_BYTES // 2)
        root = etree.Element(f"{{{ns}}}SubmitRequest", nsmap={"w": ns})
        etree.SubElement(root, f"{{{ns}}}batch").text = remark
        answer = curl.run(hosted, "/transfer/submit", *kind, data=etree.tostring(root))
        assert _fields(_xml("transfer", "SubmitReply", answer.body))["batch"] == remark


@pytest.mark.parametrize("language", LANGUAGES)
def test_text(host: Host, language: str) -> None:
    """Plain text, 1.5 MB of it."""
    with host.start(f"rest@{language}?codec=text", hello_bytes=LARGE_BYTES) as hosted:
        answer = curl.run(hosted, "/transfer/hello")
        assert (answer.status, answer.version) == (200, "1.1")
        assert answer.body.decode() == golden.text(LARGE_BYTES)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("axes", "version"),
    [
        ("transport=http/1.1", "1.1"),
        ("transport=http/2&security=tls", "2"),
    ],
)
def test_a_thousand_calls_on_one_connection(
    host: Host, language: str, axes: str, version: str
) -> None:
    """curl opens one connection and the service accepts one."""
    curl.require("HTTP2")
    kind = ("-H", "Content-Type: application/json")
    with host.start(f"rest@{language}?{axes}") as hosted:
        before = hosted.connections(), hosted.calls()
        data = json.dumps(BATCH).encode()
        answers = curl.repeat(hosted, "/transfer/submit", CALLS, *kind, data=data)
        assert [answer.connects for answer in answers] == [1, *[0] * (CALLS - 1)]
        assert {answer.status for answer in answers} == {200}
        assert {answer.version for answer in answers} == {version}
        assert all(json.loads(answer.body) == TOTAL for answer in answers)
        assert hosted.connections() - before[0] == 1
        assert hosted.calls() - before[1] == CALLS


@pytest.mark.parametrize("language", LANGUAGES)
def test_http_2_by_prior_knowledge(host: Host, language: str) -> None:
    """One call: curl 7.88 fails with every server when it uses such a connection again."""
    curl.require("HTTP2")
    reference = f"rest@{language}?transport=http/2"
    with host.start(reference, hello_bytes=LARGE_BYTES) as hosted:
        answer = curl.run(hosted, "/transfer/hello")
        assert (answer.status, answer.version) == (200, "2")
        assert json.loads(answer.body) == {"text": golden.text(LARGE_BYTES)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_http_1_0(host: Host, language: str) -> None:
    """An HTTP/1.0 request is answered by every service; what is asked for is closed."""
    with host.start(f"rest@{language}") as hosted:
        answer = curl.run(hosted, "/transfer/hello", "--http1.0")
        assert (answer.status, json.loads(answer.body)) == (200, {"text": "Hello, wirelab"})
        before = hosted.connections()
        answers = curl.repeat(hosted, "/transfer/hello", 20, "--http1.0")
        assert {answer.status for answer in answers} == {200}
        assert hosted.connections() - before == sum(answer.connects for answer in answers)


@pytest.mark.parametrize("language", ["rust", "go"])
def test_a_service_of_http_1_0_ends_every_connection(host: Host, language: str) -> None:
    """Replies of version 1.0, a connection each; large ones whole, with a length or without."""
    for end in ("content-length", "until-close"):
        reference = f"rest@{language}?transport=http/1.0&connection=close&end_of_message={end}"
        with host.start(reference, hello_bytes=LARGE_BYTES) as hosted:
            answers = curl.repeat(hosted, "/transfer/hello", 5, "--http1.0")
            assert [(a.status, a.version, a.connects) for a in answers] == [(200, "1", 1)] * 5
            text = golden.text(LARGE_BYTES)
            assert all(json.loads(answer.body) == {"text": text} for answer in answers)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("coding", "feature"), [("gzip", "libz"), ("zstd", "zstd")])
def test_compressed_replies(host: Host, language: str, coding: str, feature: str) -> None:
    """curl asks for the coding and decodes what comes; requests are gzip's own."""
    curl.require(feature)
    reference = f"rest@{language}?compression={coding}"
    with host.start(reference, hello_bytes=LARGE_BYTES) as hosted:
        head = ("-H", f"Accept-Encoding: {coding}")
        packed = curl.run(hosted, "/transfer/hello", *head)
        plain = curl.run(hosted, "/transfer/hello", *head, "--compressed")
        assert len(packed.body) < LARGE_BYTES
        assert json.loads(plain.body) == {"text": golden.text(LARGE_BYTES)}
        if coding == "gzip":
            assert gzip.decompress(packed.body) == plain.body
            _send_gzipped_request(hosted)


def _send_gzipped_request(hosted: Hosted) -> None:
    kind = ("-H", "Content-Type: application/json", "-H", "Content-Encoding: gzip")
    data = gzip.compress(json.dumps({**BATCH, "batch": "b" * LARGE_BYTES}).encode())
    answer = curl.run(hosted, "/transfer/submit", *kind, "--compressed", data=data)
    assert json.loads(answer.body) == {**TOTAL, "batch": "b" * LARGE_BYTES}


@pytest.mark.parametrize("language", LANGUAGES)
def test_tls(host: Host, language: str) -> None:
    """OpenSSL trusts the certificate by the authority alone, and only for its name."""
    with host.start(f"rest@{language}?security=tls", hello_bytes=LARGE_BYTES) as hosted:
        answer = curl.run(hosted, "/transfer/hello")
        assert json.loads(answer.body) == {"text": golden.text(LARGE_BYTES)}
        assert hosted.tls is not None
        ca = hosted.tls.of_client("tls")["ca"]
        port = hosted.address.rpartition(":")[2]
        untrusted = 60  # curl(1), exit codes
        assert curl.exit_code("--ipv4", f"https://localhost:{port}/transfer/hello") == untrusted
        other = ("--connect-to", "other.invalid::127.0.0.1:", f"https://other.invalid:{port}/")
        assert curl.exit_code("--cacert", ca, *other) == untrusted


@pytest.mark.parametrize("language", LANGUAGES)
def test_mtls(host: Host, language: str, tmp_path: Path) -> None:
    """With a certificate the call is answered, without one it is not."""
    with host.start(f"rest@{language}?security=mtls") as hosted:
        assert curl.run(hosted, "/transfer/hello").status == 200
        assert hosted.tls is not None
        port = hosted.address.rpartition(":")[2]
        ca = hosted.tls.of_client("tls")["ca"]
        url = f"https://localhost:{port}/transfer/hello"
        assert curl.exit_code("--ipv4", "--cacert", ca, url) in (35, 55, 56)


@pytest.mark.parametrize("language", LANGUAGES)
def test_unix_socket(host: Host, language: str) -> None:
    """A thousand calls over one connection of a Unix socket, and a large reply."""
    curl.require("UnixSockets")
    reference = f"rest@{language}?socket=unix&codec=text"
    with host.start(reference, hello_bytes=LARGE_BYTES) as hosted:
        assert curl.run(hosted, "/transfer/hello").body.decode() == golden.text(LARGE_BYTES)
    with host.start(reference) as hosted:
        before = hosted.connections()
        answers = curl.repeat(hosted, "/transfer/hello", CALLS)
        assert {answer.body for answer in answers} == {b"Hello, wirelab"}
        assert hosted.connections() - before == 1
