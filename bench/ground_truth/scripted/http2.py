"""Sides that speak HTTP/2 (RFC 9113) by hand, so that they wait for what they want to."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass

from bench.ground_truth.scripted.script import Script

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING = 0, 1, 4, 6
ACK, END_STREAM, END_HEADERS = 1, 1, 4
MAX_CONCURRENT_STREAMS = 3
HEAD_BYTES = 9
ASK = bytes([0x82, 0x84, 0x86, 0x41, 7]) + b"service"
"""GET / of http://service: fields of the static table (RFC 7541 appendix A)."""
OK = bytes([0x88])
CONTENT = b"x" * 300
LATE_S = (0.02, 0.08)
THINK_S = (0.05, 0.1)
QUIET_S = (0.1, 0.3)


@dataclass(frozen=True)
class Frame:
    """A frame as it was read."""

    kind: int
    flags: int
    stream: int


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """As on the wire (section 4.1)."""
    head = len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big")
    return head + payload


def _limit(streams: int) -> bytes:
    value = MAX_CONCURRENT_STREAMS.to_bytes(2, "big") + streams.to_bytes(4, "big")
    return frame(SETTINGS, 0, 0, value)


def _request(stream: int) -> bytes:
    return frame(HEADERS, END_STREAM | END_HEADERS, stream, ASK)


def _reply(stream: int) -> bytes:
    return frame(HEADERS, END_HEADERS, stream, OK) + frame(DATA, END_STREAM, stream, CONTENT)


def _exactly(connection: socket.socket, count: int) -> bytes:
    """Fewer at the end of the connection."""
    got = b""
    while len(got) < count and (more := connection.recv(count - len(got))):
        got += more
    return got


def _frames(connection: socket.socket) -> Iterator[Frame]:
    """Up to the end of the connection."""
    while len(head := _exactly(connection, HEAD_BYTES)) == HEAD_BYTES:
        _exactly(connection, int.from_bytes(head[:3], "big"))
        yield Frame(head[3], head[4], int.from_bytes(head[5:9], "big"))


def _read_until(frames: Iterator[Frame], kind: int, flags: int) -> Frame | None:
    """The next frame of that kind with these flags."""
    return next((one for one in frames if one.kind == kind and one.flags & flags == flags), None)


def several(connection: socket.socket, script: Script) -> None:
    """Calls at once, and after pauses in which the path is probed."""
    frames = _frames(connection)
    connection.sendall(PREFACE + frame(SETTINGS, 0, 0) + _request(1))
    _read_until(frames, DATA, END_STREAM)
    for stream in (3, 5, 7):
        connection.sendall(frame(PING, 0, 0, bytes(8)))
        time.sleep(script.random.uniform(*QUIET_S))
        connection.sendall(_request(stream))
        _read_until(frames, DATA, END_STREAM)


def answer(connection: socket.socket, script: Script) -> None:
    """Answers everything at once."""
    connection.sendall(_limit(100))
    _answer(connection, script)


def _answer(connection: socket.socket, script: Script) -> None:
    if _exactly(connection, len(PREFACE)) != PREFACE:
        return
    for one in _frames(connection):
        if one.kind == HEADERS:
            connection.sendall(_reply(one.stream))
        elif one.kind == PING and not one.flags & ACK:
            connection.sendall(frame(PING, ACK, 0, bytes(8)))
        elif one.kind == SETTINGS and not one.flags & ACK:
            connection.sendall(frame(SETTINGS, ACK, 0))


def wait_for_settings(connection: socket.socket, script: Script) -> None:
    """Asks only when the server's SETTINGS have come."""
    frames = _frames(connection)
    began = time.monotonic()
    connection.sendall(PREFACE + frame(SETTINGS, 0, 0))
    _read_until(frames, SETTINGS, 0)
    connection.sendall(_request(1))
    script.note("h2-settings-wait", 1e3 * (time.monotonic() - began))
    _read_until(frames, DATA, END_STREAM)


def late_settings(connection: socket.socket, script: Script) -> None:
    """Sends its SETTINGS late."""
    time.sleep(script.random.uniform(*LATE_S))
    answer(connection, script)


def wait_for_ping(connection: socket.socket, script: Script) -> None:
    """Asks again only when the connection has answered a PING."""
    frames = _frames(connection)
    connection.sendall(PREFACE + frame(SETTINGS, 0, 0) + _request(1))
    _read_until(frames, DATA, END_STREAM)
    time.sleep(script.random.uniform(*QUIET_S))
    began = time.monotonic()
    connection.sendall(frame(PING, 0, 0, bytes(8)))
    _read_until(frames, PING, ACK)
    connection.sendall(_request(3))
    script.note("h2-ping-wait", 1e3 * (time.monotonic() - began))
    _read_until(frames, DATA, END_STREAM)


def late_pong(connection: socket.socket, script: Script) -> None:
    """Answers PING late."""
    connection.sendall(_limit(100))
    if _exactly(connection, len(PREFACE)) != PREFACE:
        return
    for one in _frames(connection):
        if one.kind == HEADERS:
            connection.sendall(_reply(one.stream))
        elif one.kind == PING:
            time.sleep(script.random.uniform(*LATE_S))
            connection.sendall(frame(PING, ACK, 0, bytes(8)))


def three_at_a_time(connection: socket.socket, script: Script) -> None:
    """Has three calls to make, and may make two at a time."""
    frames = _frames(connection)
    connection.sendall(PREFACE + frame(SETTINGS, 0, 0))
    _read_until(frames, SETTINGS, 0)
    time.sleep(script.random.uniform(*QUIET_S) / 10)
    connection.sendall(_request(1) + _request(3))
    began = time.monotonic()
    _read_until(frames, DATA, END_STREAM)
    connection.sendall(_request(5))
    script.note("h2-stream-limit", 1e3 * (time.monotonic() - began))
    for _ in range(2):
        _read_until(frames, DATA, END_STREAM)


def two_at_a_time(connection: socket.socket, script: Script) -> None:
    """Allows two streams, and takes its time for each."""
    connection.sendall(_limit(2))
    if _exactly(connection, len(PREFACE)) != PREFACE:
        return
    for one in _frames(connection):
        if one.kind == HEADERS:
            script.pause("server-think-time", THINK_S)
            connection.sendall(_reply(one.stream))
