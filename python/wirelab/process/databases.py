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
import stat
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import psutil

from wirelab.errors import LabError, TrialFailed
from wirelab.process import namespaces
from wirelab.process.children import Child, ProcessOptions, describe_exit
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import OwnedFolder, sweep
from wirelab.stack.reference import Stack
from wirelab.trial.record import StoreRecord

DEBIAN = Path("/usr/lib/postgresql")
"""Where Debian keeps the server's programs, one folder per major version."""

MEMORY = "memory"
"""The value of the axis ``store`` without a database."""

FOLDERS = (Path("/tmp"), Path("/var/tmp"))
"""For temporary files, by the Filesystem Hierarchy Standard 3.0, where $TMPDIR is closed."""

USER = "wirelab"
MAX_CONNECTIONS = 100
"""PostgreSQL's own default for ``max_connections``."""

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


class Closing(ABC):
    """A context manager that closes itself at the end of its block."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Gives up what it holds."""


class Cluster(Closing):
    """A data directory. Use as a context manager: it is removed with the block, or by the next
    lab when this one is killed."""

    def __init__(
        self,
        installation: Installation,
        *,
        interruption: Interruption,
    ) -> None:
        """Creates it with ``initdb``. As root, the server runs as the user ``postgres``, or
        ``nobody`` where there is none: PostgreSQL refuses root. Raises :class:`LabError`."""
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
        """Holds the data directory and the server's Unix socket."""
        return self._temporary.path

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

    def _parent(self) -> Path | None:
        """Where the folder can be: its owner must reach it, and a folder for temporary files may
        be closed to others. None: the folder for temporary files."""
        usual = Path(tempfile.gettempdir()).resolve()
        if self._owner is None or _is_open_to_all(usual):
            return None
        for parent in FOLDERS:
            if _is_open_to_all(parent) and os.access(parent, os.W_OK):
                sweep(parent)
                return parent
        raise LabError(
            f"the user {self._owner.pw_name}, whom PostgreSQL runs as, cannot reach {usual}",
            "set TMPDIR to a folder that all users can enter",
        )

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
        child = Child(self.as_owner(command), ProcessOptions(log=log), stdin=subprocess.DEVNULL)
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


def _is_open_to_all(folder: Path) -> bool:
    """Whether every user may enter it and each of the folders that it is in."""
    try:
        return all(path.stat().st_mode & stat.S_IXOTH for path in (folder, *folder.parents))
    except OSError:
        return False


@dataclass(frozen=True)
class Usage:
    """What the processes of a server have used since it started."""

    cpu_user_s: float
    cpu_system_s: float
    memory_bytes: int
    """Unique memory (USS) of all its processes now; shared buffers count once."""
    connections: int
    """Backends that serve clients now."""


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
        """The same as :meth:`stop`."""
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
        # A backend that ends while it is read counts neither itself nor with its parent.
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


@dataclass(frozen=True)
class Store:
    """Where the service of one trial keeps its rows."""

    kind: str
    """The value of the axis ``store``."""
    pool: int | None = None
    """The value of the axis ``store_pool``; None: the driver's default."""
    url: str = ""
    version: str = ""
    """Of a database that the lab started; "": unknown, or within the service."""
    database: Database | None = None

    def configuration(self) -> dict[str, Any]:
        """What a service's configuration says of it under ``store``
        (docs/reference/process.md)."""
        if self.kind == MEMORY:
            return {}
        named: dict[str, Any] = {"kind": self.kind}
        if self.url:
            named["url"] = self.url
        if self.pool is not None:
            named["pool"] = self.pool
        return named

    def death(self) -> str:
        """How the database's process ended; empty while it runs, or is not the lab's."""
        code = self.database.child.wait(0.0) if self.database else None
        return "" if code is None else f"PostgreSQL ended with {describe_exit(code)}"

    def usage(self) -> Usage | None:
        """What the database's own processes used; None: there are none, or they are not
        the lab's."""
        return self.database.usage() if self.database else None

    def record(self, before: Usage | None) -> StoreRecord | None:
        """For the trial's record: what it is, and what was used since ``before``."""
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
    def without_password(configuration: dict[str, Any]) -> dict[str, Any]:
        """The object ``store`` of a service's configuration, to be written down."""
        if "url" not in configuration:
            return configuration
        url = re.sub(r"(//[^:/@]*):[^@]*@", r"\1:…@", configuration["url"])
        return {**configuration, "url": url}


class Stores(Closing):
    """The databases of a run. Use as a context manager; they end with the block."""

    def __init__(self, interruption: Interruption, url: str = "") -> None:
        """``url`` names a PostgreSQL that already runs, and is used instead of one that the
        lab starts."""
        self._interruption = interruption
        self._url = url
        self._cluster: Cluster | None = None

    def close(self) -> None:
        """Removes the data directory, where one was made."""
        if self._cluster is not None:
            self._cluster.close()

    @contextlib.contextmanager
    def opened(
        self,
        stack: Stack,
        folder: Path,
        *,
        namespace: str | None = None,
        cores: tuple[int, ...] = (),
    ) -> Iterator[Store]:
        """The store of a trial, fresh, in the network namespace of its service. ``folder``
        gets the server's log, and SQLite's file for as long as the trial lasts. Raises
        :class:`LabError`, :class:`TrialFailed`."""
        kind, pool_text = stack.axes["store"], stack.axes["store_pool"]
        pool = int(pool_text) if pool_text.isdigit() else None
        if kind == "postgres" and not self._url:
            cluster = self._started()
            with Database(
                cluster,
                log=folder / "postgres.log",
                max_connections=int(stack.axes["max_connections"]),
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

    def _started(self) -> Cluster:
        """The data directory of the run, made when it is first needed."""
        if self._cluster is None:
            self._cluster = Cluster(Installation.find(), interruption=self._interruption)
        return self._cluster
