"""What a run needs for its processes only and leaves nothing of: Unix sockets, certificates."""

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

if TYPE_CHECKING:
    pass


SUN_PATH_MAX = 107
"""Bytes of a Unix socket's path: sun_path holds 108 with the closing NUL (unix(7))."""


PREFIX = "wirelab-"
"""Of every folder's name; the process id of its owner follows."""


class OwnedFolder:
    """A new folder with a short name. When its owner is killed, :func:`sweep` removes it."""

    def __init__(self, parent: Path | None = None) -> None:
        """In ``parent``, by default the system's folder for temporary files."""
        self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent))
        self._hold = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._hold, fcntl.LOCK_SH)

    def remove(self) -> None:
        """Removes it and what is in it; once."""
        os.close(self._hold)
        shutil.rmtree(self.path, ignore_errors=True)


class Scratch:
    """A folder with a short name, gone when the block ends, in which child processes put their
    temporary files too. Use as a context manager."""

    def __init__(self, parent: Path | None = None) -> None:
        """In ``parent``, by default the system's folder for temporary files: a run
        directory's own path may be longer than a socket's can be. Folders there that killed
        processes have left are removed."""
        sweep(Path(tempfile.gettempdir()) if parent is None else parent)
        self._folder = OwnedFolder(parent)
        self._certificates: Certificates | None = None
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
        """Where it is, for files that nobody needs afterwards."""
        return self._folder.path

    def socket(self) -> Path:
        """A path for a Unix socket that nothing listens on yet. Raises :class:`LabError`
        where it would be too long for one."""
        path = self.folder / f"{next(self._numbers)}.sock"
        if len(bytes(path)) > SUN_PATH_MAX:
            raise LabError(
                f"a Unix socket cannot be at {path}: its path has more than {SUN_PATH_MAX} bytes",
                "set TMPDIR to a folder with a shorter path",
            )
        return path

    def certificates(self) -> Certificates:
        """The run's certificates, made when they are first asked for. Raises
        :class:`LabError`."""
        if self._certificates is None:
            self._certificates = make_certificates(self.folder / "tls")
        return self._certificates


def sweep(where: Path) -> None:
    """Removes the folders of processes that are dead: nobody has the process id in the name,
    and nobody holds the folder, which would be somebody of another process namespace."""
    for folder in where.glob(f"{PREFIX}*"):
        named = re.fullmatch(rf"{PREFIX}(\d+)-\w+", folder.name)
        if named and not Path("/proc", named[1]).exists() and not _is_held(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_held(folder: Path) -> bool:
    """Also true for what is not ours to open."""
    try:
        hold = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return True
    try:
        fcntl.flock(hold, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(hold)
    return False


MADE_S_MAX = 30.0
"""Seconds that the engine may take to make them."""


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
        """The object ``tls`` of a group in the engine's plan; empty without security. The
        server's certificate is for the name ``localhost``, whatever the address."""
        if security == "none":
            return {}
        files = {"ca": self._path("ca.pem"), "server_name": "localhost"}
        if security == "tls":
            return files
        return {**files, "certificate": self._path("client.pem"), "key": self._path("client.key")}

    def _path(self, name: str) -> str:
        return str(self.folder / name)


def make_certificates(folder: Path) -> Certificates:
    """Has the engine make an authority, and certificates of a server and of a client.
    Raises :class:`LabError` where it cannot."""
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
            f"the engine made no certificates: {said[-1] if said else 'it said nothing'}",
            "is the folder for temporary files writable? Is the engine up to date (`make setup`)?",
        )
    return Certificates(folder)
