"""Contracts read from .proto files: flattening, recursion, choices and refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, json_format

from tests.contracts.compiling import compile_protos, message_types
from wirelab.contracts.codecs import Codec, decode, encode
from wirelab.contracts.documents import DEPTH_MAX
from wirelab.contracts.examples import VALUES_MAX, make_example
from wirelab.contracts.proto_text import write_proto
from wirelab.contracts.reading import from_descriptors, list_methods
from wirelab.contracts.schema import Contract, Field, Kind, Label
from wirelab.contracts.source import Source
from wirelab.errors import UsageError
from wirelab.imports.grpc import read_descriptors

ORDER = """\
syntax = "proto3";
package shop.v1;
import "google/protobuf/timestamp.proto";
import "google/protobuf/duration.proto";
import "money.proto";
service Shop {
  rpc Place (Order) returns (Order.Receipt);
  rpc Watch (Order) returns (stream Order);
  rpc Fill (stream Order) returns (Order);
}
message Order {
  message Item {
    uint32 count = 1;
    shop.money.Price price = 2;
    enum Size { UNKNOWN = 0; BIG = 1; }
    Size size = 3;
  }
  message Receipt { fixed64 number = 1; google.protobuf.Timestamp at = 2; }
  enum State { UNKNOWN = 0; PAID = 2; LOST = -1; }
  map<string, Item> items = 1;
  State state = 2;
  oneof payer { string Person = 3; Receipt earlier = 4; }
  optional float weight = 5;
  optional google.protobuf.Duration patience = 6;
  repeated sfixed32 codes = 7;
  bytes raw = 536870911 [json_name = "Raw bytes"];
}
"""
MONEY = """\
syntax = "proto3";
package shop.money;
message Price { sint64 cents = 1; Currency currency = 2; }
enum Currency { EUR = 0; USD = 1; }
"""


@pytest.fixture
def described(tmp_path: Path) -> bytes:
    """The descriptor set of the order."""
    return compile_protos(tmp_path, {"order.proto": ORDER, "money.proto": MONEY})


def _read(tmp_path: Path, text: str, chosen: str = "", **samples: Any) -> Source:
    return from_descriptors(compile_protos(tmp_path, {"it.proto": text}), chosen, **samples)


def _message(text: str) -> str:
    return f'syntax = "proto3";\npackage p;\n{text}'


def test_nested_types_become_flat(described: bytes) -> None:
    contract = from_descriptors(described).contract
    assert contract.grpc_path == "shop.v1.Shop/Place"
    assert [one.name for one in contract.messages] == [
        "Order",
        "Order_Item",
        "Price",
        "Order_Receipt",
    ]
    assert contract.message_by_name["Order"].fields == (
        Field("items", "items", 1, Kind.MESSAGE, Label.MAP, "Order_Item", Kind.STRING),
        Field("state", "state", 2, Kind.ENUM, type_name="Order_State"),
        Field("person", "Person", 3, Kind.STRING, oneof="payer"),
        Field("earlier", "earlier", 4, Kind.MESSAGE, type_name="Order_Receipt", oneof="payer"),
        Field("weight", "weight", 5, Kind.FLOAT, Label.OPTIONAL),
        Field("patience", "patience", 6, Kind.DURATION, Label.OPTIONAL),
        Field("codes", "codes", 7, Kind.SFIXED32, Label.REPEATED),
        Field("raw", "Raw bytes", 536870911, Kind.BYTES),
    )
    # Enums share a scope now, so one of two equal names gets that of its enum.
    assert {one.name: one.values for one in contract.enums} == {
        "Order_Item_Size": (("UNKNOWN", 0), ("BIG", 1)),
        "Currency": (("EUR", 0), ("USD", 1)),
        "Order_State": (("Order_State_UNKNOWN", 0), ("PAID", 2), ("LOST", -1)),
    }


def test_the_flat_contract_has_the_bytes_of_the_original(described: bytes) -> None:
    """A client of the user's own .proto and a service of the contract understand each other."""
    sample = (
        '{"items": {"a": {"count": 3, "price": {"cents": "-5", "currency": "USD"}, "size": "BIG"}},'
        ' "state": "LOST", "earlier": {"number": "18446744073709551615", '
        '"at": "2026-11-28T19:00:00.5Z"}, "weight": 0.5, "patience": "3.5s", "codes": [-1],'
        ' "Raw bytes": "AP8="}'
    )
    source = from_descriptors(described, "Place", requests=[sample])
    made = json_format.Parse(sample, message_types(described)["shop.v1.Order"]())
    ours = encode(source.contract, "Order", source.requests[0], Codec.PROTOBUF)
    assert ours == made.SerializeToString(deterministic=True)
    assert source.requests[0]["earlier"]["at"] == (1795892400, 500_000_000)


