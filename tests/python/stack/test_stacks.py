"""Stack references: canonical form, defaults, and what cannot exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirelab.errors import StackError
from wirelab.process.services import Settings
from wirelab.stack import axes
from wirelab.stack import rules as legality
from wirelab.stack.axes import document
from wirelab.stack.reference import Stack


def _values(axis: axes.Axis) -> st.SearchStrategy[str]:
    counted = [f"{word}={number}" for word in axis.counted for number in (1, 8)]
    unit = axis.number.unit if axis.number else ""
    numbers = {
        "bytes": ["65536"],
        "milliseconds": ["0", "40"],
        "segments": ["1", "1000"],
        "connections": ["10", "100"],
    }
    return st.sampled_from([*axis.names, *counted, *numbers.get(unit, [])])


points = st.fixed_dictionaries(
    {
        "binding": st.sampled_from(axes.BINDINGS),
        "language": st.just("rust"),
        **{axis.name: _values(axis) for axis in axes.TABLE},
    }
)
"""Any point of the table, legal or not."""


def _write_reference(point: dict[str, str]) -> str:
    named = "&".join(f"{name}={point[name]}" for name in axes.BY_NAME)
    return f"{point['binding']}@{point['language']}?{named}"


@given(points)
def test_a_canonical_reference_is_its_own_canonical_form(point: dict[str, str]) -> None:
    legal = legality.nearest(point)
    stack = Stack.parse(_write_reference(legal))
    assert dict(stack.axes.texts) == legal
    assert Stack.parse(stack.reference) == stack


@given(points)
def test_the_nearest_legal_stack_that_a_refusal_names_is_legal(point: dict[str, str]) -> None:
    try:
        Stack.parse(_write_reference(point))
    except StackError as error:
        Stack.parse(error.remedy.rpartition(" ")[2])


def test_defaults_are_left_out_and_order_is_fixed() -> None:
    stack = Stack.parse("rest@go?connection=close&codec=json&compression=gzip")
    assert stack.reference == "rest@go?compression=gzip&connection=close"
    assert Stack.parse("grpc@go?codec=protobuf&transport=http/2").reference == "grpc@go"


def test_every_axis_has_a_value() -> None:
    assert set(Stack.parse("grpc@go").axes.texts) == {"binding", "language", *axes.BY_NAME}


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
        ("rest@go?codec=cdr", "the nearest legal stack is rest@go"),
        ("rest@go?transport=http/1.0", "transport=http/1.0&connection=close"),
        ("rest@go?in_flight=multiplex=8", "in_flight=pipeline=8"),
        ("grpc@go?in_flight=pipeline=8", "in_flight=multiplex=8"),
        ("rest@go?connection=close&in_flight=pipeline=2", "a connection per call"),
        ("rest@go?server.h2_window=65535", "flow-control window"),
        ("rest@go?tls=on", "Did you mean 'security'?"),
        ("rest@go?transport=tcp", "nearest legal stack is rest@go"),
        ("soap@go?codec=xml", "nearest legal stack is soap@go"),
        ("soap@go?codec=soap-encoded&soap=1.2", "stack is soap@go?codec=soap-encoded"),
        ("rest@go?soap=1.2", "only binding soap has versions"),
        ("iiop@java?transport=http/1.1", "without HTTP"),
        ("iiop@java?codec=soap-literal", "iiop serves cdr only"),
        ("iiop@java?compression=gzip", "GIOP 1.2 has no compression"),
        ("iiop@java?in_flight=pipeline=8", "in_flight=multiplex=8"),
        ("raw@rust?byte_order=big", "only GIOP lets a sender"),
        ("raw@rust?token_source=text", "only token-xml has a source"),
        ("raw@rust?in_flight=multiplex=8", "in_flight=pipeline=8"),
        ("raw@rust?client.writes=split", "in one send"),
        ("rest@go?reply=one-way", "only raw has a report"),
        ("raw@rust?reply=one-way&connection=close", "stack is raw@rust?reply=one-way"),
        ("raw@rust?reply=one-way&socket=unix", "stack is raw@rust?reply=one-way"),
        ("rest@go?end_of_message=until-close", "connection=close&end_of_message=until-close"),
        ("grpc@go?end_of_message=until-close", "only HTTP/1.x replies"),
        ("rest@go?close_delay=40", "the service closes connections with"),
        ("rest@go?store_pool=4", "a store in memory has no connections"),
        ("rest@go?store=sqlite&max_connections=20", "only PostgreSQL limits"),
        ("rest@go?store=postgres&store_pool=0", "write 1 to 10,000, or 'driver'"),
        ("rest@go?store=postgres&max_connections=5", "write 10 to 100,000"),
        ("rest@java?repository=jdbc", "rows in memory are reached without a library"),
        ("rest@java?fetch=join", "rows in memory are read without statements"),
        ("rest@java?parser=jdk", "only binding soap has a parser"),
        ("soap@java?parser=xerces-sax", "for codec soap-encoded"),
        ("soap@java?codec=soap-encoded&parser=woodstox", "is soap@java?codec=soap-encoded"),
        ("rest@java?dto=off", "Did you mean 'mapper'"),
        ("rest@java?store=h2&repository=hibernate", "Known: "),
        ("rest@go?store=oracle", "has no value 'oracle'"),
        ("rest@go?close_delay=soon", "number of milliseconds"),
        ("rest@go?close_delay=0.5ms", "whole number of milliseconds"),
        ("rest@go?close_delay=2 min", "write 0 to 60,000 ms"),
        ("rest@go?server.cpu=5%", "write 10% to 100%"),
        ("rest@go?client.cpu=half", "Known: "),
        ("rest@go?initial_window=0", "write 1 to 1,000, or 'kernel'"),
        ("rest@go?initial_window=1001", "not a valid window"),
        ("rest@go?initial_window=wide", "Known: "),
        ("rest@go?after_idle=no", "Known: "),
        ("rest@go?socket=unix&after_idle=keep", "not of Unix sockets"),
        ("rest@go?socket=unix&initial_window=64", "not of Unix sockets"),
        ("rest@go?socket=unix&server.nagle=on", "not of Unix sockets"),
        ("rest@go?socket=unix&server.tcp_window=9000", "not of Unix sockets"),
        ("rest@go?server.tcp_window=wide", "number of bytes"),
        ("grpc@go?caller=ghz&security=tls", "nearest legal stack is grpc@go?caller=ghz"),
        ("grpc@go?caller=ghz&compression=zstd", "compression=gzip&caller=ghz"),
    ],
)
def test_an_invalid_stack_is_refused_with_the_remedy(text: str, said: str) -> None:
    with pytest.raises(StackError) as caught:
        Stack.parse(text)
    assert said in str(caught.value)


def test_the_engine_gets_the_axes_that_differ_from_the_defaults() -> None:
    stack = Stack.parse(
        "grpc@go?connection=pool=4&in_flight=multiplex=10&client.h2_window=64KiB"
        "&client.quickack=on&client.nagle=on&client.writes=split&work=frame"
    )
    assert stack.engine_stack() == {
        "binding": "grpc",
        "connection": "pool=4",
        "in_flight": "multiplex=10",
        "client.writes": "split",
        "client.nagle": "on",
        "client.quickack": "on",
        "client.h2_window": "65536",
        "work": "frame",
    }


def test_the_service_gets_every_axis_of_its_side() -> None:
    stack = Stack.parse(
        "rest@go?transport=http/1.0&connection=close&server.nagle=on&server.writes=split"
        "&server.tcp_window=16 KiB"
    )
    assert stack.service_stack() == {
        "binding": "rest",
        "codec": "json",
        "compression": "none",
        "transport": "http/1.0",
        "security": "none",
    }
    assert stack.service_socket() == {
        "nagle": True,
        "writes": "split",
        "quickack": None,
        "tcp_window": 16384,
        "h2_window": None,
    }


def test_the_service_gets_the_axes_that_only_some_stacks_have() -> None:
    soap = Stack.parse(
        "soap@rust?soap=1.2&transport=http/1.0&connection=close&security=mtls"
        "&end_of_message=until-close&close_delay=40 ms"
    )
    assert soap.reference.endswith("end_of_message=until-close&close_delay=40&security=mtls")
    assert soap.service_stack() == {
        "binding": "soap",
        "codec": "soap-literal",
        "soap": "1.2",
        "compression": "none",
        "transport": "http/1.0",
        "security": "mtls",
        "end_of_message": "until-close",
        "close_delay_ms": 40,
    }
    iiop = Stack.parse("iiop@java?byte_order=big")
    assert "byte_order" not in iiop.service_stack()
    raw = Stack.parse("raw@rust?codec=token-xml&token_source=text&reply=one-way")
    assert raw.service_stack()["reply"] == "one-way"


def test_a_service_gets_the_parser_that_was_chosen() -> None:
    """Only services in Java know the key."""
    assert "parser" not in Stack.parse("soap@java").service_stack()
    assert Stack.parse("soap@java?parser=aalto").service_stack()["parser"] == "aalto"


def test_a_service_gets_the_options_of_petclinic_that_differ_from_the_defaults() -> None:
    """No other service knows the key."""
    assert Stack.parse("rest@java?store=h2").service_options() == {}
    assert "options" not in Settings().configuration(Stack.parse("rest@java"), "petclinic")
    stack = Stack.parse("rest@java?store=h2&repository=jdbc&fetch=join&mapper=off&validation=off")
    options = {"repository": "jdbc", "fetch": "join", "mapper": "off", "validation": "off"}
    assert stack.service_options() == options
    assert Settings().configuration(stack, "petclinic")["options"] == options
    assert stack.engine_stack()["validation"] == "off"


KANGASHARJU2003 = {
    "HTTP": "soap@rust?transport=http/1.0&connection=close",
    "PTCP": "raw@rust?connection=close",
    "TCPZ": "raw@rust?compression=gzip&connection=close",
    "Pers": "raw@rust",
    "Perz": "raw@rust?compression=gzip",
    "Bper": "raw@rust?codec=token-xml",
    "Pera": "raw@rust?reply=one-way",
}
"""The seven protocols of Kangasharju, Tarkoma and Raatikainen (2003, section 2)."""

_AXIS = "soap@rust?codec=soap-encoded&transport=http/1.0&connection=close"
ELFWING2002 = {
    "CORBA": "iiop@java",
    "0 as shipped": f"{_AXIS}&end_of_message=until-close&close_delay=340"
    "&server.writes=split&server.nagle=on",
    "1 content length read": f"{_AXIS}&server.writes=split&server.nagle=on",
    "2 header and body in one packet": f"{_AXIS}&server.nagle=on",
    "2' Nagle off": f"{_AXIS}&server.writes=split",
    "HTTP/1.1, never measured": "soap@rust?codec=soap-encoded&server.nagle=on",
}
"""The steps of Elfwing and Paulsson (2002). Step 3, another XML parser, is the service's."""


