"""PostgreSQL for a run: started by the lab, not as root, on its own data directory.

A :class:`Cluster` is a data directory that lives as long as a run; a :class:`Database` is
the server process that a trial gets, fresh, in the network namespace of its service. Its
processes are accounted apart from the service's.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType

import psutil

from wirelab.errors import LabError, TrialFailed
from wirelab.process import namespaces
from wirelab.process.children import Child
from wirelab.process.interruption import Interruption

DEBIAN = Path("/usr/lib/postgresql")
"""Where Debian keeps the server's programs, one folder per major version."""

USER = "wirelab"
NAME = "wirelab"
MAX_CONNECTIONS = 100
"""PostgreSQL's own default for ``max_connections``."""

CONNECTIONS_MIN = 10
"""Fewer do not leave room for the server's reserved connections."""

INITDB_S_MAX = 120.0
START_S_MAX = 60.0
STOP_S_MAX = 20.0
POLL_S = 0.02


@dataclass(frozen=True)
class Installation:
    """The server's programs on this machine."""

    folder: Path
    version: str
    """As ``postgres --version`` prints it: ``15.18 (Debian 15.18-0+deb12u1)``."""

    @classmethod
    def find(cls, root: Path = DEBIAN) -> Installation:
        """The newest installed server: ``postgres`` on the PATH, else in Debian's folders.
        Raises :class:`LabError` where there is none."""
        candidates = [found.resolve().parent] if (found := _which("postgres")) else []
        numbered = [entry for entry in root.glob("*") if entry.name.isdigit()]
        for entry in sorted(numbered, key=lambda entry: int(entry.name), reverse=True):
            candidates.append(entry / "bin")
        for folder in candidates:
            if all((folder / name).is_file() for name in ("postgres", "initdb")):
                return cls(folder, _version(folder / "postgres"))
        raise LabError(
            "store=postgres needs a PostgreSQL server, and none is installed",
            "install one (Debian: `apt install postgresql`), or name a running one with --postgres",
        )


def _which(name: str) -> Path | None:
    found = shutil.which(name)
    return Path(found) if found else None


def _version(postgres: Path) -> str:
    command = [str(postgres), "--version"]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    match = re.search(r"\(PostgreSQL\) (.+)", printed.stdout)
    if not match:
        raise LabError(f"{postgres} --version printed {printed.stdout.strip()!r}, no version")
    return match.group(1).strip()