def test_the_written_proto_is_read_as_the_same_contract(described: bytes, tmp_path: Path) -> None:
    contract = from_descriptors(described).contract
    assert _read(tmp_path, write_proto(contract, "order.proto")).contract == contract


@pytest.mark.parametrize(
    ("chosen", "path"),
    [
        ("", "shop.v1.Shop/Place"),
        ("Place", "shop.v1.Shop/Place"),
        ("Shop/Place", "shop.v1.Shop/Place"),
        ("/shop.v1.Shop/Place", "shop.v1.Shop/Place"),
        ("shop.v1.Shop.Place", "shop.v1.Shop/Place"),
        ("Order", "shop.v1.OrderService/Call"),
        ("shop.money.Price", "shop.money.PriceService/Call"),
    ],
)
def test_a_method_or_a_message_is_chosen(described: bytes, chosen: str, path: str) -> None:
    assert from_descriptors(described, chosen).contract.grpc_path == path
    assert list_methods(described) == ("shop.v1.Shop/Place",)


@pytest.mark.parametrize(
    ("chosen", "message", "remedy"),
    [
        ("Watch", "shop.v1.Shop/Watch: it streams", "choose another method"),
        ("Fill", "shop.v1.Shop/Fill: it streams", "choose another method"),
        ("Lost", "no method or message Lost", "name one of shop.v1.Shop/Place, "),
    ],
)
def test_streams_and_unknown_names_are_refused(
    described: bytes, chosen: str, message: str, remedy: str
) -> None:
    with pytest.raises(UsageError) as raised:
        from_descriptors(described, chosen)
    assert message in raised.value.message
    assert remedy in raised.value.remedy


def test_a_file_without_a_service_gives_its_outermost_message(tmp_path: Path) -> None:
    source = _read(tmp_path, _message("message In { int32 a = 1; } message Out { In in = 1; }"))
    assert (source.contract.request, source.contract.reply) == ("Out", "Out")
    two = _message("message A { int32 a = 1; } message B { int32 b = 1; }")
    with pytest.raises(UsageError, match="which method or message") as raised:
        _read(tmp_path, two)
    assert raised.value.remedy == "name one of p.A, p.B"
    with pytest.raises(UsageError) as raised:
        _read(tmp_path, _message(""))
    assert raised.value.remedy == "add a message"


TREE = _message(
    "message Tree { string name = 1; repeated Tree children = 2; Other other = 3; }\n"
    "message Other { Tree back = 1; int32 n = 2; }"
)


def test_recursion_without_a_sample_is_cut_at_once(tmp_path: Path) -> None:
    source = _read(tmp_path, TREE, "Tree")
    names = {one.name: [f.name for f in one.fields] for one in source.contract.messages}
    assert names == {"Tree": ["name", "other"], "Other": ["n"]}
    assert source.notes == (
        "Tree.children: left out: its type is recursive, and no sample is deeper",
        "Tree.other.back: left out: its type is recursive, and no sample is deeper",
    )


def test_recursion_is_as_deep_as_the_samples(tmp_path: Path) -> None:
    samples = [
        '{"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]}',
        '{"other": {"n": 1, "back": {"name": "d"}}}',
    ]
    source = _read(tmp_path, TREE, "Tree", requests=samples)
    for text, value in zip(samples, source.requests, strict=True):
        whole = encode(source.contract, source.contract.request, value, Codec.JSON)
        assert decode(source.contract, "Tree", whole, Codec.JSON) == decode(
            source.contract, "Tree", text.encode(), Codec.JSON
        )
    deepest = source.requests[0]["children"][0]["children"][0]
    assert deepest["name"] == "c"
    inner = {f.type_name for one in source.contract.messages for f in one.fields} - {""}
    assert inner <= {one.name for one in source.contract.messages}
    assert not _circles(source.contract)


def _circles(contract: Contract) -> bool:
    def visit(name: str, above: frozenset[str]) -> bool:
        if name in above:
            return True
        fields = contract.message_by_name[name].fields
        return any(visit(f.type_name, above | {name}) for f in fields if f.kind is Kind.MESSAGE)

    return visit(contract.request, frozenset()) or visit(contract.reply, frozenset())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("message M { repeated I i = 1; message I { Any any = 1; } }", "M.i.any: it is a {any}"),
        ("message M { map<int32, Any> a = 1; }", "M.a: it is a {any}"),
        (
            'message M { int32 a = 1 [json_name = "a b"]; int32 b = 2 [json_name = "a_x0020_b"]; }',
            "M.b: 'a_x0020_b' and 'a b' have the same name in XML",
        ),
    ],
)
def test_fields_that_a_contract_cannot_have_are_refused_by_path(
    tmp_path: Path, text: str, message: str
) -> None:
    known = "google.protobuf.Any"
    text = f'import "google/protobuf/any.proto"; {re.sub("Any(?= |>)", known, text)}'
    with pytest.raises(UsageError) as raised:
        _read(tmp_path, _message(text), "M")
    assert raised.value.message.startswith(message.format(any=known))
    assert raised.value.remedy


