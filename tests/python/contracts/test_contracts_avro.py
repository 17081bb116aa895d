"""Avro of users' contracts: the written schema, the encoding, and refusals with the field's path.

fastavro is the third party: it has the written schema, and no code of wirelab.
"""

from __future__ import annotations

import io
import json
import math
import time
from typing import Any

import fastavro
import pytest
from hypothesis import given

from tests.contracts.every_kind import CONTRACT, VALUES
from tests.contracts.strategies import contracts_and_values
from tests.python.contracts.test_contracts_properties import DRAWN
from tests.python.generated_projects import describe_hostile
from wirelab.contracts.codecs import Codec, avro, avro_schema, decode, encode
from wirelab.contracts.schema import Contract, Enum, Field, Kind, Label, Message
from wirelab.contracts.values import Value, complete
from wirelab.errors import UsageError


def parse_schema(contract: Contract) -> dict[str, Any]:
    """The types of the written schema by their full names, as fastavro reads them."""
    named: dict[str, Any] = {}
    fastavro.parse_schema(json.loads(avro_schema.write_schema(contract)), named_schemas=named)
    return named


def read_union(schema: str, message: str, content: bytes) -> Any:
    """What fastavro reads by the text of a schema, with nothing left. ``message`` is the full name
    of a branch, whose index is one byte before the message."""
    union = json.loads(schema)
    names = [one if isinstance(one, str) else find_full_name(one) for one in union]
    source = io.BytesIO(bytes([2 * names.index(message)]) + content)
    tree = fastavro.schemaless_reader(source, fastavro.parse_schema(union), None)
    assert source.read() == b""
    return tree


def find_full_name(record: dict[str, str]) -> str:
    return ".".join(filter(None, (record.get("namespace"), record["name"])))


def read(contract: Contract, message: str, content: bytes) -> Any:
    """What fastavro reads, with nothing left."""
    name = avro_schema.full_name(contract, message)
    return read_union(avro_schema.write_schema(contract), name, content)


def write(contract: Contract, message: str, tree: Any) -> bytes:
    """What fastavro writes."""
    union = fastavro.parse_schema(json.loads(avro_schema.write_schema(contract)))
    into = io.BytesIO()
    fastavro.schemaless_writer(into, union, (avro_schema.full_name(contract, message), tree))
    return into.getvalue()[1:]


def one_message(*fields: Field, **others: Any) -> Contract:
    """A contract whose request and reply are the message M."""
    return Contract("p.v1", "S", "Call", "M", "M", (Message("M", fields),), **others)


@pytest.mark.parametrize(
    ("kinds", "value", "expected"),
    [
        ([Kind.INT64, Kind.STRING], {"f1": 27, "f2": "foo"}, "36 06 66 6f 6f"),
        ([Kind.INT32], {"f1": -64}, "7f"),
        ([Kind.INT32], {"f1": 64}, "80 01"),
        ([Kind.BYTES, Kind.BOOL], {"f1": b"\x01", "f2": True}, "02 01 01"),
        ([Kind.FLOAT], {"f1": 1.0}, "00 00 80 3f"),
    ],
)
def test_the_examples_of_the_specification_have_its_bytes(
    kinds: list[Kind], value: Value, expected: str
) -> None:
    """Apache Avro 1.12, Binary Encoding."""
    fields = [Field(f"f{at}", f"f{at}", at, kind) for at, kind in enumerate(kinds, start=1)]
    assert encode(one_message(*fields), "M", value, Codec.AVRO) == bytes.fromhex(expected)


def test_an_array_is_a_block_and_an_end() -> None:
    """The example of the specification, with both forms of a block."""
    contract = one_message(Field("f", "f", 1, Kind.INT64, Label.REPEATED))
    assert encode(contract, "M", {"f": [3, 27]}, Codec.AVRO) == bytes.fromhex("04 06 36 00")
    for content in ("04 06 36 00", "03 04 06 36 00", "02 06 02 36 00", "01 02 06 01 02 36 00"):
        assert decode(contract, "M", bytes.fromhex(content), Codec.AVRO) == {"f": [3, 27]}


