"""Hypothesis strategies: contracts with every kind of field, and values of them."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from wirelab.contracts.names import Names, snake_case, xml_name
from wirelab.contracts.schema import Contract, Enum, Field, Kind, Label, Message
from wirelab.contracts.values import FLOAT_MAX, INTEGERS, has_presence, integer_range

XML_TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff").filter(
        lambda char: char in "\t\n\r" or char >= " "
    ),
    max_size=12,
)
JSON_NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8
).filter(lambda name: not (name[:1] == "[" and name[-1:] == "]"))
MAP_KEYS = sorted({Kind.BOOL, Kind.STRING, *INTEGERS})
LEAF = "Leaf"
COLOUR = Enum("Colour", (("COLOUR_NONE", 0), ("COLOUR_RED", 1), ("COLOUR_ODD", -7)))


@st.composite
def fields(draw: Any, number: int, json_name: str, names: Names) -> Field:
    kind = draw(st.sampled_from(sorted(Kind)))
    label = draw(st.sampled_from(sorted(Label)))
    key = draw(st.sampled_from(MAP_KEYS)) if label is Label.MAP else None
    oneof = draw(st.sampled_from(["", "one", "two"])) if label is Label.SINGLE else ""
    type_name = {Kind.ENUM: COLOUR.name, Kind.MESSAGE: LEAF}.get(kind, "")
    name = names.take(snake_case(json_name), json_name)
    return Field(name, json_name, number, kind, label, type_name, key, oneof)


@st.composite
def contracts(draw: Any) -> Contract:
    """One message with up to eight fields, of which some are of a second message."""
    json_names = draw(st.lists(JSON_NAMES, max_size=8, unique_by=xml_name))
    names = Names(["one", "two"], json_names)
    made = [
        draw(fields(number, json_name, names))
        for number, json_name in enumerate(json_names, start=1)
    ]
    leaf = Message(LEAF, (Field("id", "id", 1, Kind.INT32), Field("text", "text", 2, Kind.STRING)))
    root = Message("Root", tuple(made))
    return Contract(
        "wirelab.drawn.v1", "RootService", "Call", "Root", "Root", (root, leaf), (COLOUR,)
    )


def scalars(kind: Kind) -> st.SearchStrategy[Any]:
    """Values of a kind that every format can represent."""
    if kind in INTEGERS:
        limits = integer_range(kind)
        return st.integers(limits[0], limits[-1])
    return {
        Kind.BOOL: st.booleans(),
        Kind.FLOAT: st.floats(-FLOAT_MAX, FLOAT_MAX, width=32),
        Kind.DOUBLE: st.floats(allow_nan=False, allow_infinity=False),
        Kind.STRING: XML_TEXT,
        Kind.BYTES: st.binary(max_size=8),
        Kind.ENUM: st.sampled_from([number for _, number in COLOUR.values]),
        Kind.TIMESTAMP: st.tuples(
            st.integers(-62_135_596_800, 253_402_300_799), st.integers(0, 999_999_999)
        ),
        Kind.DURATION: st.tuples(
            st.integers(-315_576_000_000, 315_576_000_000), st.integers(0, 999_999_999)
        ).map(lambda one: (one[0], int(math.copysign(one[1], one[0])))),
    }[kind]


@st.composite
def values(draw: Any, contract: Contract, message: str) -> dict[str, Any]:
    """A value of a message; fields that can be absent are so at random."""
    done: dict[str, Any] = {}
    chosen = set[str]()
    for field in contract.message_by_name[message].fields:
        if field.oneof in chosen or (has_presence(field) and draw(st.booleans())):
            continue
        if field.oneof:
            chosen.add(field.oneof)
        one = (
            values(contract, field.type_name) if field.kind is Kind.MESSAGE else scalars(field.kind)
        )
        if field.map_key is not None:
            one = st.dictionaries(scalars(field.map_key), one, max_size=3)
        elif field.label is Label.REPEATED:
            one = st.lists(one, max_size=3)
        done[field.name] = draw(one)
    return done


@st.composite
def contracts_and_values(draw: Any) -> tuple[Contract, dict[str, Any]]:
    contract = draw(contracts())
    return contract, draw(values(contract, contract.request))