def test_groups_are_refused_by_path(tmp_path: Path) -> None:
    text = (
        'syntax = "proto2"; package p; message M { repeated group G = 1 { optional int32 a = 2; } }'
    )
    with pytest.raises(UsageError, match=r"^M\.g: it is a group"):
        _read(tmp_path, text, "M")


ANY = _message(
    'import "google/protobuf/any.proto";\nmessage M { int32 a = 1; google.protobuf.Any any = 2; }'
)


def test_an_any_that_no_sample_has_is_left_out(tmp_path: Path) -> None:
    source = _read(tmp_path, ANY, "M", requests=['{"a": 1}'])
    assert [f.name for f in source.contract.message_by_name["M"].fields] == ["a"]
    assert source.notes == ("M.any: left out: it is a google.protobuf.Any, and no sample has it",)
    sample = '{"any": {"@type": "type.googleapis.com/p.M", "a": 2}}'
    with pytest.raises(UsageError, match=r"^M\.any: it is a google.protobuf.Any|^M: "):
        _read(tmp_path, ANY, "M", requests=[sample])


def test_proto2_has_optional_and_required_fields(tmp_path: Path) -> None:
    text = """\
        syntax = "proto2"; package p;
        message M {
          required int32 a = 1; optional int32 b = 2 [default = 7]; optional M2 c = 3;
          repeated int32 d = 4; optional E e = 5; extensions 100 to 200;
        }
        message M2 {}
        enum E { ONE = 1; TWO = 2; }
        extend M { optional int32 x = 100; }
        """
    source = _read(tmp_path, text, "M")
    labels = {f.name: f.label for f in source.contract.message_by_name["M"].fields}
    assert labels == {
        "a": Label.SINGLE,
        "b": Label.OPTIONAL,
        "c": Label.SINGLE,
        "d": Label.REPEATED,
        "e": Label.OPTIONAL,
    }
    assert source.contract.enums[0].values == (("E_UNSPECIFIED", 0), ("ONE", 1), ("TWO", 2))
    assert source.notes == ("E: it has no value 0, so E_UNSPECIFIED is added",)


def test_hostile_and_keyword_names_are_read(tmp_path: Path) -> None:
    names = [
        *("message", "option", "optional", "reserved", "syntax", "package", "import", "service"),
        *("rpc", "returns", "stream", "map", "oneof", "enum", "repeated", "string", "int32"),
        *("true", "inf", "class", "def", "fn", "func", "type", "self", "None", "await", "go"),
        *("var", "String", "hashCode", "_a", "a__b", "AB", "ab", "Ab", "a1", "a_2", "B", "b_"),
    ]
    fields = " ".join(f"int32 {name} = {at};" for at, name in enumerate(names, start=1))
    text = _message(
        f"message class {{ {fields} }}\n"
        "message String { message Object { int32 a = 1; } Object object = 1; class c = 2; }\n"
        # protoc makes messages of their entries, which hide the messages of these names.
        "message Map { map<string, .p.FooEntry> foo = 1; .p.FooEntry bar = 2; FooBar a = 3; }\n"
        "message FooEntry { int32 a = 1; } message FooBar { FooBarEntry e = 1; }\n"
        "message FooBarEntry { bool b = 1; }\n"
        "message Root { String s = 1; Map m = 2; }"
    )
    contract = _read(tmp_path, text, "Root").contract
    made = contract.message_by_name["class"].fields
    assert [field.number for field in made] == list(range(1, len(names) + 1))
    folded = [field.name.replace("_", "") for field in made]
    assert len(set(folded)) == len(names)
    assert all(field.name == field.name.lower() and field.name.isidentifier() for field in made)
    assert _read(tmp_path, write_proto(contract), "Root").contract == contract


def test_files_in_a_circle_and_missing_files_are_refused(tmp_path: Path) -> None:
    files = descriptor_pb2.FileDescriptorSet()
    files.file.add(name="a.proto", dependency=["b.proto"], syntax="proto3")
    with pytest.raises(UsageError, match=r"imports b\.proto, which it does not have"):
        from_descriptors(files.SerializeToString())
    files.file.add(name="b.proto", dependency=["a.proto"], syntax="proto3")
    with pytest.raises(UsageError, match=r"files import each other: \w\.proto, "):
        from_descriptors(files.SerializeToString())
    files.file[0].dependency[0] = "google/protobuf/../../evil.proto"
    with pytest.raises(UsageError, match="which it does not have"):
        from_descriptors(files.SerializeToString())


