"""Conversations in which both sides know what they wait for: one function per side.

A side pauses through :class:`Script`, which notes cause and length. Everything else happens at
once. HTTP/1.1 is written by hand, so that every write is one send.
"""

from __future__ import annotations

import socket
import ssl
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass

from bench.ground_truth.scripted import http2, packets, streams
from bench.ground_truth.scripted.script import (
    CONTENT,
    ENDLESS_REPLY,
    FOUND,
    IDLE_S,
    LARGE_REPLY,
    REPLY,
    REQUEST,
    UPLOAD,
    Script,
    read_head,
    read_reply,
)

ANSWER_S_MAX = 10.0
PIPELINED = 3
PATIENT = 30
"""Connections at a time that wait for seconds."""
Side = Callable[[socket.socket, Script], None]


@dataclass(frozen=True)
class Scenario:
    """Both sides of a conversation, and the findings that it bears."""

    name: str
    client: Side
    server: Side
    causes: tuple[str, ...] = ()
    tls: bool = False
    refused: bool = False
    """Nobody listens."""
    looked_up: bool = False
    """The client looks up the server's name first, which takes long (:mod:`.lookups`)."""
    relayed: bool = False
    """Its payload controls what a relay does to packets (:mod:`.relay`)."""
    handshake: tuple[float, float] | None = None
    """The server waits that long before it answers the ClientHello."""
    parallel: int = 8
    """Connections at a time."""


def ask(connection: socket.socket, script: Script) -> None:
    """One exchange."""
    connection.sendall(REQUEST)
    read_reply(connection)


def answer(connection: socket.socket, script: Script) -> None:
    """Answers until the client closes."""
    while read_head(connection):
        connection.sendall(REPLY + CONTENT)


def _several(connection: socket.socket, script: Script) -> None:
    for _ in range(5):
        ask(connection, script)


def _send_paced(connection: socket.socket, script: Script) -> None:
    for _ in range(3):
        ask(connection, script)
        time.sleep(script.random.uniform(0.02, 0.2))


def _large(connection: socket.socket, script: Script) -> None:
    connection.sendall(REQUEST)
    read_reply(connection)


def _send_large(connection: socket.socket, script: Script) -> None:
    while read_head(connection):
        connection.sendall(LARGE_REPLY)


def _idle_first(connection: socket.socket, script: Script) -> None:
    script.pause("client-idle")
    ask(connection, script)


def _idle_between(connection: socket.socket, script: Script) -> None:
    ask(connection, script)
    script.pause("client-idle", IDLE_S)
    ask(connection, script)


def _stall_in_reply(connection: socket.socket, script: Script) -> None:
    while read_head(connection):
        connection.sendall(REPLY + CONTENT[:300])
        script.pause("sender-stalled")
        connection.sendall(CONTENT[300:])


def _stall_in_request(connection: socket.socket, script: Script) -> None:
    connection.sendall(UPLOAD + CONTENT[:300])
    script.pause("sender-stalled")
    connection.sendall(CONTENT[300:])
    read_reply(connection)


def _take_upload(connection: socket.socket, script: Script) -> None:
    got = read_head(connection)
    body = len(got) - got.find(b"\r\n\r\n") - 4
    while got and body < len(CONTENT):
        body += len(connection.recv(65_536))
    if got:
        connection.sendall(REPLY + CONTENT)


def _dribble_reply(connection: socket.socket, script: Script) -> None:
    while read_head(connection):
        _send_slowly(connection, script, REPLY)


def _dribble_request(connection: socket.socket, script: Script) -> None:
    _send_slowly(connection, script, UPLOAD)
    read_reply(connection)


def _send_slowly(connection: socket.socket, script: Script, head: bytes) -> None:
    connection.sendall(head)
    pieces = 10
    each = len(CONTENT) // pieces
    began = time.monotonic()
    for place in range(pieces):
        time.sleep(script.random.uniform(0.03, 0.1))
        connection.sendall(CONTENT[place * each : (place + 1) * each])
    script.note("dribbled-writes", 1e3 * (time.monotonic() - began))


def _never_read(connection: socket.socket, script: Script) -> None:
    connection.sendall(REQUEST)
    script.pause("zero-window", (1.5, 2.5))
    script.note("connection-reset")  # the kernel's, for bytes that were never read


def _fill(connection: socket.socket, script: Script) -> None:
    read_head(connection)
    connection.settimeout(ANSWER_S_MAX)
    connection.sendall(ENDLESS_REPLY)


def _reset(connection: socket.socket, script: Script) -> None:
    read_head(connection)
    script.pause("connection-reset")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _expect_reset(connection: socket.socket, script: Script) -> None:
    connection.sendall(REQUEST)
    connection.recv(1)


def _give_up(connection: socket.socket, script: Script) -> None:
    connection.sendall(REQUEST)
    script.pause("unanswered", (0.3, 0.6))


def _stay_silent(connection: socket.socket, script: Script) -> None:
    read_head(connection)
    connection.recv(1)


def _redirect(connection: socket.socket, script: Script) -> None:
    if read_head(connection):
        connection.sendall(FOUND)
        script.note("redirect")
    if read_head(connection):
        connection.sendall(REPLY + CONTENT)


def _follow(connection: socket.socket, script: Script) -> None:
    ask(connection, script)
    ask(connection, script)


