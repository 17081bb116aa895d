"""A process with all its descendants: CPU time, memory, and what it listens on."""

from __future__ import annotations

import contextlib
import os
import time

import psutil

from wirelab.process import metrics

SCAN_S = 0.5
"""Seconds between two searches for new processes, which read all of /proc."""


class ProcessTree:
    """The processes of a service: its first one and what that has started, also where one of
    them began a session of its own while its parent lived.

    CPU time is the sum over living processes, plus what ended ones had at the last look: a child
    that lives shorter than :data:`SCAN_S` can be missed."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.rss_max_bytes = 0
        self._cpu_s: dict[int, float] = {}
        self._known: dict[int, psutil.Process] = {}
        self._scanned = 0.0

    def look(self) -> float | None:
        """CPU seconds so far; None when nothing of it has ever been seen."""
        now = time.monotonic()
        if now - self._scanned > SCAN_S:
            self._scanned = now
            self.pids()
        resident = 0
        for pid, process in self._known.items():
            used = metrics.cpu_seconds(pid)
            if used is not None:
                self._cpu_s[pid] = used
            with contextlib.suppress(psutil.Error):
                resident += process.memory_info().rss
        self.rss_max_bytes = max(self.rss_max_bytes, resident)
        return sum(self._cpu_s.values()) if self._cpu_s else None

    def pids(self) -> list[int]:
        """The living processes. One whose parent has ended is known from an earlier search, or
        by the session of the first."""
        found = {pid: one for pid, one in self._known.items() if _lives(one)}
        roots = [pid for pid in psutil.pids() if pid == self.pid or _session(pid) == self.pid]
        for pid in {*roots, *found}:
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(pid)
                found |= {one.pid: one for one in (process, *process.children(recursive=True))}
        self._known = {pid: one for pid, one in sorted(found.items()) if _lives(one)}
        return list(self._known)

    def switches(self) -> dict[int, int] | None:
        """Involuntary context switches by thread."""
        counts: dict[int, int] = {}
        for pid in self._known or self.pids():
            counts |= metrics.involuntary_switches(pid) or {}
        return counts or None

    def listening(self) -> list[str]:
        """Addresses and ports that its processes listen on, ``127.0.0.1:8080``."""
        found: dict[str, None] = {}
        self.pids()
        for process in self._known.values():
            with contextlib.suppress(psutil.Error):
                for one in process.net_connections(kind="tcp"):
                    if one.status == psutil.CONN_LISTEN:
                        host = f"[{one.laddr.ip}]" if ":" in one.laddr.ip else one.laddr.ip
                        found[f"{host}:{one.laddr.port}"] = None
        return list(found)

    def kill(self) -> None:
        """Ends what is left of it at once."""
        self.pids()
        for process in self._known.values():
            with contextlib.suppress(psutil.Error):
                process.kill()


def _lives(process: psutil.Process) -> bool:
    """A zombie has ended, and a process id may belong to another process by now."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None
