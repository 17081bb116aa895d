"""Readers of users' contracts: what they accept, and refusals with the field's path."""

from __future__ import annotations

import cbor2
import msgpack
import pytest

from tests.contracts.every_kind import CONTRACT
from wirelab.contracts.codecs import Codec, decode, encode, measure_sizes, moments
from wirelab.contracts.rules import Numbered, choose_numbered, digest, reply
from wirelab.contracts.schema import Contract, Field, Kind, Label, Message
from wirelab.contracts.values import Value
from wirelab.errors import UsageError

XML = f'<EveryKind xmlns="{CONTRACT.xml_namespace}">{{}}</EveryKind>'
SOAP = "http://schemas.xmlsoap.org/soap/envelope/"


def _json(text: str) -> Value:
    return decode(CONTRACT, "EveryKind", text.encode(), Codec.JSON)


def _xml(inner: str) -> Value:
    return decode(CONTRACT, "EveryKind", XML.format(inner).encode(), Codec.XML)


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ('{"singleInt64": "9223372036854775807"}', "single_int64", 2**63 - 1),
        ('{"singleUint64": 18446744073709551615}', "single_uint64", 2**64 - 1),
        ('{"singleDouble": 1}', "single_double", 1.0),
        ('{"singleFloat": 0.1}', "single_float", 0.10000000149011612),
        ('{"singleTimestamp": "2026-11-28T20:00:00+01:00"}', "single_timestamp", (1795892400, 0)),
        ('{"singleDuration": "-0.5s"}', "single_duration", (0, -500_000_000)),
        ('{"singleInt32": null}', "single_int32", 0),
        ('{"unknown": {"a": [1]}}', "single_int32", 0),
        ('{"keyInt64": {"-5": 1}}', "key_int64", {-5: 1}),
        ('{"keyBool": {"true": 1}}', "key_bool", {True: 1}),
        ('{"singleEnum": "COLOUR_ODD"}', "single_enum", -7),
    ],
)
def test_readers_of_json_accept(text: str, field: str, value: object) -> None:
    assert _json(text)[field] == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"singleInt32": 2147483648}', "EveryKind.single_int32: 2147483648 is not in the range"),
        ('{"singleInt32": 1.0}', "EveryKind.single_int32: 1.0 is not an integer"),
        ('{"singleInt32": true}', "EveryKind.single_int32: True is not an integer"),
        ('{"singleInt32": "1.5"}', "EveryKind.single_int32: '1.5' is not an integer"),
        ('{"singleUint64": -1}', "EveryKind.single_uint64: -1 is not in the range"),
        ('{"singleBool": 1}', "EveryKind.single_bool: not a bool but an integer"),
        ('{"singleString": 1}', "EveryKind.single_string: not a text but an integer"),
        ('{"singleBytes": "*"}', "EveryKind.single_bytes: not base64"),
        ('{"singleEnum": "RED"}', "EveryKind.single_enum: 'RED' is not a value of the enum"),
        ('{"singleDouble": "1"}', "EveryKind.single_double: not a number but a text"),
        ('{"singleMessage": {"id": "x"}}', "EveryKind.single_message.id: 'x' is not an integer"),
        ('{"repeatedInt32": {}}', "EveryKind.repeated_int32: not a list but an object"),
        ('{"mapString": []}', "EveryKind.map_string: not an object but a list"),
        ('{"keyInt32": {"x": 1}}', "EveryKind.key_int32: 'x' is not an integer"),
        ('{"singleTimestamp": "yesterday"}', "EveryKind.single_timestamp: 'yesterday' is not a"),
        ('{"singleTimestamp": "2026-02-30T00:00:00Z"}', "EveryKind.single_timestamp: "),
        ('{"singleDuration": "5"}', "EveryKind.single_duration: '5' is not a duration"),
        ('{"choiceText": "", "choiceNumber": 1}', "EveryKind: choice_text and choice_number are"),
        ("[]", "EveryKind: not an object but a list"),
        ("{} {}", "EveryKind: not json"),
        ("[" * 100_000, "EveryKind: not json"),
    ],
)
def test_readers_of_json_refuse_by_path(text: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        _json(text)
    assert raised.value.message.startswith(message), raised.value.message


@pytest.mark.parametrize(
    ("inner", "field", "value"),
    [
        ("<!-- c --> <singleInt32> 5\n</singleInt32>", "single_int32", 5),
        ("<singleString>a<![CDATA[<b>]]>&#13;</singleString>", "single_string", "a<b>\r"),
        ("<singleBool>1</singleBool><other><x/></other>", "single_bool", True),
        ("<singleDouble>1e3</singleDouble>", "single_double", 1000.0),
        ("<mapString><key/><value>x</value></mapString>", "map_string", {"": "x"}),
    ],
)
def test_readers_of_xml_accept(inner: str, field: str, value: object) -> None:
    assert _xml(inner)[field] == value


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        ("<singleInt32/>", "EveryKind.single_int32: '' is not an integer"),
        ("<singleInt32>1</singleInt32><singleInt32>2</singleInt32>", "EveryKind.single_int32: the"),
        ("<singleString><b/></singleString>", "EveryKind.single_string: elements where a text"),
        ("<mapString><key>a</key></mapString>", "EveryKind.map_string: an entry without"),
        ("<singleString>&undefined;</singleString>", "EveryKind: not XML"),
        ("<a>" * 100_000, "EveryKind: not XML"),
    ],
)
def test_readers_of_xml_refuse_by_path(inner: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        _xml(inner)
    assert raised.value.message.startswith(message), raised.value.message


@pytest.mark.parametrize("codec", [Codec.XML, Codec.SOAP_LITERAL])
def test_a_document_type_is_refused_before_its_entities(codec: Codec) -> None:
    levels = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(12))
    bomb = f'<!DOCTYPE r [<!ENTITY e0 "x">{levels}]>{XML.format("&e12;")}'
    outside = f'<!DOCTYPE r SYSTEM "file:///etc/passwd">{XML.format("")}'
    for text in (bomb, outside):
        with pytest.raises(UsageError, match="document type declaration"):
            decode(CONTRACT, "EveryKind", text.encode(), codec)


