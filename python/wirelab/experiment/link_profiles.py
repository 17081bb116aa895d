"""What a link is to do to packets: a profile by name, or one of the experiment's own.

Keys, bounds and meaning of an own profile are those of `wirelab-engine link`
(contracts/process/link.schema.json; docs/reference/process.md, "Link process"), and
what it would refuse is refused when an experiment is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    field_validator,
    model_validator,
)

from wirelab.stack.link_names import LOOPBACK as LOOPBACK
from wirelab.stack.link_names import Driver as Driver
from wirelab.stack.link_names import ProfileName as ProfileName
from wirelab.stack.link_names import document as document
from wirelab.stack.link_names import name as name

Percent = Annotated[float, Field(ge=0, le=100)]
Milliseconds = Annotated[float, Field(ge=0, le=60_000)]
_REACH: Mapping[str, float] = MappingProxyType({"uniform": 1.0, "normal": 4.0, "pareto": 2.0 / 3.0})
"""Distribution -> how many jitters a packet may come early (docs/reference/links.md)."""
Json = dict[str, Any]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class RandomLoss(_Part):
    """Each packet alone."""

    kind: Literal["random"]
    percent: Percent


class GilbertElliott(_Part):
    """In bursts: a Markov chain of a good and a bad state (Gilbert 1960; Elliott 1963)."""

    kind: Literal["gilbert-elliott"]
    p_percent: Percent = Field(description="from good to bad, per packet")
    r_percent: Percent = Field(description="from bad to good, per packet")
    loss_bad_percent: Percent = Field(100.0, description="loss in the bad state")
    loss_good_percent: Percent = Field(0.0, description="loss in the good state")

    @model_validator(mode="after")
    def _moves(self) -> GilbertElliott:
        if self.p_percent + self.r_percent == 0.0:
            raise ValueError(
                "the chain never moves: p_percent and r_percent are 0; give them, or kind random"
            )
        return self


class Direction(_Part):
    """One way of a link."""

    delay_ms: Milliseconds = Field(0.0, description="one way")
    jitter_ms: Milliseconds = Field(0.0, description="how far the delay varies")
    distribution: Literal["none", "uniform", "normal", "pareto"] = Field(
        "none", description="how the delay varies"
    )
    loss: RandomLoss | GilbertElliott | None = Field(None, discriminator="kind")
    syn_loss_percent: Percent = Field(0.0, description="of TCP segments with SYN, besides loss")
    rate_kbit: float | None = Field(
        None, ge=0.1, le=100_000_000, description="of IP packets; none: no bottleneck"
    )
    queue_bytes: int | None = Field(None, ge=1500, description="that may wait at the bottleneck")
    reorder_percent: Percent = Field(0.0, description="of packets overtake")
    duplicate_percent: Percent = Field(0.0, description="of packets come twice")
    corrupt_percent: Percent = Field(0.0, description="of packets have one bit turned")

    @model_validator(mode="after")
    def _jitter_fits(self) -> Direction:
        if (self.distribution == "none") != (self.jitter_ms == 0.0):
            raise ValueError("jitter_ms and distribution go together: give both, or neither")
        reach = _REACH.get(self.distribution, 0.0)
        early_ms = reach * self.jitter_ms - self.delay_ms
        if early_ms > 1e-9 * self.delay_ms:
            raise ValueError(
                f"with a jitter_ms of {self.jitter_ms:g} a packet would be early by "
                f"{early_ms:.3g} ms: use up to {self.delay_ms / reach:.4g}, or more delay_ms"
            )
        return self

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Direction:
        if self.reorder_percent and not self.delay_ms:
            raise ValueError("reorder_percent overtakes nobody without a delay; give delay_ms")
        if self.queue_bytes is not None and self.rate_kbit is None:
            raise ValueError("queue_bytes: without a rate nothing waits; give rate_kbit")
        return self


class OwnProfile(_Part):
    """A link of the experiment's own: both ways alike, or each by itself."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "oneOf": [{"required": ["both"]}, {"required": ["forward", "backward"]}]
        },
    )

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,31}$", description="lower case, with dashes")
    driver: Driver = Field(
        "auto",
        description="auto: veth where that suffices, else the emulator; netem is not verified",
    )
    both: Direction | None = None
    forward: Direction | None = Field(None, description="client to server")
    backward: Direction | None = Field(None, description="server to client")

    @field_validator("name")
    @classmethod
    def _is_new(cls, name: str) -> str:
        if name in get_args(ProfileName):
            raise ValueError(f"{name} is a profile of the lab; give yours another name")
        return name

    @model_validator(mode="after")
    def _whole(self) -> OwnProfile:
        given = (self.both is not None, self.forward is not None, self.backward is not None)
        if given not in ((True, False, False), (False, True, True)):
            raise ValueError("a profile has either both, or forward and backward")
        return self


Profile = Annotated[
    Annotated[ProfileName, Tag("a name")] | Annotated[OwnProfile, Tag("a profile")],
    Discriminator(lambda given: "a name" if isinstance(given, str) else "a profile"),
]
"""A link of an experiment."""
