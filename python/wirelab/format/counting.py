"""Numbers of things as people write them: ``1 call``, ``3 timed out``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from wirelab.format.units import format_seconds


def format_count(count: int, noun: str) -> str:
    """The count with its noun, whose plural is regular."""
    return f"{count:,} {plural(count, noun)}"


def of_all(part: int, whole: int, noun: str) -> str:
    """``3 of 12 calls``, ``0 of 1 call``."""
    return f"{part:,} of {format_count(whole, noun)}"


def plural(count: object, noun: str) -> str:
    """The noun alone as it is written after that count, which may be unknown (``? cores``)."""
    if count in (1, "1"):
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


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


def failure_text(kind: str, timeout_s: float | None = None) -> str:
    """``timed out after 10 s``; kinds of other callers, such as a gRPC status, by their name."""
    words = HOW.get(kind, f"ended with {kind}")
    after = "" if timeout_s is None or kind != "timeout" else f" after {format_seconds(timeout_s)}"
    return f"{words}{after}"


def format_failures(by_kind: Mapping[str, int]) -> str:
    """``200 answered with an error, 3 timed out``, the most frequent first."""
    kinds = sorted(by_kind.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{count:,} {failure_text(kind)}" for kind, count in kinds if count)
