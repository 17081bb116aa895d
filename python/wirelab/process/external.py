"""A user-defined service: started by a command, or already running at a URL."""

from __future__ import annotations

import base64
import hashlib
import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from wirelab.documents.plan import Plan
from wirelab.errors import TrialFailed
from wirelab.experiment.external import ExternalService
from wirelab.format.counting import format_count
from wirelab.process import namespaces, process_tree
from wirelab.process.children import POLL_S, Child, ProcessOptions, describe_exit
from wirelab.process.containment import STAYS, contain, describe
from wirelab.process.endpoint import Endpoint
from wirelab.process.engine import Drive
from wirelab.process.interruption import Interruption
from wirelab.process.process_tree import ProcessTree
from wirelab.process.readiness import READY_REMEDY, ReadyWait

CONNECT_S_MAX = 1.0
"""Maximum time of one attempt to reach a service, seconds."""
SERVING = b"\x08\x01"
"""HealthCheckResponse: ServingStatus status = 1, SERVING = 1 (grpc.health.v1, health.proto)."""
_NUMBERS = itertools.count(1)
"""Numbers the services that this process starts."""
DETACHED_S_MAX = 0.5
"""Time in which detached processes may end by themselves after the first process, seconds."""
LOG_BYTES_MAX = 1 << 20
"""Maximum amount of a service's output that is searched for its ready line."""

Json = dict[str, object]


@dataclass(frozen=True)
class Attempt:
    """Result of one attempt to reach a service."""

    failure: str = ""
    """Why it cannot be called yet; empty if it can."""
    is_connected: bool = True
    """Whether it accepted a connection."""


@dataclass(frozen=True)
class ListenHost:
    """Listen address of a service, and the namespace of its caller."""

    host: str = "127.0.0.1"
    client_namespace: str | None = None


class _Observed:
    """Observations of a service from outside: it has no metrics that wirelab can read."""

    tree: ProcessTree | None
    left: tuple[str, ...] = ()
    """Processes that had detached from it and were running after its end, described; known once it
    has ended."""

    def tick(self) -> None:
        """Does what is due while it is running. To be called often."""

    def cpu_seconds(self) -> float | None:
        """CPU time of the whole process tree so far; None if no process is known."""
        return self.tree.look() if self.tree else None

    def pids(self) -> tuple[int, ...]:
        """Its living processes; empty if none is known."""
        return tuple(self.tree.pids()) if self.tree else ()

    def rss_max_bytes(self) -> int | None:
        """Largest observed sum of resident memory over the process tree; shared pages count for
        each process. None if no process is known."""
        return self.tree.rss_max_bytes or None if self.tree else None

    def involuntary_switches(self) -> dict[int, int] | None:
        """Involuntary context switches by thread."""
        return self.tree.switches() if self.tree else None

    def scrape(self) -> str:
        """Nothing: there is no metrics address."""
        return ""

    def glance(self, seconds_max: float) -> str | None:
        """Nothing, like :meth:`scrape`."""
        del seconds_max
        return ""


