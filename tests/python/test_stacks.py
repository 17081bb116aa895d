"""Stack references: canonical form, defaults, and what cannot exist."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirelab import axes, legality
from wirelab.errors import StackError
from wirelab.stacks import Stack


def _values(axis: axes.Axis) -> st.SearchStrategy[str]:
    counted = [f"{word}={number}" for word in axis.counted for number in (1, 8)]
    return st.sampled_from([*axis.values, *counted, *(["65536"] if axis.is_bytes else [])])


points = st.fixed_dictionaries(
    {
        "binding": st.sampled_from(axes.BINDINGS),
        "language": st.just("rust"),
        **{axis.name: _values(axis) for axis in axes.TABLE},
    }
)
"""Any point of the table, legal or not."""


def _written(point: dict[str, str]) -> str:
    named = "&".join(f"{name}={point[name]}" for name in axes.BY_NAME)
    return f"{point['binding']}@{point['language']}?{named}"


@given(points)
def test_a_canonical_reference_is_its_own_canonical_form(point: dict[str, str]) -> None:
    legal = legality.nearest(point)
    stack = Stack.parse(_written(legal))
    assert dict(stack.axes) == legal
    assert Stack.parse(stack.reference) == stack


@given(points)
def test_the_nearest_legal_stack_that_a_refusal_names_is_legal(point: dict[str, str]) -> None:
    try:
        Stack.parse(_written(point))
    except StackError as error:
        Stack.parse(error.remedy.rpartition(" ")[2])


def test_defaults_are_left_out_and_order_is_fixed() -> None:
    stack = Stack.parse("rest@go?connection=close&codec=json&compression=gzip")
    assert stack.reference == "rest@go?compression=gzip&connection=close"
    assert Stack.parse("grpc@go?codec=protobuf&transport=http/2").reference == "grpc@go"


def test_every_axis_has_a_value() -> None:
    assert set(Stack.parse("grpc@go").axes) == {"binding", "language", *axes.BY_NAME}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rest@go?codek=text", "Did you mean 'codec'?"),
        ("rest@go?codec=jsn", "Did you mean 'json'?"),
        ("grcp@go", "Did you mean 'grpc'?"),
        ("rest@go?http=1.0", "Did you mean 'transport'?"),
        ("rest", "names no language"),
        ("rest@go?codec", "has no value"),
        ("rest@go?codec=text&codec=json", "twice"),
        ("rest@go?connection=pool=0", "whole number"),
        ("rest@go?client.tcp_window=much", "number of bytes"),
        ("grpc@go?transport=http/1.1", "gRPC is defined over HTTP/2 only"),
        ("rest@go?codec=protobuf", "the nearest legal stack is rest@go"),
        ("rest@go?transport=http/1.0", "transport=http/1.0&connection=close"),
        ("rest@go?in_flight=multiplex=8", "in_flight=pipeline=8"),
        ("grpc@go?in_flight=pipeline=8", "in_flight=multiplex=8"),
        ("rest@go?connection=close&in_flight=pipeline=2", "a connection per call"),
        ("rest@go?server.h2_window=65535", "no flow-control window"),
    ],
)
def test_what_is_wrong_is_refused_with_the_way_out(text: str, said: str) -> None:
    with pytest.raises(StackError) as caught:
        Stack.parse(text)
    assert said in str(caught.value)


def test_the_engine_is_told_every_axis_of_its_side() -> None:
    stack = Stack.parse(
        "grpc@go?connection=pool=4&in_flight=multiplex=10&client.h2_window=64KiB"
        "&client.quickack=on&client.nagle=on&client.writes=split&work=frame"
    )
    assert stack.engine_stack() == {
        "binding": "grpc",
        "codec": "protobuf",
        "compression": "none",
        "transport": "http/2",
        "connection": {"close": False, "count": 4, "in_flight": 10},
        "writes": "split",
        "nagle": True,
        "quickack": True,
        "tcp_window": None,
        "h2_window": 65536,
        "work": "frame",
    }


def test_the_service_is_told_every_axis_of_its_side() -> None:
    stack = Stack.parse(
        "rest@go?transport=http/1.0&connection=close&server.nagle=on&server.writes=split"
    )
    assert stack.service_stack()["transport"] == "http/1.1"
    assert stack.service_socket() == {
        "nagle": True,
        "writes": "split",
        "quickack": None,
        "tcp_window": None,
        "h2_window": None,
    }