def _unknown_turns(connection: socket.socket, script: Script) -> None:
    for _ in range(2):
        connection.sendall(b"\x01\xfeASK 17\x00")
        connection.recv(1_000)


def _think(connection: socket.socket, script: Script) -> None:
    first = True
    while connection.recv(1_000):
        if first:
            script.pause("server-think-time")
        first = False
        connection.sendall(b"\x02\xfdANSWER 17\x00")


def _think_tls(connection: socket.socket, script: Script) -> None:
    while read_head(connection):
        script.pause("server-think-time")
        connection.sendall(REPLY + CONTENT)


def _pipeline(connection: socket.socket, script: Script) -> None:
    connection.sendall(REQUEST * PIPELINED)
    got = b""
    while got.count(CONTENT) < PIPELINED and (more := connection.recv(65_536)):
        got += more


def _answer_in_order(connection: socket.socket, script: Script) -> None:
    got = b""
    while got.count(REQUEST) < PIPELINED:
        more = connection.recv(65_536)
        if not more:
            return
        got += more
    script.pause("server-think-time")
    script.note("head-of-line")
    for _ in range(PIPELINED):
        connection.sendall(REPLY + CONTENT)
    read_head(connection)


def _do_nothing(connection: socket.socket, script: Script) -> None:
    pass


SCENARIOS = (
    Scenario("clean-calls", _several, answer),
    Scenario("clean-paced", _send_paced, answer),
    Scenario("clean-large", _large, _send_large),
    Scenario("clean-tls", _several, answer, tls=True),
    Scenario("idle-before-request", _idle_first, answer, ("client-idle",)),
    Scenario("idle-between", _idle_between, answer, ("client-idle",)),
    Scenario("stall-in-reply", ask, _stall_in_reply, ("sender-stalled",)),
    Scenario("stall-in-request", _stall_in_request, _take_upload, ("sender-stalled",)),
    Scenario("stall-in-tls", ask, _stall_in_reply, ("sender-stalled",), tls=True),
    Scenario("dribbled-reply", ask, _dribble_reply, ("dribbled-writes",)),
    Scenario("dribbled-request", _dribble_request, _take_upload, ("dribbled-writes",)),
    Scenario("never-read", _never_read, _fill, ("zero-window", "connection-reset")),
    Scenario("refused", _do_nothing, _do_nothing, ("connection-refused",), refused=True),
    Scenario("reset", _expect_reset, _reset, ("connection-reset",)),
    Scenario("unanswered", _give_up, _stay_silent, ("unanswered",)),
    Scenario("redirect", _follow, _redirect, ("redirect",)),
    Scenario("slow-handshake", ask, answer, ("slow-tls",), tls=True, handshake=(0.05, 0.3)),
    Scenario("think-unknown", _unknown_turns, _think, ("server-think-time",)),
    Scenario("think-tls", ask, _think_tls, ("server-think-time",), tls=True),
    Scenario("long-path", _several, answer, ("long-path",)),
    Scenario("clean-http2", http2.several, http2.answer),
    Scenario("settings-wait", http2.wait_for_settings, http2.late_settings, ("h2-settings-wait",)),
    Scenario("ping-wait", http2.wait_for_ping, http2.late_pong, ("h2-ping-wait",)),
    Scenario(
        "stream-limit",
        http2.three_at_a_time,
        http2.two_at_a_time,
        ("h2-stream-limit", "server-think-time"),
    ),
    Scenario("even-stream", streams.follow, streams.even, ("dribbled-writes",)),
    Scenario("uneven-stream", streams.follow, streams.uneven, ("uneven-stream", "dribbled-writes")),
    Scenario("reordered", _follow, packets.reorder, ("reordering",), relayed=True),
    Scenario("fragmented", _follow, packets.split, ("ip-fragments",), relayed=True),
    Scenario("tail-lost", packets.lose_tail, packets.take, ("tail-loss",), relayed=True),
    Scenario("pipelined", _pipeline, _answer_in_order, ("head-of-line", "server-think-time")),
    Scenario("looked-up", ask, answer, ("slow-dns",), looked_up=True),
    Scenario(
        "cut-off",
        packets.ask_nobody,
        packets.cut_off,
        ("half-open",),
        relayed=True,
        parallel=PATIENT,
    ),
    Scenario(
        "narrow",
        packets.upload_in_vain,
        packets.narrow,
        ("mtu-black-hole",),
        relayed=True,
        parallel=PATIENT,
    ),
    Scenario(
        "gone",
        packets.probe_nobody,
        packets.cut_off,
        ("keep-alive-death", "client-idle"),
        relayed=True,
        parallel=PATIENT,
    ),
    Scenario("repeated", _follow, packets.hold_answers, ("spurious-retransmission",), relayed=True),
)
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
FAR_ONLY = frozenset({"long-path"})
NOT_PROXIED = frozenset({"refused", "reset", "never-read"})
"""A proxy accepts and closes connections by itself, and takes what the client does not."""


def wrap_tls(
    connection: socket.socket, scenario: Scenario, certificate: str | None
) -> socket.socket:
    """The connection, in TLS where the scenario wants it; a server has a certificate."""
    if not scenario.tls:
        return connection
    if certificate is None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context.wrap_socket(connection)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context.wrap_socket(connection, server_side=True)
