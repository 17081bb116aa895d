"""Holds all processes of a command together, also those that detach from their parent.

A control group of its own contains a process and its descendants, whatever session they create
(cgroups(7)). They are ended at once: by ``cgroup.kill`` of version 2, or by the freezer of version
1. Where no group is writable, wirelab adopts orphaned descendants (PR_SET_CHILD_SUBREAPER,
prctl(2)).
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import psutil

from wirelab.format.numbers import sanitize
from wirelab.process import children, process_tree

PREFIX = "wirelab-held-"
"""Prefix of the groups' names; process id and start time of the owner follow, and a number."""
KILL = "cgroup.kill"
"""Kills a group of version 2; Linux 5.14 and later."""
MEMBERS = "cgroup.procs"
END_S_MAX = 2.0
"""Time for which killed processes are waited for, seconds."""
POLL_S = 0.01
PR_SET_CHILD_SUBREAPER = 36
STAYS = ", which could not be ended"
SHOWN_MAX = 60
"""Characters of a command line that are shown."""
_NUMBERS = itertools.count(1)


class Containment(ABC):
    """The processes of one command. Use as a context manager; none remains after the block."""

    name: ClassVar[str]
    folder: Path | None = None
    """Control group that the first process joins; None: none is needed."""

    @abstractmethod
    def pids(self) -> list[int]:
        """Living processes, without those that only their parents identify."""

    @abstractmethod
    def _kill(self) -> None:
        """Kills every process that is there at this moment."""

    def end(self) -> list[str]:
        """Kills the remaining processes. Returns a description of each of them."""
        found = {pid: describe(pid) for pid in self.pids()}
        deadline = time.monotonic() + END_S_MAX
        while (pids := self.pids()) and time.monotonic() < deadline:
            self._kill()
            process_tree.wait_for_end(pids, POLL_S)
        left = set(self.pids())
        return [f"{text}{STAYS}" if pid in left else text for pid, text in found.items()]

    def close(self) -> None:
        """Ends the remaining processes and removes what holds them."""
        self.end()

    def __enter__(self) -> Containment:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Group(Containment):
    """A control group; groups that its processes made within it belong to it."""

    def __init__(self, folder: Path, *, removes: bool = True) -> None:
        self.folder = self._folder = folder
        self._removes = removes

    def pids(self) -> list[int]:
        return members(self._folder)

    def close(self) -> None:
        super().close()
        if self._removes:
            _remove(self._folder)


class UnifiedGroup(_Group):
    """A group of version 2."""

    name = "cgroup v2"

    def _kill(self) -> None:
        (self._folder / KILL).write_text("1", encoding="ascii")


class FreezerGroup(_Group):
    """A group of version 1. It is frozen before its processes are killed, because they could
    otherwise start others faster than these are found."""

    name = "cgroup v1, freezer"

    def _kill(self) -> None:
        state = self._folder / "freezer.state"
        state.write_text("FROZEN", encoding="ascii")
        deadline = time.monotonic() + END_S_MAX
        while state.read_text(encoding="ascii").strip() != "FROZEN":
            if time.monotonic() > deadline:
                break
            # Version 1 announces no change of the state.
            time.sleep(POLL_S)
        for pid in self.pids():
            process_tree.kill(pid)
        state.write_text("THAWED", encoding="ascii")


class Adoption(Containment):
    """Orphaned descendants become children of wirelab. Several of these objects share them: a
    process without any other relation belongs to the first one that ends."""

    name = "subreaper"
    _users: ClassVar[int] = 0

    def __init__(self) -> None:
        self._known = {child.pid for child in psutil.Process().children()}
        Adoption._users += 1
        _adopt(True)

    def pids(self) -> list[int]:
        found = []
        for child in self._list_orphans():
            with contextlib.suppress(psutil.Error):
                found += [child.pid, *(one.pid for one in child.children(recursive=True))]
        return found

    def close(self) -> None:
        super().close()
        Adoption._users -= 1
        if not Adoption._users:
            _adopt(False)

    def _kill(self) -> None:
        for pid in self.pids():
            process_tree.kill(pid)

    def _list_orphans(self) -> list[psutil.Process]:
        """Living orphans; ended ones are reaped. Children that wirelab started share its session,
        or lead one of their own."""
        own = os.getsid(0)
        found = []
        for child in psutil.Process().children():
            if child.pid in self._known or child.pid in children.list_started():
                continue
            with contextlib.suppress(psutil.Error, ChildProcessError, ProcessLookupError):
                if os.getsid(child.pid) == own:
                    continue
                if child.status() == psutil.STATUS_ZOMBIE:
                    os.waitpid(child.pid, os.WNOHANG)
                else:
                    found.append(child)
        return found


