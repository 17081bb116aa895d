"""Lookups of a name (RFC 1035) before a connection, by hand: a resolver that takes its time."""

from __future__ import annotations

import random
import socket
import threading
import time

from bench.ground_truth.scripted.script import PAUSE_S, Script

PORT = 53
NAME = b"\x07service\x04test\x00"
"""A name that RFC 6761 keeps out of the world's."""
INTERNET_ADDRESS = b"\x00\x01\x00\x01"
ANSWERED = 0x8180
HEAD_BYTES = 12
ANSWER_S_MAX = 5.0


def look_up(service: str, own: str, script: Script) -> None:
    """Asks once for the service's address and waits for the answer."""
    number = script.random.randrange(1 << 16).to_bytes(2, "big")
    query = number + bytes.fromhex("0100 0001 0000 0000 0000") + NAME + INTERNET_ADDRESS
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(ANSWER_S_MAX)
        asking.bind((own, 0))
        began = time.monotonic()
        asking.sendto(query, (service, PORT))
        asking.recv(512)
        script.note("slow-dns", 1e3 * (time.monotonic() - began))


class Resolver:
    """Answers every query with the address of the service, late."""

    def __init__(self, service: str, seed: str) -> None:
        """Starts it. Raises :class:`OSError` where the port is taken."""
        self._address = socket.inet_aton(service)
        self._random = random.Random(f"{seed} resolver")
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((service, PORT))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            query, client = self._socket.recvfrom(512)
            pause_s = self._random.uniform(*PAUSE_S)
            threading.Timer(pause_s, self._answer, (query, client)).start()

    def _answer(self, query: bytes, client: tuple[str, int]) -> None:
        counts = bytes.fromhex("0001 0001 0000 0000")
        head = query[:2] + ANSWERED.to_bytes(2, "big") + counts
        # The name is the one at the head's end (RFC 1035 section 4.1.4), for a minute.
        record = b"\xc0\x0c" + INTERNET_ADDRESS + (60).to_bytes(4, "big") + b"\x00\x04"
        self._socket.sendto(head + query[HEAD_BYTES:] + record + self._address, client)
