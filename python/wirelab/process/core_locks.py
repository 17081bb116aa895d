"""Keeps two runs of one user from measuring on the same cores at once.

Each core has two lock files in the state folder of wirelab. A run locks the first ones of its cores
exclusively (flock(2)); the next run on one of them waits. A run that shares its cores on request
locks the second ones, also next to the first run, so that either notices the other. The kernel
releases the locks of a killed process.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from wirelab import installation
from wirelab.process.file_locks import RETRY_S, is_locked
from wirelab.process.interruption import Interruption

FOLDER = "cores"


class CoreLocks:
    """The locks of a run on its cores; held while the context is active."""

    def __init__(
        self,
        cores: Sequence[int],
        *,
        share: bool,
        interruption: Interruption,
        on_note: Callable[[str], None],
    ) -> None:
        """``share`` runs next to other runs. ``on_note`` receives the reason for waiting, or why
        there are no locks here."""
        self._cores = sorted(cores)
        self._share = share
        self._interruption = interruption
        self._note = on_note
        self._folder = installation.state() / FOLDER
        self._held: dict[Path, int] = {}

    def __enter__(self) -> CoreLocks:
        """Waits for other runs on these cores, unless they are shared. Raises
        :class:`Interrupted`."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if self._share:
                # Held exclusively only for the moment of a look.
                self._lock_all("share", fcntl.LOCK_SH, wait=True)
            else:
                self._wait()
        except OSError as error:
            self._release()
            self._note(
                f"other runs on these cores are not noticed: {self._folder} cannot be used "
                f"({os.strerror(error.errno or errno.EIO)})"
            )
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._release()

    def others(self) -> str:
        """The other runs that use these cores at this moment; empty if there are none."""
        found = [self._holder("lock")] if self._share else []
        found.append(self._sharer())
        return " and ".join(filter(None, found))

    def _wait(self) -> None:
        waiting = ""
        while not self._lock_all("lock", fcntl.LOCK_EX):
            self._interruption.check()
            holder = self._holder("lock")
            if holder and holder != waiting:
                waiting = holder
                self._note(
                    f"waiting: {holder} measures on the same cores "
                    f"({', '.join(map(str, self._cores))}); --share measures next to it, and marks "
                    "every trial"
                )
            time.sleep(RETRY_S)

    def _lock_all(self, kind: str, how: int, *, wait: bool = False) -> bool:
        """Locks the files of all cores, in ascending order so that two runs cannot block each
        other; or none of them."""
        for core in self._cores:
            path = self._folder / f"{core}.{kind}"
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(file, how if wait else how | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(file)
                self._release()
                return False
            except BaseException:
                os.close(file)
                raise
            self._held[path] = file
            os.ftruncate(file, 0)
            os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        return True

    def _holder(self, kind: str) -> str:
        """The run that has an exclusive lock on one of the cores."""
        for core in self._cores:
            path = self._folder / f"{core}.{kind}"
            if path not in self._held and _is_locked(path):
                return f"another run (process {_process(path)})"
        return ""

    def _sharer(self) -> str:
        """A run that shares one of the cores. A shared lock of our own is given up for the
        attempt, because the kernel does not distinguish the holders."""
        for core in self._cores:
            path = self._folder / f"{core}.share"
            own = self._held.get(path)
            if own is None:
                if _is_locked(path):
                    return f"a run with --share (process {_process(path)})"
            elif not _is_only_holder(own):
                return "another run with --share"
        return ""

    def _release(self) -> None:
        for file in self._held.values():
            os.close(file)
        self._held.clear()


def _is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False  # Nobody has created it.
    return is_locked(descriptor)


def _is_only_holder(file: int) -> bool:
    """Whether no other open file has a shared lock; our own stays."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        fcntl.flock(file, fcntl.LOCK_SH)
    return True


def _process(path: Path) -> str:
    try:
        text = path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return "unknown"
    return text if text.isdigit() else "unknown"