@pytest.mark.parametrize("reference", [*KANGASHARJU2003.values(), *ELFWING2002.values()])
def test_stacks_of_the_studies_are_points_of_the_table(reference: str) -> None:
    assert Stack.parse(reference).reference == reference
    assert len({*KANGASHARJU2003.values()}) == 7
    assert len({*ELFWING2002.values()}) == 6


def _list_differing_axes(before: str, after: str) -> set[str]:
    return set(Stack.parse(before).list_differing_axes(Stack.parse(after)))


def test_the_studies_protocols_differ_by_single_axes() -> None:
    step = KANGASHARJU2003
    assert _list_differing_axes(step["PTCP"], step["TCPZ"]) == {"compression"}
    assert _list_differing_axes(step["PTCP"], step["Pers"]) == {"connection"}
    assert _list_differing_axes(step["Pers"], step["Perz"]) == {"compression"}
    assert _list_differing_axes(step["Pers"], step["Bper"]) == {"codec"}
    assert _list_differing_axes(step["Pers"], step["Pera"]) == {"reply"}
    assert _list_differing_axes(step["HTTP"], step["PTCP"]) == {"binding", "transport"}
    ladder = ELFWING2002
    assert _list_differing_axes(ladder["0 as shipped"], ladder["1 content length read"]) == {
        "end_of_message",
        "close_delay",
    }
    packets = "2 header and body in one packet"
    assert _list_differing_axes(ladder["1 content length read"], ladder[packets]) == {
        "server.writes"
    }
    assert _list_differing_axes(ladder["1 content length read"], ladder["2' Nagle off"]) == {
        "server.nagle"
    }


def test_the_guide_names_every_axis_and_value() -> None:
    guide = (Path(__file__).resolve().parents[3] / "docs" / "guide.md").read_text(encoding="utf-8")
    for binding in axes.BINDINGS:
        # The first table of the guide is that of bindings; others have rows of these names, too.
        row = re.findall(rf"^\| `{binding}`.*$", guide, re.MULTILINE)[0]
        assert all(f"`{codec}`" in row for codec in document.bindings[binding].codecs)
        assert f"`{axes.default(binding, 'transport')}`" in row
    for axis in axes.TABLE:
        assert f"`{axis.name}`" in guide or axis.name in ("codec", "transport")
        words = [*axis.names, *(f"{word}=N" for word in axis.counted)]
        assert all(f"`{word}`" in guide for word in words), axis.name
