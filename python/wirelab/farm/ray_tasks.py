"""Trials as tasks of Ray: one at a time on each node, on another where a node is lost."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, Protocol

import msgspec

from wirelab.clients.client import describe
from wirelab.clients.ray_connection import Cluster, connect, describe_error, load
from wirelab.errors import LabError, WirelabError
from wirelab.farm.host import describe_host
from wirelab.farm.transport import (
    Begun,
    HostInfo,
    HostLine,
    HostLost,
    refuse_other_program,
    refuse_unequal,
)
from wirelab.process.interruption import Interruption

RETRIES = 2
"""How often Ray begins a trial again whose process or node was lost."""
ROOM_S = 60.0
"""Time in which every node must have a free place, and describe itself."""
TICK_S = 0.2
"""How often a wait looks for Ctrl-C."""
END_S = 10.0
"""Time for cancelled trials to end their processes; then Ray kills them."""


class Work(Protocol):
    """What hosts do; an object reaches them by pickle."""

    def prepare(self, host: str) -> dict[str, str]:
        """Once, before the first trial. Returns digests of what it uses, by name."""

    def measure(self, host: str, order: int, earlier: str) -> list[HostLine]:
        """One trial."""


@lru_cache(maxsize=1)
def _own_name() -> str:
    """Of this node, in its worker."""
    ray = load("trials on many hosts")
    own = ray.get_runtime_context().get_node_id()
    return next(str(node["NodeName"]) for node in ray.nodes() if node["NodeID"] == own)


def _describe() -> bytes:
    return msgspec.json.encode(describe_host(_own_name()))


def _prepare(work: Work) -> dict[str, str] | WirelabError:
    try:
        return work.prepare(_own_name())
    except WirelabError as error:
        return error


def _measure(work: Work, order: int, earlier: str) -> list[HostLine] | WirelabError:
    try:
        return work.measure(_own_name(), order, earlier)
    except WirelabError as error:
        return error


class RayFarm:
    """The nodes of a cluster that have CPUs: a :class:`wirelab.farm.transport.Transport`."""

    def __init__(self, ray: Any, interruption: Interruption) -> None:
        """Uses a connection that is open."""
        self._ray, self._interruption = ray, interruption
        self._nodes: dict[str, Any] = {}
        self._cpus = 1.0
        self._work: Any = None
        self._on: dict[Begun, str] = {}

    def hosts(self) -> Sequence[str]:
        """See :class:`Transport`."""
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        self._nodes = {
            str(node["NodeName"]): node for node in nodes if node["Resources"].get("CPU", 0.0) > 0.0
        }
        return sorted(self._nodes)

    def describe_all(self) -> list[HostInfo]:
        """Compares all hosts with this machine and each other. Raises :class:`LabError`,
        :class:`Interrupted`."""
        if not self.hosts():
            raise LabError(
                "no node of the cluster has a CPU for trials",
                "start one with `ray start --address ADDRESS`",
            )
        probe = self._ray.remote(_describe)
        asked = {name: self._place(probe, name, cpus=0.0).remote() for name in self.hosts()}
        hosts = [msgspec.json.decode(said, type=HostInfo) for said in self._gather(asked).values()]
        here = describe()
        for host in hosts:
            refuse_other_program(host, here)
        refuse_unequal(hosts)
        cpus = {float(node["Resources"]["CPU"]) for node in self._nodes.values()}
        if len(cpus) > 1:
            raise LabError(
                "a trial has a whole node, and the nodes of this cluster have different numbers of "
                f"CPUs: {', '.join(f'{one:g}' for one in sorted(cpus))}",
                "start all nodes with the same --num-cpus, and those to leave out with 0",
            )
        (self._cpus,) = cpus
        return hosts

    def prepare(self, work: Work) -> None:
        """Sends the work to all hosts, which prepare it at the same time. Raises
        :class:`LabError`, :class:`Interrupted`."""
        self._work = self._ray.put(work)
        task = self._ray.remote(_prepare)
        asked = {
            name: self._place(task, name, cpus=self._cpus).remote(self._work)
            for name in self._nodes
        }
        used: dict[str, tuple[str, str]] = {}
        for name, said in self._gather(asked, seconds=None).items():
            if isinstance(said, WirelabError):
                said.message = f"{name}: {said.message}"
                raise said
            for what, digest in said.items():
                first, same = used.setdefault(what, (name, digest))
                if digest != same:
                    raise LabError(
                        f"{what} on {name} ({digest[:12]}) is another program than on {first} "
                        f"({same[:12]})",
                        "install the same wheels on all hosts",
                    )

    def begin(self, host: str, order: int, earlier: str) -> Begun:
        """See :class:`Transport`."""
        task = self._place(self._ray.remote(_measure), host, cpus=self._cpus, soft=True)
        begun: Begun = task.remote(self._work, order, earlier)
        self._on[begun] = host
        return begun

    def wait(self, begun: Collection[Begun], seconds: float) -> Sequence[Begun]:
        """See :class:`Transport`."""
        waiting = list(begun)
        over, rest = self._ray.wait(waiting, timeout=seconds, fetch_local=False)
        if rest:
            more, _ = self._ray.wait(rest, num_returns=len(rest), timeout=0, fetch_local=False)
            over = [*over, *more]
        return list(over)

    def result(self, begun: Begun) -> Sequence[HostLine]:
        """See :class:`Transport`."""
        host = self._on.pop(begun)
        try:
            said = self._ray.get(begun)
        except self._ray.exceptions.RayTaskError as error:
            raise LabError(f"{host}: {describe_error(error)}", "report this") from error
        except self._ray.exceptions.RayError as error:
            raise HostLost(
                f"{host} was lost, and no other node took over: {describe_error(error)}"
            ) from error
        if isinstance(said, WirelabError):
            said.message = f"{host}: {said.message}"
            raise said
        lines: list[HostLine] = said
        return lines

    def cancel(self, begun: Collection[Begun]) -> None:
        """See :class:`Transport`."""
        waiting = list(begun)
        # The cluster may be gone, which is an error of its own.
        with suppress(self._ray.exceptions.RayError):
            for one in waiting:
                self._ray.cancel(one, force=False)
            if waiting:
                _, late = self._ray.wait(waiting, num_returns=len(waiting), timeout=END_S)
                for one in late:
                    self._ray.cancel(one, force=True)
        for one in waiting:
            self._on.pop(one, None)

    def _place(self, task: Any, host: str, *, cpus: float, soft: bool = False) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        node = self._nodes[host]["NodeID"]
        return task.options(
            num_cpus=cpus,
            max_retries=RETRIES if soft else 0,
            retry_exceptions=False,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=node, soft=soft),
        )

    def _gather(self, asked: dict[str, Any], seconds: float | None = ROOM_S) -> dict[str, Any]:
        """The answers of hosts by name; without ``seconds``, however long they take. Raises
        :class:`LabError`, :class:`Interrupted`."""
        until = None if seconds is None else time.monotonic() + seconds
        left = dict(asked)
        while left:
            self._interruption.check()
            over = set(self.wait(list(left.values()), TICK_S))
            left = {name: ref for name, ref in left.items() if ref not in over}
            if left and until is not None and time.monotonic() > until:
                raise LabError(
                    f"{', '.join(left)}: no answer within {seconds:.0f} s",
                    "look at that node, or leave it out",
                )
        try:
            return {name: self._ray.get(ref) for name, ref in asked.items()}
        except self._ray.exceptions.RayError as error:
            reason = describe_error(error)
            raise LabError(f"a host cannot be used: {reason}", "look at that node") from error


@contextmanager
def open_farm(cluster: Cluster, interruption: Interruption) -> Iterator[RayFarm]:
    """Connects to a cluster. Raises :class:`LabError`, :class:`UsageError`."""
    ray = load("trials on many hosts")
    connect(ray, cluster)
    try:
        yield RayFarm(ray, interruption)
    finally:
        ray.shutdown()
