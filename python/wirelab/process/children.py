"""Starts and ends child processes, so that none outlives wirelab.

Each child gets its own process group, and most their own session: Ctrl-C reaches only wirelab,
which forwards it if necessary. A child dies with wirelab (PR_SET_PDEATHSIG, prctl(2)), and it is
ended together with its process group.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wirelab.errors import TrialFailed
from wirelab.process import namespaces
from wirelab.process.interruption import Interruption
from wirelab.process.logs import BoundedLog

PR_SET_PDEATHSIG = 1
POLL_S = 0.05
"""Interval at which a wait checks whether to stop."""
LINE_BYTES_MAX = 64 * 1024 * 1024
"""Maximum line length on standard output; a longer line violates the protocol."""


@dataclass(frozen=True)
class Ended:
    """How a child ended, and its resource usage from start to end."""

    code: int
    """Exit code; negative for a signal."""
    cpu_user_s: float
    cpu_system_s: float
    switches_involuntary: int


@dataclass(frozen=True)
class ProcessOptions:
    """Where a child process runs, and where its standard error goes."""

    log: Path
    """Log file to which standard error is appended."""
    cores: Sequence[int] = ()
    """Cores that it is pinned to; empty: not pinned."""
    namespace: str | None = None
    """Name of its network namespace; None: that of wirelab."""
    group: Path | None = None
    """Its control group (:mod:`wirelab.process.cgroups`)."""
    holder: Path | None = None
    """Control group that holds all its processes (:mod:`wirelab.process.containment`)."""
    orphaned: signal.Signals = signal.SIGKILL
    """Signal that it gets when wirelab dies."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Additional environment variables, for values that must not appear on a command line."""
    ready_timeout_s: float | None = None
    """Time without progress after which a process that is not ready is given up, seconds
    (:mod:`wirelab.process.readiness`); None: that of its kind."""


_libc = ctypes.CDLL(None, use_errno=True)
_started: set[int] = set()


def list_started() -> frozenset[int]:
    """Process ids of the children that have not been ended."""
    return frozenset(_started)


