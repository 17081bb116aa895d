"""What a buffer handed to the kernel holds, where HTTP/2 is spoken (RFC 9113 section 4.1)."""

from __future__ import annotations

from collections.abc import Iterator

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADER_BYTES = 9
HEADERS, WINDOW_UPDATE = 1, 8
CONTROL = frozenset((2, 3, 4, 6, 7, WINDOW_UPDATE))
"""PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE: no part of a message."""


def frames(buffer: bytes) -> Iterator[tuple[int, int, int]]:
    """Type, stream and length of the payload of each frame whose header can be seen in a
    buffer that begins with one."""
    offset = len(PREFACE) if buffer.startswith(PREFACE) else 0
    while offset + HEADER_BYTES <= len(buffer):
        length = int.from_bytes(buffer[offset : offset + 3], "big")
        stream = int.from_bytes(buffer[offset + 5 : offset + 9], "big") & 0x7FFF_FFFF
        yield buffer[offset + 3], stream, length
        offset += HEADER_BYTES + length


def is_control(buffer: bytes, bytes_total: int) -> bool:
    """The whole buffer, of which the first bytes are seen, holds control frames alone."""
    offset = len(PREFACE) if buffer.startswith(PREFACE) else 0
    for kind, _, length in frames(buffer):
        if kind not in CONTROL:
            return False
        offset += HEADER_BYTES + length
    return offset == bytes_total


def opens_stream(buffer: bytes, after: int) -> int | None:
    """The stream that this buffer of a client opens, newer than ``after``; None when it
    begins with anything but control frames and HEADERS."""
    for kind, stream, length in frames(buffer):
        if kind == HEADERS and stream % 2 == 1 and stream > after and length < 1 << 14:
            return stream
        if kind not in CONTROL:
            return None
    return None
