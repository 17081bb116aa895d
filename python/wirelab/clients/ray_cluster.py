"""Clients as actors of Ray, on this machine or on the nodes of a cluster: the only module that
imports Ray."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from wirelab import installation
from wirelab.clients.client import LoadClient
from wirelab.errors import LabError, TrialFailed, UsageError
from wirelab.format.counting import format_count
from wirelab.process.interruption import Interruption

PLACE_S = 30.0
"""Time in which the cluster must have room for all clients."""
ANSWER_S = 30.0
"""Time in which a client must answer: its process is started first."""
OBJECTS_BYTES = 100 << 20
"""Memory of a local object store: results of engines are small."""
WAIT_S = 0.5
"""How often a wait for room looks for Ctrl-C."""
THREADS = 4
"""Calls that a client answers at the same time: its drive, and questions meanwhile."""
STARTS_MAX = 3
"""How often Ray is started on this machine, where it was too slow."""
QUIET = {"log_to_driver": False, "logging_level": "ERROR"}
PREFIX = "ray:"
REACH_S = 5.0
"""Time in which the cluster must accept a connection."""
RESOLVED = ("127.0.0.1", "localhost", "[::1]")
"""Names that Ray replaces by the address of an interface."""


@dataclass(frozen=True)
class Cluster:
    """Where clients run."""

    address: str | None = None
    """Of a Ray cluster, one client per node; None: all on this machine."""
    insecure: bool = False
    """The cluster may be without a token."""


THIS_MACHINE = Cluster()


@dataclass(frozen=True)
class ClientsSpec:
    """How many clients make the load, and where."""

    count: int
    cluster: Cluster = THIS_MACHINE


def parse_hosts(text: str) -> str:
    """The address in ``ray:ADDRESS``. Raises :class:`UsageError`."""
    address = text.removeprefix(PREFIX)
    if address == text or not address:
        raise UsageError(f"--hosts {text}", "write ray:ADDRESS, for example ray:10.0.0.1:6379")
    return address


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
            raise TrialFailed(f"{self.name} was lost: {_describe(error)}") from error

    def is_over(self, begun: Any, seconds: float) -> bool:
        """Waits at most so long for what was begun."""
        over, _ = self._ray.wait([begun], timeout=seconds)
        return bool(over)


def _describe(error: Exception) -> str:
    """``error`` is Ray's; where a method of the client raised another, it has that as its cause."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, Exception):
        return f"{type(cause).__name__}: {cause}"
    if "No module named 'wirelab" in str(error):
        return "wirelab is not installed on its node"
    return str(error).partition("\n")[0]


@contextmanager
def start_clients(spec: ClientsSpec, interruption: Interruption) -> Iterator[Sequence[RayClient]]:
    """Starts the clients, and ends them. Raises :class:`LabError`, :class:`UsageError`,
    :class:`Interrupted`."""
    ray = _load()
    _connect(ray, spec)
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


def _load() -> Any:
    # Ray reports its usage to its makers otherwise.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # What fails is reported as an error of wirelab, not as lines of Ray's own log.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    try:
        import ray
    except ImportError as error:
        raise LabError(
            "several clients need Ray, which is not installed", installation.extra("ray")
        ) from error
    return ray


def _connect(ray: Any, spec: ClientsSpec) -> None:
    """Ray replaces signal handlers, which are put back."""
    if spec.cluster.address is not None:
        _refuse_without_token(spec)
        _reach(spec.cluster.address)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        if spec.cluster.address is None:
            with _use_system_folder():
                _start_local(ray, spec.count)
        else:
            ray.init(address=spec.cluster.address, **QUIET)
    except Exception as error:
        where = spec.cluster.address or "this machine"
        reason = str(error).strip().partition("\n")[0]
        raise LabError(
            f"Ray on {where} cannot be used: {type(error).__name__}: {reason}",
            "does `ray status` show it, and is RAY_AUTH_MODE=token set here as it is there?",
        ) from error
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextmanager
def _use_system_folder() -> Iterator[None]:
    """Clients outlive the run that starts them, whose folder for temporary files is removed."""
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = tempfile.gettempdir()  # as it was when this process began
    try:
        yield
    finally:
        del os.environ["TMPDIR"]
        if before is not None:
            os.environ["TMPDIR"] = before


def _start_local(ray: Any, count: int) -> None:
    """On a busy machine a start can take longer than the 30 s after which Ray gives up."""
    for start in range(1, STARTS_MAX + 1):
        try:
            ray.init(
                address="local",
                num_cpus=count,
                include_dashboard=False,
                object_store_memory=OBJECTS_BYTES,
                _node_ip_address="127.0.0.1",
                **QUIET,
            )
            return
        except Exception as error:
            if start == STARTS_MAX or "timed out during startup" not in str(error):
                raise
            ray.shutdown()


def _reach(address: str) -> None:
    """Ray waits for minutes where nobody listens. Raises :class:`LabError`."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise UsageError(f"ray:{address}", "write the address with its port, as `ray start` has it")
    if host in RESOLVED:
        raise UsageError(
            f"ray:{address}: Ray replaces {host} by another address of this machine",
            "name the address that `ray start` prints",
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), REACH_S).close()
    except OSError as error:
        raise LabError(
            f"nobody listens at {address}: {error.strerror or error}",
            "does `ray status` show the cluster, and is its port open to this machine?",
        ) from error


def _refuse_without_token(spec: ClientsSpec) -> None:
    if spec.cluster.insecure or os.environ.get("RAY_AUTH_MODE") == "token":
        return
    raise UsageError(
        f"{spec.cluster.address}: whoever reaches a Ray cluster without a token runs programs on "
        "its nodes",
        "start it with RAY_AUTH_MODE=token and set that here too, or give --insecure-ray in a "
        "private network",
    )


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
