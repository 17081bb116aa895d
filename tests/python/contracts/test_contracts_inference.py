"""Contracts inferred from JSON: types, several samples, names, and refusals by path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format

from tests.contracts.compiling import compile_protos, message_types
from wirelab.contracts import documents
from wirelab.contracts.codecs import Codec, encode
from wirelab.contracts.inference import infer
from wirelab.contracts.names import snake_case, xml_name
from wirelab.contracts.proto_text import write_proto
from wirelab.contracts.reading import from_descriptors
from wirelab.contracts.schema import Contract, Field, Kind, Label
from wirelab.contracts.validation import FIELDS_MAX
from wirelab.errors import UsageError


def _fields(contract: Contract, message: str = "Order") -> dict[str, Field]:
    return {field.json_name: field for field in contract.message_by_name[message].fields}


def _field(sample: Any) -> Field:
    """The field that a value becomes."""
    return _fields(infer([json.dumps({"a": sample})], "order").contract)["a"]


@pytest.mark.parametrize(
    ("value", "kind", "label"),
    [
        (1, Kind.INT64, Label.SINGLE),
        (-(2**63), Kind.INT64, Label.SINGLE),
        (2**63 - 1, Kind.INT64, Label.SINGLE),
        (2**63, Kind.UINT64, Label.SINGLE),
        (2**64 - 1, Kind.UINT64, Label.SINGLE),
        (1.0, Kind.DOUBLE, Label.SINGLE),
        (1e300, Kind.DOUBLE, Label.SINGLE),
        (True, Kind.BOOL, Label.SINGLE),
        ("text", Kind.STRING, Label.SINGLE),
        ("2026-11-28T19:00:00Z", Kind.STRING, Label.SINGLE),
        (None, Kind.STRING, Label.OPTIONAL),
        ([], Kind.STRING, Label.REPEATED),
        ([1, 2], Kind.INT64, Label.REPEATED),
        ([1, 2.5], Kind.DOUBLE, Label.REPEATED),
        ([True], Kind.BOOL, Label.REPEATED),
        ({}, Kind.MESSAGE, Label.SINGLE),
        ([{}], Kind.MESSAGE, Label.REPEATED),
    ],
)
def test_a_value_has_the_kind_and_label(value: object, kind: Kind, label: Label) -> None:
    field = _field(value)
    assert (field.kind, field.label) == (kind, label)


@pytest.mark.parametrize(
    ("samples", "kind", "label"),
    [
        (['{"a": 1}', '{"a": 2.5}'], Kind.DOUBLE, Label.SINGLE),
        (['{"a": 1}', "{}"], Kind.INT64, Label.OPTIONAL),
        (["{}", '{"a": 1}'], Kind.INT64, Label.OPTIONAL),
        (['{"a": 1}', '{"a": null}'], Kind.INT64, Label.OPTIONAL),
        (['{"a": null}', '{"a": "b"}'], Kind.STRING, Label.OPTIONAL),
        (['{"a": []}', '{"a": [true]}'], Kind.BOOL, Label.REPEATED),
        (['{"a": [1]}', '{"a": null}', "{}"], Kind.INT64, Label.REPEATED),
        (['{"a": {}}', "{}"], Kind.MESSAGE, Label.SINGLE),
        (['{"a": 1}', '{"a": 18446744073709551615}'], Kind.UINT64, Label.SINGLE),
    ],
)
def test_several_samples_merge(samples: list[str], kind: Kind, label: Label) -> None:
    source = infer(samples, "order")
    field = _fields(source.contract)["a"]
    assert (field.kind, field.label) == (kind, label)
    assert len(source.requests) == len(samples)


def test_objects_of_a_list_merge() -> None:
    text = '{"items": [{"sku": "a", "n": 1}, {"sku": "b", "n": 0.5, "gift": {"to": "c"}}]}'
    source = infer([text], "order")
    items = _fields(source.contract, "Items")
    assert items["n"].kind is Kind.DOUBLE
    assert items["sku"].label is Label.SINGLE
    assert items["gift"].type_name == "Gift"
    assert source.requests[0]["items"][0] == {"sku": "a", "n": 1.0}
    assert [one.name for one in source.contract.messages] == ["Order", "Items", "Gift"]


def test_objects_with_the_same_key_and_fields_share_a_message() -> None:
    text = '{"user": {"id": 1}, "issue": {"user": {"id": 2}, "owner": {"id": 3}}}'
    contract = infer([text], "event").contract
    assert [one.name for one in contract.messages] == ["Event", "User", "Issue", "Owner"]


def test_a_reply_has_its_own_message_and_room_for_its_number() -> None:
    source = infer(['{"id": 1}'], "order", ['{"id": 9223372036854775807, "ok": true}'])
    assert (source.contract.request, source.contract.reply) == ("Order", "OrderReply")
    assert source.replies == ({"id": 2**63 - 1000, "ok": True},)
    without = infer(['{"id": 18446744073709551615}'], "order")
    assert without.contract.reply == "Order"
    assert without.requests[0]["id"] == 2**64 - 1
    assert without.replies[0]["id"] == 2**64 - 1000


def test_assumptions_of_unknown_types_are_noted() -> None:
    text = '{"a": null, "b": [], "items": [{"c": [1]}, {}]}'
    assert infer([text], "order").notes == (
        "order.a: always null, taken as an optional text",
        "order.b[]: always empty, taken as a list of texts",
        "order.items[].c: a missing list is taken as an empty one",
    )


HOSTILE_NAMES = [
    *("__proto__", "../x", "constructor", "class", "message", "option", "reserved", "rpc", "map"),
    *("string", "int64", "repeated", "oneof", "type", "func", "self", "Self", "r#fn", "import"),
    *(
        "",
        " ",
        "1",
        "-",
        "_",
        "$ref",
        "@type",
        "a.b",
        "a/b",
        "a:b",
        "a b",
        "A b",
        "aB",
        "ab",
        "a_b",
    ),
    *("Größe", "日本", "😀", "<a>", "&amp;", "]]>", '"', "\\", "\\n", "\n", "\t", "\x01", "\x7f"),
    *("${x}", "{{ x }}", "{% x %}", "%s", "*/", "//", "--", "';", "\u2028", "\u202e", "x" * 1000),
    *("xml", "xmlns", "XML-a", "key", "value", "toString", "hashCode", "getClass", "String"),
]


def test_hostile_names_are_kept_in_json_and_escaped_elsewhere(tmp_path: Path) -> None:
    sample = {name: number for number, name in enumerate(HOSTILE_NAMES)}
    source = infer([json.dumps(sample)], '../../etc/passwd\n; import "evil"')
    fields = source.contract.message_by_name[source.contract.request].fields
    assert [field.json_name for field in fields] == HOSTILE_NAMES
    names = [field.name for field in fields]
    assert all(name.isascii() and name.isidentifier() and name == name.lower() for name in names)
    assert len({name.replace("_", "") for name in names}) == len(names), "collide in some language"
    assert (
        json.loads(encode(source.contract, source.contract.request, source.requests[0], Codec.JSON))
        == sample
    )
    # protoc compiles it, and google.protobuf reads the user's own document with it.
    described = compile_protos(tmp_path, {"it.proto": write_proto(source.contract, "a\n*/ b")})
    assert from_descriptors(described).contract == source.contract
    made = message_types(described)[f"{source.contract.package}.{source.contract.request}"]()
    json_format.ParseDict(sample, made)
    assert [getattr(made, name) for name in names] == list(range(len(names)))


def test_an_object_with_data_as_keys_stays_a_message() -> None:
    sample = {"prices": {f"2026-01-{day:02d}": day / 4 for day in range(1, 29)}}
    source = infer([json.dumps(sample)], "order")
    prices = _fields(source.contract, "Prices")
    assert len(prices) == 28
    assert xml_name("2026-01-01") == "_x0032_026-01-01"
    assert {field.kind for field in prices.values()} == {Kind.DOUBLE}


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ('{"items": [1, "a"]}', "order.items[]", "different types: a text and an integer"),
        ('{"a": {"b": [{"c": 1}, {"c": true}]}}', "order.a.b[].c", "a boolean and an integer"),
        ('{"a": [[1, 2], [3]]}', "order.a[]", "the list has lists"),
        ('{"a": [1, null]}', "order.a[]", "the list has a null"),
        ('{"a": [{}, []]}', "order.a[]", "a list and an object|the list has lists"),
        ('{"a b": [1, {}]}', 'order["a b"][]', "different types"),
        ('{"a": [1.5, 9007199254740993]}', "order.a[]", "beyond 2^53"),
        ('{"a": [-1, 18446744073709551615]}', "order.a[]", "negative integers"),
        ('{"a": {"b": 1, "b": 2}}', "order.a", "the key b occurs twice"),
        ('{"a": 1, "a": 2}', "order", "the key a occurs twice"),
        ('{"a": NaN}', "order.a", "NaN does not exist in JSON"),
        ('{"a": [-Infinity]}', "order.a[0]", "-Infinity does not exist"),
        ('{"a": 1e400}', "order.a", "too large for a double"),
        ('{"a": 18446744073709551616}', "order.a", "more than 64 bits"),
        ('{"a": -9223372036854775809}', "order.a", "more than 64 bits"),
        ('{"a": ' + "9" * 100_000 + "}", "order.a", "more than 64 bits"),
        ('{"a": "b\\u0000c"}', "order.a", "U+0000"),
        ('{"a": "\\ud800"}', "order.a", "U+D800"),
        ('{"a": ["\\uffff"]}', "order.a[0]", "U+FFFF"),
        ('{"\\u0000": 1}', "order", 'the key "\\u0000" has a character'),
        ('{"\\udfff": 1}', "order", "has a character"),
        ('{"[ext]": 1}', "order", "in brackets"),
        ('{"' + "k" * 1001 + '": 1}', "order", "more than 1,000 characters"),
        ('{"a b": 1, "a_x0020_b": 2}', "Order.a_x0020_b", "the same name in XML"),
        ("[]", "order", "not an object but a list"),
        ("[{}]", "order", "not an object but a list"),
        ("1", "order", "not an object but an integer"),
        ("null", "order", "not an object but null"),
        ("", "order", "not JSON"),
        ("{", "order", "not JSON"),
        ('{"a": 1} {"b": 2}', "order", "not JSON"),
        ("{'a': 1}", "order", "not JSON"),
    ],
)  # fmt: skip
def test_documents_that_a_contract_cannot_have_are_refused_by_path(
    text: str, path: str, reason: str
) -> None:
    with pytest.raises(UsageError) as raised:
        infer([text], "order")
    assert raised.value.message.startswith(f"{path}: "), raised.value.message
    assert any(one in raised.value.message for one in reason.split("|")), raised.value.message
    assert raised.value.remedy
    assert len(raised.value.message) < 400


def test_samples_with_different_types_are_refused_by_path() -> None:
    with pytest.raises(UsageError, match=r"^order\.a: different types: a text and an integer"):
        infer(['{"a": 1}', '{"a": "1"}'], "order")


def test_bytes_that_are_not_utf8_are_refused() -> None:
    with pytest.raises(UsageError, match="not UTF-8"):
        infer([b'{"a": "\xff"}'], "order")
    assert infer([b'\xef\xbb\xbf{"a": 1}'], "order").requests == ({"a": 1},)


@pytest.mark.parametrize("depth", [documents.DEPTH_MAX + 1, 900, 100_000])
@pytest.mark.parametrize(("start", "end"), [('{"a":', "}"), ("[", "]")])
def test_deep_documents_are_refused(depth: int, start: str, end: str) -> None:
    text = f'{{"a":{start * depth}1{end * depth}}}'
    with pytest.raises(UsageError, match=f"more than {documents.DEPTH_MAX} objects and lists"):
        infer([text], "order")


def test_the_deepest_document_goes_through_every_codec() -> None:
    depth = documents.DEPTH_MAX
    source = infer(['{"a":' * depth + "1" + "}" * depth], "order")
    assert len(source.contract.messages) == depth
    for codec in Codec:
        assert encode(source.contract, "Order", source.requests[0], codec)


def test_too_many_fields_are_refused_by_path() -> None:
    text = json.dumps({"a": {f"k{number}": 1 for number in range(FIELDS_MAX)}})
    with pytest.raises(UsageError, match=r"^order\.a: with it, .* more than 10,000 fields"):
        infer([text], "order")
    text = json.dumps({f"k{number}": 1 for number in range(FIELDS_MAX)})
    assert len(_fields(infer([text], "order").contract)) == FIELDS_MAX


def test_a_large_document_is_read_or_refused() -> None:
    text = json.dumps({"items": [{"id": number, "t": "x" * 80} for number in range(90_000)]})
    assert len(text) > 9_000_000
    source = infer([text], "order")
    assert len(source.requests[0]["items"]) == 90_000
    with pytest.raises(UsageError, match="more than 16,777,216"):
        infer([f'{{"a": "{"x" * documents.BYTES_MAX}"}}'], "order")
    with pytest.raises(UsageError, match="more than 10,000 fields"):
        infer([json.dumps({f"k{number}": 1 for number in range(700_000)})], "order")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("createdAt", "created_at"),
        ("HTTPServer", "http_server"),
        ("order-id", "order_id"),
        ("1st", "field_1st"),
        ("", "field"),
        ("日本", "field"),
        ("_id", "id"),
        ("a__b", "a_b"),
        ("sha256", "sha256"),
    ],
)
def test_a_key_becomes_an_identifier(text: str, name: str) -> None:
    assert snake_case(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("order-id", "order-id"),
        ("a.b_1", "a.b_1"),
        ("a b", "a_x0020_b"),
        ("1a", "_x0031_a"),
        ("-a", "_x002D_a"),
        ("ö", "_x00F6_"),
        ("😀", "_xD83D__xDE00_"),
        ("a:b", "a_x003A_b"),
        ("", "_x_"),
    ],
)
def test_a_name_becomes_an_element(text: str, name: str) -> None:
    assert xml_name(text) == name