class Child:
    """One child process: lines of output, a log file for standard error, guaranteed to end."""

    def __init__(
        self,
        command: Sequence[str],
        options: ProcessOptions,
        *,
        stdin: int = subprocess.PIPE,
        stdout: int = subprocess.PIPE,
        stderr: int | None = None,
        own_session: bool = True,
    ) -> None:
        """Starts ``command``. ``stdin``, ``stdout`` and ``stderr`` are those of subprocess; by
        default standard error goes to the log. Lines can be read of a pipe only. Without
        ``own_session`` it shares the processors with the session of wirelab, as a program that the
        same shell starts does: Linux divides them among sessions first (sched(7), autogroup).
        Raises :class:`OSError`."""
        self.command = list(command)
        self.log = BoundedLog(options.log)
        self.bytes_read = 0
        """Bytes of standard output so far."""
        self._buffer = bytearray()
        with options.log.open("ab") as errors, _network(options.namespace) as network:
            self.process = subprocess.Popen(
                self.command,
                stdin=stdin,
                stdout=stdout,
                stderr=errors if stderr is None else stderr,
                bufsize=0,
                start_new_session=own_session,
                process_group=None if own_session else 0,
                env={**os.environ, **options.environment},
                preexec_fn=_Setup(options, os.getpid(), network),
            )
        _started.add(self.pid)
        self._selector = selectors.DefaultSelector()
        if self.process.stdout is not None:
            self._selector.register(self.process.stdout, selectors.EVENT_READ)

    @property
    def pid(self) -> int:
        return self.process.pid

    def say(self, line: bytes) -> None:
        """Writes to standard input; a failed write to an ended child is ignored."""
        assert self.process.stdin is not None
        view = memoryview(line)
        with contextlib.suppress(BrokenPipeError):
            while view:
                view = view[self.process.stdin.write(view) :]

    def close_input(self) -> None:
        """Closes standard input."""
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()

    def line(self, seconds: float) -> bytes | None:
        """The next line of standard output; None if there is none within ``seconds``. The empty
        line ``b""`` marks the end of the output."""
        deadline = time.monotonic() + seconds
        self.log.trim()
        while (end := self._buffer.find(b"\n")) < 0:
            if not self._selector.select(max(0.0, deadline - time.monotonic())):
                return None
            assert self.process.stdout is not None
            chunk = os.read(self.process.stdout.fileno(), 1 << 20)
            if not chunk:
                rest, self._buffer = bytes(self._buffer), bytearray()
                return rest
            self._buffer += chunk
            self.bytes_read += len(chunk)
            if len(self._buffer) > LINE_BYTES_MAX:
                raise TrialFailed(f"{self.command[0]} wrote a line of over {LINE_BYTES_MAX} bytes")
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line or b" "

    def wait(self, seconds: float) -> int | None:
        """The exit code, negative for a signal; None while it is running."""
        self.log.trim()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def reap(self) -> Ended | None:
        """How it ended; None while it is running. Uses wait4(2) instead of waitpid(2), because only
        wait4 returns the resource usage of this child. Not to be called again after a result."""
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        if pid == 0:
            return None
        code = self.process.returncode = os.waitstatus_to_exitcode(status)
        return Ended(code, usage.ru_utime, usage.ru_stime, usage.ru_nivcsw)

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the process only."""
        if self.process.poll() is None:
            self.process.send_signal(number)

    def end(self, grace_s: float) -> int:
        """Ends it: closes its input, then SIGTERM, then SIGKILL to its group. Returns its code."""
        self.close_input()
        if self.wait(grace_s) is None:
            self.signal(signal.SIGTERM)
            self.wait(1.0)
        self._kill_group()
        code = self.process.wait()
        self._selector.close()
        if self.process.stdout:
            self.process.stdout.close()
        _started.discard(self.pid)
        self.log.finish()
        return code

    def kill(self) -> int:
        """Kills it immediately."""
        self._kill_group()
        return self.end(0.0)

    def _kill_group(self) -> None:
        with contextlib.suppress(
            ProcessLookupError, PermissionError
        ):  # the group has already ended
            os.killpg(self.pid, signal.SIGKILL)

    def log_tail(self, lines: int = 3) -> str:
        """The last lines of the log, for messages."""
        return self.log.tail(lines)


def describe_exit(code: int) -> str:
    """``exit code 70`` or ``signal SIGKILL``."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def run_to_end(
    child: Child,
    seconds: float,
    interruption: Interruption,
    on_tick: Callable[[], None] = lambda: None,
) -> int | None:
    """Waits for a child and calls ``on_tick`` meanwhile; None after ``seconds``. Raises
    :class:`Interrupted` on request."""
    deadline = time.monotonic() + seconds
    while (code := child.wait(POLL_S)) is None:
        interruption.check()
        on_tick()
        if time.monotonic() > deadline:
            return None
    return code


class _Setup:
    """Runs in the child between fork and exec, so it must not acquire locks."""

    def __init__(self, options: ProcessOptions, parent: int, network: int | None) -> None:
        self.cores = set(options.cores)
        self.parent = parent
        # Raise the limit of open files to the maximum, because a service holds every connection.
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.files = (hard, hard)
        self.network = network
        self.groups = [
            os.fspath(group / "cgroup.procs")
            for group in (options.group, options.holder)
            if group is not None
        ]
        self.orphaned = options.orphaned

    def __call__(self) -> None:
        # Whoever started this process may have blocked signals, which a child inherits.
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        _libc.prctl(PR_SET_PDEATHSIG, self.orphaned)
        if os.getppid() != self.parent:
            os._exit(1)  # wirelab died before PR_SET_PDEATHSIG took effect
        resource.setrlimit(resource.RLIMIT_NOFILE, self.files)
        if self.cores:
            os.sched_setaffinity(0, self.cores)
        if self.network is not None:
            namespaces.enter(self.network)
        for group in self.groups:
            _join(group)


def _join(members: str) -> None:
    """Moves this process into a control group; 0 means the writing process (cgroups(7))."""
    descriptor = os.open(members, os.O_WRONLY)
    try:
        os.write(descriptor, b"0")
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _network(name: str | None) -> Iterator[int | None]:
    """An open descriptor of the namespace for the block; None: wirelab's own namespace."""
    if name is None:
        yield None
        return
    descriptor = namespaces.open_namespace(name)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
