"""PostgreSQL for a run: started by wirelab, not as root, on its own data directory.

A :class:`Cluster` is a data directory with the lifetime of a run. A :class:`Database` is a fresh
server process per trial, in the network namespace of the service. The resource usage of its
processes is reported separately from that of the service.
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
import stat
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Self

import psutil

from wirelab.errors import LabError, TrialFailed
from wirelab.process import namespaces
from wirelab.process.children import Child, ProcessOptions, describe_exit
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import OwnedFolder, sweep
from wirelab.records.service import StoreRecord
from wirelab.stack.reference import Stack

DEBIAN = Path("/usr/lib/postgresql")
"""Debian's folder of the server's programs, one subfolder per major version."""

MEMORY = "memory"
"""Value of the axis ``store`` without a database."""

FOLDERS = (Path("/tmp"), Path("/var/tmp"))
"""Temporary files (Filesystem Hierarchy Standard 3.0), if $TMPDIR is not accessible."""

USER = "wirelab"
MAX_CONNECTIONS = 100
"""PostgreSQL's default for ``max_connections``."""

INITDB_S_MAX = 120.0
START_S_MAX = 60.0
STOP_S_MAX = 20.0
POLL_S = 0.02


@dataclass(frozen=True)
class Installation:
    """The server's programs on this machine."""

    folder: Path
    version: str
    """Output of ``postgres --version``: ``15.18 (Debian 15.18-0+deb12u1)``."""

    @classmethod
    def find(cls, root: Path = DEBIAN) -> Installation:
        """The newest installed server: ``postgres`` in PATH, otherwise in Debian's folders.
        Raises :class:`LabError` if there is none."""
        candidates = [found.resolve().parent] if (found := _find_program("postgres")) else []
        numbered = [entry for entry in root.glob("*") if entry.name.isdigit()]
        for entry in sorted(numbered, key=lambda entry: int(entry.name), reverse=True):
            candidates.append(entry / "bin")
        for folder in candidates:
            if all((folder / name).is_file() for name in ("postgres", "initdb")):
                return cls(folder, _version(folder / "postgres"))
        raise LabError(
            "store=postgres needs a PostgreSQL server, and none is installed",
            "install it (Debian: `apt install postgresql`), or use a running one with --postgres",
        )


def _find_program(name: str) -> Path | None:
    found = shutil.which(name)
    return Path(found) if found else None


def _version(postgres: Path) -> str:
    command = [str(postgres), "--version"]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    match = re.search(r"\(PostgreSQL\) (.+)", printed.stdout)
    if not match:
        raise LabError(
            f"{postgres} --version printed {printed.stdout.strip()!r}, which contains no version"
        )
    return match.group(1).strip()


class Closing(ABC):
    """A context manager that closes itself at the end of the block."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Releases its resources."""


