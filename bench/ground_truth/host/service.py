"""A service that waits on request, as a process: ``python -m bench.ground_truth.host.service``.

``GET /KIND/MS?sent=NS`` makes its one thread for connections compute, sleep, wait for a lock that
another thread holds, or wait for another server. It prints JSON lines: its port and pid first,
then of each call what it did for how long, by its own clocks; never by the kernel's tracepoints.
"""

from __future__ import annotations

import json
import selectors
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
HEAD_MAX = 4_096
NS_PER_MS = 1e6
PAUSE_NS = 50_000
"""A loop that reads the clock takes less, unless it does not run."""
PAUSES_MAX = 4_096

Truth = dict[str, float]
"""Milliseconds by part, as in the dissection."""


def main() -> None:
    """Serves until standard input ends."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as listener:
        other = _start(_upstream)
        service = Service(listener, Holder(), socket.create_connection(("127.0.0.1", other)))
        threading.Thread(target=service.serve, daemon=True).start()
        say({"port": listener.getsockname()[1]})
        sys.stdin.read()


def say(line: dict[str, Any]) -> None:
    """One line, whole."""
    print(json.dumps(line), flush=True)


def _start(serve: Callable[[socket.socket], None]) -> int:
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    return int(listener.getsockname()[1])


def _upstream(listener: socket.socket) -> None:
    """Answers after the number of milliseconds in the request, with the time of the answer."""
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while asked := connection.recv(64):
        time.sleep(float(asked) / 1e3)
        connection.sendall(str(time.monotonic_ns()).encode())


class Holder:
    """A thread that holds a lock for a while, when asked to."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.released_at = 0
        self._held = threading.Event()
        self._asked: float = 0.0
        self._wake = threading.Semaphore(0)
        threading.Thread(target=self._hold, daemon=True).start()

    def ask(self, ms: float) -> None:
        """Returns when the lock is held; it will be for ``ms``."""
        self._asked = ms
        self._held.clear()
        self._wake.release()
        self._held.wait()

    def _hold(self) -> None:
        while True:
            self._wake.acquire()
            with self.lock:
                self._held.set()
                time.sleep(self._asked / 1e3)
                self.released_at = time.monotonic_ns()


@dataclass
class Service:
    """One thread for all connections."""

    listener: socket.socket
    holder: Holder
    other: socket.socket
    calls: dict[int, int] = field(default_factory=dict)
    """By the client's port."""
    pauses: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=PAUSES_MAX))
    """When the thread computed and did not run, from and to; monotonic ns."""

    def serve(self) -> None:
        """Until the process ends."""
        self.other.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with selectors.DefaultSelector() as ready:
            ready.register(self.listener, selectors.EVENT_READ)
            while True:
                free_at = time.monotonic_ns()
                for key, _ in ready.select():
                    if key.fileobj is self.listener:
                        connection, _ = self.listener.accept()
                        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                        ready.register(connection, selectors.EVENT_READ)
                    elif isinstance(key.fileobj, socket.socket):
                        if not self._answer(key.fileobj, free_at):
                            ready.unregister(key.fileobj)
                            key.fileobj.close()
                        free_at = time.monotonic_ns()

    def _answer(self, connection: socket.socket, free_at: int) -> bool:
        head = connection.recv(HEAD_MAX)
        read_at = time.monotonic_ns()
        if not head:
            return False
        target = head.split(b" ", 2)[1].decode()
        path, _, sent = target.partition("?sent=")
        _, kind, ms = path.split("/")
        truth = self._wait_before(int(sent), free_at, read_at)
        for part, taken in KINDS[kind](self, float(ms)).items():
            truth[part] = truth.get(part, 0.0) + taken
        connection.sendall(REPLY)
        port = connection.getpeername()[1]
        ordinal = self.calls.get(port, 0)
        self.calls[port] = ordinal + 1
        say({"client": port, "exchange": ordinal, "kind": kind, "truth": truth})
        return True

    def burn(self, ms: float) -> Truth:
        """Computes for so much CPU time."""
        began, cpu = time.monotonic_ns(), time.thread_time_ns()
        last = began
        while time.thread_time_ns() - cpu < ms * NS_PER_MS:
            now = time.monotonic_ns()
            if now - last > PAUSE_NS:
                self.pauses.append((last, now))
            last = now
        took, ran = time.monotonic_ns() - began, time.thread_time_ns() - cpu
        return {"running": ran / NS_PER_MS, "runnable": max(0, took - ran) / NS_PER_MS}

    def sleep(self, ms: float) -> Truth:
        """Sleeps; what it oversleeps it was runnable."""
        began = time.monotonic_ns()
        time.sleep(ms / 1e3)
        took = (time.monotonic_ns() - began) / NS_PER_MS
        return {"timer": min(ms, took), "runnable": max(0.0, took - ms)}

    def wait_for_lock(self, ms: float) -> Truth:
        """Waits for a lock that another thread holds."""
        began = time.monotonic_ns()
        self.holder.ask(ms)
        with self.holder.lock:
            ended, released = time.monotonic_ns(), self.holder.released_at
        return {
            "lock": max(0, released - began) / NS_PER_MS,
            "runnable": max(0, ended - released) / NS_PER_MS,
        }

    def ask_other(self, ms: float) -> Truth:
        """Waits for another server."""
        began = time.monotonic_ns()
        self.other.sendall(str(ms).encode())
        answered = int(self.other.recv(64))
        ended = time.monotonic_ns()
        return {
            "network": max(0, answered - began) / NS_PER_MS,
            "runnable": max(0, ended - answered) / NS_PER_MS,
        }

    def _wait_before(self, sent: int, free_at: int, read_at: int) -> Truth:
        """Until it was read: unread while the thread ran other work, else runnable."""
        paused = sum(max(0, min(to, free_at) - max(since, sent)) for since, to in self.pauses)
        idle = max(0, read_at - max(sent, free_at))
        return {
            "unread": max(0, free_at - sent - paused) / NS_PER_MS,
            "runnable": (paused + idle) / NS_PER_MS,
        }


KINDS: dict[str, Callable[[Service, float], Truth]] = {
    "burn": Service.burn,
    "sleep": Service.sleep,
    "lock": Service.wait_for_lock,
    "other": Service.ask_other,
}


if __name__ == "__main__":
    main()
