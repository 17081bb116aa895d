"""Which points of the axis table exist, and which legal one is nearest.

Three kinds of rule: what protocols allow (:data:`RULES`, here), which operations a
stack carries (:mod:`wirelab.operations`), and what a service says of itself (its
manifest, :mod:`wirelab.manifests`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from wirelab import axes as table
from wirelab.link_names import LOOPBACK

Axes = Mapping[str, str]


@dataclass(frozen=True)
class Rule:
    """One combination that cannot exist."""

    broken: Callable[[Axes], bool]
    reason: str
    repair: Mapping[str, str]
    """The smallest change that makes it legal."""


CODECS: Mapping[str, tuple[str, ...]] = {
    "rest": ("json", "text", "protobuf", "xml"),
    "soap": ("soap-literal", "soap-rpc", "soap-encoded"),
    "grpc": ("protobuf",),
    "iiop": ("cdr",),
    "raw": ("soap-literal", "token-xml"),
}
"""Binding -> codecs that it carries, the nearest first (contracts/README.md)."""

HTTP1 = ("http/1.0", "http/1.1")

OF_LINKS: Mapping[str, str] = {
    "congestion": "congestion control",
    "initial_window": "initial window",
    "after_idle": "setting for pauses",
}
"""Axis that a link sets at both of its ends -> what loopback has of the machine instead."""


def _is(axis: str, *values: str) -> Callable[[Axes], bool]:
    return lambda axes: axes[axis] in values


def _carries(binding: str) -> Rule:
    codecs = CODECS[binding]
    return Rule(
        lambda axes: axes["binding"] == binding and axes["codec"] not in codecs,
        f"{binding} serves {', '.join(codecs)} only",
        {"codec": codecs[0]},
    )


def _belongs(axis: str, where: Callable[[Axes], bool], reason: str) -> Rule:
    """The axis has its default wherever this does not hold."""
    only = table.BY_NAME[axis].default
    return Rule(lambda axes: axes[axis] != only and not where(axes), reason, {axis: only})


def _ghz_has(axis: str, reason: str) -> Rule:
    """ghz does one thing where the engine has a choice: the axis's default."""
    only = table.BY_NAME[axis].default
    return Rule(
        lambda axes: axes["caller"] == "ghz" and axes[axis] != only,
        f"{reason}: with caller=ghz {axis} can only be {only}",
        {axis: only},
    )


_OF_BINDING = (
    Rule(
        lambda axes: axes["binding"] == "grpc" and axes["transport"] != "http/2",
        "gRPC is defined over HTTP/2 only",
        {"transport": "http/2"},
    ),
    Rule(
        lambda axes: axes["binding"] in ("rest", "soap") and axes["transport"] == "tcp",
        "rest and soap are spoken over HTTP",
        {"transport": "http/1.1"},
    ),
    Rule(
        lambda axes: axes["binding"] in ("iiop", "raw") and axes["transport"] != "tcp",
        "iiop and raw frame their messages themselves, without HTTP",
        {"transport": "tcp"},
    ),
    *(_carries(binding) for binding in table.BINDINGS),
    _belongs("soap", _is("binding", "soap"), "only binding soap has versions of SOAP"),
    Rule(
        lambda axes: axes["soap"] == "1.2" and axes["codec"] == "soap-encoded",
        "soap-encoded is the encoding of SOAP 1.1 section 5",
        {"soap": "1.1"},
    ),
    _belongs(
        "compression", _is("binding", "rest", "soap", "grpc", "raw"), "GIOP 1.2 has no compression"
    ),
    _belongs("byte_order", _is("binding", "iiop"), "only GIOP lets a sender choose its byte order"),
    _belongs("token_source", _is("codec", "token-xml"), "only token-xml has a source to choose"),
    _belongs("token_cache", _is("codec", "token-xml"), "only token-xml has a cache"),
    _belongs(
        "reply",
        _is("binding", "raw"),
        "only raw has a report of what was processed, which calls without a reply need",
    ),
    _belongs(
        "client.writes",
        _is("binding", "rest", "soap", "grpc"),
        "the client's iiop and raw messages go out in one send",
    ),
)

_OF_CONNECTIONS = (
    Rule(
        lambda axes: axes["transport"] == "http/1.0" and axes["connection"] != "close",
        "HTTP/1.0 ends every connection after its reply (RFC 1945 section 1.3)",
        {"connection": "close"},
    ),
    Rule(
        lambda axes: axes["reply"] == "one-way" and axes["connection"] == "close",
        "what was processed is reported by connection, which must stay",
        {"connection": "keep"},
    ),
    Rule(
        lambda axes: axes["end_of_message"] == "chunked" and axes["transport"] != "http/1.1",
        "chunks exist in HTTP/1.1 only (RFC 9112 section 7.1)",
        {"end_of_message": "content-length"},
    ),
    _belongs(
        "end_of_message",
        _is("transport", *HTTP1),
        "only HTTP/1.x replies can end with their connection",
    ),
    Rule(
        lambda axes: axes["end_of_message"] == "until-close" and axes["connection"] != "close",
        "a reply that ends with its connection needs one per call",
        {"connection": "close"},
    ),
    _belongs(
        "close_delay",
        lambda axes: axes["transport"] == "http/1.0" or axes["end_of_message"] == "until-close",
        "the service closes connections with transport=http/1.0 or end_of_message=until-close only",
    ),
    Rule(
        lambda axes: axes["connection"] == "close" and axes["in_flight"] != "1",
        "a connection per call carries one call",
        {"in_flight": "1"},
    ),
    Rule(
        lambda axes: axes["in_flight"].startswith("pipeline") and axes["transport"] == "http/2",
        "HTTP/2 interleaves calls and does not pipeline them",
        {"in_flight": "multiplex"},
    ),
    Rule(
        lambda axes: axes["in_flight"].startswith("pipeline") and axes["binding"] == "iiop",
        "GIOP numbers its calls and answers them in any order",
        {"in_flight": "multiplex"},
    ),
    Rule(
        lambda axes: (
            axes["in_flight"].startswith("multiplex")
            and axes["transport"] != "http/2"
            and axes["binding"] != "iiop"
        ),
        "HTTP/1.x and raw answer in order and cannot multiplex",
        {"in_flight": "pipeline"},
    ),
)