class Cluster(Closing):
    """A data directory. Use as a context manager. It is removed at the end of the block, or by the
    next run if this one is killed."""

    def __init__(
        self,
        installation: Installation,
        *,
        interruption: Interruption,
    ) -> None:
        """Creates it with ``initdb``. If wirelab runs as root, the server runs as user
        ``postgres``, or ``nobody`` if there is none: PostgreSQL refuses root. Raises
        :class:`LabError`."""
        self.installation = installation
        self.interruption = interruption
        self.password = secrets.token_urlsafe(18)
        self._temporary = OwnedFolder(self._parent())
        try:
            self._initialise()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Removes the data directory."""
        self._temporary.remove()

    @property
    def folder(self) -> Path:
        """Folder of the data directory and of the server's Unix socket."""
        return self._temporary.path

    @property
    def data(self) -> Path:
        """The data directory itself."""
        return self.folder / "data"

    @cached_property
    def _owner(self) -> pwd.struct_passwd | None:
        """User that the server runs as; None: the user that runs wirelab."""
        if os.geteuid() != 0:
            return None
        for name in ("postgres", "nobody"):
            with contextlib.suppress(KeyError):
                return pwd.getpwnam(name)
        raise LabError(
            "PostgreSQL does not run as root, and there is no user postgres or nobody",
            "create a user postgres, or run wirelab as another user",
        )

    def _parent(self) -> Path | None:
        """Where to create the folder. Its owner must be able to reach it, but the folder for
        temporary files may be closed to others. None: the folder for temporary files."""
        usual = Path(tempfile.gettempdir()).resolve()
        if self._owner is None or _is_open_to_all(usual):
            return None
        for parent in FOLDERS:
            if _is_open_to_all(parent) and os.access(parent, os.W_OK):
                sweep(parent)
                return parent
        raise LabError(
            f"PostgreSQL runs as user {self._owner.pw_name}, who cannot access {usual}",
            "set TMPDIR to a folder that all users can access",
        )

    def as_owner(self, command: Sequence[str]) -> list[str]:
        """The command run as the owner of the data directory. A change of user clears the signal
        that a child gets when wirelab dies (prctl(2)), so setpriv sets it again."""
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
        child = Child(self.as_owner(command), ProcessOptions(log=log), stdin=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + INITDB_S_MAX
            while (code := child.wait(POLL_S)) is None and time.monotonic() < deadline:
                self.interruption.check()
        finally:
            tail = child.log_tail()
            child.kill()
        if code != 0:
            raise LabError(
                f"initdb failed: {tail or f'exit code {code}'}",
                "read its message and correct the cause",
            )
        password.unlink()


def _is_open_to_all(folder: Path) -> bool:
    """Whether every user may enter the folder and all of its parents."""
    try:
        return all(path.stat().st_mode & stat.S_IXOTH for path in (folder, *folder.parents))
    except OSError:
        return False


@dataclass(frozen=True)
class Usage:
    """Resource usage of the server's processes since its start."""

    cpu_user_s: float
    cpu_system_s: float
    memory_bytes: int
    """Current unique memory (USS) of all its processes; shared buffers count once."""
    connections: int
    """Current number of backends that serve clients."""


class Database(Closing):
    """A running server. Use as a context manager; it ends with the block."""

    def __init__(
        self,
        cluster: Cluster,
        *,
        log: Path,
        max_connections: int = MAX_CONNECTIONS,
        namespace: str | None = None,
        cores: tuple[int, ...] = (),
    ) -> None:
        """Starts it on a free port of 127.0.0.1 in the network namespace, and waits until it
        accepts connections. Raises :class:`TrialFailed`."""
        self.cluster = cluster
        self.namespace = namespace
        self.max_connections = max_connections
        self._log, self._cores = log, cores
        self.port = namespaces.free_port(namespace)
        self._past = self._most = (0.0, 0.0)
        self._start()

    def close(self) -> None:
        """Same as :meth:`stop`."""
        self.stop()

    @property
    def url(self) -> str:
        """URL for a service, including the password."""
        return f"postgres://{USER}:{self.cluster.password}@127.0.0.1:{self.port}/postgres"

    def stop(self) -> None:
        """Ends it with SIGINT, PostgreSQL's fast shutdown, which rolls back open transactions."""
        self._remember()
        self.child.signal(signal.SIGINT)
        if self.child.wait(STOP_S_MAX) is None:
            self.child.signal(signal.SIGQUIT)
        self.child.end(STOP_S_MAX)

    def kill(self) -> None:
        """Kills the postmaster and all of its processes (SIGKILL), like a crash."""
        self._remember()
        family = self._processes()
        self.child.kill()
        for process in family:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(family, timeout=STOP_S_MAX)

    def restart(self) -> None:
        """Starts it again on the same port with the same data, after :meth:`kill` or
        :meth:`stop`."""
        self._start()

    def usage(self) -> Usage:
        """Resource usage so far, restarts included."""
        user, system = self._past
        memory = clients = 0
        for process in self._processes():
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                user += times.user + times.children_user
                system += times.system + times.children_system
                memory += process.memory_full_info().uss
                clients += any(f" {USER} " in part for part in process.cmdline()[:1])
        # A backend that ends while it is read is counted neither itself nor with its parent.
        self._most = (max(user, self._most[0]), max(system, self._most[1]))
        return Usage(*self._most, memory, clients)

    def _start(self) -> None:
        cluster = self.cluster
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "max_connections": self.max_connections,
            "unix_socket_directories": cluster.folder,
            "log_min_messages": "warning",
        }
        command = [str(cluster.installation.folder / "postgres"), "-D", str(cluster.data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        self.child = Child(
            cluster.as_owner(command),
            ProcessOptions(log=self._log, cores=self._cores, namespace=self.namespace),
            stdin=subprocess.DEVNULL,
        )
        try:
            self._await()
        except BaseException:
            self.child.kill()
            raise

    def _await(self) -> None:
        """Waits until the server answers. A server that is starting or recovering refuses a
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
        """Whether it requests the password: protocol 3.0, StartupMessage and the first byte of the
        answer (PostgreSQL documentation, Message Formats)."""
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
            return namespaces.connect(self.namespace, address, 1.0)
        return socket.create_connection(address, 1.0)

    def _processes(self) -> list[psutil.Process]:
        try:
            postmaster = psutil.Process(self.child.pid)
            return [postmaster, *postmaster.children(recursive=True)]
        except psutil.Error:
            return []

    def _remember(self) -> None:
        """Saves the resource usage before the processes end."""
        usage = self.usage()
        self._past = (usage.cpu_user_s, usage.cpu_system_s)


@dataclass(frozen=True)
class Store:
    """Where the service of one trial stores its rows."""

    kind: str
    """Value of the axis ``store``."""
    pool: int | None = None
    """Value of the axis ``store_pool``; None: the driver's default."""
    url: str = ""
    version: str = ""
    """Version of a database that wirelab started; "": unknown, or inside the service."""
    database: Database | None = None

    def configuration(self) -> dict[str, str | int]:
        """The key ``store`` of a service's configuration
        (docs/reference/process.md)."""
        if self.kind == MEMORY:
            return {}
        named: dict[str, str | int] = {"kind": self.kind}
        if self.url:
            named["url"] = self.url
        if self.pool is not None:
            named["pool"] = self.pool
        return named

    def death(self) -> str:
        """How the database process ended; empty while it runs, or if it is not wirelab's."""
        code = self.database.child.wait(0.0) if self.database else None
        return "" if code is None else f"PostgreSQL ended with {describe_exit(code)}"

    def usage(self) -> Usage | None:
        """Resource usage of the database processes; None if there are none, or if wirelab did not
        start them."""
        return self.database.usage() if self.database else None

    def record(self, before: Usage | None) -> StoreRecord | None:
        """For the trial's record: the store, and its resource usage since ``before``."""
        if self.kind == MEMORY:
            return None
        record = StoreRecord(self.kind, self.pool, self.version)
        now = self.usage()
        if before is None or now is None:
            return record
        return replace(
            record,
            cpu_user_s=now.cpu_user_s - before.cpu_user_s,
            cpu_system_s=now.cpu_system_s - before.cpu_system_s,
            memory_bytes=now.memory_bytes,
            connections=now.connections,
        )

    @staticmethod
    def mask_password(configuration: object) -> object:
        """The object ``store`` of a service's configuration, as it is recorded."""
        if not isinstance(configuration, dict) or "url" not in configuration:
            return configuration
        url = re.sub(r"(//[^:/@]*):[^@]*@", r"\1:…@", str(configuration["url"]))
        return {**configuration, "url": url}


class Stores(Closing):
    """The databases of a run. Use as a context manager; they end with the block."""

    def __init__(self, interruption: Interruption, url: str = "") -> None:
        """``url`` is that of a running PostgreSQL, to be used instead of one that wirelab
        starts."""
        self._interruption = interruption
        self._url = url
        self._cluster: Cluster | None = None

    def close(self) -> None:
        """Removes the data directory, if one was created."""
        if self._cluster is not None:
            self._cluster.close()

    @contextlib.contextmanager
    def open(
        self,
        stack: Stack,
        folder: Path,
        *,
        namespace: str | None = None,
        cores: tuple[int, ...] = (),
    ) -> Iterator[Store]:
        """A fresh store for a trial, in the network namespace of its service. ``folder`` receives
        the server's log and, during the trial, SQLite's file. Raises :class:`LabError`,
        :class:`TrialFailed`."""
        kind, pool = stack.axes.store, stack.axes.store_pool
        if kind == "postgres" and not self._url:
            cluster = self._start_cluster()
            with Database(
                cluster,
                log=folder / "postgres.log",
                max_connections=stack.axes.max_connections,
                namespace=namespace,
                cores=cores,
            ) as database:
                yield Store(kind, pool, database.url, cluster.installation.version, database)
        elif kind == "postgres":
            yield Store(kind, pool, self._url)
        elif kind == "sqlite":
            inside = OwnedFolder(folder)
            try:
                yield Store(kind, pool, str(inside.path / "records.sqlite"))
            finally:
                inside.remove()
        else:
            yield Store(kind, pool)

    def _start_cluster(self) -> Cluster:
        """The data directory of the run, created on first use."""
        if self._cluster is None:
            self._cluster = Cluster(Installation.find(), interruption=self._interruption)
        return self._cluster
