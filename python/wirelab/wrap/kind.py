"""The kind of load that packets show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Name = Literal["closed", "constant", "poisson", "bursts", "undecided"]


@dataclass(frozen=True)
class Kind:
    """The kind of load, and the evidence for it."""

    name: Name
    reason: str
