"""Named network namespaces, as in ip-netns(8), entered by children and sockets.

wirelab itself stays in its namespace. A child enters between fork and exec. A socket is created
by a thread that has entered, because a socket always belongs to the namespace of its creation.
"""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

FOLDER = Path("/run/netns")
CLONE_NEWNET = 0x40000000
REMOVED_S_MAX = 10.0

T = TypeVar("T")
_libc = ctypes.CDLL(None, use_errno=True)


def open_namespace(name: str) -> int:
    """An open descriptor of the namespace, for :func:`enter`. Raises :class:`OSError`."""
    return os.open(FOLDER / name, os.O_RDONLY | os.O_CLOEXEC)


def enter(descriptor: int) -> None:
    """Moves the calling thread, and its future children, into the namespace (setns(2)). Raises
    :class:`OSError`."""
    if _libc.setns(descriptor, CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"cannot enter a network namespace: {os.strerror(number)}")


def connect(name: str, address: tuple[str, int], seconds_max: float) -> socket.socket:
    """A TCP connection in the namespace ``name``, usable by every thread. Raises
    :class:`OSError`."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    made = run_inside(name, lambda: socket.socket(family, socket.SOCK_STREAM))
    try:
        made.settimeout(seconds_max)
        made.connect(address)
    except BaseException:
        made.close()
        raise
    return made


def free_port(name: str | None = None) -> int:
    """A free TCP port of 127.0.0.1 in the namespace ``name`` or wirelab's own. Another process may
    take it before it is used. Raises :class:`OSError`."""
    with _tcp_socket() if name is None else run_inside(name, _tcp_socket) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def remove(name: str) -> None:
    """Removes the namespace that a killed process left; a missing namespace is ignored.
    Processes inside keep it alive without its name."""
    if (FOLDER / name).exists():
        command = ["ip", "netns", "delete", name]
        subprocess.run(command, capture_output=True, timeout=REMOVED_S_MAX, check=False)


def _tcp_socket() -> socket.socket:
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM)


def run_inside(name: str, make: Callable[[], T]) -> T:
    """Result of ``make`` in a thread that enters the namespace ``name`` and then ends. Raises
    :class:`OSError`."""
    outcome: list[T | OSError] = []

    def work() -> None:
        try:
            descriptor = open_namespace(name)
            try:
                enter(descriptor)
                outcome.append(make())
            finally:
                os.close(descriptor)
        except OSError as error:
            outcome.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    (made,) = outcome
    if isinstance(made, OSError):
        raise made
    return made
