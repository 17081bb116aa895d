"""The connection to Ray, on this machine or to a cluster: the only module that imports Ray."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from wirelab import installation
from wirelab.errors import LabError, UsageError

OBJECTS_BYTES = 100 << 20
"""Memory of a local object store: results of engines are small."""
STARTS_MAX = 3
"""How often Ray is started on this machine, where it was too slow."""
QUIET = {"log_to_driver": False, "logging_level": "ERROR"}
PREFIX = "ray:"
REACH_S = 5.0
"""Time in which the cluster must accept a connection, seconds."""
RESOLVED = ("127.0.0.1", "localhost", "[::1]")
"""Names that Ray replaces by the address of an interface."""


@dataclass(frozen=True)
class Cluster:
    """Where programs of wirelab run."""

    address: str | None = None
    """Of a Ray cluster; None: this machine."""
    insecure: bool = False
    """The cluster may be without a token."""


THIS_MACHINE = Cluster()


def parse_hosts(text: str, option: str = "--hosts") -> str:
    """The address in ``ray:ADDRESS``, the value of ``option``. Raises :class:`UsageError`."""
    address = text.removeprefix(PREFIX)
    if address == text or not address:
        raise UsageError(f"{option} {text}", "write ray:ADDRESS, for example ray:10.0.0.1:6379")
    return address


def describe_error(error: Exception) -> str:
    """``error`` is Ray's; where a program of wirelab raised another, it has that as its cause."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, Exception):
        return f"{type(cause).__name__}: {cause}"
    if "No module named 'wirelab" in str(error):
        return "wirelab is not installed on its node"
    return str(error).partition("\n")[0]


def load(what: str) -> Any:
    """Ray. ``what`` needs it, in the plural. Raises :class:`LabError`."""
    # Ray reports its usage to its makers otherwise.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # What fails is reported as an error of wirelab, not as lines of Ray's own log.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    try:
        import ray
    except ImportError as error:
        raise LabError(
            f"{what} need Ray, which is not installed", installation.extra("ray")
        ) from error
    return ray


def connect(ray: Any, cluster: Cluster, *, cpus: int = 1) -> None:
    """Connects this process. On this machine Ray is started with that many ``cpus``. Ray replaces
    signal handlers, which are put back. Raises :class:`LabError`, :class:`UsageError`."""
    if cluster.address is not None:
        _refuse_without_token(cluster)
        _reach(cluster.address)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        if cluster.address is None:
            with _use_system_folder():
                _start_local(ray, cpus)
        else:
            ray.init(address=cluster.address, **QUIET)
    except Exception as error:
        where = cluster.address or "this machine"
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


def _start_local(ray: Any, cpus: int) -> None:
    """On a busy machine a start can take longer than the 30 s after which Ray gives up."""
    for start in range(1, STARTS_MAX + 1):
        try:
            ray.init(
                address="local",
                num_cpus=cpus,
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


def _refuse_without_token(cluster: Cluster) -> None:
    if cluster.insecure or os.environ.get("RAY_AUTH_MODE") == "token":
        return
    raise UsageError(
        f"{cluster.address}: whoever reaches a Ray cluster without a token runs programs on "
        "its nodes",
        "start it with RAY_AUTH_MODE=token and set that here too, or give --insecure-ray in a "
        "private network",
    )