@pytest.mark.parametrize(
    "body",
    [
        XML.format(""),
        f'<e:Envelope xmlns:e="{SOAP}"/>',
        f'<e:Envelope xmlns:e="{SOAP}"><e:Body/></e:Envelope>',
        f'<e:Envelope xmlns:e="{SOAP}"><e:Body>{2 * XML.format("")}</e:Body></e:Envelope>',
        f'<e:Envelope xmlns:e="{SOAP}"><e:Body><EveryKind/></e:Body></e:Envelope>',
    ],
)
def test_other_envelopes_and_messages_are_refused(body: str) -> None:
    with pytest.raises(UsageError, match=r"EveryKind: (not a SOAP 1\.1 envelope|another element)"):
        decode(CONTRACT, "EveryKind", body.encode(), Codec.SOAP_LITERAL)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"singleString": b"a"}, "not a text but bytes"),
        ({"singleBytes": "a"}, "not bytes but a text"),
        ({"singleInt64": 2.0}, "2.0 is not an integer"),
        ({"singleInt64": "5"}, "'5' is not an integer"),
        ({"singleInt64": None}, "None is not an integer"),
        ({"keyInt32": {5: 1}}, "a key that is not a text|not (cbor|msgpack)"),
        ([], "not an object but a list"),
    ],
)
def test_readers_of_cbor_and_messagepack_refuse_other_types(tree: object, message: str) -> None:
    for codec, content in ((Codec.CBOR, cbor2.dumps(tree)), (Codec.MSGPACK, msgpack.packb(tree))):
        with pytest.raises(UsageError, match=message):
            decode(CONTRACT, "EveryKind", content, codec)


@pytest.mark.parametrize("codec", [Codec.CBOR, Codec.MSGPACK])
def test_bytes_after_the_message_and_claimed_lengths_are_refused(codec: Codec) -> None:
    whole = encode(CONTRACT, "EveryKind", {}, codec)
    claims = {
        Codec.CBOR: [b"\xbb" + b"\xff" * 8, b"\x9b" + b"\x7f" * 8, b"\x81" * 100_000],
        Codec.MSGPACK: [b"\xdf\xff\xff\xff\xff", b"\xdd\xff\xff\xff\xff", b"\x91" * 100_000],
    }
    for content in (whole + b"\0", *claims[codec]):
        with pytest.raises(UsageError, match=f"EveryKind: not {codec}"):
            decode(CONTRACT, "EveryKind", content, codec)


