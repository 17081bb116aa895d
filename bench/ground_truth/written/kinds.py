"""Kinds of captures that are easily misread, each with a counterpart: names, directions, cut
packets, openings and ends of connections. :mod:`.kinds_of_streams` has the others."""

from __future__ import annotations

from bench.ground_truth.written.conversation import (
    MS,
    SECOND,
    Connection,
    Conversation,
    write_reply,
    write_request,
)
from bench.ground_truth.written.frames import ACK, SYN
from bench.ground_truth.written.scenario import Scenario, pair

A, AAAA = 1, 28
BETWEEN = "client-between-requests"


def call(
    capture: Conversation, connection: Connection, think_ms: tuple[float, float] = (0.1, 0.5)
) -> None:
    """One exchange, after a moment of the client."""
    capture.pause(0.5, 2, BETWEEN)
    capture.ask(connection, write_request(capture.random))
    capture.pause(*think_ms, "server")
    capture.answer(connection, write_reply(capture.random.randrange(50, 1_200)), BETWEEN)


def think(capture: Conversation) -> None:
    """Calls that a server takes its time for."""
    connection = capture.open()
    for _ in range(capture.random.randrange(2, 8)):
        call(capture, connection, (40, 300))


def idle_with_foreign_identifications(capture: Conversation) -> None:
    """A client sends to others meanwhile, by one counter for all its packets (RFC 6864)."""
    capture.ids = "host"
    connection = capture.open()
    for _ in range(capture.random.randrange(1, 4)):
        call(capture, connection)
    for _ in range(capture.random.randrange(1, 20)):
        capture.lose(connection, "client", b"")
    capture.pause(2_000, 120_000, BETWEEN)
    call(capture, connection)


def write_lost_before_the_capture(capture: Conversation) -> None:
    """A request is lost before the capture, next to the server, and a timer repeats it."""
    capture.ids = "connection"
    first = capture.open(5 * MS, 20)
    second = capture.open(5 * MS, 20)
    capture.parts["client-before-request"] += second.rtt_us  # the first one's, meanwhile
    for connection in (first, second) * 3:
        capture.wait(5 * MS, BETWEEN, BETWEEN)
        capture.send(connection, "client", write_request(capture.random))
        capture.wait(connection.to_server_us, "path", BETWEEN)
        capture.send(connection, "server", write_reply(2))
        capture.wait(connection.to_client_us, BETWEEN, BETWEEN)
        capture.ack(connection, "client")
    capture.lose(first, "client", b"")
    capture.pause(205, 400, "loss-recovery")
    capture.ask(first, write_request(capture.random))
    capture.send(first, "server", write_reply(2))


def one_direction(capture: Conversation) -> None:
    """Only one side's packets were captured."""
    capture.hidden = frozenset({capture.random.choice(["client", "server"])})
    think(capture)
    seen = [frame.at_us for frame in capture.frames]
    opened = capture.parts["connecting"] if capture.hidden == {"server"} else 0
    capture.parts.clear()
    capture.parts.update({"connecting": opened, "unattributed": seen[-1] - seen[0] - opened})


def write_held_back(capture: Conversation) -> None:
    """Replies in two writes, the second held back until a delayed acknowledgment."""
    connection = capture.open()
    fields = "Server: example\r\nContent-Type: text/plain\r\n"
    for _ in range(capture.random.randrange(4, 15)):
        capture.pause(0.5, 2, BETWEEN)
        capture.ask(connection, write_request(capture.random))
        capture.pause(0.1, 0.3, "server")
        body = capture.random.randrange(100, 500)
        reply = write_reply(body, fields=fields)
        capture.send(connection, "server", reply[:-body])
        capture.pause(40, 48, "nagle-delayed-ack")
        capture.ack(connection, "client")
        capture.wait(connection.to_server_us, "nagle-delayed-ack")
        capture.answer(connection, reply[-body:], BETWEEN)


def cut_off(capture: Conversation) -> None:
    """The same, of which the capture has the first bytes of each packet."""
    capture.snap = capture.random.randrange(54 + 8, 150)
    write_held_back(capture)


def cut_and_thinking(capture: Conversation) -> None:
    """A server that thinks, cut off likewise."""
    capture.snap = capture.random.randrange(54 + 8, 150)
    think(capture)


def second_query_lost(capture: Conversation) -> None:
    """One of both queries for addresses is sent again after the resolver's timeout."""
    name = f"shop{capture.random.randrange(1_000)}.test"
    lost, other = capture.random.choice([(A, AAAA), (AAAA, A)])
    capture.query(7, name, A)
    capture.query(8, name, AAAA)
    capture.wait(capture.random.randrange(200, 5_000), "name-resolution")
    capture.resolve(7 if other == A else 8, name, other)
    capture.pause(1_000, 5_000, "name-resolution")
    capture.query(7 if lost == A else 8, name, lost)
    capture.wait(capture.random.randrange(200, 5_000), "name-resolution")
    capture.resolve(7 if lost == A else 8, name, lost)
    capture.wait(100)
    call(capture, capture.open())


