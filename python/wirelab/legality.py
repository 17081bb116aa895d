"""Which points of the axis table exist, and which legal one is nearest.

Two kinds of rule: what protocols allow (:data:`RULES`, here), and what a
service says of itself (its manifest, :mod:`wirelab.manifests`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from wirelab import axes as table
from wirelab.spelling import did_you_mean

Axes = Mapping[str, str]


@dataclass(frozen=True)
class Rule:
    """One combination that cannot exist."""

    broken: Callable[[Axes], bool]
    reason: str
    repair: Mapping[str, str]
    """The smallest change that makes it legal."""


def _grpc(axes: Axes) -> bool:
    return axes["binding"] == "grpc"


def _ghz_has(axis: str, reason: str) -> Rule:
    """ghz does one thing where the engine has a choice: the axis's default."""
    only = table.BY_NAME[axis].default
    return Rule(
        lambda axes: axes["caller"] == "ghz" and axes[axis] != only,
        f"{reason}: with caller=ghz {axis} can only be {only}",
        {axis: only},
    )


RULES: tuple[Rule, ...] = (
    Rule(
        lambda axes: _grpc(axes) and axes["transport"] != "http/2",
        "gRPC is defined over HTTP/2 only",
        {"transport": "http/2"},
    ),
    Rule(
        lambda axes: _grpc(axes) and axes["codec"] != "protobuf",
        "grpc serves protobuf only",
        {"codec": "protobuf"},
    ),
    Rule(
        lambda axes: axes["binding"] == "rest" and axes["codec"] == "protobuf",
        "rest has no mapping to protobuf in the contract (contracts/README.md)",
        {"codec": "json"},
    ),
    Rule(
        lambda axes: axes["transport"] == "http/1.0" and axes["connection"] != "close",
        "HTTP/1.0 ends every connection after its reply (RFC 1945 section 1.3)",
        {"connection": "close"},
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
        lambda axes: axes["in_flight"].startswith("multiplex") and axes["transport"] != "http/2",
        "HTTP/1.x answers in order and cannot multiplex",
        {"in_flight": "pipeline"},
    ),
    Rule(
        lambda axes: axes["end_of_message"] == "chunked" and axes["transport"] != "http/1.1",
        "chunks exist in HTTP/1.1 only (RFC 9112 section 7.1)",
        {"end_of_message": "content-length"},
    ),
    Rule(
        lambda axes: axes["client.h2_window"] != "engine" and axes["transport"] != "http/2",
        "HTTP/1.x has no flow-control window of its own",
        {"client.h2_window": "engine"},
    ),
    Rule(
        lambda axes: axes["server.h2_window"] != "library" and axes["transport"] != "http/2",
        "HTTP/1.x has no flow-control window of its own",
        {"server.h2_window": "library"},
    ),
    Rule(
        lambda axes: axes["caller"] == "ghz" and not _grpc(axes),
        "ghz speaks gRPC only",
        {"caller": "engine"},
    ),
    _ghz_has("connection", "ghz keeps its connections, one per user"),
    _ghz_has("in_flight", "a user of ghz waits for its reply on a connection of its own"),
    _ghz_has("work", "ghz decodes every reply"),
    *(
        _ghz_has(axis.name, "ghz has no switch for it")
        for axis in table.TABLE
        if axis.name.startswith("client.")
    ),
)


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


OPERATIONS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "Hello": {"rest": ("text", "json"), "grpc": ("protobuf",)},
    "HelloBytes": {"rest": ("json",), "grpc": ("protobuf",)},
    "Submit": {"rest": ("json",), "grpc": ("protobuf",)},
    "Upload": {"rest": ("json",), "grpc": ("protobuf",)},
    "UploadStream": {"grpc": ("protobuf",)},
    "Download": {"grpc": ("protobuf",)},
}
"""Operation -> binding -> codecs that carry it (contracts/README.md)."""


def operation_refusal(operation: str, axes: Axes) -> str:
    """Why this stack cannot carry the operation; empty when it can."""
    if operation not in OPERATIONS:
        return f"there is no operation {operation!r}. {did_you_mean(operation, OPERATIONS)}"
    binding, codec = axes["binding"], axes["codec"]
    codecs = OPERATIONS[operation].get(binding)
    if codecs is None:
        others = ", ".join(OPERATIONS[operation])
        return f"{operation} does not exist over {binding}, only over {others}"
    if codec not in codecs:
        return f"{operation} over {binding} has no codec {codec}, only {', '.join(codecs)}"
    return ""


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
