"""What moves trials to hosts and their results back."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from wirelab.clients.client import ClientInfo
from wirelab.errors import LabError

Files = dict[str, bytes]
"""Contents by path relative to a trial's folder."""
Begun = Hashable
"""A trial under way."""


class HostInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A host, as it describes itself."""

    name: str
    """Of its node in the cluster."""
    client: ClientInfo
    machine: dict[str, str | int | None]
    """Result of :func:`wirelab.process.machine.describe`."""


@dataclass(frozen=True)
class HostLine:
    """A trial that a host measured."""

    line: bytes
    """Its line of the journal, without the end."""
    folders: tuple[tuple[str, Files], ...]
    """Id and files of each folder, in the order in which the host made them."""


class HostLost(Exception):
    """A trial has no result, because its host was lost and no other took it over."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Transport(Protocol):
    """Runs trials on hosts, one at a time on each."""

    def hosts(self) -> Sequence[str]:
        """Names of the hosts that exist at this moment. To be called about once per second."""

    def begin(self, host: str, order: int, earlier: str) -> Begun:
        """Begins the trial at that place of the schedule, on ``host`` if it still exists.
        ``earlier``: what spoilt the same trial, if it was."""

    def wait(self, begun: Collection[Begun], seconds: float) -> Sequence[Begun]:
        """Waits at most so long until one or more have ended, and returns these."""

    def result(self, begun: Begun) -> Sequence[HostLine]:
        """Of a trial that has ended: one line, or two where it was repeated. Raises
        :class:`HostLost`, :class:`LabError`."""

    def cancel(self, begun: Collection[Begun]) -> None:
        """Ends trials, and returns once their load has ended."""


EQUAL = ("cpu", "cores")
"""What hosts of one farm have in common, by its name in the description of a machine."""


def refuse_other_program(host: HostInfo, here: ClientInfo) -> None:
    """Raises :class:`LabError` for another version or engine than that of the front."""
    there = host.client
    if (there.version, there.engine_sha256) != (here.version, here.engine_sha256):
        raise LabError(
            f"{host.name} has wirelab {there.version} with the engine {there.engine_sha256[:12]}, "
            f"this machine {here.version} with {here.engine_sha256[:12]}",
            "install the same wheel on both",
        )


def refuse_unequal(hosts: Sequence[HostInfo]) -> None:
    """Raises :class:`LabError` for hosts with different processors: a difference between cells
    could then depend on the host, which no block removes."""
    first = hosts[0]
    for host in hosts[1:]:
        for key in EQUAL:
            if host.machine.get(key) != first.machine.get(key):
                raise LabError(
                    f"the hosts of a farm must be equal, and {host.name} has {key} "
                    f"{host.machine.get(key)}, but {first.name} {first.machine.get(key)}",
                    "leave one of them out: start its node with `ray start --num-cpus 0`",
                )