@pytest.mark.parametrize("name", VALUES)
def test_fastavro_reads_every_kind_of_field(name: str) -> None:
    value = complete(CONTRACT, "EveryKind", VALUES[name])
    content = encode(CONTRACT, "EveryKind", value, Codec.AVRO)
    tree = read(CONTRACT, "EveryKind", content)
    assert [*tree] == [field.name for field in CONTRACT.message_by_name["EveryKind"].fields]
    assert {field for field, one in tree.items() if one is None} == tree.keys() - value.keys()
    for field in ("single_int64", "single_double", "repeated_string", "map_bytes"):
        assert tree[field] == value[field]
    assert tree["single_uint64"] % 2**64 == value["single_uint64"]
    assert tree["key_uint64"] == {str(key): one for key, one in value["key_uint64"].items()}
    symbols = {number: symbol for symbol, number in CONTRACT.enums[0].values}
    assert tree["single_enum"] == symbols[value["single_enum"]]
    for moment in ("single_timestamp", "single_duration"):
        if tree[moment] is not None:
            assert (tree[moment]["seconds"], tree[moment]["nanos"]) == value[moment]
    assert write(CONTRACT, "EveryKind", tree) == content


@given(drawn=contracts_and_values())
@DRAWN
def test_fastavro_and_the_reference_read_each_other(
    drawn: tuple[Contract, dict[str, Any]],
) -> None:
    contract, value = drawn
    content = encode(contract, "Root", value, Codec.AVRO)
    again = write(contract, "Root", read(contract, "Root", content))
    assert decode(contract, "Root", again, Codec.AVRO) == complete(contract, "Root", value)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, -0.0])
def test_every_float_has_its_bits(number: float) -> None:
    contract = one_message(Field("f", "f", 1, Kind.FLOAT), Field("d", "d", 2, Kind.DOUBLE))
    content = encode(contract, "M", {"f": number, "d": number}, Codec.AVRO)
    for found in (decode(contract, "M", content, Codec.AVRO), read(contract, "M", content)):
        assert repr([found["f"], found["d"]]) == repr([number, number])


def test_names_that_are_types_of_avro_get_another_one() -> None:
    names = ("string", "string_", "record", "null")
    contract = Contract(
        package="",
        service="S",
        method="Call",
        request="string",
        reply="null",
        messages=tuple(
            Message(name, tuple(Field(f"to_{one}", one, at, Kind.MESSAGE, type_name=one)
                                for at, one in enumerate(names, start=1)))
            for name in names
        ),
    )  # fmt: skip
    assert {*parse_schema(contract)} == {"string__", "string_", "record_", "null_"}
    value: Value = {"to_record": {"to_null": {"to_string": {}}, "to_string_": {}}}
    content = encode(contract, "string", value, Codec.AVRO)
    assert read(contract, "string", content)["to_record"]["to_null"]["to_null"] is None


def test_hostile_names_and_recursion_have_a_schema() -> None:
    vectors = describe_hostile()
    named = parse_schema(vectors.contract)
    assert named.keys() >= {"hostile.type.v1.Whole", "hostile.type.v1.String"}
    assert named["hostile.type.v1.Hostile_Kind"]["symbols"] == ["name", "value", "NAME"]
    content = vectors.request(0, Codec.AVRO)
    assert write(vectors.contract, "Whole", read(vectors.contract, "Whole", content)) == content


def test_an_enum_has_the_first_name_of_each_number() -> None:
    enum = Enum("E", (("ZERO", 0), ("MINUS", -5), ("NONE", 0), ("MANY", 2**31 - 1)))
    contract = one_message(Field("e", "e", 1, Kind.ENUM, type_name="E"), enums=(enum,))
    assert parse_schema(contract)["p.v1.E"]["symbols"] == ["ZERO", "MINUS", "MANY"]
    for index, number in enumerate((0, -5, 2**31 - 1)):
        content = encode(contract, "M", {"e": number}, Codec.AVRO)
        assert content == bytes([2 * index])
        assert decode(contract, "M", content, Codec.AVRO) == {"e": number}
    with pytest.raises(UsageError, match=r"M\.e: 7 is not a value of the enum E"):
        encode(contract, "M", {"e": 7}, Codec.AVRO)


def test_a_message_that_only_the_reply_has_is_in_the_schema() -> None:
    part = Message("Part", ())
    fields = (Field("one", "one", 1, Kind.MESSAGE, type_name="Part"),)
    messages = (Message("Q", ()), Message("R", fields), part)
    union = json.loads(avro_schema.write_schema(Contract("p", "S", "Call", "Q", "R", messages)))
    assert [one["name"] for one in union] == ["Q", "R"]


