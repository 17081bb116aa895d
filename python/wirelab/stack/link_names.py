"""Names of links; a module of its own, without the models of experiment files."""

from __future__ import annotations

from typing import Literal, Protocol

ProfileName = Literal["loopback", "lan", "wlan", "routed-wlan", "gprs", "wan", "mobile"]
"""Built-in profiles, described in docs/reference/links.md."""
Driver = Literal["auto", "veth", "netem", "emulator"]
"""Drivers of links; docs/reference/links.md describes when each is available."""
LOOPBACK: ProfileName = "loopback"
"""No link: both sides run in wirelab's own namespace."""


class OwnProfile(Protocol):
    """A link that an experiment file describes
    (:class:`wirelab.experiment.link_profiles.OwnProfile`)."""

    @property
    def name(self) -> str:
        """Name in points and tables."""

    @property
    def driver(self) -> Driver:
        """Its driver."""

    def model_dump(self, *, exclude_unset: bool, exclude: set[str]) -> dict[str, object]:
        """The values of the file."""


def name(profile: str | OwnProfile) -> str:
    """Name in points and tables."""
    return profile if isinstance(profile, str) else profile.name


def document(profile: str | OwnProfile) -> str | dict[str, object]:
    """The profile for `wirelab-engine link`, which takes the driver as a separate key."""
    if isinstance(profile, str):
        return profile
    return profile.model_dump(exclude_unset=True, exclude={"driver"})


def driver(profile: str | OwnProfile) -> Driver:
    """The driver for the profile; ``auto`` leaves the choice to the engine."""
    return "auto" if isinstance(profile, str) else profile.driver
