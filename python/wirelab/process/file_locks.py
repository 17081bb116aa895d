"""Locks of files (flock(2)). The kernel releases those of a killed process."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from wirelab.process.interruption import Interruption

RETRY_S = 0.05
"""Seconds between two attempts to get a lock."""


@contextmanager
def hold_lock(
    path: Path, on_wait: Callable[[], None], interruption: Interruption
) -> Iterator[None]:
    """Holds the lock of a file, after waiting for the process that has it. ``on_wait`` is called
    several times per second meanwhile. Raises :class:`Interrupted` on request."""
    with path.open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                interruption.check()
                on_wait()
                time.sleep(RETRY_S)
        yield


def is_locked(descriptor: int) -> bool:
    """Whether another open file has a lock of the same file or folder. Closes ``descriptor``."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
