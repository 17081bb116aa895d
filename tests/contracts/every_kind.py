"""A contract with every kind of field, and values that differ in every rule."""

from __future__ import annotations

from typing import Any

from wirelab.contracts.schema import Contract, Enum, Field, Kind, Label, Message

SCALARS = tuple(kind for kind in Kind if kind not in (Kind.ENUM, Kind.MESSAGE))


def _fields(label: Label, first: int, prefix: str) -> list[Field]:
    """One field of each kind."""
    made = [
        Field(f"{prefix}_{kind}", _camel(prefix, kind), first + at, kind, label)
        for at, kind in enumerate(SCALARS)
    ]
    number = first + len(SCALARS)
    return [
        *made,
        Field(f"{prefix}_enum", _camel(prefix, "enum"), number, Kind.ENUM, label, "Colour"),
        Field(
            f"{prefix}_message", _camel(prefix, "message"), number + 1, Kind.MESSAGE, label, "Part"
        ),
    ]


def _camel(prefix: str, kind: str) -> str:
    return f"{prefix}{kind.capitalize()}"


MAP_KEYS = (
    Kind.BOOL, Kind.INT32, Kind.INT64, Kind.UINT32, Kind.UINT64, Kind.SINT32, Kind.SINT64,
    Kind.FIXED32, Kind.FIXED64, Kind.SFIXED32, Kind.SFIXED64, Kind.STRING,
)  # fmt: skip


def _maps() -> list[Field]:
    """Every kind of key, and every kind of value."""
    keys = [
        Field(f"key_{kind}", _camel("key", kind), 101 + at, Kind.INT32, Label.MAP, map_key=kind)
        for at, kind in enumerate(MAP_KEYS)
    ]
    values = [
        Field(f"map_{kind}", _camel("map", kind), 121 + at, kind, Label.MAP, map_key=Kind.STRING)
        for at, kind in enumerate(SCALARS)
    ]
    return [
        *keys,
        *values,
        Field("map_enum", "mapEnum", 141, Kind.ENUM, Label.MAP, "Colour", Kind.INT32),
        Field("map_message", "mapMessage", 142, Kind.MESSAGE, Label.MAP, "Part", Kind.INT64),
    ]


def _oneof() -> list[Field]:
    return [
        Field("choice_text", "choiceText", 151, Kind.STRING, oneof="choice"),
        Field("choice_number", "choiceNumber", 152, Kind.INT64, oneof="choice"),
        Field("choice_part", "choicePart", 153, Kind.MESSAGE, type_name="Part", oneof="choice"),
        Field("choice_enum", "choiceEnum", 154, Kind.ENUM, type_name="Colour", oneof="choice"),
        Field("choice_time", "choiceTime", 155, Kind.TIMESTAMP, oneof="choice"),
        Field("other_bytes", "otherBytes", 156, Kind.BYTES, oneof="other"),
        Field("other_double", "otherDouble", 157, Kind.DOUBLE, oneof="other"),
    ]


JSON_NAMES = (
    "with space", "1st", "a.b", "a:b", "x-y", "@id", "$ref", "__proto__", "../x", "class", "Größe",
    "日本", "😀", "a&<b>\"c'\\", "line\nbreak", "",
)  # fmt: skip
"""Of fields; most are neither identifiers nor names of XML."""

CONTRACT = Contract(
    package="wirelab.everykind.v1",
    service="EveryKindService",
    method="Call",
    request="EveryKind",
    reply="EveryKindReply",
    messages=(
        Message(
            "EveryKind",
            (
                *_fields(Label.SINGLE, 1, "single"),
                *_fields(Label.OPTIONAL, 31, "optional"),
                *_fields(Label.REPEATED, 61, "repeated"),
                *_maps(),
                *_oneof(),
                Field("named", "named", 171, Kind.MESSAGE, type_name="Named"),
                Field("far", "far", 536870911, Kind.INT32),
            ),
        ),
        Message(
            "EveryKindReply",
            (
                Field("status", "status", 1, Kind.STRING),
                Field("copy", "copy", 2, Kind.MESSAGE, type_name="EveryKind"),
                Field("copies", "copies", 3, Kind.MESSAGE, Label.REPEATED, "EveryKind"),
            ),
        ),
        Message(
            "Part",
            (
                Field("id", "id", 1, Kind.INT32),
                Field("name", "name", 2, Kind.STRING),
                Field("inner", "inner", 3, Kind.MESSAGE, Label.OPTIONAL, "Part_Inner"),
            ),
        ),
        Message("Part_Inner", (Field("values", "values", 1, Kind.DOUBLE, Label.REPEATED),)),
        Message(
            "Named",
            tuple(
                Field(f"named_{at}", name, at, Kind.STRING)
                for at, name in enumerate(JSON_NAMES, start=1)
            ),
        ),
    ),
    enums=(Enum("Colour", (("COLOUR_UNSPECIFIED", 0), ("COLOUR_RED", 1), ("COLOUR_ODD", -7))),),
)