class ExternalProcess(_Observed):
    """A service started by its command. Use as a context manager. At the end of the block it gets
    SIGTERM, after its grace period SIGKILL, together with all processes that it has started."""

    def __init__(
        self,
        service: ExternalService,
        place: ListenHost,
        options: ProcessOptions,
        *,
        interruption: Interruption,
    ) -> None:
        """Starts it and waits until it is ready. Raises :class:`TrialFailed` if it cannot be
        started, ends, or stops making progress before it is ready."""
        assert service.command is not None  # a URL uses RunningService
        self._service = service
        self._options = options
        self._place = place
        port = namespaces.free_port(options.namespace)
        command = [_fill_placeholders(part, place.host, port) for part in service.command]
        self.command = tuple(command)
        self._require(command[0])
        process_tree.sweep()
        mark = process_tree.new_mark(next(_NUMBERS))
        own = _environment(service, place.host, port)
        variables = {**own, process_tree.MARK: mark}
        self.containment = contain(options.group)
        # sh only redirects standard output to the log, then exec replaces it with the command.
        start = ["env", "-C", str(service.folder.resolve())]
        start += ["sh", "-c", 'exec "$@" >&2', "sh", *command]
        options = replace(options, environment=variables, holder=self.containment.folder)
        try:
            self.child = Child(start, options, stdin=subprocess.DEVNULL)
        except BaseException:
            self.containment.close()
            raise
        self.tree: ProcessTree = ProcessTree(self.child.pid, mark, self.containment.pids)
        try:
            self.address = self._ready(port, interruption)
            self.tree.all_pids()
        except TrialFailed as failure:
            self.__exit__()
            raise TrialFailed(f"{failure.reason}{tell_left(self.left)}") from failure
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> ExternalProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self.child.wait(0.0) is None:
            self.child.signal(signal.SIGTERM)
            self.child.wait(self._service.stop)
        detached = [describe(pid) for pid in self._wait_for_detached()]
        self.child.kill()
        pids = self.tree.all_pids()
        self.tree.kill()
        self.containment.close()
        _wait_until_gone(pids)
        self.child.log.finish()
        alive = [describe(pid) for pid in pids if Path(f"/proc/{pid}").exists()]
        self.left = (*detached, *(text + STAYS for text in alive))

    def _wait_for_detached(self) -> list[int]:
        """Processes in other sessions than the first process, which a signal to its group does not
        reach, and which have not ended by themselves shortly after it."""
        deadline = time.monotonic() + DETACHED_S_MAX
        while True:
            found = [pid for pid in self.tree.all_pids() if not self._is_in_session(pid)]
            if not found or time.monotonic() > deadline:
                return found
            # They may have started others meanwhile.
            process_tree.wait_for_end(found, POLL_S)

    def _is_in_session(self, pid: int) -> bool:
        """Also true for a process that has ended."""
        try:
            return os.getsid(pid) == self.child.pid
        except ProcessLookupError:
            return True

    def endpoint(self) -> Endpoint:
        """Endpoint for callers."""
        return Endpoint(self.address, tls=self._service.tls_files())

    def death(self) -> str:
        """How it ended; empty while it is running."""
        code = self.child.wait(0.0)
        if code is None:
            return ""
        tail = self.child.log_tail()
        return f"the service ended with {describe_exit(code)}{f' ({tail})' if tail else ''}"

    def record(self) -> Json:
        """The part of a trial's record that describes the service."""
        return {
            "address": self.address,
            "pid": self.child.pid,
            "containment": self.containment.name,
        }

    def tick(self) -> None:
        """Bounds its log."""
        self.child.log.trim()

    def _require(self, program: str) -> None:
        found = Path(self._service.folder, program) if "/" in program else None
        if (found and found.is_file()) or (not found and shutil.which(program)):
            return
        raise TrialFailed(
            f"service {self._service.name}: program {program} does not exist; install it, or "
            "correct `command`"
        )

    def _ready(self, port: int, interruption: Interruption) -> str:
        """Waits until the service is ready, and returns the address that answers."""
        timeout_s = self._options.ready_timeout_s or self._service.ready.within
        wait = ReadyWait(self.child, timeout_s, self.tree)
        while True:
            interruption.check()
            address, made = self._attempt(port, interruption)
            if not made.failure:
                return address
            death = self.death()
            if death:
                raise TrialFailed(f"{death} before it was ready{self._explain_fixed_port(death)}")
            # Once it answers, the attempts themselves keep it busy.
            if failure := wait.failure(counts_progress=not made.is_connected):
                where = self._elsewhere(port)
                raise TrialFailed(f"the service {failure}: {made.failure}{where}; {READY_REMEDY}")
            time.sleep(POLL_S)

    def _attempt(self, port: int, interruption: Interruption) -> tuple[str, Attempt]:
        """Tries its addresses; returns the one that is ready, or the first."""
        pattern = self._service.ready.log
        if pattern is not None and not self._has_printed(pattern):
            return "", Attempt(f"no printed line matches {pattern!r}", is_connected=False)
        first: tuple[str, Attempt] | None = None
        for host in self._hosts():
            made = self._reach((host, port), interruption)
            if not made.failure:
                return _address((host, port)), made
            first = first or (_address((host, port)), made)
        assert first is not None  # there is always one host
        return first

    def _reach(self, where: tuple[str, int], interruption: Interruption) -> Attempt:
        """One attempt at one address."""
        made = attempt(self._service, where, self._place.client_namespace)
        if made.failure or not self._service.ready.grpc:
            return made
        log = self._options.log.with_name("health.log")
        namespace = self._place.client_namespace
        options = replace(self._options, log=log, namespace=namespace, group=None)
        return Attempt(unhealthy(self._service, _address(where), options, interruption))

    def _explain_fixed_port(self, death: str) -> str:
        """Why it may have chosen a port that is in use, for the message."""
        if "in use" not in death or any("{port}" in part for part in self._service.command or ()):
            return ""
        return f"; the command of service {self._service.name} has no {{port}}"

    def _hosts(self) -> tuple[str, ...]:
        """Addresses to try: many servers listen only on IPv6 if their host is `localhost`."""
        return (self._place.host, "::1") if self._place.host == "127.0.0.1" else (self._place.host,)

    def _has_printed(self, pattern: str) -> bool:
        with self._options.log.open("rb") as log:
            text = log.read(LOG_BYTES_MAX).decode("utf-8", "replace")
        return re.search(pattern, text, re.MULTILINE) is not None

    def _elsewhere(self, port: int) -> str:
        """Other addresses that it listens on, for the message."""
        others = self.tree.list_listen_addresses()
        if not others:
            return "; it listens on no TCP port"
        hint = (
            ""
            if any(one.endswith(f":{port}") for one in others)
            else ": pass {port} to the command"
        )
        host = " and {host}" if self._place.client_namespace else ""
        return f"; it listens on {', '.join(others)}{hint}{host if hint else ''}"


