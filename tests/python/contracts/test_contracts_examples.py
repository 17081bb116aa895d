"""Values for contracts without samples: complete, legal in every codec, the same after a trip."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.contracts import every_kind
from wirelab.contracts import inference
from wirelab.contracts.codecs import Codec, decode, encode, measure_sizes
from wirelab.contracts.examples import make_example
from wirelab.contracts.schema import Contract, Field, Kind, Label, Message
from wirelab.contracts.values import complete

ORDER = Path(__file__).parents[3] / "examples/order.json"
TREE = Contract(
    "wirelab.tree.v1",
    "TreeService",
    "Grow",
    "Tree",
    "Tree",
    (
        Message(
            "Tree",
            (
                Field("name", "name", 1, Kind.STRING),
                Field("children", "children", 2, Kind.MESSAGE, Label.REPEATED, "Tree"),
                Field("by_flag", "byFlag", 3, Kind.DOUBLE, Label.MAP, map_key=Kind.BOOL),
                Field("left", "left", 4, Kind.INT32, oneof="side"),
                Field("right", "right", 5, Kind.INT32, oneof="side"),
                Field("seen", "seen", 6, Kind.TIMESTAMP),
            ),
        ),
    ),
)


@pytest.mark.parametrize("codec", list(Codec))
def test_an_example_survives_every_codec(codec: Codec) -> None:
    order = inference.infer([ORDER.read_bytes()], "order").contract
    for contract in (order, TREE):
        value = make_example(contract, contract.request)
        content = encode(contract, contract.request, value, codec)
        expected = complete(contract, contract.request, value)
        assert decode(contract, contract.request, content, codec) == expected


def test_every_field_has_a_value_and_recursion_ends() -> None:
    value = make_example(TREE, "Tree")
    assert set(value) == {"name", "by_flag", "left", "seen"}
    assert value["by_flag"] == {False: 1234.5, True: 1234.5}
    order = inference.infer([ORDER.read_bytes()], "order").contract
    made = make_example(order, "Order")
    assert set(made) == {field.name for field in order.message_by_name["Order"].fields}
    assert len(json.dumps(made)) < 10_000


def test_an_example_sets_every_field_but_one_of_each_oneof() -> None:
    contract = every_kind.CONTRACT
    made = make_example(contract, contract.request)
    missing = {f.name for f in contract.message_by_name["EveryKind"].fields} - made.keys()
    assert missing == {
        *("choice_number", "choice_part", "choice_enum", "choice_time", "other_double")
    }
    assert len(made["repeated_message"]) == 3
    assert all(size > 0 for size in measure_sizes(contract, contract.request, made).values())
