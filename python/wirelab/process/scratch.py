"""Temporary files for the processes of a run: Unix sockets, certificates and keys."""

from __future__ import annotations

import fcntl
import itertools
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.errors import LabError
from wirelab.process import engine_binary
from wirelab.process.file_locks import is_locked
from wirelab.process.keystores import Keystore, make_keystore

if TYPE_CHECKING:
    pass


SUN_PATH_MAX = 107
"""Maximum path length of a Unix socket: sun_path has 108 bytes with the final NUL (unix(7))."""


PREFIX = "wirelab-"
"""Prefix of all folder names; the owner's process id follows."""


class OwnedFolder:
    """A new folder with a short name. If its owner is killed, :func:`sweep` removes it."""

    def __init__(self, parent: Path | None = None) -> None:
        """Creates it in ``parent``, by default the system's folder for temporary files."""
        self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent))
        self._hold = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._hold, fcntl.LOCK_SH)

    def remove(self) -> None:
        """Removes it with its contents; later calls do nothing."""
        os.close(self._hold)
        shutil.rmtree(self.path, ignore_errors=True)


class Scratch:
    """A folder with a short name, removed at the end of the block, which child processes also use
    for temporary files. Use as a context manager."""

    def __init__(self, parent: Path | None = None) -> None:
        """Creates it in ``parent``, by default the system's folder for temporary files, because the
        path of a run directory may be too long for a socket. Folders left by killed processes are
        removed."""
        sweep(Path(tempfile.gettempdir()) if parent is None else parent)
        self._folder = OwnedFolder(parent)
        self._certificates: Certificates | None = None
        self._keystore: Keystore | None = None
        self._numbers = itertools.count(1)

    def __enter__(self) -> Scratch:
        self._before = os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = str(self._folder.path)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = self._before
        self._folder.remove()

    @property
    def folder(self) -> Path:
        """The folder, for files that are not needed afterwards."""
        return self._folder.path

    def socket(self) -> Path:
        """A free path for a Unix socket. Raises :class:`LabError` if the path would be too long."""
        path = self.folder / f"{next(self._numbers)}.sock"
        if len(bytes(path)) > SUN_PATH_MAX:
            raise LabError(
                f"a Unix socket cannot be created at {path}: its path exceeds {SUN_PATH_MAX} bytes",
                "set TMPDIR to a folder with a shorter path",
            )
        return path

    def certificates(self) -> Certificates:
        """The run's certificates, created on first use. Raises
        :class:`LabError`."""
        if self._certificates is None:
            self._certificates = make_certificates(self.folder / "tls")
        return self._certificates

    def keystore(self) -> Keystore:
        """The run's keys for signed and encrypted messages, created on first use. Raises
        :class:`LabError`."""
        if self._keystore is None:
            self._keystore = make_keystore(self.folder / "keys")
        return self._keystore


def sweep(where: Path) -> None:
    """Removes folders of dead processes. A folder is kept if its process id exists, or if it is
    locked, for example by a process of another process namespace."""
    for folder in where.glob(f"{PREFIX}*"):
        named = re.fullmatch(rf"{PREFIX}(\d+)-\w+", folder.name)
        if named and not Path("/proc", named[1]).exists() and not _is_held(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_held(folder: Path) -> bool:
    """True also for processes and folders that we may not access."""
    try:
        hold = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return True
    return is_locked(hold)


MADE_S_MAX = 30.0
"""Time limit for the engine to create them, seconds."""


@dataclass(frozen=True)
class Certificates:
    """The folder that ``wirelab-engine certificates`` fills. All files are PEM (RFC 7468)."""

    folder: Path

    def of_service(self, security: str) -> dict[str, str]:
        """The object ``tls`` of a service's configuration; empty without security."""
        if security == "none":
            return {}
        files = {"certificate": self._path("server.pem"), "key": self._path("server.key")}
        return {**files, "client_ca": self._path("ca.pem")} if security == "mtls" else files

    def of_client(self, security: str) -> dict[str, str]:
        """The object ``tls`` of a group in the engine's plan; empty without security. The server
        certificate is for the name ``localhost``, whatever the address."""
        if security == "none":
            return {}
        files = {"ca": self._path("ca.pem"), "server_name": "localhost"}
        if security == "tls":
            return files
        return {**files, "certificate": self._path("client.pem"), "key": self._path("client.key")}

    def _path(self, name: str) -> str:
        return str(self.folder / name)


def make_certificates(folder: Path) -> Certificates:
    """Creates an authority, a server certificate and a client certificate with the engine.
    Raises :class:`LabError` if that fails."""
    engine = engine_binary.find()
    done = subprocess.run(
        [engine, "certificates", str(folder)],
        capture_output=True,
        text=True,
        timeout=MADE_S_MAX,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise LabError(
            f"the engine created no certificates: {said[-1] if said else 'it printed nothing'}",
            "make the folder for temporary files writable, and update the engine (`make setup`)",
        )
    return Certificates(folder)