class RunningService(_Observed):
    """A running service that wirelab did not start: only its address is known."""

    def __init__(self, service: ExternalService, client_namespace: str | None = None) -> None:
        """Checks that it can be reached. Raises :class:`TrialFailed`."""
        assert service.server is not None  # a command uses ExternalProcess
        self._service = service
        self.address = service.server.address
        host, _, port = self.address.rpartition(":")
        failure = attempt(service, (host.strip("[]"), int(port)), client_namespace).failure
        if failure:
            raise TrialFailed(f"service {service.name}: {failure}")
        self.tree = ProcessTree(service.pid) if service.pid else None
        if self.tree and not self.tree.pids():
            raise TrialFailed(f"service {service.name}: process {service.pid} does not exist")

    def __enter__(self) -> RunningService:
        return self

    def __exit__(self, *_: object) -> None:
        """Does nothing: the service keeps running."""

    def endpoint(self) -> Endpoint:
        """Endpoint for callers."""
        return Endpoint(self.address, tls=self._service.tls_files())

    def death(self) -> str:
        """Reports that its process has ended; empty while it runs, or if it is not known."""
        gone = self.tree is not None and not Path(f"/proc/{self.tree.pid}").exists()
        return f"process {self._service.pid} has ended" if gone else ""

    def record(self) -> Json:
        """The part of a trial's record that describes the service."""
        return {"address": self.address, "pid": self._service.pid}


def tell_left(left: Sequence[str]) -> str:
    """The end of a sentence on a service that left these processes; empty for none."""
    if not left:
        return ""
    return (
        f"; {format_count(len(left), 'process')} outside its session had to be ended: "
        + ", ".join(left)
    )


AnyExternal = ExternalProcess | RunningService


