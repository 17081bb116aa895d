"""What a link is to do to packets: a profile by name, or one of the experiment's own.

Keys and meaning of an own profile are those of `wirelab-engine link`, which also refuses what
cannot be (docs/reference/process.md, "A link is a process").
"""

from __future__ import annotations

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

ProfileName = Literal["loopback", "lan", "wlan", "routed-wlan", "gprs", "wan", "mobile"]
"""Profiles of the lab; docs/reference/process.md says what each does."""
LOOPBACK: ProfileName = "loopback"
"""The link that is none: both sides in the lab's own namespace."""

Percent = Annotated[float, Field(ge=0, le=100)]
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


class Direction(_Part):
    """One way of a link."""

    delay_ms: float = Field(0.0, ge=0, description="one way")
    jitter_ms: float = Field(0.0, ge=0, description="how far the delay varies")
    distribution: Literal["none", "uniform", "normal", "pareto"] = Field(
        "none", description="how the delay varies"
    )
    loss: RandomLoss | GilbertElliott | None = Field(None, discriminator="kind")
    syn_loss_percent: Percent = Field(0.0, description="of TCP segments with SYN, beside loss")
    rate_kbit: float | None = Field(None, gt=0, description="of IP packets; none: no bottleneck")
    queue_bytes: int | None = Field(None, ge=1, description="that may wait at the bottleneck")
    reorder_percent: Percent = Field(0.0, description="of packets overtake")
    duplicate_percent: Percent = Field(0.0, description="of packets come twice")
    corrupt_percent: Percent = Field(0.0, description="of packets have one bit turned")


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


def name(profile: str | OwnProfile) -> str:
    """What points and tables call it."""
    return profile if isinstance(profile, str) else profile.name


def document(profile: str | OwnProfile) -> str | Json:
    """As `wirelab-engine link` takes it."""
    return profile if isinstance(profile, str) else profile.model_dump(exclude_unset=True)
