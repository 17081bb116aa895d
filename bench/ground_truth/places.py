"""Where captures are made: loopback, or a link of two namespaces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.ground_truth.circumstances import SEGMENT_BYTES_ETHERNET, SEGMENT_BYTES_LOOPBACK
from wirelab import engine_binary
from wirelab.errors import TrialFailed
from wirelab.interruption import Interruption
from wirelab.processes import POLL_S, Child

LOOPBACK, LAN, WLAN, ROUTED, FAR, GPRS, JITTER = (
    *("loopback", "lan", "wlan", "routed", "far", "gprs", "jitter"),
)
PROFILES: dict[str, Any] = {
    LAN: "lan",
    WLAN: "wlan",
    # The study's mean without its jitter and losses: what is lost is scripted.
    ROUTED: {"name": ROUTED, "both": {"delay_ms": 6.9}},
    FAR: {"name": FAR, "both": {"delay_ms": 30.0}},
    GPRS: "gprs",
    JITTER: {
        "name": JITTER,
        "both": {"delay_ms": 6.9, "jitter_ms": 2.0, "distribution": "normal"},
    },
}
"""Profile of each link, as ``wirelab-engine link`` takes it."""

PINGS = 8
START_S_MAX = 30.0
STOP_S = 5.0

Json = dict[str, Any]


@dataclass(frozen=True)
class Side:
    """One end of a place."""

    address: str
    interface: str
    prefix: tuple[str, ...]
    """What a command is started with there."""


@dataclass
class Place:
    """A place that is ready."""

    name: str
    client: Side
    server: Side
    rtt_ns: int
    segment_bytes: int
    log: Path | None = None
    """Of the link's process, which names there each packet that its script dropped."""


HERE = Side("127.0.0.1", "lo", ())
LOOPBACK_RTT_NS = 30_000


@contextmanager
def opened(
    name: str, drops: tuple[Json, ...], folder: Path, interruption: Interruption
) -> Iterator[Place]:
    """The place, for as long as the block lasts. Raises :class:`TrialFailed` where a link
    cannot be had."""
    if name == LOOPBACK:
        yield Place(name, HERE, HERE, LOOPBACK_RTT_NS, SEGMENT_BYTES_LOOPBACK)
        return
    log = folder / "link.log"
    child = Child([str(engine_binary.find()), "link"], log=log)
    try:
        child.say(json.dumps(_configuration(name, drops)).encode() + b"\n")
        yield _place(name, _ready(child, interruption), log)
    finally:
        child.end(STOP_S)


def _configuration(name: str, drops: tuple[Json, ...]) -> Json:
    pings = 2 if name == GPRS else PINGS
    return {
        "profile": PROFILES[name],
        "driver": "emulator" if name not in (LAN,) or drops else "auto",
        "congestion": "cubic",
        "measure": {"pings": pings, "loss_packets": 0, "rate": False},
        "drops": list(drops),
    }


def _ready(child: Child, interruption: Interruption) -> Json:
    waited = 0.0
    while (line := child.line(POLL_S)) is None:
        interruption.check()
        waited += POLL_S
        if waited > START_S_MAX:
            raise TrialFailed(f"the link was not ready after {START_S_MAX:.0f} s")
    said: Json = json.loads(line) if line else {}
    if not said.get("ready"):
        raise TrialFailed(f"the link was not ready: {said or child.log_tail()}")
    return said


def _place(name: str, ready: Json, log: Path) -> Place:
    sides = [
        Side(
            ready[end]["address"],
            ready[end]["interface"],
            ("ip", "netns", "exec", ready[end]["namespace"]),
        )
        for end in ("client", "server")
    ]
    rtt_ns = round(ready["measured"]["rtt_ms"]["p50"] * 1e6)
    return Place(name, sides[0], sides[1], rtt_ns, SEGMENT_BYTES_ETHERNET, log)