def contain(quota: Path | None = None) -> Containment:
    """The strongest containment that this process may create. ``quota`` is the control group that
    the command is in anyway: with version 2, a process has no second one."""
    if quota is not None and (quota / KILL).exists():
        return UnifiedGroup(quota, removes=False)
    for kind, root in _roots():
        _sweep(root)
        mark = process_tree.new_mark(next(_NUMBERS)).replace(".", "-")
        folder = root / f"{PREFIX}{mark}"
        try:
            folder.mkdir()
        except OSError:
            continue
        if _is_usable(kind, folder):
            return kind(folder)
        _remove(folder)
    return Adoption()


def describe(pid: int) -> str:
    """``sleep 300 (process 4711)``; the command line is shortened."""
    try:
        process = psutil.Process(pid)
        text = " ".join(process.cmdline()) or process.name()
    except psutil.Error:
        text = "unknown"
    text = " ".join(sanitize(text).split())
    shown = text if len(text) <= SHOWN_MAX else f"{text[: SHOWN_MAX - 1]}…"
    return f"{shown} (process {pid})"


def members(folder: Path) -> list[int]:
    """Processes of a group and of the groups within it; 0 is a process of another namespace of
    process ids, which has no number here."""
    found = []
    for path in (folder / MEMBERS, *folder.glob(f"**/*/{MEMBERS}")):
        with contextlib.suppress(OSError):
            found += [int(line) for line in path.read_text(encoding="ascii").split()]
    return [pid for pid in found if pid]


def _is_usable(kind: type[_Group], folder: Path) -> bool:
    if kind is FreezerGroup:
        return (folder / "freezer.state").exists()
    try:
        is_domain = (folder / "cgroup.type").read_text(encoding="ascii").strip() == "domain"
    except OSError:
        return False
    return is_domain and (folder / KILL).exists()


def _roots() -> Iterator[tuple[type[_Group], Path]]:
    """The groups that wirelab is in, where it may create others within them."""
    for kind, filesystem, controller in (
        (UnifiedGroup, "cgroup2", ""),
        (FreezerGroup, "cgroup", "freezer"),
    ):
        root = _own_group(filesystem, controller)
        if root is not None and os.access(root / MEMBERS, os.W_OK):
            yield kind, root


def _own_group(filesystem: str, controller: str) -> Path | None:
    """The group of this process in a hierarchy, whose mount point is in /proc/self/mounts; its root
    if the path is outside of what this process sees."""
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, mount, kind, options, *_ = line.split(" ")
        if kind == filesystem and (not controller or controller in options.split(",")):
            own = Path(mount, _group_path(controller).lstrip("/"))
            return own if (own / MEMBERS).exists() else Path(mount)
    return None


def _group_path(controller: str) -> str:
    """Path within the hierarchy, from /proc/self/cgroup (cgroups(7))."""
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path
    return "/"


def _sweep(root: Path) -> None:
    """Ends what killed wirelabs left in their groups, and removes these."""
    for folder in root.glob(f"{PREFIX}*"):
        pid, _, rest = folder.name.removeprefix(PREFIX).partition("-")
        if process_tree.is_alive(pid, rest.partition("-")[0]):
            continue
        for member in members(folder):
            if process_tree.has_own_numbers(member):
                process_tree.kill(member)
        _remove(folder)


def _remove(folder: Path) -> None:
    """Removes a group with those within it, once the kernel has released its processes."""
    deadline = time.monotonic() + END_S_MAX
    while time.monotonic() < deadline:
        with contextlib.suppress(FileNotFoundError):
            inner = [path.parent for path in folder.glob(f"**/*/{MEMBERS}")]
            for each in sorted(inner, key=lambda path: -len(path.parts)):
                with contextlib.suppress(OSError):
                    each.rmdir()
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            # Version 1 announces no end of the last process.
            time.sleep(POLL_S)
        else:
            return


def _adopt(on: bool) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, int(on))
