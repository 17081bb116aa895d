"""Which services may share a trial and take turns in slices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from wirelab.documents.axes import Axes
from wirelab.documents.plan import Window
from wirelab.experiment.link_profiles import LOOPBACK
from wirelab.experiment.loads import Load
from wirelab.experiment.model import NO_CAPTURE, CaptureChoice

PAUSE_S_MAX = 0.15
"""Longest pause between two slices of a service that changes no effect of TCP, seconds: after about
200 ms without data, the kernel restarts the congestion window (RFC 5681, section 4.1) and
acknowledges the first segments at once."""


class Place(NamedTuple):
    """Where the calls of a cell are made and captured."""

    link: str
    capture: CaptureChoice


def refusal(axes: Axes, load: Load, window: Window, place: Place, pause_s: float) -> str:
    """Why a service cannot take turns with others; empty if it can. ``pause_s`` is the time between
    two of its slices, in seconds."""
    point = load.point()
    is_steady = point.is_closed and not point.iterations and not point.stages
    is_rationed = axes.client.cpu_percent is not None or axes.server.cpu_percent is not None
    reasons = {
        "a capture cannot distinguish the services that take turns": place.capture != NO_CAPTURE,
        "only wirelab's engine calls services in turns": axes.caller != "engine",
        "a cold service has no second slice": axes.start == "cold",
        "a proxy cannot take turns": axes.via != "none",
        "a CPU quota is used up by turns": is_rationed,
        "background groups cannot take turns": bool(load.background),
        "the load must be one of users who go on calling": not is_steady,
        "time must close the window": bool(window.calls),
        "a pause between slices changes what links with a delay do": place.link != LOOPBACK,
    }
    changed = _find_sensitive(axes) if pause_s > PAUSE_S_MAX else []
    if changed:
        reasons[f"pauses of {pause_s:g} s between slices change the effect of {changed[0]}"] = True
    return next((text for text, holds in reasons.items() if holds), "")


def is_sensitive(every: Iterable[Axes], pause_s: float) -> bool:
    """Whether pauses of that many seconds change what a changed axis of a service does."""
    return pause_s > PAUSE_S_MAX and any(map(_find_sensitive, every))


def _find_sensitive(axes: Axes) -> list[str]:
    """Changed axes whose effect depends on pauses."""
    changed = {
        "congestion": axes.congestion != "cubic",
        "initial_window": axes.initial_window is not None,
        "after_idle": axes.after_idle != "restart",
        "client.quickack": axes.client.quickack is not None,
        "client.nagle": axes.client.nagle,
        "server.nagle": axes.server.nagle,
    }
    return [name for name, is_changed in changed.items() if is_changed]
