"""Link profiles: a profile by name, or one defined in the experiment.

Keys, bounds and meaning of a custom profile are those of `wirelab-engine link`
(contracts/process/link.schema.json; docs/reference/process.md, "Link process"). Reading an
experiment rejects everything that the link would reject.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal, get_args

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
"""Distribution -> the largest early arrival of a packet, in jitters (docs/reference/links.md)."""
Json = dict[str, object]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class RandomLoss(_Part):
    """Independent loss of single packets."""

    kind: Literal["random"]
    percent: Percent


class GilbertElliott(_Part):
    """Loss in bursts: a Markov chain with a good and a bad state (Gilbert 1960; Elliott 1963)."""

    kind: Literal["gilbert-elliott"]
    p_percent: Percent = Field(description="probability of good to bad, per packet")
    r_percent: Percent = Field(description="probability of bad to good, per packet")
    loss_bad_percent: Percent = Field(100.0, description="loss in the bad state")
    loss_good_percent: Percent = Field(0.0, description="loss in the good state")

    @model_validator(mode="after")
    def _moves(self) -> GilbertElliott:
        if self.p_percent + self.r_percent == 0.0:
            raise ValueError(
                "p_percent and r_percent are both 0: set one of them, or use kind random"
            )
        return self


class Direction(_Part):
    """One direction of a link."""

    delay_ms: Milliseconds = Field(0.0, description="one-way delay")
    jitter_ms: Milliseconds = Field(0.0, description="variation of the delay")
    distribution: Literal["none", "uniform", "normal", "pareto"] = Field(
        "none", description="distribution of the delay"
    )
    loss: RandomLoss | GilbertElliott | None = Field(None, discriminator="kind")
    syn_loss_percent: Percent = Field(
        0.0, description="loss of TCP segments with SYN, in addition to loss"
    )
    rate_kbit: float | None = Field(
        None, ge=0.1, le=100_000_000, description="rate of IP packets; none: no bottleneck"
    )
    queue_bytes: int | None = Field(
        None, ge=1500, description="capacity of the queue at the bottleneck"
    )
    reorder_percent: Percent = Field(0.0, description="packets that overtake others")
    duplicate_percent: Percent = Field(0.0, description="packets that are duplicated")
    corrupt_percent: Percent = Field(0.0, description="packets with one flipped bit")

    @model_validator(mode="after")
    def _jitter_fits(self) -> Direction:
        if (self.distribution == "none") != (self.jitter_ms == 0.0):
            raise ValueError("jitter_ms and distribution need each other: give both, or neither")
        reach = _REACH.get(self.distribution, 0.0)
        early_ms = reach * self.jitter_ms - self.delay_ms
        if early_ms > 1e-9 * self.delay_ms:
            raise ValueError(
                f"with a jitter_ms of {self.jitter_ms:g} a packet could arrive {early_ms:.3g} ms "
                f"before it was sent: use up to {self.delay_ms / reach:.4g}, or increase delay_ms"
            )
        return self

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Direction:
        if self.reorder_percent and not self.delay_ms:
            raise ValueError("reorder_percent has no effect without a delay: set delay_ms")
        if self.queue_bytes is not None and self.rate_kbit is None:
            raise ValueError("queue_bytes has no effect without a rate: set rate_kbit")
        return self


class OwnProfile(_Part):
    """A custom link profile: the same in both directions, or one per direction."""

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
        description="auto: veth if it supports the profile, otherwise the emulator; netem is not "
        "verified",
    )
    both: Direction | None = None
    forward: Direction | None = Field(None, description="client to server")
    backward: Direction | None = Field(None, description="server to client")

    @field_validator("name")
    @classmethod
    def _is_new(cls, name: str) -> str:
        if name in get_args(ProfileName):
            raise ValueError(f"{name} is a built-in profile: choose another name")
        return name

    @model_validator(mode="after")
    def _whole(self) -> OwnProfile:
        given = (self.both is not None, self.forward is not None, self.backward is not None)
        if given not in ((True, False, False), (False, True, True)):
            raise ValueError("a profile has either the key both, or forward and backward")
        return self


Profile = Annotated[
    Annotated[ProfileName, Tag("a name")] | Annotated[OwnProfile, Tag("a profile")],
    Discriminator(lambda given: "a name" if isinstance(given, str) else "a profile"),
]
"""Link of an experiment."""
