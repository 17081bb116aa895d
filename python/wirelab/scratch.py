"""What a run needs for its processes only and leaves nothing of: Unix sockets, certificates."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from types import TracebackType

from wirelab import certificates
from wirelab.certificates import Certificates
from wirelab.errors import LabError

SUN_PATH_MAX = 107
"""Bytes of a Unix socket's path: sun_path holds 108 with the closing NUL (unix(7))."""


class Scratch:
    """A folder with a short name, gone when the block ends. Use as a context manager."""

    def __init__(self, parent: Path | None = None) -> None:
        """In ``parent``, by default the system's folder for temporary files: a run
        directory's own path may be longer than a socket's can be."""
        self._folder = tempfile.TemporaryDirectory(prefix="wirelab-", dir=parent)
        self._certificates: Certificates | None = None
        self._numbers = itertools.count(1)

    def __enter__(self) -> Scratch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def socket(self) -> Path:
        """A path for a Unix socket that nothing listens on yet. Raises :class:`LabError`
        where it would be too long for one."""
        path = Path(self._folder.name) / f"{next(self._numbers)}.sock"
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
            self._certificates = certificates.make(Path(self._folder.name) / "tls")
        return self._certificates
