"""A process with all its descendants: CPU time, memory, and listen addresses."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import psutil

from wirelab.process import metrics

SCAN_S = 0.5
"""Seconds between two searches for new processes; each search reads all of /proc."""
MARK = "WIRELAB_STARTED_BY"
"""Environment variable of a user-defined service and its children: wirelab's process id and
start time, and a number of the service."""


class _Process(NamedTuple):
    """A living process in /proc (proc(5))."""

    parent: int
    session: int
    start: int
    """Start in clock ticks after boot; together with the process id it is unique."""
    cpu_ticks: int
    """CPU time of its threads, and of the children that it has waited for."""


class ProcessTree:
    """The processes of a service: its first process and all that it has started.

    A process whose parent has ended is identified by an earlier search, by the session of the
    first process, or by ``mark`` in its environment. CPU time is the sum over living processes,
    plus the last values of ended ones. A child that lives for less than :data:`SCAN_S` can be
    missed."""

    def __init__(self, pid: int, mark: str = "", held: Callable[[], Iterable[int]] = tuple) -> None:
        """``mark`` is the value of :data:`MARK` in their environment; empty: they have none.
        ``held`` returns those that a containment knows."""
        self.pid = pid
        self._held = held
        self.rss_max_bytes = 0
        self._mark = mark
        self._cpu_s: dict[int, float] = {}
        self._known: dict[int, int] = {}
        """Process id and start of the first process."""
        self._scanned = 0.0

    def look(self) -> float | None:
        """CPU seconds so far; None if no process was ever found."""
        now = time.monotonic()
        if now - self._scanned > SCAN_S:
            self._scanned = now
            self.pids()
        resident = 0
        for pid in self._known:
            used = metrics.cpu_seconds(pid)
            if used is not None:
                self._cpu_s[pid] = used
            resident += _resident_bytes(pid)
        self.rss_max_bytes = max(self.rss_max_bytes, resident)
        return sum(self._cpu_s.values()) if self._cpu_s else None

    def pids(self) -> list[int]:
        """The living processes, except those that only their environment identifies."""
        return self._search(marked=False)

    def all_pids(self) -> list[int]:
        """The living processes; reads the environment of every process on the machine."""
        return self._search(marked=True)

    def switches(self) -> dict[int, int] | None:
        """Involuntary context switches by thread."""
        counts: dict[int, int] = {}
        for pid in self._known or self.pids():
            counts |= metrics.involuntary_switches(pid) or {}
        return counts or None

    def list_listen_addresses(self) -> list[str]:
        """Addresses and ports that its processes listen on, e.g. ``127.0.0.1:8080``."""
        found: dict[str, None] = {}
        for pid in self.all_pids():
            with contextlib.suppress(psutil.Error):
                for one in psutil.Process(pid).net_connections(kind="tcp"):
                    if one.status == psutil.CONN_LISTEN:
                        host = f"[{one.laddr.ip}]" if ":" in one.laddr.ip else one.laddr.ip
                        found[f"{host}:{one.laddr.port}"] = None
        return list(found)

    def kill(self) -> None:
        """Kills the remaining processes."""
        for pid in self.all_pids():
            kill(pid)

    def _search(self, *, marked: bool) -> list[int]:
        table = _processes()
        held = set(self._held())
        found = {
            pid
            for pid, process in table.items()
            if process.session == self.pid
            or pid in held
            or self._known.get(pid) == process.start
            or (marked and self._mark and _mark(pid) == self._mark)
        }
        if self.pid in table:
            found.add(self.pid)
        found = _with_descendants(found, table)
        self._known = {pid: table[pid].start for pid in sorted(found)}
        return list(self._known)


def cpu_seconds_of_trees(roots: Collection[int]) -> float:
    """CPU seconds of these processes and their living descendants, with the children that they have
    waited for; resolution 10 ms per process."""
    table = _processes()
    living = {pid for pid in roots if pid in table}
    ticks = sum(table[pid].cpu_ticks for pid in _with_descendants(living, table))
    return ticks / os.sysconf("SC_CLK_TCK")


def with_descendants(roots: Collection[int]) -> set[int]:
    """These processes, as far as they live, and their living descendants."""
    table = _processes()
    return _with_descendants({pid for pid in roots if pid in table}, table)


def new_mark(number: int) -> str:
    """Value of :data:`MARK` for a service of this process."""
    own = os.getpid()
    return f"{own}.{_processes()[own].start}.{number}"


def sweep() -> None:
    """Kills processes of services whose wirelab was killed, in this process namespace only:
    process ids of another namespace have a different meaning."""
    for pid in _processes():
        if not has_own_numbers(pid):
            continue
        lab, _, rest = _mark(pid).partition(".")
        start = rest.partition(".")[0]
        if lab.isdigit() and start.isdigit() and not is_alive(lab, start):
            kill(pid)


def is_alive(pid: str, start: str) -> bool:
    """Whether the process with that id and start time is running."""
    owner = _process(int(pid)) if pid.isdigit() else None
    return owner is not None and start == str(owner.start)


def has_own_numbers(pid: int) -> bool:
    """Whether a process is in our namespace of process ids."""
    return _namespace(pid) == _namespace(os.getpid())


def _with_descendants(roots: Collection[int], table: Mapping[int, _Process]) -> set[int]:
    children: dict[int, list[int]] = {}
    for pid, process in table.items():
        children.setdefault(process.parent, []).append(pid)
    found = set(roots)
    todo = list(roots)
    while todo:
        for child in children.get(todo.pop(), ()):
            if child not in found:
                found.add(child)
                todo.append(child)
    return found


def _namespace(pid: int) -> str:
    """Namespace of process ids (pid_namespaces(7)); empty if we may not read it."""
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return ""


def wait_for_end(pids: Iterable[int], seconds: float) -> None:
    """Waits until all these processes have ended, at most so long. A process that nobody has
    waited for yet has ended (pidfd_open(2))."""
    deadline = time.monotonic() + seconds
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            descriptor = os.pidfd_open(pid)
            try:
                poller = select.poll()
                poller.register(descriptor, select.POLLIN)
                poller.poll(1000.0 * max(0.0, deadline - time.monotonic()))
            finally:
                os.close(descriptor)


def kill(pid: int) -> None:
    """Kills a process; one that has ended, or that we may not end, is ignored."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _mark(pid: int) -> str:
    """Value of :data:`MARK` in the environment of a process; empty if it has none."""
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    name = f"{MARK}=".encode()
    own = next((one for one in variables if one.startswith(name)), b"")
    return own.removeprefix(name).decode("ascii", "replace")


def _processes() -> dict[int, _Process]:
    """Every living process; zombies count as ended."""
    found = ((pid, _process(pid)) for pid in psutil.pids())
    return {pid: process for pid, process in found if process is not None}


def _process(pid: int) -> _Process | None:
    """None for one that has ended."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        # The name is in brackets and may contain any character, including brackets.
        words = text.rpartition(")")[2].split()
        if words[0] != "Z":
            ticks = sum(map(int, words[11:15]))
            return _Process(int(words[1]), int(words[3]), int(words[19]), ticks)
    return None


def _resident_bytes(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
