"""What a capture is made for, and what may truly be said of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.ground_truth.written.conversation import Conversation

Write = Callable[[Conversation], None]


@dataclass(frozen=True)
class Scenario:
    """One way to write captures."""

    name: str
    write: Write
    causes: tuple[str, ...] = ()
    """Findings that it bears."""
    may: tuple[str, ...] = ()
    """Further findings that are true, too."""
    kind: str = ""
    """What is easily misread in it (docs/reference/diagnosis-truth.md); empty for a cause."""
    is_plain: bool = False
    """The counterpart of a kind: without what is misread, or where the other reading is right."""


def pair(
    kind: str,
    misread: Write,
    plain: Write,
    causes: tuple[tuple[str, ...], tuple[str, ...]],
    may: tuple[str, ...] = (),
) -> tuple[Scenario, Scenario]:
    """A kind and its counterpart; `causes` of both."""
    return (
        Scenario(kind, misread, causes[0], may, kind),
        Scenario(f"{kind}, counterpart", plain, causes[1], may, kind, is_plain=True),
    )