@pytest.mark.parametrize("content", [b"\xff\xff", b"\x0a\x03abc", b"{}"])
def test_bytes_of_another_kind_are_refused(content: bytes) -> None:
    with pytest.raises(UsageError, match="not a descriptor set"):
        from_descriptors(content)


def _set_of(fields: list[tuple[str, str]]) -> bytes:
    """Messages in a chain: type, then the type of its fields."""
    files = descriptor_pb2.FileDescriptorSet()
    file = files.file.add(name="a.proto", package="p", syntax="proto3")
    made: dict[str, Any] = {}
    for outer, inner in fields:
        if outer not in made:
            made[outer] = file.message_type.add(name=outer)
        number = len(made[outer].field) + 1
        made[outer].field.add(
            name=f"f{number}", number=number, type=11, label=1, type_name=f".p.{inner}"
        )
    for name in {inner for _, inner in fields} - made.keys():
        file.message_type.add(name=name)
    return bytes(files.SerializeToString())


def test_messages_that_are_too_deep_are_refused() -> None:
    chain = [(f"M{at}", f"M{at + 1}") for at in range(1, 5000)]
    with pytest.raises(UsageError, match=f"more than {DEPTH_MAX} messages within each other"):
        from_descriptors(_set_of(chain), "M1")
    # Also where each message was seen before, at a smaller depth.
    known = [("R", f"M{at}") for at in range(4999, 0, -1)]
    with pytest.raises(UsageError, match=f"more than {DEPTH_MAX} messages within each other"):
        from_descriptors(_set_of([*known, *chain]), "R")


def test_an_example_of_types_that_double_is_bounded() -> None:
    doubling = [(f"M{at}", f"M{at + 1}") for at in range(1, 45) for _ in range(2)]
    contract = from_descriptors(_set_of(doubling), "M1").contract
    example = make_example(contract, contract.request)
    assert len(encode(contract, contract.request, example, Codec.JSON)) < 40 * VALUES_MAX


def test_circles_that_explode_are_refused(tmp_path: Path) -> None:
    """Ten types of which each has all others: a deep sample would make millions of types."""
    types = [f"T{at}" for at in range(10)]
    body = " ".join(f"{name} {name.lower()} = {at};" for at, name in enumerate(types, start=1))
    text = _message("\n".join(f"message {name} {{ {body} }}" for name in types))
    sample: dict[str, Any] = {}
    for name in types * 3:
        sample = {name.lower(): sample}
    with pytest.raises(UsageError, match=r"more than (10,000 fields|50 messages)"):
        _read(tmp_path, text, "T0", requests=[json.dumps(sample)])


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ('{"a": "x"}', "M: Failed to parse a field"),
        ('{"nothing": 1}', "M: Message type .* has no field named .nothing."),
        ('{"d": "NaN"}', r"M\.d: JSON has no nan"),
        ('{"d": "Infinity"}', r"M\.d: JSON has no inf"),
        ('{"e": 99}', r"M\.e: 99 is not a value of the enum E"),
        ('{"a": 1, "a": 2}', "M: the key a occurs twice"),
        ('{"s": "\\u0000"}', "M.s: the text has the character U\\+0000"),
        ("[]", "M: "),
        ("1", "M: "),
    ],
)
def test_samples_that_do_not_fit_are_refused(tmp_path: Path, sample: str, message: str) -> None:
    text = _message(
        "message M { int32 a = 1; double d = 2; E e = 3; string s = 4; } enum E { Z = 0; }"
    )
    with pytest.raises(UsageError, match=message):
        _read(tmp_path, text, "M", requests=[sample])


def test_no_package_gets_one(tmp_path: Path) -> None:
    text = 'syntax = "proto3"; message M { int32 a = 1; } service S { rpc Do (M) returns (M); }'
    source = _read(tmp_path, text)
    assert source.contract.grpc_path == "wirelab.s.v1.S/Do"
    assert source.notes == ("S has no package, so wirelab.s.v1 is taken",)


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_the_engine_describes_a_proto_as_protoc_does(described: bytes, tmp_path: Path) -> None:
    found = read_descriptors(str(tmp_path / "order.proto"))
    assert from_descriptors(found, "Place") == from_descriptors(described, "Place")
    (tmp_path / "broken.proto").write_text("message {", encoding="utf-8")
    with pytest.raises(UsageError, match=r"broken\.proto, line 1"):
        read_descriptors(str(tmp_path / "broken.proto"))
