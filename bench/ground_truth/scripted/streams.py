"""Servers that stream: server-sent events in chunks, at even or uneven intervals."""

from __future__ import annotations

import socket
import time

from bench.ground_truth.scripted.script import PAUSE_S, REQUEST, Script, read_head

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENTS = 12
INTERVAL_S = (0.03, 0.05)
EVENT = b"data: word\n\n"
END = b"0\r\n\r\n"


def follow(connection: socket.socket, script: Script) -> None:
    """Asks for a stream and reads it to its end."""
    connection.sendall(REQUEST)
    got = b""
    while not got.endswith(END):
        more = connection.recv(65_536)
        if not more:
            return
        got += more


def even(connection: socket.socket, script: Script) -> None:
    """Events that follow each other alike."""
    _stream(connection, script, late=None)


def uneven(connection: socket.socket, script: Script) -> None:
    """One of the events is late."""
    _stream(connection, script, late=script.random.randrange(1, EVENTS))


def _stream(connection: socket.socket, script: Script, late: int | None) -> None:
    while read_head(connection):
        connection.sendall(HEAD)
        began = time.monotonic()
        for number in range(EVENTS):
            if number == late:
                script.pause("uneven-stream", PAUSE_S)
            time.sleep(script.random.uniform(*INTERVAL_S))
            connection.sendall(b"%x\r\n%s\r\n" % (len(EVENT), EVENT))
        connection.sendall(END)
        script.note("dribbled-writes", 1e3 * (time.monotonic() - began))