def write_found_at_once(capture: Conversation) -> None:
    """A fast lookup before a slow server."""
    name = f"shop{capture.random.randrange(1_000)}.test"
    capture.query(7, name, A)
    capture.query(8, name, AAAA)
    capture.pause(0.5, 3, "name-resolution")
    capture.resolve(7, name, A)
    capture.resolve(8, name, AAAA)
    capture.wait(50)
    think(capture)


def lookup_alone(capture: Conversation) -> None:
    """A lookup in vain, next to a connection that did not wait for it."""
    call(capture, capture.open())
    name = f"gone{capture.random.randrange(1_000)}.test"
    capture.pause(10, 200)
    capture.query(7, name, A)
    capture.pause(2_000, 5_000, "name-resolution")
    capture.query(7, name, A)
    capture.pause(1, 50, "name-resolution")
    capture.resolve(7, name, A, has_address=False)


def write_closed_while_asking(capture: Conversation) -> None:
    """A server closes an idle connection while a request is on its way."""
    connection = capture.open()
    call(capture, connection)
    capture.pause(1_200, 60_000, "before-closing")
    capture.end(connection, "server")
    capture.wait(capture.random.randrange(5, 40), "closing")
    connection.next[1] -= 1  # the client has not seen the FIN
    capture.send(connection, "client", write_request(capture.random))
    connection.next[1] += 1
    capture.wait(connection.to_server_us, "closing")
    capture.reset(connection, "server")


def write_closed_in_peace(capture: Conversation) -> None:
    """Both close an idle connection."""
    connection = capture.open()
    call(capture, connection)
    capture.pause(1_200, 60_000, "before-closing")
    for side in ("server", "client") if capture.random.random() < 0.5 else ("client", "server"):
        capture.end(connection, side)
        capture.wait(connection.rtt_us, "closing")


def write_refused(capture: Conversation) -> None:
    """SYNs answered by RST, with the same ports."""
    connection = capture.connect()
    for number in range(attempts := capture.random.randrange(3, 6)):
        capture.put(connection, "client", SYN)
        connection.next[0] -= 1
        is_last = number == attempts - 1
        part = "connecting" if is_last else "syn-retransmission"
        capture.wait(connection.to_server_us, part)
        connection.acknowledged[1] = connection.next[0] + 1
        connection.next[0] += 1
        capture.reset(connection, "server")
        connection.next[0] -= 1
        if not is_last:
            capture.pause(300, 1_000, "syn-retransmission")


def write_lost_syn(capture: Conversation) -> None:
    """A SYN that gets no answer is sent again."""
    connection = capture.connect()
    for doublings in range(capture.random.randrange(1, 3)):
        capture.put(connection, "client", SYN)
        connection.next[0] -= 1
        capture.wait(SECOND << doublings, "syn-retransmission")
    capture.put(connection, "client", SYN)
    capture.wait(connection.to_server_us, "connecting")
    capture.put(connection, "server", SYN | ACK)
    capture.wait(connection.to_client_us, "connecting")
    capture.ack(connection, "client")
    call(capture, connection)


def write_until_closed(capture: Conversation) -> None:
    """A reply without a length: it lasts until the server's FIN (RFC 9112 section 6.3)."""
    connection = capture.open()
    capture.pause(0.5, 2, "client-before-request")
    capture.ask(connection, write_request(capture.random))
    capture.pause(0.1, 0.5, "server")
    body = b"x" * capture.random.randrange(50, 1_000)
    capture.answer(connection, b"HTTP/1.0 200 OK\r\n\r\n" + body, "server-stall")
    capture.pause(100, 900, "server-stall")
    capture.end(connection, "server")
    capture.wait(connection.to_client_us, "closing")
    capture.end(connection, "client")


def write_closed_late(capture: Conversation) -> None:
    """A reply with a length; the connection is closed later."""
    connection = capture.open()
    call(capture, connection)
    capture.pause(100, 900, "before-closing")
    capture.end(connection, "server")
    capture.wait(connection.to_client_us, "closing")
    capture.end(connection, "client")


THINKS = ("server-think-time",)
KINDS: tuple[Scenario, ...] = (
    *pair(
        "K1 idle time, and identifications of others",
        idle_with_foreign_identifications,
        write_lost_before_the_capture,
        (("client-idle",), ("tail-loss",)),
    ),
    *pair("K2 one direction", one_direction, think, ((), THINKS)),
    *pair(
        "K3 snap length",
        cut_off,
        cut_and_thinking,
        (("nagle-delayed-ack",), THINKS),
        ("split-writes",),
    ),
    *pair("K4 a lost query", second_query_lost, write_found_at_once, (("slow-dns",), THINKS)),
    *pair("K6 a lookup alone", lookup_alone, write_found_at_once, ((), THINKS), ("slow-dns",)),
    *pair(
        "K11 keep-alive race",
        write_closed_while_asking,
        write_closed_in_peace,
        (("keep-alive-race",), ()),
        ("client-idle",),
    ),
    *pair(
        "K14 refused",
        write_refused,
        write_lost_syn,
        (("connection-refused",), ("syn-retransmission",)),
    ),
    *pair(
        "K17 read until close",
        write_until_closed,
        write_closed_late,
        (("read-until-close",), ()),
        ("connection-per-call",),
    ),
)