TREE = Contract(
    "p.v1", "S", "Call", "Node", "Node",
    (
        Message("Node", (
            Field("next", "next", 1, Kind.MESSAGE, type_name="Node"),
            Field("marks", "marks", 2, Kind.MESSAGE, Label.REPEATED, "Mark"),
            Field("texts", "texts", 3, Kind.STRING, Label.REPEATED),
            Field("weights", "weights", 4, Kind.UINT32, Label.MAP, map_key=Kind.INT32),
            Field("small", "small", 5, Kind.INT32),
            Field("is", "is", 6, Kind.BOOL),
            Field("kind", "kind", 7, Kind.ENUM, type_name="E"),
            Field("a", "a", 8, Kind.INT64, oneof="one"),
            Field("b", "b", 9, Kind.INT64, oneof="one"),
        )),
        Message("Mark", ()),
    ),
    (Enum("E", (("ZERO", 0), ("ONE", 1))),),
)  # fmt: skip
HUGE = "fe ff ff ff ff ff ff ff 7f"
"""2**62 - 1 as a long."""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "Node.next: not avro: 1 bytes where the message ends"),
        ("04", "Node.next: not avro: the union has no branch 2"),
        ("01", "Node.next: not avro: the union has no branch -1"),
        ("00 00 00 00 00 00 00 00 00 00", "Node: not avro: bytes after the message"),
        ("00 02 00 02 01", "Node.texts: not avro: -1 bytes where the message ends"),
        (f"00 00 02 {HUGE}", "Node.texts: not avro: .* bytes where the message ends"),
        (f"00 00 {HUGE}", "Node.texts: not avro: 1 bytes where the message ends"),
        ("00 00 02 02 ff", "Node.texts: not avro: 'utf-8' codec"),
        (f"00 {HUGE} 00", "Node.marks: not avro: more than 1,000,000 items without bytes"),
        ("00 00 00 02 02 78", "Node.weights: 'x' is not an integer"),
        ("00 00 00 02 02 31 01", "Node.weights: -1 is not in the range of uint32"),
        ("00 00 00 00 80 80 80 80 10", "Node.small: 2147483648 is not in the range of int32"),
        ("00 00 00 00 00 02", "Node.is: not avro: a boolean is neither 0 nor 1"),
        ("00 00 00 00 00 00 04", "Node.kind: not avro: the enum has no symbol 2"),
        ("00 00 00 00 00 00 01", "Node.kind: not avro: the enum has no symbol -1"),
        ("00 00 00 00 00 00 00 02 02 02 02", "Node: a and b are both present in the oneof one"),
        ("00 00 00 00" + " ff" * 9 + " 02", "Node.small: not avro: a number of more than 64 bits"),
        ("02" * 100_000, "Node: not avro: nested too deeply"),
    ],
)
def test_bytes_that_are_not_the_message_are_refused_by_path(content: str, message: str) -> None:
    begun = time.monotonic()
    with pytest.raises(UsageError, match=f"^{message}"):
        decode(TREE, "Node", bytes.fromhex(content), Codec.AVRO)
    assert time.monotonic() - begun < 10.0


def test_every_truncation_is_refused() -> None:
    value = {"next": {"marks": [{}, {}], "texts": ["é"]}, "weights": {-5: 7}, "small": -9, "b": 2}
    content = encode(TREE, "Node", value, Codec.AVRO)
    assert decode(TREE, "Node", content, Codec.AVRO) == complete(TREE, "Node", value)
    for end in range(len(content)):
        with pytest.raises(UsageError):
            decode(TREE, "Node", content[:end], Codec.AVRO)


def test_items_without_bytes_are_read_up_to_their_bound() -> None:
    contract = one_message(Field("f", "f", 1, Kind.MESSAGE, Label.REPEATED, "M"))
    with pytest.raises(UsageError):  # Such a list has bytes: M has a field.
        decode(contract, "M", b"\xfe\xff\x7f\x00", Codec.AVRO)
    many: Value = {"marks": [{}] * 1000}
    content = encode(TREE, "Node", many, Codec.AVRO)
    assert len(content) == len(encode(TREE, "Node", {}, Codec.AVRO)) + 2
    assert len(decode(TREE, "Node", content, Codec.AVRO)["marks"]) == 1000
    assert avro.EMPTY_ITEMS_MAX == 1_000_000