class Cluster:
    """A data directory. Use as a context manager: it is removed with the block."""

    def __init__(
        self,
        installation: Installation,
        *,
        max_connections: int = MAX_CONNECTIONS,
        interruption: Interruption,
    ) -> None:
        """Creates it with ``initdb``. As root, the server runs as the user ``postgres``, or
        ``nobody`` where there is none: PostgreSQL refuses root. Raises :class:`LabError`."""
        if max_connections < CONNECTIONS_MIN:
            raise LabError(
                f"max_connections={max_connections}: PostgreSQL reserves some for itself",
                f"use {CONNECTIONS_MIN} or more",
            )
        self.installation = installation
        self.max_connections = max_connections
        self.interruption = interruption
        self.password = secrets.token_urlsafe(18)
        self.folder = Path(tempfile.mkdtemp(prefix="wirelab-postgres-"))
        try:
            self._initialise()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Removes the data directory."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def data(self) -> Path:
        """The data directory itself."""
        return self.folder / "data"

    @cached_property
    def _owner(self) -> pwd.struct_passwd | None:
        """Whom the server runs as; None: whoever runs the lab."""
        if os.geteuid() != 0:
            return None
        for name in ("postgres", "nobody"):
            with contextlib.suppress(KeyError):
                return pwd.getpwnam(name)
        raise LabError("PostgreSQL does not run as root, and there is no user postgres or nobody")

    def as_owner(self, command: Sequence[str]) -> list[str]:
        """The command as run by the owner of the data directory. A change of user clears the
        signal that a child gets when the lab dies (prctl(2)), so setpriv sets it again."""
        if self._owner is None:
            return list(command)
        ids = [f"--reuid={self._owner.pw_uid}", f"--regid={self._owner.pw_gid}"]
        return ["setpriv", *ids, "--clear-groups", "--pdeathsig=KILL", "--", *command]

    def _initialise(self) -> None:
        password = self.folder / "password"
        password.write_text(self.password, encoding="ascii")
        if self._owner is not None:
            for path in (self.folder, password):
                os.chown(path, self._owner.pw_uid, self._owner.pw_gid)
        command = [
            str(self.installation.folder / "initdb"),
            f"--pgdata={self.data}",
            f"--username={USER}",
            f"--pwfile={password}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            "--no-instructions",
        ]
        log = self.folder / "initdb.log"
        child = Child(self.as_owner(command), log=log, stdin=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + INITDB_S_MAX
            while (code := child.wait(POLL_S)) is None and time.monotonic() < deadline:
                self.interruption.check()
        finally:
            tail = child.log_tail()
            child.kill()
        if code != 0:
            raise LabError(f"initdb failed: {tail or f'exit code {code}'}", "see its message")
        password.unlink()


@dataclass(frozen=True)
class Usage:
    """What the processes of a server have used since it started."""

    cpu_user_s: float
    cpu_system_s: float
    memory_bytes: int
    """Unique memory (USS) of all its processes now; shared buffers count once."""
    connections: int
    """Backends that serve clients now."""


class Database:
    """A running server. Use as a context manager; it ends with the block."""

    def __init__(
        self,
        cluster: Cluster,
        *,
        log: Path,
        namespace: str | None = None,
        cores: tuple[int, ...] = (),
        group: Path | None = None,
    ) -> None:
        """Starts it on a free port of 127.0.0.1 in the network namespace, and waits until it
        accepts connections. Raises :class:`TrialFailed`."""
        self.cluster = cluster
        self.namespace = namespace
        self._log, self._cores, self._group = log, cores, group
        self.port = namespaces.free_port(namespace)
        self._past = (0.0, 0.0)
        self._start()

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """For a service, with the password."""
        return f"postgres://{USER}:{self.cluster.password}@127.0.0.1:{self.port}/postgres"

    def stop(self) -> None:
        """Ends it: SIGINT is PostgreSQL's fast shutdown, which rolls open transactions back."""
        self._remember()
        self.child.signal(signal.SIGINT)
        if self.child.wait(STOP_S_MAX) is None:
            self.child.signal(signal.SIGQUIT)
        self.child.end(STOP_S_MAX)

    def kill(self) -> None:
        """Ends the postmaster and all of its processes at once, as a crash would (SIGKILL)."""
        self._remember()
        family = self._processes()
        self.child.kill()
        for process in family:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(family, timeout=STOP_S_MAX)

    def restart(self) -> None:
        """Starts it again on the same port, with the same data, after :meth:`kill` or
        :meth:`stop`."""
        self._start()

    def usage(self) -> Usage:
        """What it has used, restarts included."""
        user, system = self._past
        memory = clients = 0
        for process in self._processes():
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                user += times.user + times.children_user
                system += times.system + times.children_system
                memory += process.memory_full_info().uss
                clients += any(f" {USER} " in part for part in process.cmdline()[:1])
        return Usage(user, system, memory, clients)

    def _start(self) -> None:
        cluster = self.cluster
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "max_connections": cluster.max_connections,
            "unix_socket_directories": cluster.folder,
            "log_min_messages": "warning",
        }
        command = [str(cluster.installation.folder / "postgres"), "-D", str(cluster.data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        self.child = Child(
            cluster.as_owner(command),
            log=self._log,
            namespace=self.namespace,
            cores=self._cores,
            group=self._group,
            stdin=subprocess.DEVNULL,
        )
        try:
            self._await()
        except BaseException:
            self.child.kill()
            raise

    def _await(self) -> None:
        """Until the server answers. A server that is starting or recovering refuses a
        connection, or answers a startup packet with an error."""
        deadline = time.monotonic() + START_S_MAX
        while time.monotonic() < deadline:
            self.cluster.interruption.check()
            if self.child.wait(0.0) is not None:
                raise TrialFailed(f"PostgreSQL did not start: {self.child.log_tail()}")
            if self._accepts():
                return
            time.sleep(POLL_S)
        raise TrialFailed(f"PostgreSQL accepted no connection within {START_S_MAX:.0f} s")

    def _accepts(self) -> bool:
        """Whether it asks for the password: protocol 3.0, StartupMessage and the first byte
        of the answer (PostgreSQL documentation, Message Formats)."""
        parameters = f"user\0{USER}\0database\0postgres\0\0".encode("ascii")
        startup = (len(parameters) + 8).to_bytes(4) + (3 << 16).to_bytes(4) + parameters
        try:
            with self._connection() as connection:
                connection.sendall(startup)
                return connection.recv(1) == b"R"
        except OSError:
            return False

    def _connection(self) -> socket.socket:
        address = ("127.0.0.1", self.port)
        if self.namespace is not None:
            return namespaces.connected(self.namespace, address, 1.0)
        return socket.create_connection(address, 1.0)

    def _processes(self) -> list[psutil.Process]:
        try:
            postmaster = psutil.Process(self.child.pid)
            return [postmaster, *postmaster.children(recursive=True)]
        except psutil.Error:
            return []

    def _remember(self) -> None:
        """Keeps what was used before the processes end."""
        usage = self.usage()
        self._past = (usage.cpu_user_s, usage.cpu_system_s)
