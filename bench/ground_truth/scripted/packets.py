"""Sides whose payload controls what the relay does to its packets, and so what TCP must repair."""

from __future__ import annotations

import contextlib
import socket
import time

from bench.ground_truth.scripted.relay import Act, mark
from bench.ground_truth.scripted.script import (
    CONTENT,
    HEAD,
    REPLY,
    REQUEST,
    Script,
    read_head,
    read_reply,
)

SEGMENT_BYTES = 1448
"""Payload of a full segment over a TUN device: its MTU less headers and timestamps."""
SEGMENTS = 4
HELD_MS = (7, 9)
"""Less than a quarter of a round trip: no sender takes that for a loss (RFC 8985 section 6.2)."""
MUTED_MS = 450
"""Longer than a sender waits before it repeats: 200 ms and a round trip (RFC 6298)."""
CUT_MS = 60
"""Later than the acknowledgment of the packet that asks for it."""
AFTER_CUT_S = 0.15
"""A pause by plan: the relay acts by its clock, and nothing at this side shows when."""
GIVEN_UP_S = 3.3
"""Four repetitions, of which the last comes 3.1 s after the first sending."""
PROBE_S, PROBES = 1, 4
_LARGE = SEGMENTS * SEGMENT_BYTES


def _token(script: Script) -> int:
    return script.random.randrange(1 << 62)


def reorder(connection: socket.socket, script: Script) -> None:
    """Answers; of the second reply one packet is overtaken by the one behind it."""
    _answer_twice(connection, script, "hold", "reordering")


def split(connection: socket.socket, script: Script) -> None:
    """Answers; of the second reply one packet comes in two fragments of IP."""
    _answer_twice(connection, script, "split", "ip-fragments")


def _answer_twice(connection: socket.socket, script: Script, act: Act, cause: str) -> None:
    if read_head(connection):
        connection.sendall(REPLY + CONTENT)
    if not read_head(connection):
        return
    ms = script.random.randint(*HELD_MS)
    head = REPLY.replace(b"600", str(_LARGE).encode())
    # In the third packet of five: one more follows that is full.
    before = b"x" * (2 * SEGMENT_BYTES + 500 - len(head))
    body = (before + mark(act, _token(script), ms)).ljust(_LARGE, b"x")
    connection.sendall(head + body)
    script.note(cause, ms)
    read_head(connection)


def lose_tail(connection: socket.socket, script: Script) -> None:
    """Asks twice; of the second request the last packet is lost."""
    _upload(connection, CONTENT)
    read_reply(connection)
    size = script.random.choice((600, 3_000, 6_000))
    body = b"x" * (size - 60) + mark("drop", _token(script))
    _upload(connection, body.ljust(size, b"x"))
    script.note("tail-loss")
    read_reply(connection)


def _upload(connection: socket.socket, body: bytes) -> None:
    length = b"Content-Length: %d\r\n\r\n" % len(body)
    connection.sendall(b"POST /item HTTP/1.1\r\nHost: service\r\n" + HEAD + length + body)


def take(connection: socket.socket, script: Script) -> None:
    """Answers requests with a body."""
    got = b""
    while True:
        while b"\r\n\r\n" not in got:
            more = connection.recv(65_536)
            if not more:
                return
            got += more
        head, _, body = got.partition(b"\r\n\r\n")
        length = int(head.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])
        while len(body) < length:
            body += connection.recv(65_536)
        got = b""
        connection.sendall(REPLY + CONTENT)


def hold_answers(connection: socket.socket, script: Script) -> None:
    """Answers; the acknowledgments of the second reply come late, so that it is sent again."""
    if read_head(connection):
        connection.sendall(REPLY + CONTENT)
    if read_head(connection):
        body = mark("mute", _token(script), MUTED_MS).ljust(len(CONTENT), b"x")
        connection.sendall(REPLY + body)
        script.note("spurious-retransmission")
    read_head(connection)


def cut_off(connection: socket.socket, script: Script) -> None:
    """Answers once; then the path swallows everything."""
    _answer_and(connection, script, "cut")


def narrow(connection: socket.socket, script: Script) -> None:
    """Answers once; then the path swallows large packets of the client."""
    _answer_and(connection, script, "shrink")


def _answer_and(connection: socket.socket, script: Script, act: Act) -> None:
    connection.settimeout(GIVEN_UP_S + PROBE_S * (PROBES + 2))
    if read_head(connection):
        body = mark(act, _token(script), CUT_MS).ljust(len(CONTENT), b"x")
        connection.sendall(REPLY + body)
    read_head(connection)


def ask_nobody(connection: socket.socket, script: Script) -> None:
    """Asks, and asks again when the other side is gone."""
    _ask_in_vain(connection, script, REQUEST)
    script.note("half-open")


def upload_in_vain(connection: socket.socket, script: Script) -> None:
    """Asks, and sends a large request when only small packets arrive."""
    length = b"Content-Length: %d\r\n\r\n" % _LARGE
    head = b"POST /item HTTP/1.1\r\nHost: service\r\n" + HEAD + length
    _ask_in_vain(connection, script, head + b"x" * (_LARGE - len(head)))
    script.note("mtu-black-hole")


def _ask_in_vain(connection: socket.socket, script: Script, request: bytes) -> None:
    connection.sendall(REQUEST)
    read_reply(connection)
    time.sleep(AFTER_CUT_S)
    connection.sendall(request)
    connection.settimeout(GIVEN_UP_S)
    with contextlib.suppress(TimeoutError):
        connection.recv(1)


def probe_nobody(connection: socket.socket, script: Script) -> None:
    """Keeps a connection whose other side is gone, until its probes show that."""
    connection.sendall(REQUEST)
    read_reply(connection)
    for option, value in (
        (socket.TCP_KEEPIDLE, PROBE_S),
        (socket.TCP_KEEPINTVL, PROBE_S),
        (socket.TCP_KEEPCNT, PROBES),
    ):
        connection.setsockopt(socket.IPPROTO_TCP, option, value)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    script.note("keep-alive-death")
    script.note("client-idle")
    with contextlib.suppress(TimeoutError):
        connection.recv(1)
