"""Secrets of TLS: the key log that a program writes (SSLKEYLOGFILE), and its place in a capture.

A capture with a Decryption Secrets Block (pcapng, draft-ietf-opsawg-pcapng section 4.7) can be
decrypted without another file. Whoever has the capture can then read what passed within TLS.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

VARIABLE = "SSLKEYLOGFILE"
"""The environment variable that OpenSSL's, NSS's and rustls' users follow."""
NODE_VARIABLE = "NODE_OPTIONS"
SECRETS_BYTES_MAX = 256 * 1024 * 1024
"""Longest key log that is read: more than the secrets that the dissector keeps."""
SECTION, INTERFACE, DECRYPTION_SECRETS = 0x0A0D0D0A, 1, 10
MAGIC, TLS_KEY_LOG = 0x1A2B3C4D, 0x544C534B
BLOCK_FRAME_BYTES = 12
"""Type and length at a block's begin, and the length again at its end."""
HEADER_BYTES_MAX = 1 << 20
TEXT_BYTES = 1 << 18
"""Text of one block. Readers bound the length of blocks; a capture may have several of them."""
_LINE = re.compile(rb"[A-Z][A-Z0-9_]* ([0-9a-fA-F]{64}) (?:[0-9a-fA-F]{2}){16,}\r?\n?")
_LINE_BYTES_MAX = 1024


def create(file: Path) -> Path:
    """A new key log that only this user can read (mode 0600). Raises :class:`OSError`."""
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return file


def environment(file: Path) -> dict[str, str]:
    """Variables that ask a program for its secrets. Node reads no SSLKEYLOGFILE (``node --help``);
    its own options are kept."""
    quoted = str(file).replace("\\", "\\\\").replace('"', '\\"')
    option = f'--tls-keylog="{quoted}"' if " " in quoted else f"--tls-keylog={quoted}"
    return {
        VARIABLE: str(file),
        NODE_VARIABLE: f"{os.environ.get(NODE_VARIABLE, '')} {option}".strip(),
    }


def connections(file: Path) -> int:
    """Connections of which a key log has secrets; 0 if it is missing, or no key log."""
    return len({random for random, _ in _lines(file)})


def embed(capture: Path, keylog: Path) -> bool:
    """Writes the secrets into a pcapng capture, before its first packet, and makes it readable by
    its owner only. False if there are none; the capture is then unchanged. Raises
    :class:`ValueError` if it is not a pcapng file, :class:`OSError`."""
    text = b"".join(line for _, line in _lines(keylog))
    if not text:
        return False
    written = capture.with_name(f"{capture.name}.partial")
    try:
        with capture.open("rb") as old, create(written).open("wb") as new:
            new.write(_headers(old))
            new.writelines(map(_block, _pieces(text)))
            shutil.copyfileobj(old, new, 1 << 20)
        written.replace(capture)
    finally:
        written.unlink(missing_ok=True)
    return True


def _lines(file: Path) -> Iterator[tuple[bytes, bytes]]:
    """Client random and whole line of each secret."""
    try:
        source = file.open("rb")
    except OSError:
        return
    with source:
        left = SECRETS_BYTES_MAX
        while left > 0 and (line := source.readline(_LINE_BYTES_MAX)):
            left -= len(line)
            found = _LINE.fullmatch(line)
            if found:
                yield found[1].lower(), line.rstrip() + b"\n"


def _headers(source: BinaryIO) -> bytes:
    """The blocks before the first packet; leaves the file behind them."""
    headers = b""
    while len(headers) < HEADER_BYTES_MAX:
        place = source.tell()
        head = source.read(12)
        if len(head) < 12:
            source.seek(place)
            break
        kind, length, magic = struct.unpack("<III", head)
        if not headers and (kind, magic) != (SECTION, MAGIC):
            raise ValueError("not a pcapng file of this machine's byte order")
        source.seek(place)
        if kind not in (SECTION, INTERFACE) or length > HEADER_BYTES_MAX:
            break
        headers += source.read(length)
    return headers


def _pieces(text: bytes) -> Iterator[bytes]:
    """Whole lines, for one block each."""
    while len(text) > TEXT_BYTES:
        end = text.rindex(b"\n", 0, TEXT_BYTES) + 1
        yield text[:end]
        text = text[end:]
    yield text


def _block(text: bytes) -> bytes:
    """A Decryption Secrets Block."""
    padded = text.ljust(-len(text) % 4 + len(text), b"\0")
    length = BLOCK_FRAME_BYTES + 8 + len(padded)
    head = struct.pack("<IIII", DECRYPTION_SECRETS, length, TLS_KEY_LOG, len(text))
    return head + padded + struct.pack("<I", length)
