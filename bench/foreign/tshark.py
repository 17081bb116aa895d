"""What tshark reads in a capture: packets of connections, and lookups of names."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from wirelab.errors import LabError

SECONDS_MAX = 120.0
"""Time limit for one file."""

FIELDS = (
    "frame.number",
    "frame.time_epoch",
    "frame.protocols",
    "tcp.stream",
    "ip.src",
    "ipv6.src",
    "tcp.srcport",
    "tcp.len",
    "tcp.flags",
    "tcp.analysis.retransmission",
    "tcp.analysis.out_of_order",
    "tcp.analysis.lost_segment",
    "tcp.analysis.ack_lost_segment",
    "tcp.analysis.keep_alive",
    "tcp.analysis.zero_window_probe",
    "tcp.analysis.duplicate_ack",
    "tcp.analysis.zero_window",
    "tcp.analysis.ack_rtt",
    "tcp.analysis.acks_frame",
    "tcp.analysis.initial_rtt",
    "http2.type",
    "tls.handshake.type",
    "dns.time",
    "udp.srcport",
)
FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
CLIENT_HELLO = "1"


@dataclass(frozen=True)
class Packet:
    """One packet of a connection."""

    number: int
    at_ms: float
    source: tuple[str, str]
    payload: int
    flags: int
    protocols: frozenset[str]
    is_retransmission: bool
    is_out_of_order: bool
    follows_gap: bool
    """Packets before it, or those that it acknowledges, are not in the capture."""
    is_probe: bool
    is_duplicate_ack: bool
    is_zero_window: bool
    answered_ms: float | None
    """How long after the packet that it acknowledges."""
    answers: int | None
    """The number of that packet."""
    http2_types: frozenset[str]
    is_client_hello: bool


@dataclass
class Stream:
    """One connection."""

    packets: list[Packet] = field(default_factory=list)
    rtt_ms: float | None = None
    """From the SYN to the acknowledgment that completes the handshake."""


@dataclass
class Reading:
    """One file."""

    streams: dict[int, Stream] = field(default_factory=lambda: defaultdict(Stream))
    """By number, from 0, in the order of their first packets."""
    lookups_ms: list[float] = field(default_factory=list)
    """Times of answers by DNS over UDP."""


def read(capture: Path) -> Reading:
    """Raises :class:`LabError` if tshark cannot read the file at all, or takes too long."""
    command = ["tshark", "-n", "-r", str(capture), "-T", "fields", "-E", "separator=/t"]
    # Fragments are counted by the dissection, not put together.
    command += ["-o", "ip.defragment:FALSE", "-o", "ipv6.defragment:FALSE"]
    for name in FIELDS:
        command += ["-e", name]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS_MAX, check=False)
    except FileNotFoundError as error:
        raise LabError("tshark is not installed", "apt-get install tshark") from error
    except subprocess.TimeoutExpired as error:
        raise LabError(f"{capture}: tshark takes too long", "leave the file out") from error
    reading = Reading()
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        _take(dict(zip(FIELDS, line.split("\t"), strict=False)), reading)
    # tshark also numbers connections of which it saw nothing but a quote in an ICMP error.
    reading.streams = dict(enumerate(reading.streams.values()))
    return reading


def _take(row: dict[str, str], reading: Reading) -> None:
    if row.get("dns.time") and row["udp.srcport"].split(",")[0] == "53":
        reading.lookups_ms.append(float(row["dns.time"].split(",")[0]) * 1e3)
    protocols = frozenset(row.get("frame.protocols", "").split(":"))
    # An ICMP error quotes a packet of TCP, and is none.
    if not row.get("tcp.stream") or protocols & {"icmp", "icmpv6"}:
        return
    stream = reading.streams[int(_last(row["tcp.stream"]))]
    stream.packets.append(_packet(row, protocols))
    if row["tcp.analysis.initial_rtt"]:
        stream.rtt_ms = float(row["tcp.analysis.initial_rtt"]) * 1e3


def _packet(row: dict[str, str], protocols: frozenset[str]) -> Packet:
    answered = row["tcp.analysis.ack_rtt"]
    return Packet(
        number=int(row["frame.number"]),
        at_ms=float(row["frame.time_epoch"]) * 1e3,
        source=(_last(row["ip.src"]) + _last(row["ipv6.src"]), _last(row["tcp.srcport"])),
        payload=int(_last(row["tcp.len"]) or 0),
        flags=int(_last(row["tcp.flags"]) or "0", 16),
        protocols=protocols,
        is_retransmission=bool(row["tcp.analysis.retransmission"]),
        is_out_of_order=bool(row["tcp.analysis.out_of_order"]),
        follows_gap=bool(row["tcp.analysis.lost_segment"] or row["tcp.analysis.ack_lost_segment"]),
        is_probe=bool(row["tcp.analysis.keep_alive"] or row["tcp.analysis.zero_window_probe"]),
        is_duplicate_ack=bool(row["tcp.analysis.duplicate_ack"]),
        is_zero_window=bool(row["tcp.analysis.zero_window"]),
        answered_ms=float(_last(answered)) * 1e3 if answered else None,
        answers=int(_last(row["tcp.analysis.acks_frame"]) or 0) or None,
        http2_types=frozenset(row["http2.type"].split(",")) - {""},
        is_client_hello=CLIENT_HELLO in row["tls.handshake.type"].split(","),
    )


def _last(value: str) -> str:
    """Of a packet in a tunnel, the innermost value."""
    return value.rpartition(",")[2]
