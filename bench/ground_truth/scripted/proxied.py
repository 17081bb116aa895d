"""A proxy between both sides: HAProxy passes bytes on, and says whose they are.

Captured is the connection between client and proxy. The server learns the client's port from the
line that the proxy sends first (PROXY protocol, version 1), so both sides still name the same
connection.
"""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.ground_truth.captures.places import LOOPBACK_RTT_NS, NetworkPath
from bench.ground_truth.labels.occurrence import SEGMENT_BYTES_LOOPBACK
from wirelab.errors import TrialFailed
from wirelab.process.children import Child, ProcessOptions
from wirelab.process.interruption import Interruption
from wirelab.trial.link import End

PROXY = "proxy"
HOST = "127.0.0.1"
READY_S_MAX = 10.0
POLL_S = 0.02
LINE_BYTES_MAX = 107
"""Of the protocol's first line."""
_CONFIGURATION = """\
global
    maxconn 1000
defaults
    mode tcp
    timeout connect 5s
    timeout client 30s
    timeout server 30s
listen scripted
    bind {host}:{port}
    server peer {host}:{server} send-proxy
"""


def place() -> NetworkPath:
    """Client, proxy and server, all on loopback."""
    return NetworkPath(PROXY, End(), End(), LOOPBACK_RTT_NS, SEGMENT_BYTES_LOOPBACK)


@contextmanager
def opened(server: int, folder: Path, interruption: Interruption) -> Iterator[int]:
    """The port of a proxy in front of ``server``. Raises :class:`TrialFailed`."""
    program = shutil.which("haproxy")
    if program is None:
        raise TrialFailed("haproxy is not in PATH; on Debian: apt install haproxy")
    with socket.create_server((HOST, 0)) as free:
        port = int(free.getsockname()[1])
    file = folder / "haproxy.cfg"
    file.write_text(_CONFIGURATION.format(host=HOST, port=port, server=server))
    log = folder / "haproxy.log"
    child = Child([program, "-db", "-f", str(file)], ProcessOptions(log=log))
    try:
        _await(child, port, interruption)
        yield port
    finally:
        child.kill()


def _await(child: Child, port: int, interruption: Interruption) -> None:
    deadline = time.monotonic() + READY_S_MAX
    while time.monotonic() < deadline:
        interruption.check()
        with socket.socket() as attempt:
            if attempt.connect_ex((HOST, port)) == 0:
                return
        if child.wait(POLL_S) is not None:
            raise TrialFailed(f"haproxy ended: {child.log_tail()}")
    raise TrialFailed("haproxy does not listen")


def client_port(connection: socket.socket) -> int | None:
    """The port that the first line names; None for a connection that the proxy opened and closed
    without one."""
    line = b""
    while not line.endswith(b"\r\n") and len(line) < LINE_BYTES_MAX:
        got = connection.recv(1)
        if not got:
            return None
        line += got
    words = line.split()
    return int(words[4]) if words[:2] == [b"PROXY", b"TCP4"] else None