_OF_SOCKETS = (
    *(
        _belongs(
            axis, _is("transport", "http/2"), "only HTTP/2 has a flow-control window of its own"
        )
        for axis in ("client.h2_window", "server.h2_window")
    ),
    Rule(
        lambda axes: axes["socket"] == "unix" and axes["reply"] == "one-way",
        "what was processed is reported by port, and Unix sockets have none",
        {"socket": "tcp"},
    ),
    *(
        _belongs(axis, _is("socket", "tcp"), f"{axis} is an option of TCP, not of Unix sockets")
        for axis in (
            *("client.nagle", "server.nagle", "client.quickack"),
            *("client.tcp_window", "server.tcp_window"),
            *OF_LINKS,
        )
    ),
)

_OF_CALLERS = (
    Rule(
        lambda axes: axes["caller"] == "ghz" and axes["binding"] != "grpc",
        "ghz speaks gRPC only",
        {"caller": "engine"},
    ),
    Rule(
        lambda axes: axes["caller"] == "ghz" and axes["compression"] == "zstd",
        "ghz compresses by gzip only",
        {"compression": "gzip"},
    ),
    _ghz_has("connection", "ghz keeps its connections, one per user"),
    _ghz_has("in_flight", "a user of ghz waits for its reply on a connection of its own"),
    _ghz_has("work", "ghz decodes every reply"),
    _ghz_has("security", "the lab hands ghz no certificates"),
    _ghz_has("socket", "the lab gives ghz an address and a port"),
    *(
        _ghz_has(axis.name, "ghz has no switch for it")
        for axis in table.TABLE
        if axis.name.startswith("client.") and axis.name != "client.cpu"
    ),
)

RULES: tuple[Rule, ...] = (*_OF_BINDING, *_OF_CONNECTIONS, *_OF_SOCKETS, *_OF_CALLERS)
"""What protocols, sockets and callers allow, in the order in which it is checked."""


def first_broken(axes: Axes) -> Rule | None:
    """The first rule that these axes break."""
    return next((rule for rule in RULES if rule.broken(axes)), None)


def nearest(axes: Axes) -> dict[str, str]:
    """The legal axes that few changes lead to: each broken rule repaired in turn."""
    legal = dict(axes)
    for _ in RULES:
        rule = first_broken(legal)
        if rule is None:
            break
        legal.update({name: _repaired(legal[name], value) for name, value in rule.repair.items()})
    return legal


def _repaired(old: str, new: str) -> str:
    """``pipeline=8`` repaired to ``multiplex`` stays 8."""
    _, counted, number = old.partition("=")
    return f"{new}={number}" if counted and new in ("pipeline", "multiplex") else new


def link_rule(link: str, axes: Axes) -> Rule | None:
    """Why a stack cannot be over that link, and the repair; None when it can."""
    if link == LOOPBACK:
        others = {name: table.BY_NAME[name].default for name in OF_LINKS}
        named = next((name for name, only in others.items() if axes[name] != only), None)
        if named is None:
            return None
        reason = f"loopback has the machine's {OF_LINKS[named]}: name a link, as in links: [lan]"
        return Rule(lambda _: True, reason, others)
    if axes["socket"] == "unix":
        return Rule(lambda _: True, f"no Unix socket crosses link {link}", {"socket": "tcp"})
    return None


TOOL_OPERATIONS: Mapping[str, tuple[str, ...]] = {"ghz": ("Hello", "HelloBytes")}
"""Foreign tool -> unary operations whose request is empty. The requests of the others are
made inside the engine, call by call, and no tool can be handed them."""


def caller_refusal(operation: str, load: Mapping[str, Any], axes: Axes) -> str:
    """Why this caller cannot make the operation under this load (as
    :meth:`wirelab.experiment.Load.point` has it); empty when it can."""
    caller = axes["caller"]
    if caller not in TOOL_OPERATIONS:
        return ""
    able = TOOL_OPERATIONS[caller]
    if operation not in able:
        return f"caller={caller} can make {' and '.join(able)}, not {operation}"
    if load["kind"] != "closed":
        return f"caller={caller} can hold closed loads only; its pacing of others is its own"
    if load.get("think_s"):
        return f"caller={caller} has no think time between calls"
    return ""
