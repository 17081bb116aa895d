"""The engine's own share of a call, as measured by `make bench`: data of the package.

The reports and the facts about stacks quote it (docs/reference/engine-tax.md).
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import msgspec


class Machine(msgspec.Struct, frozen=True):
    """Where it was measured."""

    processor: str
    revision: str


class RestRatio(msgspec.Struct, frozen=True):
    """CPU per call over that of REST with JSON at equal bytes, with its 95 % interval."""

    ratio: float
    low: float
    high: float


class StackTax(msgspec.Struct, frozen=True):
    """Figures of one stack."""

    stack: str
    binding: str
    codec: str
    bytes_per_call: int
    """Sent and received per call of Submit with 200 B."""
    frame_us: float
    """CPU of the engine per call with work=frame, microseconds."""
    decode_us: float
    """The same with work=decode."""
    beside_rest: RestRatio | None


class EngineTax(msgspec.Struct, frozen=True):
    """All figures, and how they were taken."""

    taken: str
    """ISO 8601, UTC."""
    command: str
    machine: Machine
    users: int
    submit_bytes: int
    stacks: tuple[StackTax, ...]


@cache
def read_published() -> EngineTax:
    """The figures that come with the package."""
    data = resources.files("wirelab").joinpath("data/engine_tax.json")
    return msgspec.json.decode(data.read_bytes(), type=EngineTax)
