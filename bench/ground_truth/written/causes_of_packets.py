"""Captures of single causes: packets that are lost, repeated, late or too large."""

from __future__ import annotations

from bench.ground_truth.written.conversation import (
    MS,
    MSS,
    SECOND,
    SIDES,
    WINDOW_SHIFT,
    Connection,
    Conversation,
    write_reply,
    write_request,
)
from bench.ground_truth.written.frames import TCP, Frame, ethernet, ipv4
from bench.ground_truth.written.kinds import BETWEEN, call
from bench.ground_truth.written.scenario import Scenario

HANDSHAKE, CHANGE_CIPHER, DATA = 22, 20, 23
MORE_FRAGMENTS = 0x2000
FRAGMENT_UNITS = 8
"""Offsets of fragments count these, bytes (RFC 791)."""


def _ask_from_server(capture: Conversation, to_client_ms: tuple[int, int]) -> Connection:
    """A request, by a capture next to the server."""
    way = capture.random.randrange(*to_client_ms) * MS
    connection = capture.open(to_client_us=way, to_server_us=20)
    capture.wait(MS, "client-before-request")
    capture.ask(connection, write_request(capture.random))
    capture.wait(200, "server")
    return connection


def middle_lost(capture: Conversation) -> None:
    """A segment is lost behind the capture; those behind it show that (RFC 5681)."""
    connection = _ask_from_server(capture, (20, 80))
    reply = write_reply(8 * MSS)
    pieces = [reply[at : at + MSS] for at in range(0, len(reply), MSS)]
    lost = capture.random.randrange(2, 5)
    for piece in pieces:
        capture.send(connection, "server", piece)
        capture.wait(10, "reply-transfer")
    capture.wait(connection.to_client_us - 10 * len(pieces))
    known = connection.next[1]
    connection.next[1] = known - sum(map(len, pieces[lost:]))
    for _ in pieces[lost:]:
        capture.ack(connection, "client")
        capture.wait(10)
    capture.send(connection, "server", pieces[lost])
    connection.next[1] = known
    capture.wait(connection.to_client_us)
    capture.ack(connection, "client")
    capture.parts.clear()


def timer_in_vain(capture: Conversation) -> None:
    """A reply that is repeated although it has arrived: its acknowledgment was late."""
    connection = _ask_from_server(capture, (20, 40))
    reply = write_reply(500)
    capture.send(connection, "server", reply)
    capture.pause(220, 300)
    capture.repeat(connection, "server", reply)
    capture.wait(MS)  # sooner than the repetition could cause it
    capture.ack(connection, "client")
    capture.parts.clear()


def overtaken(capture: Conversation) -> None:
    """A segment that others overtake before the capture."""
    connection = capture.open(to_client_us=30, to_server_us=40 * MS)
    capture.wait(MS)
    capture.ask(connection, write_request(capture.random))
    reply = write_reply(4 * MSS)
    pieces = [reply[at : at + MSS] for at in range(0, len(reply), MSS)]
    begin = connection.next[1]
    for number in (0, 2, 3, 4):
        connection.next[1] = begin + number * MSS
        capture.send(connection, "server", pieces[number])
        capture.wait(20)
        connection.next[1] = begin + MSS
        capture.ack(connection, "client")
    # A wait counts from a tenth of the exchange on, here 9 ms.
    capture.pause(10, 24)
    capture.send(connection, "server", pieces[1])
    connection.next[1] = begin + len(reply)
    capture.wait(30)
    capture.ack(connection, "client")
    capture.parts.clear()


def window_used_up(capture: Conversation) -> None:
    """A small window that is read at once, over a long way."""
    way = capture.random.randrange(40, 90) * MS
    connection = capture.connect(to_client_us=way, to_server_us=20)
    window = 4 * MSS
    connection.windows[0] = window >> WINDOW_SHIFT
    capture.shake_hands(connection)
    capture.wait(MS, "client-before-request")
    capture.ask(connection, write_request(capture.random))
    capture.wait(200, "server")
    reply = write_reply(capture.random.randrange(20, 40) * MSS)
    room = (window >> WINDOW_SHIFT) << WINDOW_SHIFT
    for at in range(0, len(reply), room):
        flight = reply[at : at + room]
        for place in range(0, len(flight), MSS):
            capture.send(connection, "server", flight[place : place + MSS])
            capture.wait(10, "reply-transfer")
        is_last = at + room >= len(reply)
        capture.wait(way, BETWEEN if is_last else "window-limited")
        capture.ack(connection, "client")


def never_read(capture: Conversation) -> None:
    """A window that closes and stays closed, with probes of it."""
    connection = capture.connect()
    connection.windows[0] = (8 * MSS) >> WINDOW_SHIFT
    capture.shake_hands(connection)
    capture.wait(MS, "client-before-request")
    capture.ask(connection, write_request(capture.random))
    capture.wait(200, "server")
    reply = write_reply(60 * MSS)
    for at in range(0, 8 * MSS, MSS):
        capture.send(connection, "server", reply[at : at + MSS])
        capture.wait(10, "reply-transfer")
        connection.windows[0] = (8 * MSS - at - MSS) >> WINDOW_SHIFT
        capture.ack(connection, "client")
    for doublings in range(capture.random.randrange(2, 5)):
        capture.wait((200 * MS) << doublings, "window-closed")
        capture.probe(connection, "server")
        capture.wait(30, "window-closed")
        capture.ack(connection, "client")