@pytest.mark.parametrize(
    ("value", "codec", "message"),
    [
        ({"single_double": float("nan")}, Codec.JSON, r"EveryKind\.single_double: JSON has no nan"),
        ({"single_string": "\0"}, Codec.XML, r"EveryKind\.single_string: .* U\+0000"),
        ({"map_string": {"\x01": ""}}, Codec.XML, r"EveryKind\.map_string: XML does not allow"),
        ({"single_enum": 5}, Codec.CBOR, r"EveryKind\.single_enum: 5 is not a value of the enum"),
        ({"single_int32": 2**31}, Codec.MSGPACK, r"EveryKind\.single_int32: .* not in the range"),
        ({"single_int32": 2**31}, Codec.PROTOBUF, r"EveryKind\.single_int32: "),
        ({"single_timestamp": (2**40, 0)}, Codec.JSON, r"EveryKind\.single_timestamp: .*9999"),
        ({"single_duration": (1, -1)}, Codec.XML, r"EveryKind\.single_duration: .* not a duration"),
    ],
)  # fmt: skip
def test_writers_refuse_values_that_a_format_does_not_have_by_path(
    value: Value, codec: Codec, message: str
) -> None:
    with pytest.raises(UsageError, match=f"^{message}"):
        encode(CONTRACT, "EveryKind", value, codec)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        ((0, 0), "1970-01-01T00:00:00Z"),
        ((1_700_000_000, 120_000_000), "2023-11-14T22:13:20.120Z"),
        ((-1, 1_000), "1969-12-31T23:59:59.000001Z"),
        ((moments.SECONDS_MIN, 1), "0001-01-01T00:00:00.000000001Z"),
        ((moments.SECONDS_MAX, 0), "9999-12-31T23:59:59Z"),
    ],
)
def test_timestamps_have_the_text_of_rfc_3339(moment: moments.Moment, text: str) -> None:
    assert moments.write_timestamp(moment) == text
    assert moments.read_timestamp(text) == moment


def test_the_digest_follows_its_rules() -> None:
    """Calculated by hand, with the bits of a double from IEEE 754 itself."""
    cases: list[tuple[str, object, int]] = [
        ("single_bool", True, 1 * 1),
        ("single_int32", -1, 2 * (2**64 - 1)),
        ("single_float", 1.0, 12 * 0x3FF0000000000000),
        ("single_double", -2.0, 13 * 0xC000000000000000),
        ("single_double", -0.0, 0),
        ("single_string", "é", 14 * (1 + 0xE9)),
        ("single_string", "😀b", 14 * (2 + 0x1F600)),
        ("single_bytes", b"\xff\x01", 15 * (2 + 255)),
        ("single_timestamp", (5, 6), 16 * 11),
        ("single_duration", (-5, -6), 17 * (2**64 - 11)),
        ("single_enum", -7, 18 * (2**64 - 7)),
        ("single_message", {}, 19 * 1),
        ("single_message", {"id": 3}, 19 * (3 + 1)),
        ("optional_int32", 0, 32 * 1),
        ("optional_timestamp", (0, 0), 46 * 1),
        ("optional_message", {}, 49 * 1),
        ("repeated_int32", [5, 0], 62 * (2 + 5)),
        ("repeated_message", [{}, {"id": 2}], 79 * (2 + 1 + 3)),
        ("key_string", {"a": 4}, 112 * (1 + 1 + 97 + 4)),
        ("choice_number", 0, 152 * 1),
        ("choice_part", {}, 153 * 1),
        ("far", 1, 536870911),
    ]
    for name, value, expected in cases:
        assert digest(CONTRACT, "EveryKind", {name: value}) == expected % 2**64, (name, value)
    assert digest(CONTRACT, "EveryKind", {}) == 0


def test_replies_are_numbered_in_numbers_or_in_texts() -> None:
    fields = (
        Field("s", "s", 1, Kind.STRING),
        Field("n", "n", 2, Kind.FLOAT, Label.REPEATED),
        Field("m", "m", 3, Kind.STRING, Label.MAP, map_key=Kind.INT32),
        Field("b", "b", 4, Kind.BOOL, Label.OPTIONAL),
        Field("o", "o", 5, Kind.STRING, Label.OPTIONAL),
    )
    contract = Contract("p", "S", "Call", "M", "M", (Message("M", fields),))
    text: Value = {"s": "a", "m": {7: "b"}, "b": True}
    assert choose_numbered(contract, text) is Numbered.TEXT
    assert reply(contract, text, 5) == {"s": "a005", "n": [], "m": {7: "b005"}, "b": True}
    assert reply(contract, {}, 5) == {"s": "005", "n": [], "m": {}}, "only the optional is absent"
    numbers: Value = {**text, "n": [0.5, 1e30]}
    assert choose_numbered(contract, numbers) is Numbered.NUMBERS
    made = reply(contract, numbers, 5)
    assert made == {"s": "a", "n": [5.5, 1.0000000150474662e30], "m": {7: "b"}, "b": True}


def test_sizes_are_the_lengths_of_the_encodings() -> None:
    value: Value = {"single_string": "a"}
    assert measure_sizes(CONTRACT, "EveryKind", value) == {
        codec: len(encode(CONTRACT, "EveryKind", value, codec)) for codec in Codec
    }
