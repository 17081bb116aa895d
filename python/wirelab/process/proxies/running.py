"""A proxy that runs for one trial, next to the service, and ends with it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import psutil

from wirelab.errors import TrialFailed
from wirelab.process import metrics
from wirelab.process.children import Child, ProcessOptions, describe_exit
from wirelab.process.interruption import Interruption
from wirelab.process.metrics import Sample
from wirelab.process.process_tree import ProcessTree
from wirelab.process.proxies.hop import Hop, Installation
from wirelab.process.scratch import OwnedFolder

START_S_MAX = 20.0
STOP_S = 2.0
POLL_S = 0.01
HOMES = ("XDG_CONFIG_HOME", "XDG_DATA_HOME")
"""Variables of folders in which Caddy keeps files beyond its own end."""


@dataclass(frozen=True)
class Used:
    """What the processes of a proxy used."""

    cpu_s: float | None
    """While calls were made, warm-up included."""
    cpu_window_s: float | None
    rss_max_bytes: int
    """All processes together; pages that they share count for each."""


class Proxy:
    """One running proxy. Use as a context manager; it ends with the block."""

    def __init__(
        self,
        installation: Installation,
        hop: Hop,
        options: ProcessOptions,
        *,
        configuration: Path,
        interruption: Interruption,
    ) -> None:
        """Writes its configuration to that file, starts it and waits until it listens at
        ``hop.listen``. Raises :class:`TrialFailed` where it does not."""
        self.installation, self.hop = installation, hop
        self.configuration = configuration
        self._folder = OwnedFolder()
        self._cpu: list[Sample] = []
        try:
            adapter = installation.adapter
            text = adapter.configuration(hop, self._folder.path)
            configuration.write_text(text, encoding="utf-8")
            self._start(options, interruption)
        except BaseException:
            self._folder.remove()
            raise
        self.tick()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.signal(signal.SIGTERM)
        self.child.end(STOP_S)
        self._folder.remove()

    @property
    def name(self) -> str:
        """Value of the axis ``via``."""
        return self.installation.adapter.name

    def death(self) -> str:
        """How it ended, or one of its processes; empty while all run."""
        code = self.child.wait(0.0)
        if code is not None:
            tail = self.child.log_tail()
            return f"{self.name} ended with {describe_exit(code)}{f' ({tail})' if tail else ''}"
        gone = next((pid for pid, start in self._all.items() if _began(pid) != start), None)
        return "" if gone is None else f"a process of {self.name} ended ({self.child.log_tail(1)})"

    def tick(self) -> None:
        """Takes a sample of its CPU time. Raises :class:`TrialFailed` when it has ended."""
        death = self.death()
        if death:
            raise TrialFailed(f"{death} during the trial")
        cpu = self._tree.look()
        if cpu is not None:
            self._cpu.append(Sample(time.monotonic_ns(), cpu))

    def measure_usage(self, start_ns: int, end_ns: int) -> Used:
        """Since it was ready; the window's ends are of CLOCK_MONOTONIC."""
        samples = self._cpu
        return Used(
            cpu_s=samples[-1].value - samples[0].value if samples else None,
            cpu_window_s=metrics.growth(samples, start_ns, end_ns),
            rss_max_bytes=self._tree.rss_max_bytes,
        )

    def _start(self, options: ProcessOptions, interruption: Interruption) -> None:
        installation = self.installation
        command = installation.adapter.command(
            installation.program, self.configuration.absolute(), self._folder.path
        )
        # Workers of nginx outlive a master that is killed; on SIGTERM it ends them first.
        home = {name: str(self._folder.path) for name in HOMES}
        options = replace(options, orphaned=signal.SIGTERM, environment=home)
        self.child = Child(command, options, stdin=subprocess.DEVNULL)
        self._tree = ProcessTree(self.child.pid)
        try:
            self._await(interruption)
        except BaseException:
            self.child.kill()
            raise

    def _await(self, interruption: Interruption) -> None:
        """Until its own processes listen: at a busy port another one would answer."""
        deadline = time.monotonic() + START_S_MAX
        while time.monotonic() < deadline:
            interruption.check()
            if (code := self.child.wait(0.0)) is not None:
                reason = self.child.log_tail() or describe_exit(code)
                raise TrialFailed(f"{self.name} did not start: {reason}")
            self._all = {pid: _began(pid) for pid in self._tree.pids()}
            if self._is_complete() and any(_listens(pid, self.hop.listen) for pid in self._all):
                return
            time.sleep(POLL_S)
        raise TrialFailed(
            f"{self.name} did not listen at {self.hop.listen} within {START_S_MAX:.0f} s"
            f"{f' ({tail})' if (tail := self.child.log_tail()) else ''}"
        )

    def _is_complete(self) -> bool:
        """Whether its workers are there too, where they are processes."""
        adapter = self.installation.adapter
        return not adapter.forks or len(self._all) > self.hop.workers


LISTEN = "0A"
"""TCP_LISTEN in /proc/net/tcp (proc(5))."""


def _listens(pid: int, address: str) -> bool:
    """Whether the process itself listens at that IPv4 address and port, in its own network
    namespace."""
    host, _, port = address.rpartition(":")
    # The kernel prints the address as a number in the machine's own order of bytes.
    number = int.from_bytes(socket.inet_aton(host), sys.byteorder)
    wanted = f"{number:08X}:{int(port):04X}"
    try:
        table = Path(f"/proc/{pid}/net/tcp").read_text(encoding="ascii").splitlines()[1:]
        rows = (line.split() for line in table)
        sockets = {f"socket:[{row[9]}]" for row in rows if row[1] == wanted and row[3] == LISTEN}
        return bool(sockets) and any(
            str(link.readlink()) in sockets for link in Path(f"/proc/{pid}/fd").iterdir()
        )
    except OSError:
        return False


def _began(pid: int) -> float | None:
    """Start time of the process, which distinguishes it from a later one with the same number.
    None if it has ended."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE:
            return process.create_time()
    return None


def workers(cores: tuple[int, ...]) -> int:
    """As many as it has cores; where it is not pinned, as the machine has."""
    return len(cores or os.sched_getaffinity(0))
