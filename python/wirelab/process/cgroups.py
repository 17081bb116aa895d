"""Limits a side to a share of one core, to represent a slow device.

The kernel's CPU controller gives a group of processes a part of every period and throttles it
for the rest (Documentation/scheduler/sched-bwc.rst). Control groups version 2 are used if they have
the controller, otherwise version 1.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import LabError

PERIOD_US = 10_000
"""Period in microseconds. It is short, so that a throttled side waits less than 10 ms; the
kernel allows 1 ms to 1 s."""

QUOTA_US_MIN = 1_000
"""Smallest quota that the kernel allows, microseconds."""

PREFIX = "wirelab-"
"""Prefix of all group names; the owner's process id follows."""

ALL = "all"
"""Value of the axes without a quota."""

V1 = Path("/sys/fs/cgroup/cpu")
V2 = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Controller:
    """A CPU controller that this process may use."""

    root: Path
    version: int

    def limit(self, group: Path, quota_us: int) -> None:
        """Raises :class:`OSError`."""
        if self.version == 2:
            (group / "cpu.max").write_text(f"{quota_us} {PERIOD_US}", encoding="ascii")
            return
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_US), encoding="ascii")
        (group / "cpu.cfs_quota_us").write_text(str(quota_us), encoding="ascii")


def find(v1: Path = V1, v2: Path = V2) -> Controller:
    """The machine's controller. Raises :class:`LabError` if there is none that can be written
    to."""
    if os.access(v1 / "cpu.cfs_quota_us", os.F_OK) and os.access(v1, os.W_OK):
        return Controller(v1, 1)
    with contextlib.suppress(OSError):
        offered = (v2 / "cgroup.subtree_control").read_text(encoding="ascii").split()
        if "cpu" in offered and os.access(v2, os.W_OK):
            return Controller(v2, 2)
    raise LabError(
        "a CPU quota needs the kernel's CPU controller, but none is writable here",
        f"run as root where {v1} (cgroup v1) exists or {v2}/cgroup.subtree_control (cgroup v2) "
        "lists cpu; or set client.cpu=all and server.cpu=all",
    )


class Quota:
    """A control group with ``percent`` of one core, for a child process.
    Use as a context manager. The group is removed at the end of the block; its processes must have
    ended before."""

    def __init__(self, percent: int, side: str, controller: Controller | None = None) -> None:
        """Also removes groups left by killed processes. Raises :class:`LabError`."""
        self._controller = controller or find()
        root = self._controller.root
        _sweep(root)
        self.folder = root / f"{PREFIX}{os.getpid()}-{side}"
        try:
            self.folder.mkdir(exist_ok=True)
            quota_us = max(QUOTA_US_MIN, PERIOD_US * percent // 100)
            self._controller.limit(self.folder, quota_us)
        except OSError as error:
            _remove(self.folder)
            raise LabError(
                f"the control group for {percent} % of a core cannot be made: {error}",
                "run as root, or use the value all instead of the quota",
            ) from error

    def __enter__(self) -> Quota:
        return self

    def __exit__(self, *_: object) -> None:
        _wait_until(lambda: _remove(self.folder), seconds=2.0)


def share(percent: int | None) -> float | None:
    """The share of a core for a value of the axes; None: all of it."""
    return None if percent is None else percent / 100.0


@contextlib.contextmanager
def group(percent: int | None, side: str) -> Iterator[Path | None]:
    """The control group of a side, by the value of its axis; None without a quota. Raises
    :class:`LabError`."""
    cores = share(percent)
    if cores is None:
        yield None
        return
    with Quota(round(100 * cores), side) as quota:
        yield quota.folder


def _sweep(root: Path) -> None:
    for folder in root.glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            _remove(folder)


def _remove(folder: Path) -> bool:
    """Tries to remove the group; False while it still contains a process."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _wait_until(done: Callable[[], bool], seconds: float) -> None:
    """Waits until the kernel has released processes that have just ended."""
    deadline = time.monotonic() + seconds
    while not done() and time.monotonic() < deadline:
        time.sleep(0.01)
