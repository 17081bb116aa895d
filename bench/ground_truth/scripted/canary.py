"""Shows whether the machine itself held packets up: ``python -m …scripted.canary``, as a process.

A script notes what it does by plan. A virtual machine that stops for a tenth of a second delays
all packets meanwhile, which no script notes and every capture shows. Small datagrams cross the
same path both ways every few milliseconds; the one that took longest beyond the fastest shows how
late the network was. Takes one JSON object on standard input, prints a line when it is ready, and
the lateness when its input ends.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import sys
import time
from dataclasses import dataclass

from wirelab.process import namespaces

EVERY_NS = 5_000_000
_STAMP = struct.Struct("!Q")
_HOST = "127.0.0.1"


@dataclass
class Lateness:
    """Of the datagrams of one direction, nanoseconds."""

    fastest: int | None = None
    slowest: int = 0

    def take(self, sent: int, arrived: int) -> None:
        """One has arrived."""
        took = max(0, arrived - sent)
        self.fastest = took if self.fastest is None else min(self.fastest, took)
        self.slowest = max(self.slowest, took)

    def worst(self) -> int:
        """The slowest beyond the fastest; 0 for none at all."""
        return self.slowest - (self.fastest or 0)


def main() -> None:
    """Sends until standard input ends."""
    config = json.loads(sys.stdin.readline())
    ends = [_socket(config[side]) for side in ("client", "server")]
    for end, other in zip(ends, reversed(ends), strict=True):
        end.connect(other.getsockname())
    print(json.dumps({"ready": True}), flush=True)
    lateness = [Lateness(), Lateness()]
    due = time.monotonic_ns()
    while True:
        wait_s = max(0, due - time.monotonic_ns()) / 1e9
        readable, _, _ = select.select([*ends, sys.stdin], [], [], wait_s)
        now = time.monotonic_ns()
        for end, seen in zip(ends, lateness, strict=True):
            if end in readable:
                (sent,) = _STAMP.unpack(end.recv(_STAMP.size))
                seen.take(sent, now)
        if sys.stdin in readable:
            break
        if now >= due:
            # Behind its time, the machine stopped this process, and the others with it.
            for end, seen in zip(ends, lateness, strict=True):
                seen.slowest = max(seen.slowest, now - due)
                end.send(_STAMP.pack(now))
            due = max(due + EVERY_NS, now)
    print(json.dumps({"late_ms": max(seen.worst() for seen in lateness) / 1e6}), flush=True)


def _socket(end: dict[str, str | None]) -> socket.socket:
    """A datagram socket in that end's namespace."""
    address = (end["address"] or _HOST, 0)
    if end["namespace"] is None:
        return _bind(address)
    return namespaces.run_inside(end["namespace"], lambda: _bind(address))


def _bind(address: tuple[str, int]) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind(address)
    return made


if __name__ == "__main__":
    main()