PART = {"id": 7, "name": "näme", "inner": {"values": [0.5, -1.25]}}
LARGE: dict[Kind, Any] = {
    Kind.BOOL: True,
    Kind.INT32: 2**31 - 1000,
    Kind.INT64: 2**63 - 1000,
    Kind.UINT32: 2**32 - 1000,
    Kind.UINT64: 2**64 - 1000,
    Kind.SINT32: -(2**31),
    Kind.SINT64: -(2**63),
    Kind.FIXED32: 2**32 - 1000,
    Kind.FIXED64: 2**64 - 1000,
    Kind.SFIXED32: -(2**31),
    Kind.SFIXED64: -(2**63),
    Kind.FLOAT: 3.4028234663852886e38,
    Kind.DOUBLE: 1.7976931348623157e308,
    Kind.STRING: "😀 é & < > ]]> \" ' \\ \t\n",
    Kind.BYTES: b"\x00\x7f\x80\xff\xfe",
    Kind.ENUM: -7,
    Kind.MESSAGE: PART,
    Kind.TIMESTAMP: (253402300799, 999999999),
    Kind.DURATION: (-315576000000, -1),
}
"""Near the ends of the ranges; n up to 999 still fits."""
SMALL: dict[Kind, Any] = {
    Kind.BOOL: True,
    Kind.INT32: -1,
    Kind.INT64: -(2**53) - 1,
    Kind.UINT32: 1,
    Kind.UINT64: 2**53 + 1,
    Kind.SINT32: -64,
    Kind.SINT64: 64,
    Kind.FIXED32: 255,
    Kind.FIXED64: 65536,
    Kind.SFIXED32: -128,
    Kind.SFIXED64: -129,
    Kind.FLOAT: 0.10000000149011612,
    Kind.DOUBLE: 0.1,
    Kind.STRING: "a",
    Kind.BYTES: b"\xff\x00",
    Kind.ENUM: 1,
    Kind.MESSAGE: {"id": 1, "name": "b"},
    Kind.TIMESTAMP: (1700000000, 120000000),
    Kind.DURATION: (3, 500000000),
}
ZERO: dict[Kind, Any] = {
    **dict.fromkeys(Kind, 0),
    Kind.BOOL: False,
    Kind.FLOAT: -0.0,
    Kind.DOUBLE: -0.0,
    Kind.STRING: "",
    Kind.BYTES: b"",
    Kind.MESSAGE: {},
    Kind.TIMESTAMP: (0, 0),
    Kind.DURATION: (0, 0),
}


def value_of(labels: set[Label], source: dict[Kind, Any], chosen: tuple[str, ...] = ()) -> Any:
    """A value whose fields with these labels are set, and the members of oneofs by name."""
    done: dict[str, Any] = {}
    for field in CONTRACT.message_by_name["EveryKind"].fields:
        if field.oneof:
            if field.name in chosen:
                done[field.name] = source[field.kind]
        elif field.name == "named" or field.label not in labels:
            continue
        elif field.label is Label.MAP:
            assert field.map_key is not None
            done[field.name] = {
                SMALL[field.map_key]: source[field.kind],
                LARGE[field.map_key] if field.map_key is not Kind.BOOL else False: SMALL[
                    field.kind
                ],
            }
        elif field.label is Label.REPEATED:
            done[field.name] = [source[field.kind], SMALL[field.kind], ZERO[field.kind]]
        else:
            done[field.name] = source[field.kind]
    return done


ALL = set(Label)
NAMED = {f"named_{at}": name or "empty" for at, name in enumerate(JSON_NAMES, start=1)}
VALUES: dict[str, Any] = {
    "nothing": {},
    "only optional zeros": value_of({Label.OPTIONAL}, ZERO, ("choice_number", "other_bytes")),
    "single": value_of({Label.SINGLE}, SMALL, ("choice_text", "other_double")),
    "optional": value_of({Label.OPTIONAL}, SMALL, ("choice_part",)),
    "repeated": value_of({Label.REPEATED}, SMALL, ("choice_enum",)),
    "maps": value_of({Label.MAP}, SMALL, ("choice_time",)),
    "large": value_of(ALL, LARGE, ("choice_number", "other_double")),
    "empty message": {"single_message": {}, "choice_part": {}, "named": {}},
    "names": {"named": NAMED},
    "everything": {**value_of(ALL, SMALL, ("choice_text", "other_bytes")), "named": NAMED},
}
_SMALL_REPLY = value_of(ALL, SMALL, ("choice_number", "other_double"))
_LARGE_REPLY = value_of(ALL, LARGE, ("choice_part",))
SAMPLE_REPLY: Any = {
    "status": "accepted",
    "copy": {**_SMALL_REPLY, "named": NAMED},
    "copies": [_LARGE_REPLY, {}, value_of({Label.OPTIONAL}, ZERO, ("choice_text",))],
}
