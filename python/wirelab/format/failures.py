"""The kinds in which calls fail, in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from wirelab.format.units import format_seconds

HOW: Mapping[str, str] = MappingProxyType(
    {
        "refused": "without a connection",
        "reset": "reset",
        "closed": "with the connection closed before the reply was complete",
        "timeout": "timed out",
        "protocol": "answered with a reply that breaks the protocol",
        "wrong": "answered with a wrong reply",
        "application": "answered with an error",
        "unfinished": "still under way when the drain ended",
    }
)
"""What happened, in words that follow a count; the kinds of the engine's results."""


def how(kind: str, timeout_s: float | None = None) -> str:
    """``timed out after 10 s``; kinds of other callers, such as a gRPC status, by their name."""
    words = HOW.get(kind, f"ended with {kind}")
    after = "" if timeout_s is None or kind != "timeout" else f" after {format_seconds(timeout_s)}"
    return f"{words}{after}"


def counted(by_kind: Mapping[str, int]) -> str:
    """``200 answered with an error, 3 timed out``, the most frequent first."""
    kinds = sorted(by_kind.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{count:,} {how(kind)}" for kind, count in kinds if count)
