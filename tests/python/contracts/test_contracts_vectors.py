"""The golden vectors of users' contracts are up to date, and foreign libraries read them alike."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import cbor2
import msgpack
import msgspec
import pytest
from google.protobuf import descriptor_pb2, json_format
from lxml import etree

from tests.contracts.compiling import compile_protos, message_types
from tests.contracts.vectors import AS_TEXT, CASES, FOLDER, write_text
from wirelab.contracts.codecs import Codec, decode
from wirelab.contracts.names import xml_name
from wirelab.contracts.rules import digest, number, reply
from wirelab.contracts.schema import Contract, Kind, Label
from wirelab.contracts.values import complete

FILES = {name: json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")) for name in CASES}


def _contract(name: str) -> Contract:
    return msgspec.convert(FILES[name]["contract"], Contract)


def _bytes(encodings: dict[str, str], codec: Codec) -> bytes:
    text = encodings[codec]
    return text.encode() if codec in AS_TEXT else bytes.fromhex(text)


MESSAGES = [
    pytest.param(name, message, encodings, id=f"{name} {label}")
    for name, file in FILES.items()
    for label, message, encodings in [
        ("sample", file["contract"]["reply"], file["sample_reply"]),
        *((one["name"], file["contract"]["request"], one["request"]) for one in file["calls"]),
        *((one["n"], file["contract"]["reply"], one["reply"]) for one in file["replies"]),
    ]
]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Per file: the descriptor set that protoc makes of the .proto."""
    return {
        name: compile_protos(tmp_path_factory.mktemp(name), {"it.proto": file["proto"]})
        for name, file in FILES.items()
    }


@pytest.mark.parametrize("name", CASES)
def test_the_committed_files_are_up_to_date(name: str) -> None:
    committed = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    assert committed == write_text(name), "run python -m tests.contracts.vectors"


def test_every_kind_and_every_label_occurs() -> None:
    contract = _contract("every_kind")
    fields = contract.message_by_name["EveryKind"].fields
    for label in Label:
        assert {field.kind for field in fields if field.label is label} == set(Kind), label


@pytest.mark.parametrize("name", CASES)
def test_protoc_reads_the_text_as_the_descriptors(name: str, compiled: dict[str, bytes]) -> None:
    files = descriptor_pb2.FileDescriptorSet.FromString(bytes.fromhex(FILES[name]["descriptors"]))
    theirs = descriptor_pb2.FileDescriptorSet.FromString(compiled[name])
    files.file[-1].name = theirs.file[-1].name
    assert files.file[-1] == theirs.file[-1]
    assert [one.name for one in files.file[:-1]] == [one.name for one in theirs.file[:-1]]


@pytest.mark.parametrize(("name", "message", "encodings"), MESSAGES)
def test_every_codec_is_read_as_the_same_value(
    name: str, message: str, encodings: dict[str, str]
) -> None:
    contract = _contract(name)
    values = [decode(contract, message, _bytes(encodings, codec), codec) for codec in Codec]
    assert all(value == values[0] for value in values)


@pytest.mark.parametrize(("name", "message", "encodings"), MESSAGES)
def test_google_protobuf_reads_the_json_as_the_same_message(
    name: str, message: str, encodings: dict[str, str], compiled: dict[str, bytes]
) -> None:
    contract = _contract(name)
    made = message_types(compiled[name])[f"{contract.package}.{message}"]
    from_json = json_format.Parse(encodings["json"], made())
    assert from_json == made.FromString(_bytes(encodings, Codec.PROTOBUF))
    # And what google.protobuf writes is read here.
    written = json_format.MessageToJson(from_json, always_print_fields_with_no_presence=True)
    assert decode(contract, message, written.encode(), Codec.JSON) == decode(
        contract, message, encodings["json"].encode(), Codec.JSON
    )


@pytest.mark.parametrize(("name", "message", "encodings"), MESSAGES)
def test_cbor_and_messagepack_have_the_tree_of_json(
    name: str, message: str, encodings: dict[str, str]
) -> None:
    tree = json.loads(encodings["json"])
    cbor = cbor2.load(io.BytesIO(_bytes(encodings, Codec.CBOR)))
    packed = msgpack.unpackb(_bytes(encodings, Codec.MSGPACK))
    assert cbor == packed
    assert _as_json(cbor) == _as_json(tree)
    assert list(cbor) == list(tree)


def _as_json(tree: Any) -> Any:
    """With bytes as base64, and numbers as floats of 32 bits where JSON has fewer digits."""
    if isinstance(tree, bytes):
        return base64.b64encode(tree).decode()
    if isinstance(tree, float):
        return f"{tree:.7g}"
    if isinstance(tree, list):
        return [_as_json(one) for one in tree]
    if isinstance(tree, dict):
        return {key: _as_json(one) for key, one in tree.items()}
    return tree


@pytest.mark.parametrize(("name", "message", "encodings"), MESSAGES)
def test_lxml_reads_elements_in_the_order_of_the_fields(
    name: str, message: str, encodings: dict[str, str]
) -> None:
    contract = _contract(name)
    root = etree.fromstring(encodings["xml"].encode())
    assert root.tag == f"{{{contract.xml_namespace}}}{message}"
    order = [xml_name(field.json_name) for field in contract.message_by_name[message].fields]
    places = [order.index(etree.QName(child).localname) for child in root]
    assert places == sorted(places)
    envelope = etree.fromstring(encodings["soap-literal"].encode())
    body = envelope.find("{http://schemas.xmlsoap.org/soap/envelope/}Body")
    assert body is not None
    assert etree.tostring(body[0], method="c14n", exclusive=True) == etree.tostring(
        root, method="c14n", exclusive=True
    )


@pytest.mark.parametrize("name", CASES)
def test_digests_and_replies_follow_from_the_bytes(name: str) -> None:
    file, contract = FILES[name], _contract(name)
    sample = decode(
        contract, contract.reply, _bytes(file["sample_reply"], Codec.PROTOBUF), Codec.PROTOBUF
    )
    for call in file["calls"]:
        for codec in Codec:
            request = decode(contract, contract.request, _bytes(call["request"], codec), codec)
            assert str(digest(contract, contract.request, request)) == call["digest"]
            assert number(contract, request) == call["n"]
        expected = decode(contract, contract.reply, call["reply"].encode(), Codec.JSON)
        assert complete(contract, contract.reply, reply(contract, sample, call["n"])) == expected
