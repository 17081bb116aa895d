"""A link that does to packets what their payload asks for, as a process.

``python -m bench.ground_truth.scripted.relay`` makes two network namespaces with a TUN device
each, and passes packets between them. It takes one JSON object on standard input, prints where
both ends are, and stops when its input ends. What a mark (:func:`mark`) in the payload of a
packet asks for is done once: its repetition passes. So a script knows what happens to its bytes.
"""

from __future__ import annotations

import fcntl
import heapq
import itertools
import json
import math
import os
import re
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Literal

from wirelab.process import namespaces

DELAY_MS = 25.0
"""One way. A sender that hears of nothing repeats after 200 ms and a round trip."""
INTERFACE = "wl0"
ADDRESSES = ("198.18.0.1", "198.18.0.2")
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
PACKET_BYTES_MAX = 65_535
MORE = 0x2000
"""The flag of a fragment that others follow."""
HELD_MAX = 100_000
COMMAND_S_MAX = 10.0
SMALL_BYTES = 576
"""With headers: what every host must take (RFC 791 section 3.1)."""
_MARK = re.compile(rb"~(hold|drop|mute|split|cut|shrink)=(\d{1,5}):(\d{1,20})~")

Act = Literal["hold", "drop", "mute", "split", "cut", "shrink"]
Ports = tuple[int, int]


def mark(act: Act, token: int, ms: int = 0) -> bytes:
    """Payload that has its packet held for ``ms``, or dropped; or the packets of the other
    direction of its connection held (``mute``); or the packet cut into two fragments of IP, the
    second of which is held (``split``); or, from ``ms`` later on, all packets of its connection
    dropped (``cut``), or those of the other direction that are larger than 576 bytes
    (``shrink``). ``token`` distinguishes marks."""
    return f"~{act}={ms}:{token}~".encode()


@dataclass
class Relay:
    """Packets on their way, by when they are due."""

    delay_ns: int
    _queue: list[tuple[int, int, int, bytes]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _done: set[bytes] = field(default_factory=set)
    _muted: dict[tuple[int, Ports], int] = field(default_factory=dict)
    _cut: dict[tuple[int, Ports], int] = field(default_factory=dict)
    _narrow: dict[tuple[int, Ports], int] = field(default_factory=dict)

    def take(self, side: int, packet: bytes, now: int) -> None:
        """A packet that ``side`` sent, at ``now`` nanoseconds."""
        ports = _ports(packet)
        if now >= self._cut.get((side, ports), math.inf):
            return
        if len(packet) > SMALL_BYTES and now >= self._narrow.get((side, ports), math.inf):
            return
        due = max(now, self._muted.get((side, ports), 0)) + self.delay_ns
        asked = _MARK.search(packet)
        if asked is not None and asked[3] not in self._done:
            self._done.add(asked[3])
            if asked[1] == b"drop":
                return
            until = now + int(asked[2]) * 1_000_000
            own, other = (side, ports), (1 - side, ports[::-1])
            if asked[1] == b"mute":
                self._muted[other] = until
            elif asked[1] == b"cut":
                self._cut[own] = self._cut[other] = until
            elif asked[1] == b"shrink":
                self._narrow[other] = until
            elif asked[1] == b"split":
                first, packet = _fragments(packet)
                self._push(due, 1 - side, first)
            if asked[1] in (b"hold", b"split"):
                due = until + self.delay_ns
        self._push(due, 1 - side, packet)

    def _push(self, due: int, side: int, packet: bytes) -> None:
        if len(self._queue) < HELD_MAX:
            heapq.heappush(self._queue, (due, next(self._numbers), side, packet))

    def due(self, now: int) -> Iterator[tuple[int, bytes]]:
        """The packets that are due, and the sides that they go to."""
        while self._queue and self._queue[0][0] <= now:
            _, _, side, packet = heapq.heappop(self._queue)
            yield side, packet

    def wait_s(self, now: int) -> float | None:
        """Until the next one is due, seconds; None without any."""
        return max(0, self._queue[0][0] - now) / 1e9 if self._queue else None


def _ports(packet: bytes) -> Ports:
    """Source and destination of TCP over IPv4; zeros for anything else."""
    if len(packet) < 24 or packet[0] >> 4 != 4 or packet[9] != 6:
        return (0, 0)
    start = 4 * (packet[0] & 15)
    source, destination = struct.unpack_from("!HH", packet, start)
    return (source, destination)


def _fragments(packet: bytes) -> tuple[bytes, bytes]:
    """Two of IPv4 (RFC 791 section 2.3), whatever the packet says of fragments."""
    header, payload = packet[: 4 * (packet[0] & 15)], packet[4 * (packet[0] & 15) :]
    cut = len(payload) // 16 * 8
    return _fragment(header, payload[:cut], MORE), _fragment(header, payload[cut:], cut // 8)


def _fragment(header: bytes, part: bytes, place: int) -> bytes:
    """``place``: its flags and offset, as in the header."""
    whole = len(header) + len(part)
    head = header[:2] + whole.to_bytes(2, "big") + header[4:6] + place.to_bytes(2, "big")
    head += header[8:10] + b"\0\0" + header[12:]
    total: int = sum(struct.unpack(f"!{len(head) // 2}H", head))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return head[:10] + (total ^ 0xFFFF).to_bytes(2, "big") + head[12:] + part


def main() -> None:
    """Relays until standard input ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # leaves no namespace behind
    config = json.loads(sys.stdin.readline())
    with ExitStack() as held:
        devices = [held.enter_context(_end(side)) for side in (0, 1)]
        ends = [
            {"namespace": _name(side), "interface": INTERFACE, "address": ADDRESSES[side]}
            for side in (0, 1)
        ]
        print(json.dumps({"ready": True, "client": ends[0], "server": ends[1]}), flush=True)
        _relay(Relay(round(config.get("delay_ms", DELAY_MS) * 1e6)), devices)


def _relay(relay: Relay, devices: list[int]) -> None:
    while True:
        readable, _, _ = select.select(
            [*devices, sys.stdin], [], [], relay.wait_s(time.monotonic_ns())
        )
        if sys.stdin in readable:
            return
        for side, device in enumerate(devices):
            if device in readable:
                relay.take(side, os.read(device, PACKET_BYTES_MAX), time.monotonic_ns())
        for side, packet in relay.due(time.monotonic_ns()):
            os.write(devices[side], packet)


def _name(side: int) -> str:
    return f"wl-{os.getpid()}-relay{side}"


@contextmanager
def _end(side: int) -> Iterator[int]:
    """A namespace, and the descriptor of its device."""
    name = _name(side)
    _ip("netns", "add", name)
    try:
        device = _tun(name)
        try:
            _ip("-n", name, "link", "set", "lo", "up")
            _ip("-n", name, "addr", "add", f"{ADDRESSES[side]}/30", "dev", INTERFACE)
            _ip("-n", name, "link", "set", INTERFACE, "up")
            yield device
        finally:
            os.close(device)
    finally:
        namespaces.remove(name)


def _tun(name: str) -> int:
    """Its device, made in the namespace. The file then belongs to it."""

    def make() -> int:
        device = os.open("/dev/net/tun", os.O_RDWR)
        request = struct.pack("16sH22x", INTERFACE.encode(), IFF_TUN | IFF_NO_PI)
        fcntl.ioctl(device, TUNSETIFF, request)
        return device

    return namespaces.run_inside(name, make)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=COMMAND_S_MAX)


if __name__ == "__main__":
    main()
