"""A client that does not read: its process is stopped and goes on, again and again."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.ground_truth.recipes import Stops
from wirelab.process.children import Child


@contextmanager
def stopping(strace: Child, stops: Stops | None) -> Iterator[None]:
    """While the block lasts; at its end the process goes on."""
    if stops is None:
        yield
        return
    over = threading.Event()
    stopper = threading.Thread(target=_stop_and_go, args=(strace, stops, over))
    stopper.start()
    try:
        yield
    finally:
        over.set()
        stopper.join()


def _stop_and_go(strace: Child, stops: Stops, over: threading.Event) -> None:
    """The last word is SIGCONT."""
    wait_s = stops.first_ms / 1e3
    while not over.wait(wait_s):
        pid = _traced(strace.pid)
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                over.wait(stops.for_ms / 1e3)
                os.kill(pid, signal.SIGCONT)
        wait_s = (stops.every_ms - stops.for_ms) / 1e3


def _traced(strace_pid: int) -> int | None:
    """The process that this strace started; None when there is none."""
    try:
        children = Path(f"/proc/{strace_pid}/task/{strace_pid}/children").read_text().split()
    except OSError:
        return None
    return int(children[0]) if children else None
