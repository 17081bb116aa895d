"""Which processes of this machine listen on an address."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wirelab.process.process_tree import with_descendants

LISTEN = "0A"
"""State of a listening socket in /proc/net/tcp (Linux, include/net/tcp_states.h)."""


def find_listeners(address: str) -> tuple[int, ...]:
    """The processes that listen on the port of ``127.0.0.1:80`` or ``[::1]:80``, with their
    descendants, which may be its workers; empty where this user may not look at them, for Unix
    sockets, and where nobody listens."""
    port = address.rpartition(":")[2]
    if address.startswith("unix:") or not port.isdigit():
        return ()
    inodes = set(_inodes(int(port)))
    holders = {pid for pid in list_pids() if inodes & set(list_sockets(pid))} if inodes else set()
    return tuple(sorted(with_descendants(holders)))


def _inodes(port: int) -> Iterator[str]:
    """Inodes of listening sockets on the port, whatever their address."""
    for table in ("tcp", "tcp6"):
        try:
            lines = Path("/proc/net", table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for words in map(str.split, lines):
            if words[3] == LISTEN and int(words[1].rpartition(":")[2], 16) == port:
                yield words[9]


def list_pids() -> Iterator[int]:
    """All processes."""
    return (int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit())


def list_sockets(pid: int) -> Iterator[str]:
    """Inodes of the sockets that a process holds."""
    try:
        descriptors = list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return  # it has ended, or belongs to another user
    for descriptor in descriptors:
        try:
            target = str(descriptor.readlink())
        except OSError:
            continue
        if target.startswith("socket:["):
            yield target[8:-1]
