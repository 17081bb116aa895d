"""The links by name, and what a link is called: apart from the models of experiment files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from wirelab.experiment.link_profiles import OwnProfile

ProfileName = Literal["loopback", "lan", "wlan", "routed-wlan", "gprs", "wan", "mobile"]
"""Profiles of the lab; docs/reference/links.md says what each does."""
Driver = Literal["auto", "veth", "netem", "emulator"]
"""What carries a profile out; docs/reference/links.md says when each can."""
LOOPBACK: ProfileName = "loopback"
"""The link that is none: both sides in the lab's own namespace."""


def name(profile: str | OwnProfile) -> str:
    """What points and tables call it."""
    return profile if isinstance(profile, str) else profile.name


def document(profile: str | OwnProfile) -> str | dict[str, Any]:
    """As `wirelab-engine link` takes it; the driver is a key next to the profile there."""
    if isinstance(profile, str):
        return profile
    return profile.model_dump(exclude_unset=True, exclude={"driver"})


def driver(profile: str | OwnProfile) -> Driver:
    """What is to carry the profile out; ``auto`` leaves it to the engine."""
    return "auto" if isinstance(profile, str) else profile.driver
