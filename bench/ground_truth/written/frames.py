"""Bytes of frames: Ethernet, IPv4, TCP, UDP and tunnels, and a pcap file of them."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
TCP, UDP, GRE = 6, 17, 47
VXLAN_PORT, DNS_PORT = 4789, 53
MACS = bytes.fromhex("020000000001 020000000002")
OTHER_MACS = bytes.fromhex("020000000908 020000000909")
TTL = 64
US_PER_S = 1_000_000


@dataclass(frozen=True)
class Frame:
    """One captured packet."""

    at_us: int
    data: bytes


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(
    ends: tuple[IPv4Address, IPv4Address],
    protocol: int,
    body: bytes,
    identification: int = 0,
    ttl: int = TTL,
    fragment: int = 0,
) -> bytes:
    """A packet. `fragment`: the field with flags and offset (RFC 791); 0 for a whole packet."""
    flags = fragment or 0x4000
    head = struct.pack(
        "!BBHHHBBH4s4s",
        *(0x45, 0, 20 + len(body), identification, flags, ttl, protocol, 0),
        *(ends[0].packed, ends[1].packed),
    )
    return head[:10] + checksum(head).to_bytes(2, "big") + head[12:] + body


def pass_router(packet: bytes) -> bytes:
    """A packet of IPv4 behind a router: one hop less, and its checksum."""
    head = packet[:8] + bytes([packet[8] - 1]) + packet[9:10] + b"\0\0" + packet[12:20]
    return head[:10] + checksum(head).to_bytes(2, "big") + head[12:] + packet[20:]


def tcp(
    ends: tuple[IPv4Address, IPv4Address],
    ports: tuple[int, int],
    numbers: tuple[int, int],
    flags: int,
    window: int,
    payload: bytes = b"",
    options: bytes = b"",
) -> bytes:
    """A segment with its checksum (RFC 9293)."""
    head = struct.pack(
        "!HHIIBBHHH",
        *(*ports, numbers[0], numbers[1], (5 + len(options) // 4) << 4, flags, window, 0, 0),
    )
    segment = head + options + payload
    pseudo = ends[0].packed + ends[1].packed + struct.pack("!HH", TCP, len(segment))
    return segment[:16] + checksum(pseudo + segment).to_bytes(2, "big") + segment[18:]


def udp(ports: tuple[int, int], payload: bytes) -> bytes:
    """A datagram without a checksum, which IPv4 allows (RFC 768)."""
    return struct.pack("!HHHH", *ports, 8 + len(payload), 0) + payload


def ethernet(packet: bytes, macs: bytes = MACS, vlan: int = 0) -> bytes:
    """A frame, in a VLAN where that is not 0."""
    tag = struct.pack("!HH", 0x8100, vlan) if vlan else b""
    return macs + tag + b"\x08\x00" + packet


def vxlan(inner: bytes, ends: tuple[IPv4Address, IPv4Address]) -> bytes:
    """A frame in VXLAN (RFC 7348)."""
    head = struct.pack("!II", 0x0800_0000, 7 << 8)
    return ethernet(ipv4(ends, UDP, udp((50_000, VXLAN_PORT), head + inner)))


def gre(packet: bytes, ends: tuple[IPv4Address, IPv4Address]) -> bytes:
    """A packet of IPv4 in GRE (RFC 2784)."""
    return ethernet(ipv4(ends, GRE, b"\0\0\x08\0" + packet))


def dns(number: int, flags: int, name: str, kind: int, address: IPv4Address | None) -> bytes:
    """A message of RFC 1035 with one question, and an answer where there is an address."""
    message = struct.pack("!6H", number, flags, 1, int(address is not None), 0, 0)
    for label in name.split("."):
        message += bytes([len(label)]) + label.encode()
    message += b"\0" + struct.pack("!HH", kind, 1)
    if address is not None:
        message += b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + address.packed
    return message


def pcap(frames: Iterable[Frame], snap: int = 65_535) -> bytes:
    """A file of microseconds."""
    file = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snap, 1)
    for frame in frames:
        seconds, us = divmod(frame.at_us, US_PER_S)
        held = frame.data[:snap]
        file += struct.pack("<IIII", seconds, us, len(held), len(frame.data)) + held
    return file
