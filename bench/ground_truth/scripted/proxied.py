"""A proxy between both sides: HAProxy passes bytes on, and says whose they are.

Captured is the connection between client and proxy. The server learns the client's port from the
line that the proxy sends first (PROXY protocol, version 1), so both sides still name the same
connection.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.ground_truth.captures.places import LOOPBACK_RTT_NS, NetworkPath
from bench.ground_truth.labels.occurrence import SEGMENT_BYTES_LOOPBACK
from wirelab.process import namespaces
from wirelab.process.children import ProcessOptions
from wirelab.process.interruption import Interruption
from wirelab.process.proxies import Proxy
from wirelab.process.proxies.haproxy import Haproxy
from wirelab.process.proxies.hop import FOREVER_S, Hop, Installation
from wirelab.trial.stages.link import End

PROXY = "proxy"
HOST = "127.0.0.1"
LINE_BYTES_MAX = 107
"""Of the protocol's first line."""


class Passing(Haproxy):
    """In mode tcp: it reads nothing of what it passes on."""

    def configuration(self, hop: Hop, folder: Path) -> str:
        """The whole ``haproxy.cfg``."""
        return f"""\
global
    maxconn {hop.connections}
defaults
    mode tcp
    timeout connect {FOREVER_S}s
    timeout client {FOREVER_S}s
    timeout server {FOREVER_S}s
listen scripted
    bind {hop.listen}
    server peer {hop.upstream} send-proxy
"""


def place() -> NetworkPath:
    """Client, proxy and server, all on loopback."""
    return NetworkPath(PROXY, End(), End(), LOOPBACK_RTT_NS, SEGMENT_BYTES_LOOPBACK)


@contextmanager
def open_proxy(server: int, folder: Path, interruption: Interruption) -> Iterator[int]:
    """The port of a proxy in front of the port ``server``. Raises :class:`TrialFailed`, and
    :class:`ToolMissing` where HAProxy is not installed."""
    port = namespaces.free_port()
    installation = Installation.find(Passing())
    hop = Hop("tcp", "tcp", listen=f"{HOST}:{port}", upstream=f"{HOST}:{server}")
    with Proxy(
        installation,
        hop,
        ProcessOptions(log=folder / "haproxy.log"),
        configuration=folder / installation.adapter.file,
        interruption=interruption,
    ):
        yield port


def client_port(connection: socket.socket) -> int:
    """The port that the first line names. Raises :class:`ValueError` for another line."""
    line = b""
    while not line.endswith(b"\r\n") and len(line) < LINE_BYTES_MAX:
        got = connection.recv(1)
        if not got:
            break
        line += got
    words = line.split()
    if words[:2] != [b"PROXY", b"TCP4"]:
        raise ValueError(f"no line of the PROXY protocol: {line!r}")
    return int(words[4])
