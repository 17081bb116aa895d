"""Which points of the axis table exist, and which legal one is nearest.

Two kinds of rule: what protocols allow (:data:`RULES`, here), and what a
service says of itself (its manifest, :mod:`wirelab.manifests`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

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
