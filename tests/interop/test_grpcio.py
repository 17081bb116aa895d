"""grpcio calls our gRPC services with generic methods: bytes of the golden vectors, and
messages by Google's protobuf from the committed .proto files."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator

import grpc
import pytest

from tests.interop import golden, protobuf
from tests.interop.golden import VECTORS, Json, Refused
from tests.interop.grpc_client import GrpcClient
from tests.interop.hosting import Host

LANGUAGES = ("rust", "go", "java")
LARGE_BYTES = 3_000_000
CALLS = 1_000


@pytest.mark.parametrize("language", LANGUAGES)
def test_golden_operations(host: Host, language: str) -> None:
    """Good calls, application errors with their texts, megabytes."""
    with host.start(f"grpc@{language}") as hosted, GrpcClient(hosted) as client:
        for case in golden.operations("Submit", "Upload"):
            golden.play_operation(client, case)
        hello = base64.b64encode(b"Hello, wirelab").decode()
        assert client.call("Hello", {}) == {"text": "Hello, wirelab"}
        assert client.call("HelloBytes", {}) == {"text": hello}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("contract", ["charging", "calendar"])
def test_golden_scripts(host: Host, language: str, contract: str) -> None:
    """Sequences of calls, numbers of replies carried into requests."""
    golden.play_scripts(host, f"grpc@{language}", contract, GrpcClient)


@pytest.mark.parametrize("language", LANGUAGES)
def test_bytes_of_the_golden_vectors(host: Host, language: str) -> None:
    """Every request of ``transfer`` in every form that a writer may give it is answered
    alike, and every malformed one is refused without an end of the service."""
    vectors = json.loads((VECTORS / "messages.json").read_text(encoding="utf-8"))
    with host.start(f"grpc@{language}") as hosted, GrpcClient(hosted) as client:
        for case in vectors["accepted"]:
            if case["message"] == "SubmitRequest":
                forms = [case["protobuf"], *case["protobuf_variants"]]
                replies = {_reply(client, bytes.fromhex(form)) for form in forms}
                assert len(replies) == 1, case["name"]
        for case in vectors["refused_protobuf"]:
            if case["message"] == "SubmitRequest":
                with pytest.raises((grpc.RpcError, Refused)):
                    client.call_bytes("Submit", bytes.fromhex(case["input"]))
        assert client.call("Hello", {}) == {"text": "Hello, wirelab"}


def _reply(client: GrpcClient, request: bytes) -> str:
    try:
        reply = client.call_bytes("Submit", request)
        return json.dumps(protobuf.decode("transfer", "SubmitReply", reply), sort_keys=True)
    except Refused as refused:
        return str(refused)


@pytest.mark.parametrize("language", LANGUAGES)
def test_streams(host: Host, language: str) -> None:
    """Both directions by the golden vectors, errors before the first chunk."""
    with host.start(f"grpc@{language}") as hosted, GrpcClient(hosted) as client:
        for case in golden.operations("Download"):
            assert _download(client, case["request"]) == {
                key: case[key] for key in ("reply", "error") if key in case
            }, case["name"]
        data = golden.pattern(LARGE_BYTES)
        chunks = [data[at : at + 65536] for at in range(0, len(data), 65536)]
        digest = {"length": LARGE_BYTES, "sha256": hashlib.sha256(data).hexdigest()}
        assert client.upload_stream(chunks) == digest
        nothing = {"length": 0, "sha256": hashlib.sha256().hexdigest()}
        assert client.upload_stream([]) == nothing
        with pytest.raises(Refused, match=r"^at most 67108864 bytes$"):
            client.upload_stream(b"\0" * (1 << 20) for _ in range(65))


def _download(client: GrpcClient, request: Json) -> Json:
    digest, count, last = hashlib.sha256(), 0, 0
    try:
        for chunk in client.download(request):
            digest.update(chunk)
            count, last = count + 1, len(chunk)
    except Refused as refused:
        return {"error": refused.args[0]}
    return {"reply": {"chunks": count, "last_chunk_bytes": last, "sha256": digest.hexdigest()}}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("axes", ["", "?security=tls", "?security=mtls", "?socket=unix"])
def test_a_large_message_each_way(host: Host, language: str, axes: str) -> None:
    """3 MB in a request and in a reply, over each kind of connection."""
    data = golden.pattern(LARGE_BYTES)
    sent = protobuf.encode_bytes("transfer", "UploadRequest", "data", data)
    with (
        host.start(f"grpc@{language}{axes}", hello_bytes=LARGE_BYTES) as hosted,
        GrpcClient(hosted) as client,
    ):
        reply = protobuf.decode("transfer", "UploadReply", client.call_bytes("Upload", sent))
        assert reply == {"length": LARGE_BYTES, "sha256": hashlib.sha256(data).hexdigest()}
        assert client.call("Hello", {}) == {"text": golden.text(LARGE_BYTES)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_compressed(host: Host, language: str) -> None:
    """gRPC's core compresses its request with gzip, and decodes the reply."""
    with (
        host.start(f"grpc@{language}?compression=gzip", hello_bytes=LARGE_BYTES) as hosted,
        GrpcClient(hosted) as client,
    ):
        data = golden.pattern(LARGE_BYTES)
        sent = protobuf.encode_bytes("transfer", "UploadRequest", "data", data)
        reply = client.call_bytes("Upload", sent, grpc.Compression.Gzip)
        assert protobuf.decode("transfer", "UploadReply", reply)["length"] == LARGE_BYTES
        assert client.call("Hello", {}) == {"text": golden.text(LARGE_BYTES)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_thousand_calls_on_one_connection(host: Host, language: str) -> None:
    """A channel keeps one connection, and the service lets it; streams are calls too."""
    with host.start(f"grpc@{language}", "charging") as hosted, GrpcClient(hosted) as client:
        before = hosted.connections(), hosted.calls()
        for _ in range(CALLS):
            reply = client.call("CreditControl", {"id": 7})
            assert reply == {"balance": 1_000_000_000, "reserved": 0}
        assert (hosted.connections() - before[0], hosted.calls() - before[1]) == (1, CALLS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_method_that_is_not_there(host: Host, language: str) -> None:
    """The library's own answer, with the service still up."""
    with host.start(f"grpc@{language}", "calendar") as hosted, GrpcClient(hosted) as client:
        with pytest.raises(grpc.RpcError) as unknown:
            client.call_bytes("Cancel", b"")
        assert unknown.value.code() is grpc.StatusCode.UNIMPLEMENTED
        assert client.call("Entries", {"owner": "o", "day": 1}) == {"entries": []}


def test_the_pattern_is_the_contracts() -> None:
    """What we compare with is what contracts/vectors/texts.json says."""
    for case in _texts():
        if case["bytes"] <= LARGE_BYTES:
            text, data = golden.text(case["bytes"]).encode(), golden.pattern(case["bytes"])
            assert hashlib.sha256(text).hexdigest() == case["text_sha256"]
            assert hashlib.sha256(data).hexdigest() == case["pattern_sha256"]


def _texts() -> Iterator[Json]:
    yield from json.loads((VECTORS / "texts.json").read_text(encoding="utf-8"))
