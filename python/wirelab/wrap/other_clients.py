"""Connections to the wrapped command's port that belong to other processes, by the kernel's socket
table (sock_diag(7)) and the descriptors of processes.

A connection is another process's only where that process is seen to hold its socket and the command
is not. One that is closed again between two looks stays unassigned, and counts as the command's.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from wirelab.process.containment import describe
from wirelab.process.listeners import list_pids, list_sockets

LOOK_S = 0.1
"""Interval between two looks."""
NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
DUMP = 0x301
"""NLM_F_REQUEST, NLM_F_ROOT and NLM_F_MATCH (netlink(7))."""
STATES = (1 << 1) | (1 << 2) | (1 << 4) | (1 << 5) | (1 << 8)
"""ESTABLISHED, SYN_SENT, FIN_WAIT1, FIN_WAIT2 and CLOSE_WAIT (include/net/tcp_states.h)."""
DONE, ERROR = 3, 2
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBBI2s2s16s16sI8s")
"""struct inet_diag_req_v2; ports are in network order."""
_FOUND = struct.Struct("=BBBBHH16s16sI8sIIIII")
"""struct inet_diag_msg; its last field is the inode."""
_TIMEOUT_S = 1.0


class OtherClients:
    """Those seen so far."""

    def __init__(self, port: int) -> None:
        """``port`` is that of the server."""
        self._port = port
        self._looked = 0.0
        self._own: set[int] = set()
        self._others: dict[int, str] = {}
        """Ends by inode."""
        self.seen_ns: dict[str, int] = {}
        """When each end was seen last, CLOCK_REALTIME."""
        self.processes: dict[int, str] = {}
        """Descriptions by process id."""

    def look(self, own_pids: Callable[[], set[int]], *, now: bool = False) -> None:
        """Looks at the table, unless that was done just now. ``own_pids`` lists the processes of
        the command. Nothing is found where the kernel does not show its table."""
        if not now and time.monotonic() - self._looked < LOOK_S:
            return
        self._looked = time.monotonic()
        found = self._find()
        unknown = found.keys() - self._own - self._others.keys()
        if unknown:
            self._assign(unknown, own_pids)
        at_ns = time.time_ns()
        for inode in found.keys() & self._others.keys():
            self.seen_ns[self._others[inode]] = at_ns

    def _assign(self, unknown: set[int], own_pids: Callable[[], set[int]]) -> None:
        pids = own_pids()
        own = {inode for pid in pids for inode in map(int, list_sockets(pid))}
        self._own |= unknown & own
        # The others were closed meanwhile, or are held by another process.
        rest = {inode: end for inode, end in self._find().items() if inode in unknown - own}
        if not rest:
            return
        holders: dict[int, set[int]] = {}
        for pid in set(list_pids()) - pids:
            held = rest.keys() & set(map(int, list_sockets(pid)))
            if held:
                holders[pid] = held
        # A process that the command has started meanwhile is its own.
        for pid in holders.keys() - own_pids():
            self.processes.setdefault(pid, describe(pid))
            self._others.update({inode: rest[inode] for inode in holders[pid]})

    def _find(self) -> dict[int, str]:
        """Ends of sockets that are connected to the port, by inode."""
        families = (socket.AF_INET, socket.AF_INET6)
        try:
            return {
                inode: end
                for family in families
                for inode, end in _dump(family, self._port)
                if inode
            }
        except OSError:
            return {}


def write_ends(file: Path, seen_ns: dict[str, int]) -> Path:
    """Writes ends as `wirelab-engine dissect --without` reads them."""
    lines = (f"{end} {at_ns}\n" for end, at_ns in seen_ns.items())
    file.write_text("".join(lines), encoding="ascii")
    return file


def _dump(family: int, port: int) -> Iterator[tuple[int, str]]:
    """Inode and own end of every TCP socket whose peer has that port."""
    request = _REQUEST.pack(
        *(family, socket.IPPROTO_TCP, 0, 0, STATES),
        *(bytes(2), port.to_bytes(2, "big"), bytes(16), bytes(16), 0, b"\xff" * 8),
    )
    length = _HEADER.size + len(request)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(_TIMEOUT_S)
        kernel.send(_HEADER.pack(length, SOCK_DIAG_BY_FAMILY, DUMP, 1, 0) + request)
        is_over = False
        while not is_over:
            for kind, message in _messages(kernel.recv(1 << 16)):
                if kind == ERROR:
                    raise OSError(os.strerror(-struct.unpack_from("=i", message)[0]))
                is_over = is_over or kind == DONE
                if kind == SOCK_DIAG_BY_FAMILY:
                    yield _read(message)


def _messages(block: bytes) -> Iterator[tuple[int, bytes]]:
    """Type and content of each message."""
    while len(block) >= _HEADER.size:
        length, kind, *_ = _HEADER.unpack_from(block)
        yield kind, block[_HEADER.size : length]
        block = block[(length + 3) & ~3 :]


def _read(message: bytes) -> tuple[int, str]:
    family, _, _, _, port, _, source, *rest = _FOUND.unpack_from(message)
    if family == socket.AF_INET:
        address: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.IPv4Address(source[:4])
    else:
        six = ipaddress.IPv6Address(source)
        # Sockets over IPv6 that hold IPv4 addresses send IPv4.
        address = six.ipv4_mapped or six
    text = f"[{address}]" if address.version == 6 else str(address)
    return rest[-1], f"{text}:{socket.ntohs(port)}"
