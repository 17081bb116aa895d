"""Whether a run is under way: the process that executes it holds a lock on its directory."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from wirelab.run.directory import LOCK

LOCKS = Path("/proc/locks")
"""Every lock that this process may know of (proc_locks(5)); read, because trying to take the lock
could refuse it to a run that is about to start."""


@dataclass(frozen=True)
class Held:
    """An exclusive flock."""

    device: int
    inode: int
    pid: int


def list_held() -> tuple[Held, ...]:
    """All of them. Raises :class:`OSError`."""
    lines = LOCKS.read_text(encoding="ascii", errors="replace").splitlines()
    return tuple(filter(None, map(_parse_held, lines)))


def _parse_held(line: str) -> Held | None:
    # 1: FLOCK  ADVISORY  WRITE 4242 08:01:1234567 0 EOF; "->" marks a process that waits.
    words = line.split()
    if words[1:4] != ["FLOCK", "ADVISORY", "WRITE"]:
        return None
    major, minor, inode = words[5].split(":")
    return Held(os.makedev(int(major, 16), int(minor, 16)), int(inode), int(words[4]))


def is_locked(folder: Path, locks: tuple[Held, ...]) -> bool:
    """True if a process executes the run. In overlays and subvolumes the device of stat(2) is not
    that of /proc/locks; there the process that the file names must be the holder."""
    path = folder / LOCK
    try:
        found = path.lstat()
        same = [one for one in locks if one.inode == found.st_ino]
        if not same or not stat.S_ISREG(found.st_mode):
            return False
        if any(one.device == found.st_dev for one in same):
            return True
        with path.open("rb") as file:
            named = file.read(32).strip()
    except OSError:
        return False
    return any(named == str(one.pid).encode() for one in same)