def probes_in_vain(capture: Conversation) -> None:
    """Keep-alive probes that nobody answers."""
    connection = capture.open()
    call(capture, connection)
    capture.pause(5_000, 60_000)
    for _ in range(capture.random.randrange(4, 9)):
        capture.probe(connection, "client")
        capture.wait(SECOND)
    capture.reset(connection, "client")
    capture.parts.clear()


def _repeat(capture: Conversation, connection: Connection, payload: bytes) -> None:
    capture.send(connection, "client", payload)
    for doublings in range(capture.random.randrange(4, 7)):
        capture.wait((220 * MS) << doublings)
        if len(payload) >= MSS:
            capture.ack(connection, "server")
        capture.repeat(connection, "client", payload)
    capture.parts.clear()


def cut_cable(capture: Conversation) -> None:
    """A request that is sent again and again, and nothing comes back."""
    connection = capture.open()
    call(capture, connection)
    capture.pause(5, 50)
    _repeat(capture, connection, write_request(capture.random))


def narrow_link(capture: Conversation) -> None:
    """Full segments vanish, small packets come through (RFC 2923)."""
    connection = capture.open()
    call(capture, connection)
    capture.pause(5, 50)
    known = connection.next[0]
    head = write_request(capture.random, "POST", "Content-Length: 9000\r\n")
    payload = head + b"x" * (MSS - len(head))
    capture.send(connection, "client", payload)
    for doublings in range(capture.random.randrange(4, 7)):
        capture.wait((220 * MS) << doublings)
        capture.repeat(connection, "client", payload)
        capture.wait(connection.to_server_us)
        # A probe of the server's, which shows that it is there and lacks the segment.
        connection.next[0] = known
        capture.probe(connection, "server")
        connection.next[0] = known + len(payload)
        capture.wait(50)
        capture.ack(connection, "client")
    capture.parts.clear()


def write_fragmented(capture: Conversation) -> None:
    """Replies whose segments come in two fragments of IP."""
    connection = capture.open()
    for _ in range(capture.random.randrange(2, 5)):
        call(capture, connection)
    whole, capture.frames = capture.frames, []
    server = SIDES.index("server")
    number = capture.random.randrange(1, 1 << 16)
    for one in whole:
        packet = one.data[14:]
        body = packet[20:]
        if packet[12:16] != connection.hosts[server].packed or len(body) < 60:
            capture.frames.append(one)
            continue
        number = number % 0xFFFF + 1
        ends = (connection.hosts[server], connection.hosts[1 - server])
        cut = len(body) // 2 // FRAGMENT_UNITS * FRAGMENT_UNITS
        first = ipv4(ends, TCP, body[:cut], number, fragment=MORE_FRAGMENTS)
        rest = ipv4(ends, TCP, body[cut:], number, fragment=cut // FRAGMENT_UNITS)
        capture.frames.append(Frame(one.at_us, ethernet(first)))
        capture.frames.append(Frame(one.at_us + 5, ethernet(rest)))
    capture.parts.clear()


def record(kind: int, body: bytes) -> bytes:
    """Of TLS 1.2 (RFC 5246 section 6.2)."""
    return bytes([kind, 3, 3]) + len(body).to_bytes(2, "big") + body


def _handshake(kind: int, size: int) -> bytes:
    body = bytes(size)
    if kind <= 2:  # ClientHello and ServerHello: version, random, no session
        body = (
            b"\x03\x03"
            + bytes(32)
            + b"\0"
            + (b"\x00\x02\xc0\x2f\x01\x00" if kind == 1 else b"\xc0\x2f\x00")
        )
    return record(HANDSHAKE, bytes([kind]) + len(body).to_bytes(3, "big") + body)


def slow_tls(capture: Conversation) -> None:
    """A server that takes its time in the handshake of TLS 1.2."""
    connection = capture.open()
    capture.wait(300, "client-before-request")
    capture.send(connection, "client", _handshake(1, 0))
    capture.wait(connection.to_server_us, "tls-handshake")
    capture.pause(80, 600, "tls-handshake")
    capture.send(connection, "server", _handshake(2, 0) + _handshake(11, 700) + _handshake(14, 0))
    capture.pause(0.5, 1, "tls-handshake")
    finished = record(CHANGE_CIPHER, b"\1") + record(HANDSHAKE, bytes(40))
    capture.send(connection, "client", _handshake(16, 66) + finished)
    capture.wait(connection.to_server_us, "tls-handshake")
    capture.send(connection, "server", finished)
    capture.wait(300, "client-before-request")
    capture.ask(connection, record(DATA, bytes(130)))
    capture.wait(200, "server")
    capture.answer(connection, record(DATA, bytes(400)), BETWEEN)


CAUSES_OF_PACKETS: tuple[Scenario, ...] = (
    Scenario("a segment lost", middle_lost, ("data-retransmission",), ("long-path",)),
    Scenario("repeated in vain", timer_in_vain, ("spurious-retransmission",)),
    Scenario("overtaken", overtaken, ("reordering",), ("long-path",)),
    Scenario("window used up", window_used_up, ("tcp-window-exhausted",), ("long-path",)),
    Scenario("never read", never_read, ("zero-window",), ("client-not-reading",)),
    Scenario("dead peer", probes_in_vain, ("keep-alive-death",), ("client-idle",)),
    Scenario("cut cable", cut_cable, ("half-open",)),
    Scenario("narrow link", narrow_link, ("mtu-black-hole",)),
    Scenario("fragments", write_fragmented, ("ip-fragments",)),
    Scenario("slow TLS", slow_tls, ("slow-tls",)),
)
