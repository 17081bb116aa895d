"""Where captures are made: loopback, or a link of two namespaces."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.ground_truth.labels.occurrence import SEGMENT_BYTES_ETHERNET, SEGMENT_BYTES_LOOPBACK
from wirelab.documents import to_json
from wirelab.documents.link_ended import LinkEnded
from wirelab.documents.link_ready import Ready
from wirelab.process import engine_binary
from wirelab.process.children import ProcessOptions
from wirelab.process.interruption import Interruption
from wirelab.process.managed import ManagedProcess
from wirelab.trial.stages.link import End

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
        "both": {"delay_ms": 6.9, "jitter_ms": 1.5, "distribution": "normal"},
    },
}
"""Profile of each link, as ``wirelab-engine link`` takes it."""

UNSTEADY = frozenset((GPRS, JITTER))
"""Where a round trip takes longer than the one that was measured: by chance, or by a queue."""
PINGS, PINGS_GPRS = 10, 2
LOOPBACK_RTT_NS = 30_000

Json = dict[str, Any]


@dataclass(frozen=True)
class NetworkPath:
    """A place that is ready."""

    name: str
    client: End
    server: End
    rtt_ns: int
    segment_bytes: int
    dropped: Callable[[], list[Json]] = list
    """Ends a link and returns the packets that its script dropped (docs/reference/process.md)."""


class ScriptedLink(ManagedProcess[Ready]):
    """A link whose losses are given beforehand."""

    noun = "the link"
    model = Ready
    ready_s_max = 30.0
    stop_s = 5.0

    def __init__(
        self, name: str, drops: tuple[Json, ...], *, log: Path, interruption: Interruption
    ) -> None:
        """Makes it and measures its round trip. Raises :class:`TrialFailed`."""
        order = {
            "profile": PROFILES[name],
            "driver": "emulator" if drops else "auto",
            "congestion": "cubic",
            "measure": {
                "pings": PINGS_GPRS if name == GPRS else PINGS,
                "loss_packets": 0,
                "rate": False,
            },
            "drops": list(drops),
        }
        command = [str(engine_binary.find()), "link"]
        # On SIGTERM it removes its namespaces; SIGKILL would leave them behind.
        super().__init__(
            command,
            order,
            ProcessOptions(log=log, orphaned=signal.SIGTERM),
            interruption=interruption,
        )

    def place(self, name: str) -> NetworkPath:
        """Where it leads."""
        client, server = (
            End(end.interface, end.address, end.namespace)
            for end in (self.ready.client, self.ready.server)
        )
        rtt_ns = round(self.ready.measured.rtt_ms.p50 * 1e6)
        return NetworkPath(name, client, server, rtt_ns, SEGMENT_BYTES_ETHERNET, self._read_drops)

    def _read_drops(self) -> list[Json]:
        return [to_json(dropped) for dropped in self.final_message(LinkEnded).link.dropped]


@contextmanager
def open_place(
    name: str, drops: tuple[Json, ...], log: Path, interruption: Interruption
) -> Iterator[NetworkPath]:
    """The place, for as long as the block lasts. Raises :class:`TrialFailed` where a link
    cannot be had."""
    if name == LOOPBACK:
        yield NetworkPath(name, End(), End(), LOOPBACK_RTT_NS, SEGMENT_BYTES_LOOPBACK)
        return
    with ScriptedLink(name, drops, log=log, interruption=interruption) as link:
        yield link.place(name)
