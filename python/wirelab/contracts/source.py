"""What a user's message becomes: a contract, and values for its request and reply."""

from __future__ import annotations

from dataclasses import dataclass

from wirelab.contracts.schema import Contract
from wirelab.contracts.values import Value


@dataclass(frozen=True)
class Source:
    """A contract with the user's samples. Without samples, both lists are empty."""

    contract: Contract
    requests: tuple[Value, ...] = ()
    replies: tuple[Value, ...] = ()
    notes: tuple[str, ...] = ()
    """What differs from the user's document, one sentence each."""
