"""Clients as actors of Ray, on this machine or on the nodes of a cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from wirelab.clients.client import LoadClient
from wirelab.clients.ray_connection import THIS_MACHINE, Cluster, connect, describe_error, load
from wirelab.errors import LabError, TrialFailed
from wirelab.format.counting import format_count
from wirelab.process.interruption import Interruption

PLACE_S = 30.0
"""Time in which the cluster must have room for all clients."""
ANSWER_S = 30.0
"""Time in which a client must answer: its process is started first."""
WAIT_S = 0.5
"""How often a wait for room looks for Ctrl-C."""
THREADS = 4
"""Calls that a client answers at the same time: its drive, and questions meanwhile."""


@dataclass(frozen=True)
class ClientsSpec:
    """How many clients make the load, and where."""

    count: int
    cluster: Cluster = THIS_MACHINE


class RayClient:
    """One client, seen from the front."""

    def __init__(self, ray: Any, actor: Any, number: int) -> None:
        self._ray, self._actor = ray, actor
        self.name = f"client {number + 1}"

    def call(self, method: str, *arguments: Any, **named: Any) -> Any:
        """The result of a method of :class:`LoadClient`. Raises :class:`TrialFailed`."""
        return self.result(self.begin(method, *arguments, **named))

    def begin(self, method: str, *arguments: Any, **named: Any) -> Any:
        """Begins a method; for :meth:`result`."""
        return getattr(self._actor, method).remote(*arguments, **named)

    def result(self, begun: Any, seconds: float = ANSWER_S) -> Any:
        """The result of what was begun. Raises :class:`TrialFailed` where the client is gone."""
        try:
            return self._ray.get(begun, timeout=seconds)
        except self._ray.exceptions.GetTimeoutError as error:
            raise TrialFailed(f"{self.name} did not answer for {seconds:.0f} s") from error
        except self._ray.exceptions.RayError as error:
            raise TrialFailed(f"{self.name} was lost: {describe_error(error)}") from error

    def is_over(self, begun: Any, seconds: float) -> bool:
        """Waits at most so long for what was begun."""
        over, _ = self._ray.wait([begun], timeout=seconds)
        return bool(over)


@contextmanager
def start_clients(spec: ClientsSpec, interruption: Interruption) -> Iterator[Sequence[RayClient]]:
    """Starts the clients, and ends them. Raises :class:`LabError`, :class:`UsageError`,
    :class:`Interrupted`."""
    ray = load("several clients")
    connect(ray, spec.cluster, cpus=spec.count)
    group = None
    actors: list[Any] = []
    try:
        group = _reserve(ray, spec, interruption) if spec.cluster.address is not None else None
        actors = [_start(ray, group, index) for index in range(spec.count)]
        interruption.check()
        yield [RayClient(ray, actor, number) for number, actor in enumerate(actors)]
    finally:
        # The cluster may be gone, which is an error of its own.
        with suppress(Exception):
            for actor in actors:
                ray.kill(actor)
            if group is not None:
                ray.util.remove_placement_group(group)
        ray.shutdown()


def _reserve(ray: Any, spec: ClientsSpec, interruption: Interruption) -> Any:
    """A place for each client on a node of its own. Raises :class:`LabError`,
    :class:`Interrupted`."""
    group = ray.util.placement_group([{"CPU": 1}] * spec.count, strategy="STRICT_SPREAD")
    until = time.monotonic() + PLACE_S
    while time.monotonic() < until:
        if group.wait(WAIT_S):
            return group
        interruption.check()
    nodes = [node for node in ray.nodes() if node["Alive"]]
    free = ray.available_resources()
    named = ", ".join(
        f"{node['NodeName']} ({format_count(int(node['Resources'].get('CPU', 0)), 'CPU')})"
        for node in sorted(nodes, key=lambda node: str(node["NodeName"]))
    )
    ray.util.remove_placement_group(group)
    raise LabError(
        f"{spec.count} clients need as many nodes with a free CPU; within {PLACE_S:.0f} s the "
        f"cluster had {len(nodes)}: {named}, with "
        f"{format_count(int(free.get('CPU', 0)), 'CPU')} free "
        "together",
        f"start more nodes with `ray start`, or use --clients {len(nodes)}",
    )


def _start(ray: Any, group: Any, index: int) -> Any:
    options: dict[str, Any] = {"num_cpus": 1, "max_concurrency": THREADS, "max_restarts": 0}
    if group is not None:
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        options["scheduling_strategy"] = PlacementGroupSchedulingStrategy(
            placement_group=group, placement_group_bundle_index=index
        )
    return ray.remote(LoadClient).options(**options).remote()
