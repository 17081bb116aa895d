"""The relay as a place of conversations."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bench.ground_truth.captures.places import NetworkPath
from bench.ground_truth.labels.occurrence import SEGMENT_BYTES_ETHERNET
from wirelab.process.children import ProcessOptions
from wirelab.process.interruption import Interruption
from wirelab.process.managed import ManagedProcess
from wirelab.trial.stages.link import End

RELAY = "relay"
DELAY_MS = 20.0
"""One way; a path of 50 ms and more there and back is a finding by itself."""


class RelayEnd(msgspec.Struct, frozen=True):
    """One end, as the relay states it."""

    namespace: str
    interface: str
    address: str


class Ready(msgspec.Struct, frozen=True):
    """The relay's first line."""

    client: RelayEnd
    server: RelayEnd


class Relay(ManagedProcess[Ready]):
    """A relay that is under way."""

    noun = "the relay"
    model = Ready
    stop_s = 5.0

    def __init__(self, *, log: Path, interruption: Interruption) -> None:
        """Starts it. Raises :class:`TrialFailed`."""
        command = [sys.executable, "-m", "bench.ground_truth.scripted.relay"]
        # It removes its namespaces when its input ends; SIGKILL would leave them behind.
        options = ProcessOptions(log=log, orphaned=signal.SIGTERM)
        super().__init__(command, {"delay_ms": DELAY_MS}, options, interruption=interruption)

    def place(self) -> NetworkPath:
        """Where it leads."""
        client, server = (
            End(end.interface, end.address, end.namespace)
            for end in (self.ready.client, self.ready.server)
        )
        return NetworkPath(RELAY, client, server, round(2e6 * DELAY_MS), SEGMENT_BYTES_ETHERNET)


@contextmanager
def open_relay(log: Path, interruption: Interruption) -> Iterator[NetworkPath]:
    """The place, for as long as the block lasts."""
    with Relay(log=log, interruption=interruption) as relay:
        yield relay.place()
