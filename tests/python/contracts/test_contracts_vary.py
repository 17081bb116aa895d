"""Varied and scaled requests: seeded, different, of the sample's size."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contracts import every_kind, everyday
from wirelab.contracts.codecs import Codec, decode, encode, measure_sizes
from wirelab.contracts.inference import infer
from wirelab.contracts.rules import number
from wirelab.contracts.schema import Contract, Field, Kind, Message
from wirelab.contracts.values import INTEGERS, clamp, complete, integer_range
from wirelab.contracts.vary import scale_lists, vary_sample, vary_text
from wirelab.errors import UsageError

SAMPLE = everyday.ORDERS["two items"]


def test_the_same_seed_gives_the_same_requests() -> None:
    first = vary_sample(everyday.ORDER, SAMPLE, 1, 5)
    assert vary_sample(everyday.ORDER, SAMPLE, 1, 5) == first
    assert vary_sample(everyday.ORDER, SAMPLE, 1, 2) == first[:2]
    assert vary_sample(everyday.ORDER, SAMPLE, 2, 5) != first


def test_requests_differ_in_every_text_and_number_and_so_do_their_replies() -> None:
    made = vary_sample(everyday.ORDER, SAMPLE, 7, 200)
    for one in made:
        assert one["order_id"] != SAMPLE["order_id"]
        assert one["customer"]["name"] != SAMPLE["customer"]["name"]
        assert len(one["items"]) == 2
    numbers = {number(everyday.ORDER, one) for one in made}
    assert len(numbers) > 150, "of 200 random numbers below 1000, about 181 differ"


def test_the_seed_gives_the_requests_of_earlier_versions() -> None:
    """A run is repeated by its seed."""
    [one] = vary_sample(everyday.ORDER, SAMPLE, 0, 1)
    assert (one["order_id"], one["items"][0]["unit_price"]) == ("5766-697902", 12.86)


@pytest.mark.parametrize("codec", Codec)
def test_a_request_without_booleans_and_enums_keeps_its_length(codec: Codec) -> None:
    text = (
        '{"id": 4711, "price": 19.99, "name": "Grüße an A. Lovelace", "at": "2026-11-28T19:00:00Z",'
        ' "zero": 0, "list": [1, 22, 333, -4444, 250, 70000], "small": -1, "big": 9007199254740993,'
        ' "empty": "", "half": 0.5, "whole": 120.0}'
    )
    source = infer([text], "order")
    contract, sample = source.contract, source.requests[0]
    expected = len(encode(contract, contract.request, sample, codec))
    made = vary_sample(contract, sample, 3, 50)
    assert {len(encode(contract, contract.request, one, codec)) for one in made} == {expected}
    assert all(one["zero"] == 0 and one["empty"] == "" for one in made)
    assert all(one["at"][4] + one["at"][13] == "-:" for one in made)


@pytest.mark.parametrize("kind", sorted(INTEGERS))
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_varied_integer_has_the_length_of_the_sample(kind: Kind, data: st.DataObject) -> None:
    contract = Contract("p", "S", "Call", "M", "M", (Message("M", (Field("a", "a", 1, kind),)),))
    limits = integer_range(kind)
    edges = [one + by for one in (0, *(2**n for n in range(64))) for by in (-1, 0, 1)]
    edges = [one for one in itertools.chain(edges, (-one for one in edges)) if one in limits]
    sample = {"a": data.draw(st.one_of(st.sampled_from(edges), st.integers(limits[0], limits[-1])))}
    expected = measure_sizes(contract, "M", sample)
    for one in vary_sample(contract, sample, data.draw(st.integers()), 3):
        assert one["a"] in limits
        assert (one["a"] < 0) == (sample["a"] < 0)
        assert measure_sizes(contract, "M", one) == expected


@given(text=st.text(), seed=st.integers())
@settings(max_examples=200, deadline=None)
def test_a_varied_text_has_the_same_bytes_and_classes(text: str, seed: int) -> None:
    made = vary_text(text, random.Random(seed))
    assert len(made) == len(text)
    assert len(made.encode(errors="surrogatepass")) == len(text.encode(errors="surrogatepass"))
    for before, after in zip(text, made, strict=True):
        if before.isascii():
            assert (before.isdigit(), before.isupper(), before.islower()) == (
                *(after.isdigit(), after.isupper(), after.islower()),
            )
            assert before.isalnum() or before == after


def test_every_kind_of_field_is_varied_within_its_range() -> None:
    contract = every_kind.CONTRACT
    for name, sample in every_kind.VALUES.items():
        for one in vary_sample(contract, sample, 5, 10):
            for codec in Codec:
                whole = encode(contract, contract.request, one, codec)
                assert decode(contract, contract.request, whole, codec) == one, name
            assert one.keys() == complete(contract, contract.request, sample).keys()
            assert len(one["map_string"]) == len(sample.get("map_string", {}))


@pytest.mark.parametrize(("factor", "count"), [(1, 2), (2, 4), (100, 200), (0.5, 1), (0.1, 1)])
def test_lists_are_scaled(factor: float, count: int) -> None:
    made = scale_lists(everyday.ORDER, "Order", SAMPLE, factor)
    assert len(made["items"]) == len(made["tags"]) == count
    assert made["items"][-1] == SAMPLE["items"][(count - 1) % 2]
    assert made["customer"] == SAMPLE["customer"]
    assert len(SAMPLE["items"]) == 2, "the sample is unchanged"


def test_only_outermost_lists_are_scaled() -> None:
    source = infer(['{"a": {"rows": [{"cells": [1, 2, 3]}]}}'], "table")
    made = scale_lists(source.contract, "Table", source.requests[0], 4)
    assert [len(row["cells"]) for row in made["a"]["rows"]] == [3, 3, 3, 3]


def test_a_sample_without_items_cannot_be_scaled() -> None:
    source = infer(['{"a": 1, "b": []}'], "order")
    with pytest.raises(UsageError, match="no list with items"):
        scale_lists(source.contract, "Order", source.requests[0], 2)


def test_clamping_leaves_room_for_the_greatest_number() -> None:
    contract = every_kind.CONTRACT
    greatest: dict[str, Any] = {
        f"single_{kind}": integer_range(kind)[-1] for kind in sorted(INTEGERS)
    }
    made = clamp(contract, "EveryKind", {**greatest, "repeated_int32": [2**31 - 1, 5]})
    for kind in INTEGERS:
        assert made[f"single_{kind}"] + 999 == integer_range(kind)[-1]
    assert made["repeated_int32"] == [2**31 - 1000, 5]
    assert clamp(contract, "EveryKind", {"single_int32": -(2**31)}) == {"single_int32": -(2**31)}
