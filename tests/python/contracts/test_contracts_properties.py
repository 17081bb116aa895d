"""Properties of every contract and value: codecs, digests and the written .proto."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from tests.contracts.compiling import compile_protos
from tests.contracts.strategies import contracts, contracts_and_values
from wirelab.contracts.codecs import Codec, decode, encode
from wirelab.contracts.descriptors import message_types
from wirelab.contracts.proto_text import write_proto
from wirelab.contracts.reading import from_descriptors
from wirelab.contracts.rules import Numbered, choose_numbered, digest, number, reply
from wirelab.contracts.schema import Contract, Kind, Label
from wirelab.contracts.values import clamp, complete
from wirelab.contracts.vary import vary_sample
from wirelab.errors import UsageError

DRAWN = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("codec", Codec)
@given(drawn=contracts_and_values())
@DRAWN
def test_every_value_is_read_back_from_every_codec(
    codec: Codec, drawn: tuple[Contract, dict[str, Any]]
) -> None:
    contract, value = drawn
    whole = complete(contract, "Root", value)
    back = decode(contract, "Root", encode(contract, "Root", value, codec), codec)
    assert back == whole
    assert digest(contract, "Root", back) == digest(contract, "Root", value)


@given(drawn=contracts_and_values())
@DRAWN
def test_google_protobuf_reads_json_as_the_same_message(
    drawn: tuple[Contract, dict[str, Any]],
) -> None:
    contract, value = drawn
    made = message_types(contract)["Root"]
    text = encode(contract, "Root", value, Codec.JSON)
    document = json.loads(text)
    parsed = json_format.ParseDict(document, made())
    assert parsed == made.FromString(encode(contract, "Root", value, Codec.PROTOBUF))


@given(drawn=contracts_and_values())
@DRAWN
def test_lxml_reads_the_same_texts(drawn: tuple[Contract, dict[str, Any]]) -> None:
    contract, value = drawn
    written = encode(contract, "Root", value, Codec.XML)
    root = etree.fromstring(written)
    # What lxml writes, with its own choice of prefixes and references, is read as the same value.
    again = etree.tostring(root, encoding="UTF-16", xml_declaration=True)
    assert isinstance(again, bytes)
    assert decode(contract, "Root", again, Codec.XML) == complete(contract, "Root", value)


@given(drawn=contracts_and_values(), seed=st.integers(0, 2**32))
@DRAWN
def test_the_digest_does_not_depend_on_the_order_of_entries(
    drawn: tuple[Contract, dict[str, Any]], seed: int
) -> None:
    contract, value = drawn
    rng = random.Random(seed)
    other = dict(value)
    for field in contract.message_by_name["Root"].fields:
        if field.label is Label.MAP and field.name in value:
            entries = list(value[field.name].items())
            rng.shuffle(entries)
            other[field.name] = dict(entries)
    assert digest(contract, "Root", other) == digest(contract, "Root", value)


@given(contract=contracts())
@settings(parent=DRAWN, max_examples=30)
def test_the_written_proto_is_read_back_as_the_same_schema(contract: Contract) -> None:
    with tempfile.TemporaryDirectory() as folder:
        texts = {"it.proto": write_proto(contract, "from here\x00\nor there")}
        back = from_descriptors(compile_protos(Path(folder), texts)).contract
    root = contract.message_by_name["Root"]
    assert back.message_by_name["Root"] == root
    for name in {field.type_name for field in root.fields} - {"", "Colour"}:
        assert back.message_by_name[name] == contract.message_by_name[name]
    used = {field.type_name for field in root.fields}
    assert back.enums == tuple(one for one in contract.enums if one.name in used)
    assert (back.package, back.service, back.method) == (
        *(contract.package, contract.service, contract.method),
    )


@given(drawn=contracts_and_values())
@DRAWN
def test_replies_of_every_number_fit_and_differ(drawn: tuple[Contract, dict[str, Any]]) -> None:
    contract, value = drawn
    sample = clamp(contract, "Root", complete(contract, "Root", value))
    made = [reply(contract, sample, n) for n in (0, 1, 999)]
    for one in made:
        for codec in Codec:
            assert decode(contract, "Root", encode(contract, "Root", one, codec), codec) == one
    if choose_numbered(contract, sample) is Numbered.TEXT and _has_text(contract, sample):
        assert len({repr(one) for one in made}) == 3


def _has_text(contract: Contract, sample: dict[str, Any]) -> bool:
    return any(
        sample.get(field.name) is not None and sample[field.name] not in ([], {})
        for field in contract.message_by_name["Root"].fields
        if field.kind is Kind.STRING
    )


@given(drawn=contracts_and_values(), seed=st.integers())
@DRAWN
def test_varied_requests_have_the_size_of_the_sample(
    drawn: tuple[Contract, dict[str, Any]], seed: int
) -> None:
    contract, value = drawn
    whole = complete(contract, "Root", value)
    one, other, same = (
        *vary_sample(contract, value, seed, 2),
        vary_sample(contract, value, seed, 1)[0],
    )
    assert one == same, "the same seed gives the same request"
    for made in (one, other):
        size, expected = (len(encode(contract, "Root", it, Codec.JSON)) for it in (made, whole))
        # Booleans and names of enums are chosen at random; 17 digits may become 16.
        assert abs(size - expected) <= 0.35 * expected + 12


@given(drawn=contracts_and_values(), content=st.binary(max_size=40))
@DRAWN
def test_damaged_bytes_are_refused_or_read_but_never_crash(
    drawn: tuple[Contract, dict[str, Any]], content: bytes
) -> None:
    contract, value = drawn
    for codec in Codec:
        whole = encode(contract, "Root", value, codec)
        for damaged in (content, whole[: len(whole) // 2], whole + content):
            problem = _read(contract, damaged, codec)
            assert problem is None or problem.startswith("Root")


def _read(contract: Contract, content: bytes, codec: Codec) -> str | None:
    """The message of a refusal."""
    try:
        read = decode(contract, "Root", content, codec)
    except UsageError as error:
        return error.message
    assert 0 <= number(contract, read) < 1000
    return None
