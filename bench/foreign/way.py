"""How long the way from the capture to a client and back takes, by the acknowledgments that
tshark timed."""

from __future__ import annotations

import math
from collections import defaultdict

from bench.foreign.tshark import ACK, FIN, RST, SYN, Reading, Stream

SHARED_AFTER_MS = 60_000.0
"""A connection that ended counts for later ones between the same hosts this long after its last
packet: TIME-WAIT as Linux has it (RFC 9293 section 3.6.1)."""

End = tuple[str, str]
"""Address and port."""


def measure_ways(reading: Reading) -> dict[int, list[float]]:
    """By connection, for each of its packets: the shortest time to the client and back that
    was known then, ms; 0 where none was."""
    ways: dict[int, list[float]] = {}
    shared: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for number, stream in reading.streams.items():
        client, server = _ends(stream)
        hosts, began_ms = (client[0], server[0]), stream.packets[0].at_ms
        shortest = min((ms for since, ms in shared[hosts] if since <= began_ms), default=math.inf)
        ways[number] = []
        # The acknowledgment of a FIN alone may wait for a program that closes.
        timed = {packet.number for packet in stream.packets if packet.payload or packet.flags & SYN}
        for packet in stream.packets:
            is_answer = packet.source == client and packet.answers in timed
            if is_answer and packet.answered_ms is not None:
                shortest = min(shortest, packet.answered_ms)
            ways[number].append(shortest if shortest < math.inf else 0.0)
        if _has_ended(stream) and shortest < math.inf:
            shared[hosts].append((stream.packets[-1].at_ms + SHARED_AFTER_MS, shortest))
    return ways


def _ends(stream: Stream) -> tuple[End, End]:
    """The client's and the server's; an empty one for a side that was not captured."""
    first = stream.packets[0]
    other = next((p.source for p in stream.packets if p.source != first.source), ("", ""))
    if first.flags & SYN:
        is_client = not first.flags & ACK
    else:
        # Servers listen at the lower port.
        is_client = int(first.source[1]) > int(other[1] or 0)
    return (first.source, other) if is_client else (other, first.source)


def _has_ended(stream: Stream) -> bool:
    finished = {packet.source for packet in stream.packets if packet.flags & FIN}
    return len(finished) == 2 or any(packet.flags & RST for packet in stream.packets)