def attempt(service: ExternalService, where: tuple[str, int], namespace: str | None) -> Attempt:
    """Connects to the service, and makes the HTTP request of its readiness check if it has one."""
    shown = _address(where)
    try:
        connection = _connect(where, namespace)
    except OSError as error:
        refused = f"{shown} does not accept connections ({error.strerror or error})"
        return Attempt(refused, is_connected=False)
    path = service.ready.http
    if path is None:
        connection.close()
        return Attempt()
    return Attempt(_find_refusal(connection, shown, path, service))


def _address(where: tuple[str, int]) -> str:
    host, port = where
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def unhealthy(
    service: ExternalService, address: str, options: ProcessOptions, interruption: Interruption
) -> str:
    """Why the gRPC Health Checking Protocol does not report it as serving; empty if it does. The
    engine makes this call, which works for all gRPC services."""
    named = service.ready.grpc if isinstance(service.ready.grpc, str) else ""
    # HealthCheckRequest: string service = 1 (grpc.health.v1, health.proto).
    request = b"\x0a" + bytes([len(named.encode())]) + named.encode() if named else b""
    tls = service.tls_files()
    group = {
        "name": "health",
        "target": address,
        "stack": service.stack.engine_stack(),
        "workload": {
            "kind": "grpc",
            "method": "/grpc.health.v1.Health/Check",
            "body_base64": base64.b64encode(request).decode(),
            "expect": {"sha256": hashlib.sha256(SERVING).hexdigest()},
        },
        "load": {"kind": "closed", "users": 1, "iterations": 1},
        "window": {"calls": {"calls": 1, "max_s": CONNECT_S_MAX}},
        "warmup": {"min_s": 0.0, "max_s": 0.0},
        "timeout_s": CONNECT_S_MAX,
        "drain_s": CONNECT_S_MAX,
        **({"tls": tls} if tls else {}),
    }
    plan = msgspec.convert({"groups": [group]}, Plan)
    made = Drive(plan, options, interruption=interruption).outcome().groups[0]
    if made.ok:
        return ""
    return f"its health is not SERVING ({'; '.join(made.error_examples[:1]) or 'no reply'})"


def _find_refusal(
    connection: socket.socket, shown: str, path: str, service: ExternalService
) -> str:
    """Why GET ``path`` is not answered with 2xx; empty if it is."""
    import http.client  # a slow import (e-mail parser) that few commands need
    import ssl

    client = http.client.HTTPConnection(shown, timeout=CONNECT_S_MAX)
    try:
        if service.is_secure:
            context = ssl.create_default_context()
            # Only readiness is checked here; the calls verify the certificate.
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            connection = context.wrap_socket(connection)
        client.sock = connection
        client.request("GET", path)
        status = client.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return f"GET {path} got no answer: {error!r}"
    finally:
        client.close()
        connection.close()
    return "" if 200 <= status < 300 else f"GET {path} returned status {status}"


def _connect(where: tuple[str, int], namespace: str | None) -> socket.socket:
    if namespace is not None:
        return namespaces.connect(namespace, where, CONNECT_S_MAX)
    return socket.create_connection(where, CONNECT_S_MAX)


def _wait_until_gone(pids: list[int]) -> None:
    """Waits until the kernel has removed killed processes."""
    deadline = time.monotonic() + 2.0
    while time.monotonic() < deadline and any(Path(f"/proc/{pid}").exists() for pid in pids):
        time.sleep(0.01)


def _fill_placeholders(text: str, host: str, port: int) -> str:
    """Fills in the placeholders in a part of a command or of the environment."""
    return text.replace("{port}", str(port)).replace("{host}", host)


def _environment(service: ExternalService, host: str, port: int) -> Mapping[str, str]:
    """Variables added to the environment of wirelab; always contains ``PORT`` and ``HOST``."""
    given = {name: _fill_placeholders(value, host, port) for name, value in service.env.items()}
    return {"PORT": str(port), "HOST": host, **given}
