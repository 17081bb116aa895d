"""Whether a service may share a trial with others and take turns in slices."""

from __future__ import annotations

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
INITIAL_WINDOW = 10 * 65_483
"""Bytes that a connection on loopback may send at first (RFC 6928: ten segments)."""
ENCODED_SIZE = 3
"""Encoded messages are at most this many times as large as what they hold."""


class Place(NamedTuple):
    """Where the calls of a cell are made and captured, what is measured after them, and by how many
    clients."""

    link: str
    capture: CaptureChoice
    codec_times: bool
    clients: int = 1


class Fitness(NamedTuple):
    """Whether a service can take turns with others."""

    refusal: str = ""
    """Why it cannot; empty: it can."""
    sensitive: str = ""
    """What long pauses change; empty: nothing."""

    def refusal_for(self, pause_s: float) -> str:
        """Why it cannot with that many seconds between two of its slices; empty: it can."""
        if self.refusal or pause_s <= PAUSE_S_MAX or not self.sensitive:
            return self.refusal
        return f"pauses of {pause_s:g} s between slices change the effect of {self.sensitive}"


def judge_fitness(axes: Axes, size: int, load: Load, window: Window, place: Place) -> Fitness:
    """``size`` is that of the message in bytes, before it is encoded."""
    point = load.point()
    is_steady = point.is_closed and not point.iterations and not point.stages
    is_rationed = axes.client.cpu_percent is not None or axes.server.cpu_percent is not None
    reasons = {
        "a capture cannot distinguish the services that take turns": place.capture != NO_CAPTURE,
        "only wirelab's engine calls services in turns": axes.caller != "engine",
        "several clients do not switch at one moment": place.clients > 1,
        "a cold service has no second slice": axes.start == "cold",
        "a proxy cannot take turns": axes.via != "none",
        "a CPU quota is used up by turns": is_rationed,
        "background groups cannot take turns": bool(load.background),
        "the load must be one of users who go on calling": not is_steady,
        "time must close the window": bool(window.calls),
        "codec times follow the window of one service": place.codec_times,
        "a pause between slices changes what links with a delay do": place.link != LOOPBACK,
    }
    refusal = next((text for text, holds in reasons.items() if holds), "")
    return Fitness(refusal, _find_sensitive(axes, size))


def _find_sensitive(axes: Axes, size: int) -> str:
    """The first thing whose effect depends on pauses."""
    changed = {
        "congestion": axes.congestion != "cubic",
        "initial_window": axes.initial_window is not None,
        "after_idle": axes.after_idle != "restart",
        "client.quickack": axes.client.quickack is not None,
        "client.nagle": axes.client.nagle,
        "server.nagle": axes.server.nagle,
        "the initial window on large messages": ENCODED_SIZE * size > INITIAL_WINDOW,
    }
    return next((name for name, is_changed in changed.items() if is_changed), "")
